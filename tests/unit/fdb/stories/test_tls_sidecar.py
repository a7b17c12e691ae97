"""Sidecars of split images get TLS, give it up and show renewed certificates, on a live cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from fakes import fdb_tls
from fakes.fdb_crashes import PLAIN, Crashes, crashed, ended, made
from fakes.fdb_stories import Story, merged, played, spec
from fakes.fdb_tls_stories import EXPIRED, GOOD, SIGNER, SMALL, keep, kills, listening
from stateward.core import pems
from stateward.kube.codec import Json
from stateward.sim.fdb.keepers import Split

SIDECAR = "foundationdb-kubernetes-sidecar"
ON = {"sidecarContainer": {"enableTls": True}}
OFF = {"sidecarContainer": {"enableTls": False}}
KNOB = {"processes": {"general": {"customParameters": ["knob_max_trace_lines=1000"]}}}
TEMPLATE = fdb_tls.template(fdb_tls.container(), fdb_tls.container(SIDECAR))
CERTIFIED = {"imageType": "split", "processes": {"general": {"podTemplate": TEMPLATE}}}
IN_PLACE = {"automationOptions": {"podUpdateStrategy": "Delete"}}


def split(**over: Any) -> Json:
    """Return a cluster of split images whose sidecars have certificates."""
    return merged(spec(**SMALL), merged(merged(CERTIFIED, IN_PLACE), over))


def sidecars(it: Story) -> Iterator[Split]:
    """Yield what runs beside fdbmonitor."""
    for name in it.groups():
        program = it.it.pods.program(it.pod(name))
        if program is not None and isinstance(program.keeper, Split):
            yield program.keeper


def speaking(it: Story) -> set[bool]:
    """Return whether sidecars speak with TLS, and without."""
    return {one.errands.tls for one in sidecars(it)}


def shown(it: Story) -> set[str]:
    return {one.shown for one in sidecars(it)}


def misunderstood(it: Story) -> list[str]:
    """Return how often a sidecar was asked in a way that it does not speak; filled as they are."""
    found: list[str] = []

    def call(_who: str, asked: Any) -> None:
        if not hasattr(asked, "tls") or not hasattr(asked, "host"):
            return
        program = it.it.pods.at(asked.host)
        keeper = program.keeper if program is not None else None
        if isinstance(keeper, Split) and keeper.errands.tls is not asked.tls:
            found.append(str(asked))

    it.it.world.weather.listeners.append(call)
    return found


@pytest.mark.parametrize("to_tls", [True, False], ids=["on", "off"])
def test_pods_are_made_anew_zone_by_zone_and_each_sidecar_is_asked_in_its_own_way(
    to_tls: bool,
) -> None:
    async def story(it: Story) -> None:
        keep(it)
        await it.create(split(**(OFF if to_tls else ON)))
        assert speaking(it) == {not to_tls}
        wrong, pods = misunderstood(it), it.uids()
        it.change(**(ON if to_tls else OFF))
        await it.reconciled()
        assert speaking(it) == {to_tls}
        assert not it.uids().items() & pods.items(), "all pods are others"
        assert shown(it) == ({pems.fingerprint(GOOD["tls.crt"])} if to_tls else {""})
        assert kills(it) == 0, "no listener of the database changes"
        assert listening(it) == {False}
        it.change(**merged(KNOB, {"processes": CERTIFIED["processes"]}))
        await it.reconciled()
        assert kills(it) == 1, "files come by sidecars as before"
        assert wrong == []
        await it.at_rest()

    played(story)


def test_a_knob_while_half_of_them_speak_tls_reaches_all() -> None:
    async def story(it: Story) -> None:
        keep(it)
        await it.create(split())
        wrong = misunderstood(it)
        it.change(**ON)
        await it.until("half", lambda: speaking(it) == {True, False})
        it.change(**merged(KNOB, {"processes": CERTIFIED["processes"]}))
        await it.reconciled()
        assert speaking(it) == {True}
        assert kills(it) <= 1, "who is made anew has it by that"
        assert wrong == []

    played(story)


def test_a_renewed_certificate_is_shown_by_all_without_a_restart() -> None:
    async def story(it: Story) -> None:
        keep(it)
        await it.create(split(**ON))
        pods, before = it.uids(), len(it.recoveries)
        renewed = fdb_tls.files(SIGNER, days=700)
        keep(it, renewed)
        now = {pems.fingerprint(renewed["tls.crt"])}
        await it.until("all show it", lambda: shown(it) == now, within=300)
        await it.reconciled()
        assert it.uids() == pods
        assert len(it.recoveries) == before
        await it.at_rest()

    played(story)


def test_what_cannot_be_used_is_not_what_sidecars_are_asked_to_read() -> None:
    async def story(it: Story) -> None:
        keep(it)
        await it.create(split(**ON))
        keep(it, EXPIRED)
        await it.rest(600)
        assert shown(it) == {pems.fingerprint(GOOD["tls.crt"])}
        assert "has expired" in it.status["blockers"][0]["message"]
        keep(it, fdb_tls.files(SIGNER, days=700))
        await it.reconciled()
        assert pems.fingerprint(GOOD["tls.crt"]) not in shown(it)

    played(story)


@pytest.mark.parametrize(
    "held",
    [None, EXPIRED, GOOD | {"ca.crt": b"hello"}],
    ids=["missing", "expired", "no authority"],
)
def test_no_sidecar_gets_tls_by_a_certificate_that_is(held: dict[str, bytes] | None) -> None:
    async def story(it: Story) -> None:
        keep(it)
        await it.create(split())
        pods = it.uids()
        keep(it, held if held is not None else {"tls.crt": b"", "tls.key": b"", "ca.crt": b""})
        it.change(**ON)
        await it.rest(600)
        assert it.uids() == pods, "who would be started by it does not come back"
        assert it.condition("Ready")["reason"] == "CertificateUnusable"
        assert speaking(it) == {False}
        keep(it)
        await it.reconciled()
        assert speaking(it) == {True}

    played(story)


# ------------------------------------------------------------------ with other wishes at once
OTHERS: dict[str, Json] = {
    "a patch release": {"version": "7.3.69"},
    "another line": {"version": "7.4.3"},
    "unified images": {"imageType": "unified"},
    "more processes": {"processCounts": {"storage": 5}},
    "TLS of processes": {"mainContainer": {"enableTls": True}},
}


@pytest.mark.parametrize("other", OTHERS)
def test_sidecars_get_tls_together_with(other: str) -> None:
    async def story(it: Story) -> None:
        keep(it)
        await it.create(split())
        it.change(**merged(ON, OTHERS[other]))
        await it.reconciled()
        await it.until("gone", it.none_leaves)
        if other == "unified images":
            return
        assert speaking(it) == {True}
        assert listening(it) == {other == "TLS of processes"}

    played(story, nodes=8)


# ------------------------------------------------------------------ dying on the way
@pytest.mark.parametrize("to_tls", [True, False], ids=["on", "off"])
def test_while_sidecars_change(to_tls: bool) -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        keep(it)
        body = merged(merged(PLAIN, merged(CERTIFIED, IN_PLACE)), OFF if to_tls else ON)
        await made(it, body)
        crashes.begin(it)
        it.change(**(ON if to_tls else OFF))
        await ended(it)
        assert speaking(it) == {to_tls}
        assert kills(it) == 0

    assert crashed(story, Crashes(reads=40, writes_too=2)) > 3


def test_while_certificates_are_renewed() -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        keep(it)
        await made(it, merged(PLAIN, merged(CERTIFIED, ON)))
        renewed = fdb_tls.files(SIGNER, days=700)
        crashes.begin(it)
        keep(it, renewed)
        now = {pems.fingerprint(renewed["tls.crt"])}
        await it.until("all show it", lambda: shown(it) == now)
        await ended(it)

    assert crashed(story, Crashes(reads=20)) > 3
