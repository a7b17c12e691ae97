"""F-S2, F-S3 and F-S4: what becomes of a lock, and to whom it is denied."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Final

from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.keys import Transaction
from stateward.fdb.api import questions
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.model import locks
from stateward.fdb.model.locks import Lock
from stateward.fdb.model.names import ProcessGroupID
from stateward.sim.fdb.laws.scene import Scene
from stateward.sim.laws.watchman import Actor, Sent

#: Seconds by which a clock may have been wrong when something befell it of late.
_ODD: Final = 20.0


@dataclass(slots=True)
class Held:
    """The lock of one database in truth, and what one instance has of it."""

    lock: Lock | None = None
    #: Whether this instance wrote it; when it last did, and until when it was its own at most.
    ours: bool = False
    taken: float = -inf
    until: float = -inf

    def become(self, lock: Lock | None, scene: Scene, *, ours: bool) -> None:
        """Note what it is now, and by whom."""
        if ours and lock is not None:
            self.taken, self.until = scene.now, float(lock.end)
        else:
            self.until = min(self.until, scene.it.world.clock.now())
        self.lock, self.ours = lock, ours


class Taking:
    """Every lock that one instance takes, extends or lets go, and everybody whom it denies it."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    @property
    def _now(self) -> float:
        return self._scene.it.world.clock.now()

    def _report(self, law: str, sent: Sent, sentence: str) -> None:
        self._scene.report(law, Actor(sent.who), sentence)

    def judge(
        self, sent: Sent, wish: FoundationDBCluster, found: tuple[Held, Lock | None], at: Database
    ) -> None:
        """Judge what a lock becomes."""
        held, lock = found
        if lock is None:
            if held.lock is not None and not held.ours:
                self._report("F-S4", sent, f"the lock of {held.lock.owner} is let go")
            return
        denied = denied_at(at, questions.lock_prefix(wish.spec))
        if lock.owner in denied:
            self._report("F-S3", sent, f"{lock.owner} takes the lock, and is denied")
        if held.lock is not None:
            if held.lock.owner == lock.owner:
                self._judge_extension(sent, held, held.lock, lock)
            elif not held.ours and held.lock.owner not in denied:
                self._judge_taking_over(sent, held.lock)
        longest = wish.spec.lock_options.lock_duration_minutes * 60 + max(0.0, self._skew(sent))
        if lock.end > self._now + longest + 1:
            self._report("F-S4", sent, "a lock is taken for longer than is asked for")

    def _judge_extension(self, sent: Sent, held: Held, before: Lock, now: Lock) -> None:
        if not held.ours and self._now <= before.end:
            self._report("F-S2", sent, f"{now.owner} takes the lock that another instance has")
        if now.start != before.start:
            self._report("F-S4", sent, "a lock is extended, and begins anew")

    def _judge_taking_over(self, sent: Sent, before: Lock) -> None:
        """Judge who takes another's lock; what it was called before is its own."""
        mine = self._scene.truth.groups(sent.about) if sent.about is not None else ()
        names = {ProcessGroupID.parse(it.spec.process_group_id).prefix for it in mine}
        if self._now + self._skew(sent) + 1 < before.end and before.owner not in names:
            self._report("F-S4", sent, f"the lock of {before.owner} is taken before its end")

    def judge_denying(
        self, sent: Sent, wish: FoundationDBCluster, key: bytes, value: bytes | None
    ) -> None:
        """Judge an entry of the deny list: the spec asks for it, or did so lately."""
        name = locks.denied_by(key, questions.lock_prefix(wish.spec))
        if name is None:
            return
        wishes = self._scene.recent(wish.metadata.key)
        said = {(it.id, it.allow) for one in wishes for it in one.spec.lock_options.deny_list}
        if (name, value is None) not in said:
            what = "is allowed" if value is None else "is denied"
            self._report("F-S3", sent, f"{name} {what}, and nobody asked for it")

    def _skew(self, sent: Sent) -> float:
        """Return by how much the clock of a process is wrong, or was lately."""
        running = [it for it in self._scene.it.operators if it.process is not None]
        skews = [it.clock.skew for it in running if it.process and it.process.name == sent.who]
        lately = _ODD if self._scene.excused else 0.0
        return max([*skews, lately])


def denied_at(database: Database, prefix: bytes) -> set[str]:
    """Return to whom a database denies its lock."""
    at = Transaction(database.store, database.now, system=True, aware=True)
    names = (locks.denied_by(key, prefix) for key, _ in at.get_range(*locks.all_keys(prefix)))
    return {it for it in names if it is not None}
