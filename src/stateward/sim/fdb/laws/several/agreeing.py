"""C-S1 and C-S3 to C-S6, C-L1 and C-L3: what operators of one database tell each other.

All of it is judged by what the database has when something is committed there, and by whom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.keys import Transaction
from stateward.fdb.admin.keys import COORDINATORS
from stateward.fdb.api import questions
from stateward.fdb.model import intents, locality, locks
from stateward.fdb.model.addresses import parse_all
from stateward.fdb.model.intents import READY, Intent, Intents
from stateward.fdb.model.names import ProcessGroupID
from stateward.sim.fdb.keys import KeysCall
from stateward.sim.fdb.laws.scene import Scene
from stateward.sim.laws.watchman import Actor, Sent

#: Seconds for which all wait for who is not ready, and those who are ready for anybody at most.
_PATIENCE, _LONGEST = 300, 900
#: Seconds after which an operator that says nothing is dead; it says something every minute.
_DEAD: Final = 300
#: Seconds by which clocks of operators may differ here, twice, and what is said be under way.
_ODD: Final = 100
#: Seconds in which what one operator says is seen by the others.
_KNOWN: Final = 60.0
_ACTED: Final = {f"actedFor{it.removeprefix('pendingFor')}": it for it in READY}
_PREPARED: Final = "upgrades"
#: What lies below the same prefix, and is the lock's.
_LOCKS: Final = frozenset({"global", "denyList"})


class Agreements:
    """Every word of one instance to the others, and every act that it does for all.

    C-S1: it writes below its own name only, of upgrades its own groups only, and else nothing where
    operators act alone. C-S3: who acts for all acts on who is ready, and nobody of the same kind is
    waited for any more. C-S4: nobody acts on the same word again. C-S5: who shall go, whosever it
    is, is not chosen to coordinate. C-S6: what is said of a group is said under one name. C-L1:
    nothing is done to what a dead operator has.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        #: What was asked for by keys here, by the id of the call, which is kept: so ids differ.
        self._sent: dict[int, Sent] = {}
        #: The words that were acted upon here.
        self._acted: set[tuple[int, Intent, str, int]] = set()
        scene.watchman.on_sent(self._hear)
        scene.it.realm.keyed.append(self._keyed)

    def _hear(self, sent: Sent) -> None:
        if isinstance(sent.call, KeysCall):
            self._sent[id(sent.call)] = sent

    def _report(self, law: str, sent: Sent, sentence: str) -> None:
        self._scene.report(law, Actor(sent.who), sentence)

    def _keyed(self, call: KeysCall, database: Database) -> None:
        sent = self._sent.get(id(call))
        wishes = self._scene.recent(sent.about) if sent is not None and sent.about else ()
        if sent is None or not wishes or not call.writes:
            return
        prefix = questions.lock_prefix(wishes[-1].spec)
        words = list(_words(call, prefix))
        told = told_at(database, prefix)
        self._judge_names(sent, words, told)
        acts = [(_ACTED[it[0]], it[-1]) for it, value in words if it[0] in _ACTED and value]
        # Who gets another name takes all along that was done under the one before.
        renamed = any(it[0] == "operators" and value is None for it, value in words)
        if acts and not renamed:
            self._judge_acts(sent, acts, told, database)
        for key, value in call.order.writes:
            if key == COORDINATORS and value is not None:
                self._judge_coordinators(sent, value.decode(), told, database)

    # ------------------------------------------------------------------ whose words

    def _judge_names(
        self, sent: Sent, words: list[tuple[list[str], bytes | None]], told: Intents
    ) -> None:
        """Judge below which names somebody writes, and that nothing is said twice."""
        about = sent.about
        assert about is not None  # noqa: S101 - there are wishes of it
        wishes = self._scene.recent(about)
        mine = {it.spec.process_group_id_prefix for it in wishes}
        groups = self._scene.truth.groups(about)
        mine |= {ProcessGroupID.parse(it.spec.process_group_id).prefix for it in groups}
        spoke = any(it.status.synchronization is not None for it in wishes)
        together = spoke or any(questions.acts_together(it.spec) for it in wishes)
        for (folder, name, *rest), value in words:
            if folder == _PREPARED:  # by version; who restarts all takes the whole list away
                whose = ProcessGroupID.parse(rest[0]).prefix
                if value is not None and whose not in mine:
                    self._report("C-S1", sent, f"it lists {rest[0]} as prepared for {name}")
                continue
            if name not in mine:
                self._report("C-S1", sent, f"it writes {folder} below {name}")
            if not together:
                self._report("C-S1", sent, f"it writes {folder}, and acts alone")
        for intent, said in told.said.items():
            twice = [name for name, n in Counter(it.group for it in said).items() if n > 1]
            if twice:
                self._report("C-S6", sent, f"{intent} of {twice[0]} is said under two names")

    # ------------------------------------------------------------------ acts for all

    def _judge_acts(
        self, sent: Sent, acts: list[tuple[Intent, str]], told: Intents, database: Database
    ) -> None:
        now = self._scene.it.world.clock.now()
        for intent, name in acts:
            pending, ready = told.of(intent), told.of(READY[intent])
            whose = next((it for it in pending if it.group == name), None)
            if whose is None or whose not in ready:
                self._report("C-S3", sent, f"{intent} of {name}, which is not ready")
                continue
            if now - _heard(told, whose.operator) > _DEAD + _ODD + self._scene.late:
                self._report("C-L1", sent, f"{intent} of {name}, whose operator is dead")
            word = (id(database), intent, name, ready[whose])
            every = told.acted.get(intent, {}).items()
            others = [it for it, done in every if (it.group, done.word) == (name, ready[whose])]
            if word in self._acted or len(others) > 1:
                self._report("C-S4", sent, f"{intent} of {name}, which was done")
            self._acted.add(word)
        for intent in {it for it, _ in acts}:
            self._judge_others(sent, intent, {name for it, name in acts if it is intent}, told)

    def _judge_others(self, sent: Sent, intent: Intent, acted: set[str], told: Intents) -> None:
        """Judge who was not waited for."""
        now, kinds = self._scene.it.world.clock.now(), {_kind(intent, it) for it in acted}
        pending, ready = told.of(intent), told.of(READY[intent])
        first = min((ready[it] for it in pending if it.group in acted and it in ready), default=0)
        if now - first > _LONGEST - _ODD:
            return
        for it, since in pending.items():
            late = it not in ready and _kind(intent, it.group) in kinds
            alive = now - _heard(told, it.operator) < _DEAD - _ODD
            if late and alive and now - since < _PATIENCE - _ODD:
                self._report("C-S3", sent, f"{intent} without {it.group}, which is not ready")

    def _judge_coordinators(
        self, sent: Sent, value: str, told: Intents, database: Database
    ) -> None:
        chosen = parse_all(value)
        servers = [it for it in database.servers.values() if any(map(it.listens_at, chosen))]
        names = {it.localities.get(locality.INSTANCE) for it in servers}
        now = self._scene.it.world.clock.now()
        for it, since in told.of(Intent.REMOVAL).items():
            if it.group in names and now - since > _KNOWN + self._scene.late:
                self._report("C-S5", sent, f"{it.group} is chosen to coordinate, and shall go")


def unsaid(scene: Scene) -> Iterator[str]:
    """Yield what is still said at rest, though nothing is pending any more (C-L3)."""
    for database in scene.it.realm.databases:
        told = told_at(database, locks.PREFIX) if database.servers else Intents()
        for intent, said in told.said.items():
            for it in said:
                yield f"{intent} of {it.group} is left"


def told_at(database: Database, prefix: bytes) -> Intents:
    """Return all that operators said, as a database has it."""
    at = Transaction(database.store, database.now, system=True, aware=True)
    return intents.read(prefix, at.get_range(*intents.span(prefix)))


def _words(call: KeysCall, prefix: bytes) -> Iterator[tuple[list[str], bytes | None]]:
    """Yield what is written to others: a folder, a name, and mostly a group."""
    for key, value in call.order.writes:
        if key.startswith(prefix + b"/"):
            words = key.removeprefix(prefix + b"/").decode(errors="replace").split("/")
            if words[0] not in _LOCKS:
                yield words, value


def _kind(intent: Intent, group: str) -> str:
    """Return with whom a group is compared: all restart at once, others class by class."""
    return "" if intent is Intent.RESTART else str(ProcessGroupID.parse(group).process_class)


def _heard(told: Intents, operator: str) -> float:
    beats = [it.at for name, it in told.beats.items() if name == operator]
    said = [
        since
        for every in told.said.values()
        for it, since in every.items()
        if it.operator == operator
    ]
    return float(max([*beats, *said], default=0))
