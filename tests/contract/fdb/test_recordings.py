"""Every recorded command, typed again to the stand-in: the same code, and the same words.

What is drawn or measured (names of locks, versions, seconds that are left) is made alike first, and
so are the lines that only say that it takes long: how long it takes is the machine's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from contract.fdb import telling
from contract.fdb.stages import NOT_PLAYED, OF_BACKUPS, STAGES, Stage
from stateward.core.version import Version
from stateward.emulate.fdb import gray
from stateward.emulate.fdb.asking.viewpoint import Viewpoint
from stateward.emulate.fdb.cli.program import Fdbcli
from stateward.emulate.fdb.servers import VERSION
from stateward.fdb.admin.answers import Answer

FOLDER = Path(__file__).parents[2] / "recordings" / "fdb" / "transcripts"
_ALIKE = (
    (re.compile(r"[0-9a-f]{32}"), "NAME"),
    (re.compile(r"Committed \(\d+\)"), "Committed (VERSION)"),
    (re.compile(r"^\d{6,}$", re.MULTILINE), "VERSION"),
    (re.compile(r"continue for \d+"), "continue for SECONDS"),
    (re.compile(r"\nWARNING: Long delay \(Ctrl-C to interrupt\)\n"), ""),
    (re.compile(r"^\nThe database is [^\n]*\n\n", re.MULTILINE), ""),
    # The long status: when it was, and what was measured.
    (re.compile(r"^EMULATED: [^\n]*\n", re.MULTILINE), ""),
    (re.compile(r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d"), "TIME"),
    (re.compile(r"[0-9.]+ (MB|GB|Hz)\b"), "N"),
    (re.compile(r" *[0-9]+% "), " N% "),
)


FUTURE = Version(7, 4, 0)


def alike(text: str) -> str:
    for pattern, word in _ALIKE:
        text = pattern.sub(word, text)
    return text


@dataclass(frozen=True, slots=True)
class Step:
    """What was typed to fdbcli: where in the recording, what, for how long, what came of it."""

    number: int
    path: str
    command: str
    timeout: float
    is_future: bool
    said: Answer


def steps(name: str) -> Iterator[Step]:
    """Yield what was typed to fdbcli in a recording."""
    whole: list[Any] = json.loads((FOLDER / f"{name}.json").read_text())
    for number, step in enumerate(whole):
        words = step["cmd"]
        if isinstance(words, list) and "--exec" in words:
            given = dict(pairwise(words))
            said = Answer(step["rc"], alike(step["stdout"] or ""), alike(step["stderr"] or ""))
            yield Step(
                number,
                given["-C"],
                given["--exec"],
                float(given.get("--timeout", 0)),
                "--use-future-protocol-version" in words,
                said,
            )


def test_every_recording_is_played_or_told_why_not() -> None:
    there = {it.stem for it in FOLDER.glob("*.json")}
    assert there == STAGES.keys() | NOT_PLAYED.keys() | OF_BACKUPS
    assert not STAGES.keys() & NOT_PLAYED.keys()


class Player:
    """Somebody whose kills are followed by a restart, as fdbmonitor sees to; a fdbcli a file."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.database = stage.begin()
        self._string = self.database.string
        self._typing: dict[str, Fdbcli] = {}

    def play(self, step: Step) -> Answer:
        """Type one step, after what happened right before it."""
        if (act := self.stage.acts.get(step.number)) is not None:
            act(self.database)
        fdbcli = self._typing.setdefault(step.path, self._made(step.path))
        version = FUTURE if step.is_future else VERSION
        fdbcli.view = Viewpoint(self.stage.blocked.get(step.number, frozenset()), version)
        found = fdbcli.run(step.command, step.timeout)
        self.database.advance(self.database.now + self.stage.pause)
        return Answer(found.code, alike(found.out), alike(found.err))

    def _made(self, path: str) -> Fdbcli:
        """Return one with a file as it was in the beginning; one below ``roc`` cannot be written."""
        found = Fdbcli(self.database, path)
        found.string, found.is_writable = self._string, "/roc" not in path
        found.killed = self._restart
        found.suspended = self._stand_still
        return found

    def _restart(self, address: str) -> None:
        server = self.database.server_at(address)
        if server is not None:
            self.database.leave(server.disk.process_id)
            server.started = self.database.now
            self.database.join(server)

    def _stand_still(self, address: str, seconds: float) -> None:
        server = self.database.server_at(address)
        if server is not None:
            gray.cut_off(self.database, server.disk.process_id)
            self.database.advance(self.database.now + seconds)
            server.started = self.database.now
            gray.reconnect(self.database, server.disk.process_id)


def is_told_elsewhere(step: Step) -> bool:
    """Tell whether it is a document, or was left out: tests/unit/emulate/fdb/test_status.py."""
    return step.command == "status json" and step.said.code == 0


@pytest.mark.parametrize("name", STAGES)
def test_the_stand_in_says_what_the_real_one_said(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    stage = STAGES[name]
    wrong, odd, same = [], set(stage.explained), 0
    player = Player(stage)
    for step in steps(name):
        ours = player.play(step)
        if is_told_elsewhere(step):
            continue
        if ours != step.said and step.number not in stage.explained:
            wrong.append(f"{step.number}: {step.command}\n  theirs {step.said}\n  ours   {ours}")
        elif ours == step.said:
            same += 1
            odd.discard(step.number)
    record_property(telling.NAME, [name, same, len(odd)])
    assert not wrong, "\n".join(wrong)
    assert odd == set(stage.explained), "what is explained must differ"
