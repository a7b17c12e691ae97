"""Bugs about TLS of sidecars, and about who is away while processes change to TLS."""

from __future__ import annotations

from stateward.fdb.admin.pod_agent import pods
from stateward.fdb.cluster.listening import Listening
from stateward.fdb.groups import decide
from stateward.sim.mutants.planting import Patch, bug


@bug(
    "M80",
    "sidecars are asked without TLS, however their pods were made",
    "FoundationDB/fdb-kubernetes-operator, sidecar TLS is said by each pod",
    *("fdb-tls-sidecar",),
)
def ask_plainly(patch: Patch) -> None:
    """Take every sidecar for one without TLS."""
    patch.put(pods, "asks_for_certificates", lambda _pod: False)


@bug(
    "M81",
    "sidecars are not asked to read a renewed certificate",
    "they read theirs when they start, or when asked: one day it has expired",
    *("fdb-tls-renewed",),
)
def never_renew(patch: Patch) -> None:
    """Take every certificate for the one that is wanted."""
    patch.put(decide, "_certificate", lambda _seen, _pod: "")


@bug(
    "M82",
    "the old address is dropped while somebody is away who knows no other",
    "a process follows coordinators that moved only while they answer where they were",
    *("fdb-tls-away",),
)
def drop_for_who_is_away(patch: Patch) -> None:
    """Wait for nobody."""
    patch.put(Listening, "_absent", lambda _self, _groups, _found: ())


BUGS = (ask_plainly, never_renew, drop_for_who_is_away)
