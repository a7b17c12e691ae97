"""F-B1, F-B2 and F-B6: what operators have databases begin, pause and resume."""

from __future__ import annotations

import asyncio
from collections import Counter

from stateward.fdb.api.backups.kinds import FoundationDBBackup
from stateward.fdb.decide.backups.restoring import tag_of
from stateward.fdb.model.names import BACKUP_FINALIZER
from stateward.sim.fdb.backups.calls import BackupCall
from stateward.sim.fdb.backups.shelf import Typed
from stateward.sim.fdb.laws.backups.wishes import Wishes
from stateward.sim.laws.watchman import Actor, Sent


class Lines:
    """Every line of fdbbackup and fdbrestore that an operator typed.

    F-B1: a restore is begun once for its object, and on record before. F-B2: a backup is begun by
    who has not just seen that one goes on under its tag, and is held where its end is asked for
    with the object. F-B6: agents pause when somebody asks for it, and go on when nobody does.
    """

    def __init__(self, wishes: Wishes) -> None:
        self._wishes = wishes
        #: How often a restore was begun under a tag.
        self._begun: Counter[str] = Counter()
        #: Since when a backup goes on under a tag.
        self._since: dict[str, float] = {}
        #: When a pass last asked how that is, and when the pass had that sent a call.
        self._looked: dict[tuple[object, str], float] = {}
        self._looked_before: dict[int, float | None] = {}
        #: Calls that were carried out before: a wire may do that twice.
        self._carried: list[BackupCall] = []
        wishes.scene.watchman.on_sent(self._sent)
        wishes.shelf.typed.append(self._typed)
        wishes.shelf.done.append(self._done)

    def _sent(self, sent: Sent) -> None:
        call = sent.call
        if not isinstance(call, BackupCall):
            return
        whose = asyncio.current_task(), call.said("-t")  # two passes may be under way at once
        if call.writes:
            self._looked_before[id(call)] = self._looked.get(whose)
        else:
            self._looked[whose] = sent.at

    def _typed(self, typed: Typed) -> None:
        call, scene = typed.call, self._wishes.scene
        if not typed.who or not call.writes or any(it is call for it in self._carried):
            return
        self._carried.append(call)
        actor = scene.watchman.actor_of(typed.who, call)
        match call.program, call.verb:
            case "fdbrestore", "start":
                self._judge_restore(actor, call.said("-t"))
            case "fdbbackup", "start":
                self._judge_start(actor, call)
            case "fdbbackup", "pause" | "resume":
                self._judge_switch(actor, call.verb)

    def _done(self, typed: Typed, code: int) -> None:
        call, tag = typed.call, typed.call.said("-t")
        is_begun = call.writes and (call.program, call.verb) == ("fdbrestore", "start")
        if code or not is_begun:
            return
        self._begun[tag] += 1
        if self._begun[tag] > 1 and typed.who:
            actor = self._wishes.scene.watchman.actor_of(typed.who, call)
            self._wishes.report("F-B1", actor, f"{tag} is begun {self._begun[tag]} times")

    def _judge_restore(self, actor: Actor, tag: str) -> None:
        mine = [it for it in self._wishes.restores() if tag_of(it.metadata.uid) == tag]
        if not any(it.status.begun is not None for it in mine) and not self._wishes.scene.late:
            self._wishes.report("F-B1", actor, f"{tag} is begun, and that is not on record")

    def _judge_start(self, actor: Actor, call: BackupCall) -> None:
        wishes, tag = self._wishes, call.said("-t")
        looked = self._looked_before.get(id(call))
        since = self._since.get(tag, 0.0)
        if wishes.live(tag) is None:
            self._since[tag] = wishes.scene.now
        elif looked is None or looked > since:
            words = f"a backup is begun on tag {tag}, and one goes on that was seen"
            wishes.report("F-B2", actor, words)
        asked = [] if actor.about is None else wishes.recent(actor.about)
        if asked and all(it is not None and _is_unheld(it) for it in asked):
            words = f"a backup is begun, and {actor.about} can go before it ends"
            wishes.report("F-B2", actor, words)

    def _judge_switch(self, actor: Actor, verb: str) -> None:
        wishes = self._wishes
        every = [wishes.recent(it) for it in wishes.ever()]
        asked = [it for one in every for it in one if it is not None]
        if verb == "pause" and not any(it.spec.backup_state == "Paused" for it in asked):
            wishes.report("F-B6", actor, "agents are paused, and nobody asks for it")
        if verb == "resume" and any(map(_insists, every)):
            wishes.report("F-B6", actor, "agents go on, and somebody asks for a pause")


def _is_unheld(backup: FoundationDBBackup) -> bool:
    """Tell whether something is to end with an object that nothing holds."""
    asks = backup.spec.deletion_policy in ("stop", "cleanup")
    return asks and BACKUP_FINALIZER not in backup.metadata.finalizers


def _insists(said: list[FoundationDBBackup | None]) -> bool:
    """Tell whether an object has asked for a pause for a while, and stays."""
    return bool(said) and all(
        it is not None and it.spec.backup_state == "Paused" and not it.metadata.deleting
        for it in said
    )
