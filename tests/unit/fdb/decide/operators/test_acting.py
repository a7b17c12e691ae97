"""What an act for all operators is done to: what others say of their groups, and of nobody else's."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from fakes.fdb_views import NOW, cluster
from stateward.fdb.decide.operators import acting
from stateward.fdb.model.exclusions import ByAddress, of_instance
from stateward.fdb.model.intents import Intent, Intents, Whose
from stateward.fdb.views import ClusterView

OURS, MISNAMED = Whose("dc1", "storage-1"), Whose("dc2", "storage-2")
THEIRS = Whose("dc2", "dc2-log-1")


def view(*, by_locality: bool = True) -> ClusterView:
    """Return a cluster of dc1, of which one group shall go."""
    options = {"useLocalitiesForExclusion": by_locality}
    return cluster("s1- s2 s3", processGroupIDPrefix="dc1", automationOptions=options)


def shown(found: acting.Entries) -> list[str]:
    return [str(it) for some in found.values() for it in some]


#: What another operator says where its group is, and what stands for it then.
PLACES: dict[tuple[str, ...], list[str]] = {
    (): [],
    ("10.9.0.1",): ["10.9.0.1"],
    ("10.9.0.1:4501", "fd00::1"): ["10.9.0.1:4501", "fd00::1"],
    ("locality_instance_id:dc2-log-1",): ["locality_instance_id:dc2-log-1"],
    # A whole data center, somebody else, and nothing at all.
    ("locality_dcid:dc1", "locality_instance_id:storage-2", "nonsense", "\ud800", ""): [],
}


@pytest.mark.parametrize("places", PLACES)
def test_what_others_say_stands_for_their_group_alone(places: tuple[str, ...]) -> None:
    told = Intents(addresses={THEIRS: places})
    assert shown(acting.excluded(view(by_locality=False), told, [THEIRS])) == PLACES[places]


@pytest.mark.parametrize("name", ["dc2 log 1", "dc2;log", "dc2'log"])
def test_a_name_that_no_process_can_have_is_left_out(name: str) -> None:
    found = acting.excluded(view(), Intents(), [OURS, Whose("dc2", name)])
    assert shown(found) == ["locality_instance_id:storage-1"]


def test_nobody_else_speaks_of_ours() -> None:
    """Who shall stay must not be excluded because another operator says its name."""
    together: Collection[Whose] = [OURS, MISNAMED, THEIRS]
    assert [*acting.excluded(view(), Intents(), together)] == [OURS, THEIRS]
    assert [*acting.restarted(view(), together)] == [OURS]
    told = Intents({Intent.REMOVAL: dict.fromkeys(together, 1)})
    listed = [of_instance("storage-1"), of_instance("storage-2"), ByAddress("10.1.0.2")]
    assert [*acting.included(view(), told, together, listed)] == [OURS, THEIRS]


@pytest.mark.parametrize(("ago", "leaves"), [(10, True), (299, True), (300, False)])
def test_nobody_makes_room_for_those_of_an_operator_that_is_gone(ago: int, *, leaves: bool) -> None:
    """Data stays where they are, so ours may go there: we would be held up without end."""
    said = {Intent.REMOVAL: {THEIRS: int(NOW) - ago, OURS: int(NOW)}}
    found = acting.leaving_elsewhere(Intents(said), "dc1", NOW)
    assert [*found] == (["dc2-log-1"] if leaves else [])
    assert acting.going_elsewhere(Intents(said), "dc1") == {"dc2-log-1"}, "but it never coordinates"
    assert acting.leaving_elsewhere(None, "dc1", NOW) == frozenset()
