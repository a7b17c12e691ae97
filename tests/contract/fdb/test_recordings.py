"""Every recorded command, typed again to the stand-in: the same code, and the same words.

What is drawn or measured (names of locks, versions, seconds that are left) is made alike first, and
so are the lines that only say that it takes long: how long it takes is the machine's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contract.fdb import telling
from contract.fdb.stages import NOT_PLAYED, STAGES, Stage
from stateward.emulate.fdb.cli.program import Fdbcli
from stateward.emulate.fdb.database import Database
from stateward.fdb.admin.answers import Answer

FOLDER = Path(__file__).parents[2] / "recordings" / "fdb" / "transcripts"
_ALIKE = (
    (re.compile(r"[0-9a-f]{32}"), "NAME"),
    (re.compile(r"Committed \(\d+\)"), "Committed (VERSION)"),
    (re.compile(r"^\d{6,}$", re.MULTILINE), "VERSION"),
    (re.compile(r"continue for \d+"), "continue for SECONDS"),
    (re.compile(r"\nWARNING: Long delay \(Ctrl-C to interrupt\)\n"), ""),
    (re.compile(r"^\nThe database is [^\n]*\n\n", re.MULTILINE), ""),
)


def alike(text: str) -> str:
    for pattern, word in _ALIKE:
        text = pattern.sub(word, text)
    return text


def steps(name: str) -> Iterator[tuple[int, str, float, Answer]]:
    """Yield what was typed to fdbcli in a recording: where, what, for how long, what came."""
    whole: list[Any] = json.loads((FOLDER / f"{name}.json").read_text())
    for number, step in enumerate(whole):
        words = step["cmd"]
        if isinstance(words, list) and "--exec" in words:
            after = words[words.index("--exec") + 1 :]
            timeout = float(after[after.index("--timeout") + 1]) if "--timeout" in after else 0.0
            said = Answer(step["rc"], alike(step["stdout"] or ""), alike(step["stderr"] or ""))
            yield number, after[0], timeout, said


def test_every_recording_is_played_or_told_why_not() -> None:
    there = {it.stem for it in FOLDER.glob("*.json")}
    assert there == STAGES.keys() | NOT_PLAYED.keys()
    assert not STAGES.keys() & NOT_PLAYED.keys()


def player(database: Database) -> Fdbcli:
    """Return somebody whose kills are followed by a restart, as fdbmonitor sees to."""
    found = Fdbcli(database, "LAB/run/m/fdb.cluster")

    def restart(address: str) -> None:
        server = database.server_at(address)
        if server is not None:
            database.leave(server.disk.process_id)
            server.started = database.now
            database.join(server)

    found.killed = restart
    return found


def play(name: str, stage: Stage) -> Iterator[tuple[int, str, Answer, Answer]]:
    """Yield what was typed, what the real one said, and what ours says."""
    database = stage.begin()
    fdbcli = player(database)
    for number, command, timeout, theirs in steps(name):
        for place, act in stage.acts.items():
            if place == number:
                act(database)
        found = fdbcli.run(command, timeout)
        ours = Answer(found.code, alike(found.out), alike(found.err))
        yield number, command, theirs, ours
        database.advance(database.now + stage.pause)


@pytest.mark.parametrize("name", STAGES)
def test_the_stand_in_says_what_the_real_one_said(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    stage = STAGES[name]
    wrong, odd, same = [], set(stage.explained), 0
    for number, command, theirs, ours in play(name, stage):
        if command in ("status json", "status", "status details"):
            continue  # documents are compared in tests/unit/emulate/fdb/test_status.py
        if ours != theirs and number not in stage.explained:
            wrong.append(f"{number}: {command}\n  theirs {theirs}\n  ours   {ours}")
        elif ours == theirs:
            same += 1
            odd.discard(number)
    record_property(telling.NAME, [name, same, len(odd)])
    assert not wrong, "\n".join(wrong)
    assert odd == set(stage.explained), "what is explained must differ"
