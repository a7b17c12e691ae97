"""The roles that we install allow what the operator does in simulated lives: no less, and no more.

And without any single one of these rights it says what it may not do, breaks no law, and goes on as
soon as it may again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from fakes.fdb_backups import BackupStory
from fakes.fdb_backups import played as backed_up
from simulation import fdb_rights_life
from stateward.app.install.rights import BACKUPS, ETCD, FOUNDATIONDB, LEASES, NODES, Right
from stateward.kube.interception import Call
from stateward.kube.resources import DEPLOYMENTS
from stateward.sim.etcd.life import Ask, Life, live
from stateward.sim.etcd.oracles.differences import differences
from stateward.sim.etcd.scenarios import SCENARIOS, cluster, is_ready
from stateward.sim.etcd.world import EtcdWorld
from stateward.sim.faults import Plan
from stateward.sim.fdb.world import served, simulated
from stateward.sim.network import Network

#: A verb, a group and a resource, as roles have them.
Used = tuple[str, str, str]


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> set[Used]:
    """Every call that any operator sends to Kubernetes while this test lives."""
    found: set[Used] = set()

    def noting(way: Callable[..., Any]) -> Callable[..., Any]:
        def noted(self: Network, call: object, *rest: Any) -> Any:
            if isinstance(call, Call):
                it = call.resource
                part = f"{it.plural}/{call.subresource}" if call.subresource else it.plural
                found.add((call.verb, it.group, part))
            return way(self, call, *rest)

        return noted

    for name in ("send", "around_watch"):
        monkeypatch.setattr(Network, name, noting(getattr(Network, name)))
    return found


def allowed(rights: tuple[Right, ...]) -> set[Used]:
    return {(verb, it.group, it.resource) for it in rights for verb in it.verbs}


def test_the_operator_uses_all_its_rights_and_needs_no_other(used: set[Used]) -> None:
    for name in SCENARIOS:
        live(Ask(name))
    assert used == allowed((*ETCD, *LEASES))


def test_so_does_that_of_foundationdb(used: set[Used]) -> None:
    simulated(fdb_rights_life.life, seed=1, serve=served)
    owning = {it for it in allowed(FOUNDATIONDB) if it[2].endswith("/finalizers")}
    assert used == allowed((*FOUNDATIONDB, *LEASES, *NODES)) - owning


def test_so_do_backups_and_restores(used: set[Used]) -> None:
    async def life(it: BackupStory) -> None:
        it.leave_deployment("nightly-backup-agents")
        it.back_up(deletionPolicy="stop")
        await it.until("taken", lambda: it.said(it.backup(), "Ready")[1] == "NameTaken")
        it.delete(DEPLOYMENTS, "nightly-backup-agents")
        await it.backed_up()
        it.edit(agentCount=1)
        await it.until("fewer", lambda: it.backup()["status"]["agentCount"] == 1)
        it.edit(drill={"schedule": "*/5 * * * *", "storage": "1G"})
        await it.until("drilled", lambda: it.said(it.backup(), "BackupProven")[0] == "True")
        it.edit(drill=None)
        await it.until("forgotten", lambda: "drill" not in it.backup()["status"])
        it.restore(backupName="nightly")
        await it.until("told", lambda: it.said(it.restored(), "Failed")[0] == "True")
        it.edit(agentCount=0)
        await it.until("none", lambda: not it.it.world.api.list(DEPLOYMENTS).items)
        it.drop()
        await it.until("gone", lambda: not it.backup())

    backed_up(life)
    owning = {it for it in allowed(BACKUPS) if it[2].endswith("/finalizers")}
    assert used - allowed((*FOUNDATIONDB, *LEASES)) == allowed(BACKUPS) - owning


# -------------------------------------------------------------------------- without one of them

#: Seconds for which a right is missing, and after which the status is read.
MISSING, READ = 300.0, 150.0
#: Where a right is needed; elsewhere a cluster is made.
SCENES = {
    "delete persistentvolumeclaims": "5to3",
    "delete poddisruptionbudgets": "two",
    "delete pods": "roll",
    "delete statefulsets": "larger",
    "get pods": "replace",
    "get secrets": "secured",
    "patch etcdclusters": "kept",
    "patch persistentvolumeclaims": "larger",
    "patch poddisruptionbudgets": "3to5",
    "patch pods": "larger",
    "patch services": "bare",
    "patch statefulsets": "grow",
}
#: Without these nobody can write a status: the log says it, and the operator is not ready.
MUTE = {
    *("list etcdclusters", "patch etcdclusters/status"),
    *("get leases", "create leases", "patch leases"),
}
EVERY = [
    (verb, f"{it.resource}.{it.group}".rstrip(".")) for it in (*ETCD, *LEASES) for verb in it.verbs
]


def without(verb: str, resource: str, told: list[str]) -> Callable[[EtcdWorld], None]:
    """Return who takes a right away for a while, and reads meanwhile what a status tells."""
    plural, _, group = resource.partition(".")
    kind, _, part = plural.partition("/")
    right = (verb, f"{kind}.{group}".rstrip("."), part)

    def begin(it: EtcdWorld) -> None:
        weather = it.world.weather
        weather.forbidden[right] += 1
        over = weather.trouble()

        def read() -> None:
            found = cluster(it)
            assert found is not None
            told.extend(blocker.message for blocker in found.status.blockers)
            told.extend(["ready"] if is_ready(it) else [])

        def allow() -> None:
            weather.forbidden[right] -= 1
            over()

        it.world.later(READ, read)
        it.world.later(MISSING, allow)

    return begin


@pytest.mark.parametrize(("verb", "resource"), EVERY, ids=" ".join)
def test_without_a_right_it_says_so_and_goes_on_when_it_may(verb: str, resource: str) -> None:
    told: list[str] = []
    right = f"{verb} {resource.partition('.')[0]}"
    scenario = SCENES.get(right, "bootstrap")
    # A slow answer is no fault worth mentioning; but a life without any must be quite calm.
    life = live(Ask(scenario, Plan.parse("1=slow")), without(verb, resource, told))

    assert life.violations == ()
    assert differences(calm(scenario), life) == ()
    if right in MUTE:
        assert told == []
    else:
        said = any(f"is forbidden: cannot {verb} it" in it for it in told)
        assert said or told == ["ready"]


@cache
def calm(scenario: str) -> Life:
    return live(Ask(scenario))
