"""Pods on nodes, and their volumes: what becomes of them, told as a story.

Each line of a story is a second and what somebody does then, or what must be so then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS, VOLUME_CLAIMS
from stateward.local.api import Api
from stateward.local.catalog import STORAGE_CLASSES
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.sim.kube.lodgers import Launch
from stateward.sim.kube.nodes import Nodes
from stateward.sim.kube.volumes import Volumes
from stateward.sim.loop import SimClock, SimLoop, running

USER = Author("user")


@dataclass(eq=False)
class Clock:
    """A program that is ready at once, and runs until it is stopped."""

    launch: Launch
    ready: bool = True
    ended: bool = False

    def stop(self, *, gently: bool) -> None:
        self.ended = True


@dataclass
class Place:
    """A cluster with three nodes."""

    loop: SimLoop
    programs: list[Clock] = field(default_factory=list)
    #: Why programs do not start.
    obstacle: str = ""

    def __post_init__(self) -> None:
        ports = Ports(SimClock(self.loop), Chance(7))
        self.api = Api(ports)
        self.volumes: Volumes[list[str]] = Volumes(self.loop, self.api, Chance(7, "v"), list)
        self.nodes = Nodes(self.loop, self.api, Chance(7, "n"), self._run)

    def _run(self, launch: Launch) -> Clock | str:
        if self.obstacle:
            return self.obstacle
        self.programs.append(Clock(launch))
        return self.programs[-1]

    # ------------------------------------------------------------------ doing

    def pod(self, name: str = "a", claim: str = "") -> None:
        """Make a pod."""
        spec: Json = {"containers": [{"name": "etcd"}]}
        if claim:
            spec["volumes"] = [{"name": "d", "persistentVolumeClaim": {"claimName": claim}}]
        self.api.create(PODS, "ns", {"metadata": {"name": name}, "spec": spec}, USER)

    def claim(self, name: str = "c", kind: str = "") -> None:
        """Make a claim, of a class of volumes."""
        spec: Json = {"resources": {"requests": {"storage": "1Gi"}}, "storageClassName": kind}
        self.api.create(VOLUME_CLAIMS, "ns", {"metadata": {"name": name}, "spec": spec}, USER)

    def stiff(self) -> None:
        """Make a class whose volumes never grow."""
        self.api.create(STORAGE_CLASSES, "", {"metadata": {"name": "stiff"}}, USER)

    def ask(self) -> None:
        """Ask for more in the claim."""
        patch = MergePatch({"spec": {"resources": {"requests": {"storage": "2Gi"}}}})
        self.api.patch(VOLUME_CLAIMS, ObjectKey("ns", "c"), patch, USER)

    def delete(self, name: str = "a", *, force: bool = False) -> None:
        """Delete a pod."""
        grace = 0 if force else None
        self.api.delete(PODS, ObjectKey("ns", name), DeleteOptions(grace_seconds=grace))

    def delete_claim(self) -> None:
        """Delete the claim."""
        self.api.delete(VOLUME_CLAIMS, ObjectKey("ns", "c"), DeleteOptions())

    def end(self, code: int = 1, words: str = "no") -> None:
        """Let the newest program end by itself."""
        self.programs[-1].ended = True
        self.programs[-1].launch.on_exit(code, words)

    # ------------------------------------------------------------------ looking

    def seen(self, name: str = "a") -> str:
        """Return what Kubernetes says of a pod: its phase, ready, leaving, restarts, why it waits."""
        stored = self.api.store.get(PODS.name, ObjectKey("ns", name))
        if stored is None:
            return "none"
        pod = stored.document()
        status = pod.get("status") or {}
        conditions = {it["type"]: it["status"] for it in status.get("conditions") or ()}
        words = [status.get("phase", "new")]
        words += ["ready"] if conditions.get("Ready") == "True" else []
        words += ["leaving"] if "deletionTimestamp" in pod["metadata"] else []
        for container in status.get("containerStatuses") or ():
            words += [f"x{container['restartCount']}"] if container["restartCount"] else []
            words += [container["state"].get("waiting", {}).get("reason", "")]
        return " ".join(filter(None, words))

    @property
    def running(self) -> int:
        """How many programs run, whoever knows of them."""
        return sum(not it.ended for it in self.programs)

    @property
    def claims(self) -> str:
        """What Kubernetes says of the claim."""
        stored = self.api.store.get(VOLUME_CLAIMS.name, ObjectKey("ns", "c"))
        if stored is None:
            return "none"
        leaving = " leaving" if b"deletionTimestamp" in stored.text else ""
        return (stored.document().get("status") or {}).get("phase", "Pending") + leaving

    @property
    def size(self) -> str:
        """How large the claim is said to be, and what it waits for."""
        status = self.api.get(VOLUME_CLAIMS, ObjectKey("ns", "c")).document()["status"]
        waits = [it["type"] for it in status.get("conditions") or ()]
        return " ".join([status["capacity"]["storage"], *waits])


Story = list[tuple[float, Any]]


def told(story: Callable[[Place], Story]) -> None:
    """Live a story: call what can be called, and compare the rest with what is so then."""
    with running(SimLoop(Chance(3))) as loop:
        loop.run_until_complete(_live(loop, story))


async def _live(loop: SimLoop, story: Callable[[Place], Story]) -> None:
    place = Place(loop)
    for second, what in story(place):
        await asyncio.sleep(max(second - loop.time(), 0))
        if callable(what):
            what()
        else:
            found = {name: _look(place, name) for name in what}
            assert found == what, f"at second {second}"


def _look(place: Place, name: str) -> object:
    found = getattr(place, name)
    return found() if callable(found) else found


def test_a_pod_gets_a_node_starts_and_is_ready():
    told(lambda it: [(0, it.pod), (5, {"seen": "Running ready", "running": 1})])


def test_a_pod_that_is_deleted_ends_and_then_is_gone():
    told(
        lambda it: [
            (0, it.pod),
            (5, it.delete),
            (5, {"seen": "Running ready leaving", "running": 1}),
            (7, {"seen": "none", "running": 0}),
        ]
    )


def test_a_container_that_ends_starts_at_once_and_then_ever_later():
    told(
        lambda it: [
            (0, it.pod),
            (5, it.end),
            (7, {"seen": "Running ready x1"}),
            (8, it.end),
            (17, {"seen": "Running x2 CrashLoopBackOff", "running": 0}),
            (20, {"seen": "Running ready x2", "running": 1}),
            (21, it.end),
            (40, {"seen": "Running x3 CrashLoopBackOff"}),
            (45, {"seen": "Running ready x3"}),
            # what ran for ten minutes is forgiven
            (700, it.end),
            (702, {"seen": "Running ready x4"}),
        ]
    )


def test_the_node_of_a_pod_is_lost_and_found():
    told(
        lambda it: [
            (0, it.pod),
            (5, lambda: it.nodes.lose("node-0")),
            (40, {"seen": "Running ready", "running": 1}),
            (60, {"seen": "Running", "running": 1}),
            (60, it.delete),
            (90, {"seen": "Running leaving", "running": 1}),
            (90, lambda: it.nodes.find("node-0")),
            (93, {"seen": "none", "running": 0}),
        ]
    )


def test_it_is_found_before_anybody_noticed():
    told(
        lambda it: [
            (0, it.pod),
            (5, lambda: it.nodes.lose("node-0")),
            (20, lambda: it.nodes.find("node-0")),
            (100, {"seen": "Running ready", "running": 1}),
        ]
    )


def test_after_five_minutes_its_pods_are_deleted_and_stay():
    told(
        lambda it: [
            (0, it.pod),
            (5, lambda: it.nodes.lose("node-0")),
            (300, {"seen": "Running"}),
            (400, {"seen": "Running leaving", "running": 1}),
        ]
    )


def test_who_deletes_by_force_leaves_a_program_behind_until_its_volume_is_taken():
    told(
        lambda it: [
            (0, it.pod),
            (5, lambda: it.nodes.lose("node-0")),
            (10, lambda: it.delete(force=True)),
            (10, {"seen": "none", "running": 1}),
            (11, it.pod),
            (20, {"seen": "Running ready", "running": 2}),
            (360, {"running": 2}),
            (380, {"running": 1}),
        ]
    )


def test_or_until_its_node_is_found():
    told(
        lambda it: [
            (0, it.pod),
            (5, lambda: it.nodes.lose("node-0")),
            (10, lambda: it.delete(force=True)),
            (20, lambda: it.nodes.find("node-0")),
            (22, {"seen": "none", "running": 0}),
        ]
    )


def test_without_power_nothing_runs_and_the_same_pod_starts_again():
    told(
        lambda it: [
            (0, it.pod),
            (5, lambda: it.nodes.lose("node-0", dark=True)),
            (6, {"seen": "Running ready", "running": 0}),
            (60, {"seen": "Running", "running": 0}),
            (70, lambda: it.nodes.find("node-0")),
            (75, {"seen": "Running ready x1", "running": 1}),
        ]
    )


def test_a_pod_waits_for_its_claim():
    told(
        lambda it: [
            (0, lambda: it.pod(claim="c")),
            (10, {"seen": "Pending", "running": 0}),
            (10, it.claim),
            (20, {"seen": "Running ready", "claims": "Bound"}),
        ]
    )


def test_a_claim_stays_while_a_pod_uses_it_and_no_new_pod_gets_it():
    told(
        lambda it: [
            (0, it.claim),
            (0, lambda: it.pod(claim="c")),
            (5, it.delete_claim),
            (60, {"seen": "Running ready", "claims": "Bound leaving"}),
            (60, lambda: it.pod("b", claim="c")),
            (70, it.delete),
            (80, {"claims": "none"}),
            (80, lambda: _is(it.seen("b"), "Pending")),
        ]
    )


def test_a_claim_that_asks_for_more_gets_it_on_the_node_of_its_pod():
    told(
        lambda it: [
            (0, it.claim),
            (5, it.ask),
            (60, {"size": "1Gi FileSystemResizePending"}),
            (60, lambda: it.pod(claim="c")),
            (70, {"size": "2Gi"}),
        ]
    )


def test_a_volume_of_a_class_that_does_not_grow_stays_as_it_is():
    told(
        lambda it: [
            (0, it.stiff),
            (0, lambda: it.claim(kind="stiff")),
            (0, lambda: it.pod(claim="c")),
            (5, it.ask),
            (60, {"size": "1Gi"}),
        ]
    )


def test_a_claim_that_is_stuck_stays_for_longer():
    def stick(it: Place) -> None:
        it.volumes.stuck[ObjectKey("ns", "c")] = 60.0

    told(
        lambda it: [
            (0, it.claim),
            (5, lambda: stick(it)),
            (5, it.delete_claim),
            (55, {"claims": "Bound leaving"}),
            (65, {"claims": "none"}),
        ]
    )


def test_a_pod_that_is_stuck_stays_while_nothing_runs_in_it():
    def stick(it: Place) -> None:
        next(iter(it.nodes.lodgers.values())).stuck_until = 60.0

    told(
        lambda it: [
            (0, it.pod),
            (5, lambda: stick(it)),
            (5, it.delete),
            (55, {"seen": "Running leaving Stuck", "running": 0}),
            (65, {"seen": "none"}),
        ]
    )


def test_nobody_gets_a_place_where_there_is_none():
    def close(it: Place, by: int) -> None:
        it.nodes.closed += by

    told(
        lambda it: [
            (0, lambda: close(it, 1)),
            (0, it.pod),
            (30, {"seen": "Pending"}),
            (30, lambda: close(it, -1)),
            (40, {"seen": "Running ready"}),
        ]
    )


@pytest.mark.parametrize("why", ["ErrImagePull", "CreateContainerConfigError"])
def test_a_container_that_cannot_start_is_tried_again(why):
    def put(it: Place, obstacle: str) -> None:
        it.obstacle = obstacle

    told(
        lambda it: [
            (0, lambda: put(it, why)),
            (0, it.pod),
            (30, {"seen": f"Pending {why}"}),
            (30, lambda: put(it, "")),
            (40, {"seen": "Running ready"}),
        ]
    )


def test_what_befalls_one_pod_does_not_shift_another():
    """Chance has a stream for every pod: the moments of b are the same whether there is an a."""

    def moments(*names: str) -> list[tuple[float, str]]:
        with running(SimLoop(Chance(3))) as loop:
            place = Place(loop)
            seen: list[tuple[float, str]] = []
            place.api.store.listen(
                lambda event: seen.append((loop.time(), event.now.key.name)), PODS.name
            )
            for name in names:
                place.pod(name)
            loop.run_until_complete(asyncio.sleep(10))
            return [it for it in seen if it[1] == "b"]

    assert moments("a", "b") == moments("b")


def _is(found: object, wanted: object) -> None:
    assert found == wanted
