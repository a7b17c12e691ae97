"""Where a cluster is on its way to TLS, or back, and how people are told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fakes.fdb_views import cluster
from stateward.core.outcome import DONE, Outcome, Retry
from stateward.fdb.decide.tls.stages import Stage, stage
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.transport import Transport
from stateward.fdb.tell.status import Told, status_of
from stateward.fdb.views import ClusterView

FOUND = {"t": "10.0.0.1:4500:tls", "p": "10.0.0.1:4501"}
LACKING = "TLS is not begun: pods have yet to get certificates: shop-log-1"
KEPT = "the old address is kept until these are back, or go: shop-log-1"


def way(asked: str, listen: str, used: str, *, unfinished: bool, held: str = "") -> ClusterView:
    """Return a cluster: asked for ``t`` (TLS) or ``p``, who shall listen so, and is found so."""
    view = cluster("s1 s2 s3 l1 x1", mainContainer={"enableTls": asked == "t"})
    transport = Transport("t" in listen, "p" in listen, held, unfinished)
    connection = ConnectionString.parse("a:b@" + ",".join(FOUND[it] for it in used))
    return replace(view, transport=transport, connection=connection)


@pytest.mark.parametrize(
    ("asked", "listen", "used", "unfinished", "held", "number"),
    [
        # no way to go
        ("p", "p", "p", False, "", None),
        ("t", "t", "t", False, "", None),
        # on
        ("t", "p", "p", False, LACKING, 1),
        ("t", "tp", "p", True, "", 2),
        ("t", "tp", "p", False, "", 3),
        ("t", "tp", "tp", False, "", 3),
        ("t", "tp", "t", False, KEPT, 4),
        ("t", "t", "t", True, "", 4),
        # off
        ("p", "tp", "t", True, "", 2),
        ("p", "tp", "t", False, "", 3),
        ("p", "tp", "p", False, KEPT, 4),
        ("p", "p", "p", True, "", 4),
    ],
)
def test_the_stage(
    asked: str, listen: str, used: str, unfinished: bool, held: str, number: int | None
) -> None:
    found = stage(way(asked, listen, used, unfinished=unfinished, held=held))
    assert found == (None if number is None else Stage(number, asked == "t"))


FILES = Retry(15.0, "PodsOutdated", "pods do not have the newest files yet (1): log-1")
LATER = Retry(10.0, "ChangeCoordinatorsHeld", "changing coordinators waits: it recovered just now")
AWAITED = Retry(15.0, "CertificatesAwaited", LACKING)
ENDS = Retry(3600.0, "CertificateEndsSoon", "secret shop-certs: it ends in 9 days")
MAKING = Retry(15.0, "UpdatePodsHeld", "making pods anew waits: data is being copied")
BACK = Retry(15.0, "ListenersAwaited", KEPT)
#: The cluster, what steps say, and what is told: the column DOING and status.progress.
SAID: dict[str, tuple[ClusterView, list[Outcome], str, str]] = {
    "certificates are awaited, and pods held": (
        way("t", "p", "p", unfinished=False, held=LACKING),
        [AWAITED, MAKING],
        f"TLS on, 1/4 (pods get certificates): {MAKING.message}",
        (
            "TLS is turned on, stage 1 of 4: pods without certificates are made anew;"
            f" now: {MAKING.message}"
        ),
    ),
    "certificates are awaited, and nothing else": (
        way("t", "p", "p", unfinished=False, held=LACKING),
        [AWAITED, DONE],
        f"TLS on, 1/4 (pods get certificates): {LACKING}",
        f"TLS is turned on, stage 1 of 4: pods without certificates are made anew; now: {LACKING}",
    ),
    "files are awaited": (
        way("t", "tp", "p", unfinished=True),
        [ENDS, FILES],
        f"TLS on, 2/4 (listen both ways): {FILES.message}",
        (
            "TLS is turned on, stage 2 of 4: all processes shall listen with TLS and without,"
            f" after one restart; now: {FILES.message}"
        ),
    ),
    "coordinators are about to move": (
        way("p", "tp", "t", unfinished=False),
        [LATER],
        f"TLS off, 3/4 (coordinators move): {LATER.message}",
        (
            "TLS is turned off, stage 3 of 4: coordinators shall be found without TLS;"
            f" now: {LATER.message}"
        ),
    ),
    "somebody is away": (
        way("t", "tp", "t", unfinished=False, held=KEPT),
        [BACK],
        f"TLS on, 4/4 (listen one way): {KEPT}",
        (
            "TLS is turned on, stage 4 of 4: no process shall listen without TLS any more,"
            f" after one more restart; now: {KEPT}"
        ),
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_people_are_told_the_stage_and_what_is_waited_for(name: str) -> None:
    view, outcomes, doing, words = SAID[name]
    said = [(f"Step{number}", it) for number, it in enumerate(outcomes)]
    status = status_of(view, Told(said=said))
    assert status.doing == doing
    progress, here = status.progress, stage(view)
    assert progress is not None
    assert here is not None
    assert (progress.step, progress.message) == ("ChangingTLS", words)
    assert (progress.done, progress.of) == (here.number - 1, 4)


@pytest.mark.parametrize("why", ["paused", "staging", "the spec is invalid"])
def test_who_goes_no_further_now_is_on_no_stage(why: str) -> None:
    view = way("t", "tp", "p", unfinished=True)
    if why == "paused":
        asked = {"mainContainer": {"enableTls": True}, "skip": True}
        view = replace(view, spec=cluster("s1", **asked).spec)
    view = replace(view, staging=why == "staging")
    status = status_of(view, Told(said=[("A", FILES)], invalid=why == "the spec is invalid"))
    assert status.progress is None
    assert status.doing == FILES.message


def test_a_pass_that_is_not_worth_a_word_leaves_what_was_said() -> None:
    view = way("t", "tp", "p", unfinished=True)
    before = status_of(view, Told(said=[("A", FILES)]))
    after = status_of(replace(view, status=before), Told(said=[("A", DONE)], hushed=True))
    assert (after.doing, after.progress) == (before.doing, before.progress)
