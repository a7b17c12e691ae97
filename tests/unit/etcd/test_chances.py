"""Since when a pod has had its chance: what Kubernetes tells of it, and what was watched."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from stateward.core import moments
from stateward.etcd.chances import Chances
from stateward.etcd.model.view import ClaimSeen, PodSeen
from stateward.etcd.reading import pod_seen
from stateward.kube.objects.pods import Pod

CREATED = 1_700_000_000.0


def at(seconds: float) -> str:
    return moments.to_rfc3339(CREATED + seconds)


def pod(
    state: dict[str, Any] | None = None, scheduled: float | None = 0.0, *, ready: str = ""
) -> PodSeen:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    if scheduled is not None:
        condition = {"type": "PodScheduled", "status": "True", "lastTransitionTime": at(scheduled)}
    # Two letters: what Kubernetes says of the pod, and what its node said last of its containers.
    words = zip(("Ready", "ContainersReady"), ready, strict=False)
    told = [{"type": it, "status": "True" if sign == "+" else "False"} for it, sign in words]
    status = {"conditions": [condition, *told]}
    if state is not None:
        status["containerStatuses"] = [{"name": "etcd", "state": state}]  # type: ignore[list-item]
    metadata = {"name": "shop-0", "uid": "u", "creationTimestamp": at(0)}
    spec = {"nodeName": "" if scheduled is None else "node"}
    whole = {"metadata": metadata, "spec": spec, "status": status}
    return pod_seen(msgspec.convert(whole, Pod), 0, "")


RUNS = {"running": {"startedAt": at(300)}}
CRASHED = {"waiting": {"reason": "CrashLoopBackOff"}}
PULLS = {"waiting": {"reason": "ImagePullBackOff"}}


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (pod(), 0),
        (pod(scheduled=None), 0),
        (pod(RUNS), 300),
        (pod(CRASHED), 0),
    ],
    ids=["made", "no node yet", "its node came back", "starts on and on"],
)
def test_what_kubernetes_tells(seen: PodSeen, expected: float) -> None:
    assert seen.chance_since - CREATED == expected


#: What is seen at which second, and how old its chance is at the last of them.
WATCHED: list[tuple[str, list[tuple[float, PodSeen]], float]] = [
    ("the first look counts for nothing", [(900, pod(CRASHED))], 0),
    ("from then on time counts", [(900, pod(CRASHED)), (920, pod(CRASHED))], 20),
    ("what nobody watched does not", [(900, pod(CRASHED)), (1900, pod(CRASHED))], 30),
    ("the image came at last", [(900, pod(PULLS)), (920, pod(CRASHED)), (921, pod(CRASHED))], 1),
    ("it waits as before", [(900, pod(PULLS)), (920, pod(PULLS))], 20),
    ("it found a node", [(900, pod(scheduled=None)), (920, pod(scheduled=919))], 0),
    ("it started meanwhile", [(280, pod(CRASHED)), (305, pod(RUNS))], 5),
    (
        "its node was away, and its etcd crashes there now",
        [(second, pod(RUNS, ready="-+")) for second in range(310, 600, 20)]
        + [(600, pod(CRASHED, ready="--")), (620, pod(CRASHED, ready="--"))],
        20,
    ),
    (
        "its node went away: what was before counts",
        [(310, pod(RUNS, ready="++")), (330, pod(RUNS, ready="-+"))],
        20,
    ),
    ("it crashes between looks", [(310, pod(RUNS)), (330, pod(CRASHED))], 20),
]


@pytest.mark.parametrize(
    ("looks", "expected"), [it[1:] for it in WATCHED], ids=[it[0] for it in WATCHED]
)
def test_what_was_watched(looks: list[tuple[float, PodSeen]], expected: float) -> None:
    chances = Chances()
    for second, seen in looks:
        noted = chances.noted(seen, None, CREATED + second)
    assert CREATED + second - noted.chance_since == expected


def test_a_volume_that_was_lost_only_now_has_a_chance_to_come_back() -> None:
    chances, waits = Chances(), pod(scheduled=None)
    claim = ClaimSeen("c", "data-shop-0", 0, CREATED, phase="Bound")
    lost = ClaimSeen("c", "data-shop-0", 0, CREATED, phase="Lost")

    ages = [
        CREATED + second - chances.noted(waits, it, CREATED + second).chance_since
        for second, it in [(0, claim), (20, claim), (25, lost), (45, lost), (46, claim)]
    ]

    assert ages == [0, 20, 0, 20, 0]


def test_a_clock_that_is_behind_kubernetes_gives_no_credit() -> None:
    noted = Chances().noted(pod(RUNS), None, CREATED + 10)
    assert noted.chance_since == CREATED + 10
