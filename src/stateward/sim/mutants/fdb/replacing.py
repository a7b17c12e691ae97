"""Bugs about groups that are replaced without being asked, and about those that never may be."""

from __future__ import annotations

from dataclasses import replace

from stateward.fdb.cluster.steps.marking import mark_listed
from stateward.fdb.decide.groups import failures
from stateward.fdb.decide.groups.listed import listed
from stateward.sim.mutants.planting import Patch, bug


@bug(
    "M90",
    "however many nodes are tainted, groups leave them, one after the other",
    "FoundationDB/fdb-kubernetes-operator, node_taint_eviction: too many tainted fault domains",
    *("fdb-taint-storm",),
)
def in_a_storm(patch: Patch) -> None:
    """See no storm."""
    patch.put(failures, "storm", lambda _view: "")


@bug(
    "M91",
    "a group that was marked is never unmarked: what cannot go on cannot be taken back either",
    "FoundationDB/fdb-kubernetes-operator: cancelReplacementsForInstance of S004 was never built",
    *("fdb-cancel",),
)
def no_way_back(patch: Patch) -> None:
    """Keep nobody."""
    patch.put(mark_listed, "listed", lambda view: replace(listed(view), to_keep=()))


BUGS = (in_a_storm, no_way_back)
