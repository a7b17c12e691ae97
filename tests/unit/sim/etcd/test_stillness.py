"""What must be so at rest, however it came about; and where only a person can help."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fakes.etcd_hand import Stage, played
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.etcd.model.names import CLUSTER_UID_LABEL, LEFT_BY
from stateward.kube.client import MergePatch
from stateward.kube.resources import DISRUPTION_BUDGETS, STATEFUL_SETS, VOLUME_CLAIMS
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.sim.etcd.oracles.dead_ends import is_dead_end
from stateward.sim.etcd.oracles.stillness import MOST_CALLS, at_rest
from stateward.sim.etcd.scenarios import KEY

USER = Author("user")


def _nothing(_: Stage) -> None:
    pass


def _no_budget(at: Stage) -> None:
    at.it.world.api.delete(DISRUPTION_BUDGETS, KEY, DeleteOptions())


def _small_budget(at: Stage) -> None:
    body = MergePatch({"spec": {"minAvailable": 1}})
    at.it.world.api.patch(DISRUPTION_BUDGETS, KEY, body, USER)


def _dead_member(at: Stage) -> None:
    at.it.universe.stop(at.server(2), gently=False)


def _one_more(at: Stage) -> None:
    at.add(7)


def _restless(at: Stage) -> None:
    for _ in range(MOST_CALLS // 4 + 1):
        at.look()


@pytest.mark.parametrize(
    ("play", "laws"),
    [
        (_nothing, set()),
        (_no_budget, {"E-S13"}),
        (_small_budget, {"E-S13"}),
        (_dead_member, {"K5"}),
        (_one_more, {"K5"}),
        (_restless, {"K9"}),
    ],
)
def test_what_is_wrong_at_rest_is_seen_however_it_came_about(
    play: Callable[[Stage], None], laws: set[str]
) -> None:
    found: set[str] = set()

    async def run(at: Stage) -> None:
        await at.pass_time(120.0)
        play(at)
        found.update(law for law, _ in at_rest(at.watch.scene, at.watch.rates))

    played(run)
    assert found == laws


# -------------------------------------------------------------------------- dead ends


def _tell(at: Stage, guard: str) -> None:
    told = {"step": "Begin", "guard": guard, "message": "no", "hint": "", "since": ""}
    body = MergePatch({"status": {"blockers": [told]}})
    at.it.world.api.patch(ETCD_CLUSTERS, KEY, body, USER, subresource="status")


def _all_gone(at: Stage) -> None:
    for ordinal in range(3):
        at.it.universe.stop(at.server(ordinal), gently=False)


def _kept_claim(at: Stage) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    metadata = {"name": "data-shop-7", "labels": {CLUSTER_UID_LABEL: "an-earlier-one"}}
    body = {"metadata": metadata, "spec": spec}
    at.it.world.api.create(VOLUME_CLAIMS, "ns", body, USER)


def _no_workload(at: Stage) -> None:
    at.it.world.api.delete(STATEFUL_SETS, KEY, DeleteOptions())


@pytest.mark.parametrize(
    ("guard", "play"),
    [
        ("SurvivorMissing", _all_gone),
        ("VolumeTaken", _kept_claim),
        ("UpgradeRefused", _no_workload),
    ],
)
def test_only_what_is_so_and_is_told_is_a_dead_end(
    guard: str, play: Callable[[Stage], None]
) -> None:
    found: list[bool] = []

    async def run(at: Stage) -> None:
        _tell(at, guard)
        found.append(is_dead_end(at.it))
        play(at)
        found.append(is_dead_end(at.it))
        _tell(at, "NoSpace")
        found.append(is_dead_end(at.it))

    played(run)
    assert found == [False, True, False]


# -------------------------------------------------------------------------- volumes that are left


@pytest.mark.parametrize(("member", "laws"), [("dead", set()), ("", {"E-S4"})])
def test_a_volume_goes_under_a_pod_only_if_it_says_that_its_member_is_gone(
    member: str, laws: set[str]
) -> None:
    found: set[str] = set()

    async def run(at: Stage) -> None:
        at.look()
        at.remove(2)
        at.patch(VOLUME_CLAIMS, "data-shop-2", {"metadata": {"annotations": {LEFT_BY: member}}})
        at.look()
        before = at.broken
        at.delete_claim(2)
        found.update(at.broken - before)

    played(run)
    assert found == laws
