"""Bad ``lockOptions``: each is told where it is, and what must be."""

from __future__ import annotations

from typing import Any

import pytest

from operators.fdb_manifests import Bad, manifest, spec
from stateward.fdb.api.kind import CLUSTERS
from stateward.kube.codec import Json, plain
from stateward.kube.errors import ApiError
from unit.fdb.api.test_bad_days import STRICT, door, said

ID = "spec.lockOptions.denyList[0].id"
AS_PREFIX = "must be as a processGroupIDPrefix is"


def locks(**options: Any) -> Json:
    return spec(lockOptions=options)


def denying(*ids: Any) -> Json:
    return locks(denyList=[{"id": it} for it in ids])


#: What is wrong, where it is said, and what must be.
TOLD = [
    Bad("denying nobody", denying(""), ID, "must be given"),
    Bad("an entry that says nothing", locks(denyList=[{}]), ID, "must be given"),
    Bad("a path", denying("dc1/dc2"), ID, AS_PREFIX),
    Bad("a slash", denying("/"), ID, AS_PREFIX),
    Bad("a space behind it", denying("dc1 "), ID, AS_PREFIX),
    Bad("a line behind it", denying("dc1\n"), ID, AS_PREFIX),
    Bad("all of them", denying("*"), ID, AS_PREFIX),
    Bad("a group", denying("-storage-1"), ID, AS_PREFIX),
    Bad("longer than a prefix can be", denying("d" * 44), ID, "of at most 43"),
    Bad("much longer", denying("d" * 253), ID, "ddd...'"),
    Bad("the second of two", denying("dc1", "dc/2"), "spec.lockOptions.denyList[1].id", "'dc/2'"),
    Bad("both of one", locks(denyList=[{"id": "dc1"}, {"id": "dc1", "allow": True}]),
        "spec.lockOptions.denyList[1].allow", "must be said once of dc1"),
]  # fmt: skip

#: What is refused before the operator sees it: by whom it is told which field is meant.
REFUSED = [
    Bad("for no time", locks(lockDurationMinutes=0), "", "", "lockDurationMinutes"),
    Bad("for less than that", locks(lockDurationMinutes=-10), "", "", "lockDurationMinutes"),
    Bad("for more than a day", locks(lockDurationMinutes=1441), "", "", "lockDurationMinutes"),
    Bad("for half a minute", locks(lockDurationMinutes=0.5), "", "", "lockDurationMinutes"),
    Bad("in words", locks(lockDurationMinutes="ten"), "", "", "lockDurationMinutes"),
    Bad("a number for an operator", denying(1), "", "", "denyList"),
    Bad("a name without an entry", locks(denyList=["dc1"]), "", "", "denyList"),
    Bad("more than can be", denying(*(f"dc{it}" for it in range(101))), "", "", "denyList"),
    Bad("a name without end", denying("d" * 254), "", "", "denyList"),
    Bad("a key without end", locks(lockKeyPrefix="k" * 1001), "", "", "lockKeyPrefix"),
    Bad("a word for a switch", locks(disableLocks="no"), "", "", "disableLocks"),
]  # fmt: skip

FINE = {
    "all of it": locks(
        disableLocks=False, lockKeyPrefix="/locks", lockDurationMinutes=1440, denyList=[]
    ),
    "one minute": locks(lockDurationMinutes=1),
    "names as they can be": denying("a", "dc1", "DC-1_b.c", "d" * 43),
    "oneself": {**denying("dc1"), "processGroupIDPrefix": "dc1"},
}


@pytest.mark.parametrize("bad", TOLD, ids=lambda bad: bad.title)
def test_it_is_told_where_it_is(bad: Bad) -> None:
    assert bad.says in said(bad.spec).get(bad.field, f"nothing of {bad.field}: {said(bad.spec)}")


@pytest.mark.parametrize("name", FINE)
def test_what_can_be_is_taken(name: str) -> None:
    assert said(FINE[name]) == {}


@pytest.mark.virtual
@pytest.mark.parametrize("bad", REFUSED, ids=lambda bad: bad.title)
async def test_it_does_not_get_in(bad: Bad) -> None:
    with pytest.raises(ApiError) as refusal:
        door().create(CLUSTERS, "default", plain(manifest(bad.spec)), STRICT)
    assert bad.door in str(refusal.value)
