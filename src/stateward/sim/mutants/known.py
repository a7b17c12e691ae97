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

#: What is written to process groups of storage servers: first that they shall go.
_MARKED: Final = "patch foundationdbprocessgroups.apps.foundationdb.org ns/shop-storage-"

#: By keys that only who has the lock may write.
_EXCLUDES: Final = "fdbkeys writes \\xff\\xff/management/excluded"

#: Of every named one: the law that it breaks, and where.
NAMED_KILLS: Final[Mapping[str, tuple[str, Clue]]] = {
    "M01": ("F-S6", Clue("fdb-spare")),
    "M02": ("F-S6", Clue("fdb-lost")),
    "M04": ("L0", Clue("fdb-watched")),
    "M05": ("F-S6", Clue("fdb-spare", _MARKED, "act:include-all", nth=2)),
    "M06": ("LEAK", Clue("fdb-spare")),
    "M07": ("F-S12", Clue("fdb-spare", _MARKED, "act:exclude-other")),
    "M08": ("F-S2", Clue("fdb-locks")),
    "M09": ("F-S3", Clue("fdb-locks-denied")),
    "M10": ("F-S2", Clue("fdb-locks-replace", _EXCLUDES, "zombie:90:1")),
    "M11": ("F-S20", Clue("fdb-create", "configure new", "crash-after:0")),
    "M12": ("L0", Clue("fdb-replace")),
    "M13": ("F-S17", Clue("fdb-replace")),
    "M14": ("F-S23", Clue("fdb-image")),
    "M15": ("F-S23", Clue("fdb-image")),
    "M16": ("F-S6", Clue("fdb-pending")),
    "M17": ("F-S6", Clue("fdb-lost-log")),
    "M18": ("SILENCE", Clue("fdb-global")),
    "M19": ("C-S3", Clue("fdb-global-classes")),
    "M20": ("C-S6", Clue("fdb-global-prefix")),
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
    "M37": ("K5", Clue("fdb-image")),
    "M38": ("K2", Clue("edit")),
    "M39": ("L0", Clue("two")),
    "M39-fdb": ("L0", Clue("fdb-two")),
    "M40": ("P-S1", Clue("fdb-spare")),
    "M41": ("F-S25", Clue("fdb-upgrade-eager")),
    "M42": ("F-S25", Clue("fdb-upgrade")),
    "M43": ("F-S25", Clue("fdb-upgrade-client")),
    "M44": ("F-S25", Clue("fdb-upgrade")),
    "M45": ("F-S25", Clue("fdb-upgrade")),
    "M46": ("F-S31", Clue("fdb-tls-on")),
    "M47": ("F-S30", Clue("fdb-tls-pods")),
    "M48": ("L0", Clue("fdb-tls-late")),
    "M49": ("L0", Clue("fdb-tls-off")),
    "M50": ("F-S21", Clue("fdb-regions")),
    "M51": ("F-S21", Clue("fdb-regions")),
    "M52": ("F-S16", Clue("fdb-regions")),
    "M53": ("F-S22", Clue("fdb-halls")),
    "M54": ("F-S22", Clue("fdb-halls")),
    "M55": ("L0", Clue("fdb-maintenance")),
    "M56": ("MAINTAIN", Clue("fdb-maintenance")),
    "M57": ("MAINTAIN", Clue("fdb-maintenance-others")),
    "M58": ("MAINTAIN", Clue("fdb-maintenance")),
    "M59": ("MAINTAIN", Clue("fdb-maintenance")),
    "M70": ("F-S40", Clue("fdb-family")),
    "M71": ("F-S41", Clue("fdb-prefix-taken")),
    "M72": ("L0", Clue("fdb-prefix-taken")),
    "M73": ("F-S42", Clue("fdb-names")),
    "M80": ("L0", Clue("fdb-tls-sidecar")),
    "M81": ("L0", Clue("fdb-tls-renewed")),
    "M82": ("L0", Clue("fdb-tls-away")),
    "M90": ("F-S14", Clue("fdb-taint-storm")),
    "M91": ("L0", Clue("fdb-cancel")),
    "M92": ("F-B1", Clue("fdb-restore")),
    "M93": ("F-B2", Clue("fdb-backup")),
    "M94": ("F-B3", Clue("fdb-backup-delete")),
    "M95": ("F-B5", Clue("fdb-backup-delete")),
    "M96": ("F-B4", Clue("fdb-restore")),
    "M97": ("F-B6", Clue("fdb-backup")),
    "M98": ("F-B5", Clue("fdb-restore-abort")),
}

#: Of generated ones that no life can tell from the operator as it is: why. They are no bugs, and
#: count as survivors all the same.
EQUIVALENT: Final[Mapping[str, str]] = {
    "G-etcd.build.config._members:drop-guard.2": "whoever edits it by hand breaks its seal, and"
    " then it is taken for missing, whether it can be read or not",
    "G-etcd.decide.absent._beginning:negate.3": "a member that is alone by its own list, which is"
    " on record, starts without force as well",
    "G-etcd.decide.recovery._leave_alone:drop-guard.3": "a second guard, past the cache, does not"
    " let force be written while other pods are there",
    "G-etcd.moves.writing._taken:drop-guard.2": "only the words differ while a leftover goes, and"
    " none of these goes slowly but where somebody else holds it",
    "G-runtime.cache.Cache._file:drop-guard.1": "only speed: what is filed anew is filed as it was",
    "G-runtime.election.Elector.keep:swap-awaits.1": "the lease is renewed once more right after"
    " it was taken; then all goes as before",
    "G-runtime.supervisor.Supervisor._lead:swap-awaits.1": "controllers are closed before, and"
    " what they still do is fenced by time and not by that task",
    "G-runtime.tracking._target:drop-precondition.1": "only a deletion has a UID and no body; who"
    " is not in the cache is not waited for there, whatever its UID",
}

#: Of generated ones that nothing finds, though they are bugs, if small ones: why.
ALIVE: Final[Mapping[str, str]] = {
    "G-etcd.survey._is_sound:drop-guard.1": "a list of another cluster is refused by the id on"
    " record; before there is one, there is no other cluster",
    "G-etcd.decide.repair.await_healthy:off-by-one.1": "all rows below it but two ask for"
    " themselves whether all members are well; logins and volumes are changed a little sooner",
    "G-etcd.decide.rolling._is_caught_up:drop-guard.1": "it needs a leader that changes between"
    " two answers of one look; the pass fails, and the next one goes on",
    "G-etcd.decide.sizes.fall_asleep:drop-guard.3": "it says another sentence while the last pod"
    " goes, and writes nothing, since there is nothing left to change",
    "G-etcd.decide.sizes.start_of:negate.3": "it needs a pod below the survivor of a recovery;"
    " they are waited for before it goes on, past the cache",
    "G-etcd.model.view.View.is_outdated:drop-guard.1": "it needs a controller of StatefulSets"
    " that is silent for longer than there is between two passes; here it is quicker",
    "G-etcd.moves.step.MakeNextMove._act:negate.2": "it needs a cache of clusters that is late by"
    " just the note of a compaction; other moves only look more closely",
    "G-runtime.fencing.Fencing.around:drop-guard.1": "a read that fails keeps the lease from being"
    " let go for five seconds: the next leader waits until it runs out",
    "G-runtime.supervisor.Supervisor._lead:swap-awaits.2": "it needs a renewal under way when it"
    " ends: the lease may be taken once more, and the next leader waits until it runs out",
}


def clues() -> dict[str, Clue]:
    """Return where to look first for all that were found before."""
    return {identity: clue for identity, (_, clue) in NAMED_KILLS.items()} | dict(KILLS)
