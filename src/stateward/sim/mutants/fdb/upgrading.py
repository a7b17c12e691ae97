"""Bugs about upgrades in which all processes change at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from stateward.fdb.build.basis import Basis
from stateward.fdb.cluster.steps.making import update_process_groups
from stateward.fdb.decide.groups import pod_updates, replacing
from stateward.fdb.decide.upgrades import judging as upgrades
from stateward.fdb.guards.guard import Refusal
from stateward.fdb.tell import generations as telling
from stateward.fdb.tell import status as told
from stateward.fdb.views import ClusterView, GroupView
from stateward.sim.mutants.planting import Patch, bug


@bug(
    "M41",
    "all are restarted before every pod has the new programs",
    "S000: every process has the new binary before the bounce",
    *("fdb-upgrade-eager",),
)
def staged_by_nobody(patch: Patch) -> None:
    """Ask nobody whether it has them."""

    def unstaged(_view: ClusterView) -> tuple[GroupView, ...]:
        return ()

    patch.put(upgrades, "unstaged", unstaged)


@bug(
    "M42",
    "pods are made from the new image before all processes have changed",
    "S000: the image of the main container changes after the bounce",
    *("fdb-upgrade",),
)
def image_comes_first(patch: Patch) -> None:
    """Give pods the version that is staged, and let them be made anew meanwhile."""
    patch.put(Basis, "main_version", property(lambda self: self.spec.version))
    patch.put(update_process_groups, "with_programs_of", lambda _now, wanted: wanted)
    patch.put(upgrades, "never_staged", lambda _view, _with_other_server: ())
    for module in (pod_updates, replacing):
        patch.put(module, "not_now", lambda _view: "")


@bug(
    "M43",
    "clients are looked at when an upgrade begins, and not again before the restart",
    "FoundationDB/fdb-kubernetes-operator: clients are checked once",
    *("fdb-upgrade-client",),
)
def clients_once(patch: Patch) -> None:
    """Take it that nobody came meanwhile."""
    inner = upgrades.cut_off

    def cut_off(view: ClusterView) -> Refusal | None:
        return None if view.staging else inner(view)

    patch.put(upgrades, "cut_off", cut_off)


@bug(
    "M44",
    "an upgrade is called done while pods still have the image before",
    "FoundationDB/fdb-kubernetes-operator#2341",
    *("fdb-upgrade",),
)
def done_too_early(patch: Patch) -> None:
    """Look at what runs, and at no pod."""
    inner = telling.generations

    def generations(view: ClusterView, differences: telling.Differences) -> Any:
        found = inner(view, differences)
        runs = str(view.running_version) == view.spec.version and view.configured
        if not runs or found.missing_database_status:
            return found
        return msgspec.structs.replace(found, reconciled=view.generation)

    patch.put(told, "generations", generations)


@bug(
    "M45",
    "some processes are left out of the restart of an upgrade",
    "FoundationDB/fdb-kubernetes-operator#1584",
    *("fdb-upgrade",),
)
def some_are_left(patch: Patch) -> None:
    """Restart those that keep data, and forget the others."""
    inner = upgrades.restart

    def restart(view: ClusterView) -> upgrades.RestartPlan:
        found = inner(view)
        kept = tuple(it for it in found.groups if it.id.process_class != "stateless")
        kill = tuple(one.addresses[0] for it in kept for one in it.processes)
        return replace(found, kill=kill, groups=kept)

    patch.put(upgrades, "restart", restart)


BUGS = (staged_by_nobody, image_comes_first, clients_once, done_too_early, some_are_left)
