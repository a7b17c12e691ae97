"""What is known of mutants: the life that convicts each, or why nothing does.

A hunt begins with the life that is written here, so that all of them take minutes and not hours. It
proves nothing by itself: every life is lived with the bug, and without it. When the operator or the
world changes so that it convicts no more, a hunt finds another one, to be written here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stateward.sim.mutants.clues import Clue
from stateward.sim.mutants.kills import KILLS

#: Of every named one: the law that it breaks, and where.
NAMED_KILLS: Final[Mapping[str, tuple[str, Clue]]] = {
    "M21": ("E-S3", Clue("grow")),
    "M22": ("E-S11", Clue("5to3")),
    "M23": ("L0", Clue("3to5")),
    "M24": ("E-S7", Clue("lost-disk")),
    "M25": ("LEAK", Clue("5to3")),
    "M26": ("K1", Clue("5to3")),
    "M27": ("LEAK", Clue("edit")),
    "M28": ("L0", Clue("two")),
    "M29": ("L0", Clue("larger", "delete statefulsets", "crash-after:0")),
    "M30": ("K2", Clue("edit")),
    "M31": ("K2", Clue("recreate")),
    "M32": ("RECORD", Clue("grow", "add_learner", "lost-answer")),
    "M33": ("E-S8", Clue("bootstrap", "etcd status", "act:cut-all:30", nth=-9)),
    "M34": ("E-S8", Clue("sleep")),
    "M35": ("E-S13", Clue("bootstrap")),
    "M36": ("DIFF", Clue("one", "services", "crash-after:0", nth=4)),
    "M38": ("K2", Clue("edit")),
    "M39": ("L0", Clue("two")),
}

#: Of generated ones that no life can tell from the operator as it is: why. Nothing is asked of
#: these, as is usual with mutants: they are no bugs.
EQUIVALENT: Final[Mapping[str, str]] = {
    "G-etcd.decide.recovery._leave_alone:drop-guard.3": "a second guard, past the cache, does not"
    " let force be written while other pods are there",
    "G-etcd.decide.rolling._is_caught_up:drop-guard.1": "it is asked only when all members answer"
    " and one of them leads",
    "G-etcd.decide.sizes.grow:drop-guard.2": "the claim below such a pod is not deleted before the"
    " pod is gone, by a second guard past the cache",
    "G-etcd.decide.space.grow_claims:drop-guard.1": "no claim asks for less than nothing",
    "G-etcd.moves.objects._is_alone:off-by-one.1": "it waits for the StatefulSet, which is made"
    " anew before it is asked again",
    "G-etcd.moves.writing._taken:drop-guard.3": "only the words differ while a leftover goes",
    "G-runtime.cache.Cache._file:drop-guard.1": "only speed: what is filed anew is filed as it was",
    "G-runtime.election.Elector.keep:swap-awaits.1": "the lease is renewed once more right after"
    " it was taken; then all goes as before",
    "G-runtime.supervisor.Supervisor._lead:swap-awaits.1": "controllers are closed before, and what"
    " they still do is fenced by time and not by that task",
    "G-runtime.supervisor.Supervisor._lead:swap-awaits.2": "letting the lease go ends the belief"
    " in it first, so that the task which renews it does nothing any more",
}

#: Of generated ones that nothing finds, though they are bugs, if small ones: why.
ALIVE: Final[Mapping[str, str]] = {
    "G-etcd.reading._starts:negate.1": "until its etcd runs a pod is held up anyway, and from then"
    " on the start of its etcd counts",
    "G-etcd.survey._is_sound:drop-guard.1": "a list of another cluster is refused by the id on"
    " record; before there is one, there is no other cluster",
    "G-etcd.build.config._members:drop-guard.2": "what cannot be read differs from what is wanted,"
    " and is written anew; members with data do not need it until then",
    "G-etcd.decide.absent._beginning:negate.3": "a member that is alone by its own list starts"
    " without force as well",
    "G-etcd.decide.guards.gains_quorum_with:off-by-one.2": "it needs a learner that leaves between"
    " two answers of one look; etcd itself refuses one that is not in sync",
    "G-etcd.decide.repair.await_healthy:off-by-one.1": "all rows below it but one ask for"
    " themselves whether all members are well, and that one for a quorum",
    "G-etcd.decide.sizes.start_of:negate.3": "it needs a recovery, and somebody who deletes the"
    " StatefulSet of it before volumes of the lost are gone",
    "G-etcd.decide.sizes.shrink:drop-guard.3": "who is ill is replaced or removed by rows above it,"
    " which ask the same; it needs members that others reach and the operator does not",
    "G-etcd.moves.intent.is_as_seen:drop-guard.1": "what is done after it carries the version that"
    " was seen, and is refused when the cluster is another by then",
    "G-etcd.moves.step.MakeNextMove._told:negate.1": "who writes documents tells what is refused;"
    " other moves are made again either way",
    "G-etcd.moves.volumes.KeepVolumes._let_go:negate.2": "it needs a cache that does not know the"
    " claims of a cluster which is deleted just when they are to outlive it",
    "G-etcd.tell.latches.revision:drop-guard.2": "it needs a survivor that is behind; the one that"
    " goes on in lives has all that was acknowledged",
    "G-runtime.fencing.Fencing.around:drop-guard.1": "who does not lead reads nothing through it",
    "G-runtime.tracking._target:drop-precondition.1": "an object in doubt is looked up by its name,"
    " and one of another UID is no answer to the doubt",
}


def clues() -> dict[str, Clue]:
    """Return where to look first for all that were found before."""
    return {identity: clue for identity, (_, clue) in NAMED_KILLS.items()} | dict(KILLS)
