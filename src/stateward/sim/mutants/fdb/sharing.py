"""Bugs about clusters that share a database, and about names that lead elsewhere."""

from __future__ import annotations

from stateward.fdb.cluster import plans
from stateward.fdb.cluster.steps.telling import check_prefix
from stateward.fdb.decide import coordinating
from stateward.fdb.decide.layouts import steps
from stateward.sim.mutants.planting import Patch, bug


@bug(
    "M70",
    "coordinators go by name while some processes have addresses of another family",
    "FoundationDB/fdb-kubernetes-operator, services of IPv6: names lead to one family only",
    *("fdb-family",),
)
def named_elsewhere(patch: Patch) -> None:
    """Ask nobody where names lead."""
    patch.put(coordinating, "names_lead_to", lambda _view: 4)


@bug(
    "M71",
    "a cluster joins a database with a prefix that another one has",
    "FoundationDB/fdb-kubernetes-operator, multi-DC: each cluster needs its own prefix",
    *("fdb-prefix-taken",),
)
def same_prefix(patch: Patch) -> None:
    """Take it as free."""
    patch.put(check_prefix, "prefix_taken", lambda _view, _rivals: "")


@bug(
    "M72",
    "of two clusters that ask for different configurations each has its way, again and again",
    "FoundationDB/fdb-kubernetes-operator, multi-DC: the same configuration in all clusters",
    *("fdb-prefix-taken",),
)
def both_decide(patch: Patch) -> None:
    """Let everybody configure."""
    patch.put(steps, "elsewhere", lambda _view, _live: "")


@bug(
    "M73",
    "pods lose the names by which coordinators are found before they have others",
    "seen on three real nodes: names led nowhere, and no coordinator was found any more",
    *("fdb-names",),
)
def names_go_first(patch: Patch) -> None:
    """Ask nobody who is found by them."""
    patch.put(plans, "_named", lambda spec, _of, _connection: spec)


BUGS = (named_elsewhere, same_prefix, both_decide, names_go_first)
