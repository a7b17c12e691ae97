"""fdbcli as a program: a line of commands, what they print, and with which code it ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from stateward.emulate.fdb.asking.clients import Client
from stateward.emulate.fdb.asking.clogs import Silence
from stateward.emulate.fdb.asking.viewpoint import Viewpoint
from stateward.emulate.fdb.cli import (
    commands,
    configuring,
    coordinating,
    excluding,
    helping,
    keys,
)
from stateward.emulate.fdb.cli.tape import Failed, Tape, Waits, minimal
from stateward.emulate.fdb.cli.words import TIMED_OUT, Command, Unterminated, split
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.telling import document, prose
from stateward.fdb.admin.answers import Answer
from stateward.fdb.model.connection import ConnectionString
from stateward.kube.codec import Json

_SKIPPED: Final = (
    "WARNING: the previous command failed, the remaining commands will not be executed."
)
_OLD_FILE: Final = (
    "WARNING: The cluster file is not up to date. Type 'status' for more information."
)
_FOREIGN: Final = (
    "WARNING: One or more of the processes in the cluster is incompatible with this version of"
    " fdbcli."
)
_HERE: Final = Viewpoint()
#: As how many clients the program is counted.
_HANDLES: Final = 3
#: What a line is: the seconds for which it waits, and the code with which it ends.
Steps: TypeAlias = Generator[float, None, int]
#: Without a deadline it waits for ever; nobody here does.
_FOR_EVER: Final = 86_400.0
#: Seconds that it takes to find out how a database is that does not serve.
_PROBING: Final = 12.0
#: The same where coordinators lack, and where nobody answers in time.
_ASKING, _TOO_LATE = 2.0, 30.0
_STEP: Final = 0.5


def _wide(document: Json) -> str:
    return json.dumps(document, indent=4, separators=(",", " : "))


@dataclass(slots=True)
class Session:
    """What lasts for one call: the list of processes that ``kill`` fills, and options."""

    listed: list[str] = field(default_factory=list)
    may_write: bool = False
    system: bool = False
    lock_aware: bool = False
    may_manage: bool = False
    #: Whom to have stand still, for how long: sent only if the call goes on for a while.
    suspended: list[tuple[str, float]] = field(default_factory=list)


class Fdbcli:
    """One who has a cluster file, and runs fdbcli by it, from where it is."""

    def __init__(
        self, database: Database, path: str = "fdb.cluster", view: Viewpoint = _HERE
    ) -> None:
        self._database = database
        self._path = path
        self.view = view
        #: What the cluster file holds; it is written anew when it is old, where it can be.
        self.string: ConnectionString = database.string
        self.is_writable = True
        #: For how many seconds a database is waited for before anything is asked.
        self.patience = 3.0
        self.log_group = "default"
        #: Told of every process that is killed, or shall stand still for seconds.
        self.killed: Callable[[str], None] = lambda _address: None
        self.suspended: Callable[[str, float], None] = lambda _address, _seconds: None
        #: How a status is written: as fdbcli does it for people, or without spaces.
        self.layout: Callable[[Json], str] = _wide
        #: The text of a file that ``fileconfigure`` names.
        self.files: Callable[[str], str | None] = lambda _path: None

    def run(self, line: str, timeout: float = 0.0) -> Answer:
        """Run a line of commands on the model's own time."""
        tape, database = Tape(self._database), self._database
        steps = self.steps(line, tape, timeout)
        while True:
            try:
                seconds = next(steps)
            except StopIteration as end:
                return Answer(end.value, tape.out, tape.err)
            database.advance(database.now + seconds)

    def steps(
        self, line: str, tape: Tape, timeout: float = 0.0, session: Session | None = None
    ) -> Steps:
        """Run a line of commands: yield for how long it waits, and return the code at its end.

        What is turned on in it lasts for as long as the session.
        """
        session = session or Session()
        try:
            parts = split(line)
        except Unterminated as error:
            tape.say(f"ERROR: unterminated quote\n {error}")
            tape.err += _MALFORMED
            return 1
        until = self._database.now + (timeout or _FOR_EVER)
        tape.view, tape.string, handles = self.view, self._learn(), self._come()
        try:
            for seconds in self._run_all(parts, tape, session):
                left = until - self._database.now
                self._suspend_now(session, seconds)
                yield min(seconds, left)
                if seconds > left:
                    tape.err += TIMED_OUT
                    return 1
        except Failed:
            return 1
        finally:
            self._learn()
            for it in handles:
                self._database.client_goes(it)
        return 0

    def _come(self) -> list[str]:
        """Be known as a client, by all handles that the program opens."""
        if self.view.line != self._database.line:
            return []
        found = [self._database.clients.next_address() for _ in range(_HANDLES)]
        for it in found:
            self._database.client_comes(Client(it, (self.view.version,), self.log_group))
        return found

    def _suspend_now(self, session: Session, seconds: float) -> None:
        """Send what was asked for, if the program lives long enough for that."""
        while session.suspended and seconds > 0:
            self.suspended(*session.suspended.pop(0))

    def _open(self, tape: Tape) -> Waits:
        """Wait for a database that does not serve, as every call does before it begins."""
        until = self._database.now + self.patience
        while not tape.is_served and self._database.now < until:
            yield min(_STEP, until - self._database.now)

    def _run_all(self, parts: Sequence[Command], tape: Tape, session: Session) -> Waits:
        yield from self._open(tape)
        for place, it in enumerate(parts):
            if len(parts) > 1:
                tape.say(f">>> {it.text}")
            try:
                yield from self._begun(it.words, tape, session)
            except Failed:
                if place + 1 < len(parts):
                    tape.say(_SKIPPED)
                raise

    def _begun(self, words: Sequence[str], tape: Tape, session: Session) -> Waits:
        name, *rest = words
        if (simple := _SIMPLE.get(name)) is not None:
            return simple(tape, rest)
        if (kept := _KEYS.get(name)) is not None:
            return kept(tape, rest, session)
        if (own := self._own().get(name)) is not None:
            return own(tape, rest, session)
        raise tape.fail(f"ERROR: Unknown command `{name}'. Try `help'?")

    def _own(self) -> Mapping[str, Callable[[Tape, list[str], Session], Waits]]:
        return {
            "status": self._status,
            "coordinators": self._coordinators,
            "fileconfigure": self._fileconfigure,
            "kill": self._kill,
            "suspend": self._suspend,
        }

    def _coordinators(self, tape: Tape, words: list[str], _session: Session) -> Waits:
        return coordinating.coordinators(tape, words, tape.string)

    def _fileconfigure(self, tape: Tape, words: list[str], _session: Session) -> Waits:
        return configuring.fileconfigure(tape, words, self.files)

    def _learn(self) -> ConnectionString:
        """Return who coordinates by the word of those in the cluster file, and write that anew."""
        database = self._database
        is_let_in = self.view.is_let_in(database, self.string)
        found = database.string if is_let_in else self.string
        if self.is_writable:
            self.string = found
        return found

    # ------------------------------------------------------------------ how it is

    def _status(self, tape: Tape, words: list[str], _session: Session) -> Waits:
        yield self._takes(tape)
        found = document.status(self._database, self.string, self._path, self.view)
        match words:
            case ["json"]:
                tape.say(self.layout(found))
            case ["minimal"]:
                tape.say(minimal(found))
                if not found["client"]["cluster_file"]["up_to_date"]:
                    tape.warn(_OLD_FILE)
            case [] | ["details"]:
                tape.say(*prose.status(found, details=bool(words)))
            case _:
                raise tape.misused("status [minimal|details|json]")
        if self.view.meets_strangers(self._database, tape.string):
            tape.warn(_FOREIGN, "")

    def _takes(self, tape: Tape) -> float:
        """Return for how many seconds a status is waited for."""
        if not tape.sees_quorum:
            return _ASKING
        if self._database.clog.silence is Silence.TIMEOUT:
            return _TOO_LATE
        return 0.0 if tape.is_served else _PROBING

    # ------------------------------------------------------------------ ending processes

    def _kill(self, tape: Tape, words: list[str], session: Session) -> Waits:
        if not words:
            yield from self._list(tape, session, "killed")
            return
        chosen = self._recognized(tape, words, session, "kill")
        yield 0.0 if words == ["all"] else 3.0
        for it in chosen:
            self.killed(it)
        tape.say(f"Attempted to kill {len(chosen)} processes")

    def _suspend(self, tape: Tape, words: list[str], session: Session) -> Waits:
        if not words:
            yield from self._list(tape, session, "suspended")
            return
        if len(words) < 2 or not words[0].isdigit():
            raise tape.misused("suspend <SECONDS> <ADDRESS...>")
        chosen = self._recognized(tape, words[1:], session, "suspend")
        session.suspended += [(it, float(words[0])) for it in chosen]
        tape.say(f"Attempted to suspend {len(chosen)} processes")

    def _list(self, tape: Tape, session: Session, what: str) -> Waits:
        yield from tape.wait(lambda: tape.sees_quorum)
        servers = [it for it in self._database.servers.values() if self.view.reaches(it)]
        every = sorted(address for it in servers for address in it.addresses)
        session.listed = [it.plain for it in every]
        tape.say("", f"The following {len(every)} addresses can be {what}:", *session.listed, "")

    def _recognized(self, tape: Tape, words: list[str], session: Session, verb: str) -> list[str]:
        if words == ["all"]:
            if not session.listed:
                raise tape.fail(
                    f"ERROR: no processes to {verb}. You must run the `{verb}\u2019 command"
                    f" before running `{verb} all\u2019."
                )
            return session.listed
        for it in words:
            if it not in session.listed:
                raise tape.fail(f"ERROR: process `{it}' not recognized.")
        return words


def _sleep(tape: Tape, words: list[str]) -> Waits:
    if len(words) != 1 or not words[0].isdigit():
        raise tape.misused("sleep <SECONDS>")
    yield float(words[0])


_MALFORMED: Final = (
    "ERROR: Command failed to completely parse.\nERROR: Not running partial or malformed command:"
)
_SIMPLE: Final[Mapping[str, Callable[[Tape, list[str]], Waits]]] = {
    "configure": configuring.configure,
    "exclude": excluding.exclude,
    "include": excluding.include,
    "maintenance": commands.maintenance,
    "lock": lambda tape, _: commands.lock(tape),
    "setclass": commands.setclass,
    "unlock": commands.unlock,
    "sleep": _sleep,
    "help": helping.help_,
    "consistencycheck": commands.consistencycheck,
    "datadistribution": commands.datadistribution,
    "waitconnected": commands.waitconnected,
    "waitopen": commands.waitopen,
}
_KEYS: Final[Mapping[str, Callable[[Tape, list[str], Session], Waits]]] = {
    "getversion": keys.getversion,
    "writemode": keys.writemode,
    "option": keys.option,
    "get": keys.get,
    "set": keys.put,
    "clear": keys.clear,
    "clearrange": keys.clearrange,
    "getrange": keys.getrange,
    "getrangekeys": keys.getrangekeys,
}
