"""A cluster gets TLS only by certificates that all will believe: its own processes, and we."""

from __future__ import annotations

import pytest

from fakes import fdb_tls
from fakes.fdb_stories import KEY, NAMESPACE, USER, Story, merged, operator, played, single
from fakes.fdb_tls import ON
from fakes.fdb_tls_stories import BOTH, CERTIFIED, GOOD, SIGNER, certified, keep, kills, listening
from stateward.core.peers.meeting import Side
from stateward.fdb.model.names import config_map_name
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS

STRANGER = fdb_tls.authority()
OTHERS = fdb_tls.files(STRANGER)
RULES = {"mainContainer": {"enableTls": True, "peerVerificationRules": "S.CN=store"}}
REFUSED: dict[str, tuple[dict[str, bytes], Json, str]] = {
    "another authority's": (
        GOOD | {"ca.crt": OTHERS["ca.crt"]},
        ON,
        "secret default/shop-certs: tls.crt must be signed by secret default/shop-certs: ca.crt",
    ),
    "rules that it does not fulfil": (GOOD, RULES, "tls.crt must fulfil spec.mainContainer"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_no_conversion_begins_by(what: str) -> None:
    held, change, words = REFUSED[what]

    async def story(it: Story) -> None:
        keep(it, held)
        await it.create(certified())
        it.change(**change)
        await it.rest(600)
        assert listening(it) == {False}
        assert kills(it) == 0, "nobody is started by what others refuse"
        ready = it.condition("Ready")
        assert ready["reason"] == "CertificateUnusable"
        assert words in ready["message"]
        keep(it)
        it.change(mainContainer={"peerVerificationRules": "S.CN=shop"})
        await it.reconciled()
        assert listening(it) == {True}

    played(story)


def own_of(held: dict[str, bytes]) -> Side:
    return Side(held["tls.crt"], held["tls.key"], held["ca.crt"])


def test_an_operator_whom_nobody_would_believe_says_so_and_begins_nothing() -> None:
    async def story(it: Story) -> None:
        keep(it)
        await it.rest(1)
        it.stop()
        it.slots = it.it.operate(lambda around: operator(around, own=lambda: own_of(OTHERS)))
        await it.create(certified())
        it.change(**ON)
        await it.rest(300)
        assert listening(it) == {False}
        assert "the operator's own authority" in it.condition("Ready")["message"]
        it.stop()
        good = fdb_tls.files(SIGNER, name="operator")
        it.slots = it.it.operate(lambda around: operator(around, own=lambda: own_of(good)))
        await it.reconciled()
        assert listening(it) == {True}

    played(story)


def test_a_secret_that_becomes_another_authoritys_in_the_middle_holds_the_next_restart() -> None:
    """Those of two authorities do not believe each other: nobody is started by it."""

    async def story(it: Story) -> None:
        keep(it)
        await it.create(certified())
        it.change(**ON)
        await it.until("both", lambda: it.status["requiredAddresses"] == BOTH)
        keep(it, GOOD | {"ca.crt": OTHERS["ca.crt"]})
        await it.rest(900)
        assert listening(it) != {True}, "the old way is not dropped"
        assert kills(it) <= 1
        assert "must be signed by" in it.condition("Ready")["message"]
        keep(it)
        await it.reconciled()
        assert listening(it) == {True}

    played(story)


def test_one_that_vanishes_between_the_two_restarts_holds_the_second() -> None:
    async def story(it: Story) -> None:
        keep(it)
        await it.create(certified())
        it.change(**ON)
        await it.until("one", lambda: kills(it) == 1)
        keep(it, merged(GOOD, {"tls.key": b""}))
        await it.rest(900)
        assert kills(it) == 1
        assert listening(it) == {True, False}
        assert it.condition("Ready")["reason"] == "CertificateUnusable"
        keep(it)
        await it.reconciled()
        assert listening(it) == {True}
        assert kills(it) == 2

    played(story)


def test_a_config_map_that_a_hand_wrote_begins_no_tls() -> None:
    """Pods that lack certificates would not come back from a restart with TLS."""

    async def story(it: Story) -> None:
        keep(it)
        await it.create(single(automationOptions={"deletionMode": "None"}))
        it.change(**merged(ON, CERTIFIED))
        await it.until("told", lambda: it.condition("Ready")["reason"] == "CertificatesAwaited")
        key = ObjectKey(NAMESPACE, config_map_name(KEY.name))
        data = it.it.world.api.get(CONFIG_MAPS, key).document()["data"]
        written = {name: f"{text} :tls" for name, text in data.items() if "fdbmonitor" in name}
        assert written
        it.it.world.api.patch(CONFIG_MAPS, key, MergePatch({"data": written}), USER)
        await it.rest(300)
        assert listening(it) == {False}
        assert kills(it) == 0
        it.change(automationOptions={"deletionMode": "Zone"})
        await it.reconciled()
        await it.until("gone", it.none_leaves)
        assert listening(it) == {True}

    played(story)
