"""Every recorded command of fdbbackup and fdbrestore, typed again: the same code, the same words.

As many seconds go by between two of them as did there, and an agent does a piece of work a second
where one ran there. Names, versions, times and what was measured are made alike first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from contract.fdb import telling
from contract.fdb.stages import OF_BACKUPS, filled
from contract.fdb.test_recordings import FOLDER
from contract.fdb.test_recordings import alike as as_fdbcli
from stateward.core import moments
from stateward.emulate.fdb.backups import agency, backing
from stateward.emulate.fdb.backups.agent import MemoryAgent, carry_out
from stateward.emulate.fdb.backups.cli import commands
from stateward.emulate.fdb.backups.cli.preparing import Place
from stateward.emulate.fdb.backups.files import MemoryFiles
from stateward.emulate.fdb.backups.pieces import Piece
from stateward.emulate.fdb.backups.state import AgentSeen, Backup, Stage
from stateward.emulate.fdb.cli.program import Fdbcli
from stateward.emulate.fdb.cli.tape import Tape
from stateward.emulate.fdb.database import Database
from stateward.fdb.admin.answers import Answer

_PROGRESS = re.compile(
    r"^(Tag: \S*  UID: NAME  State: \w+  Blocks: .*LastError: None)$", re.MULTILINE
)
_ALIKE = (
    (re.compile(r"BIN/"), ""),
    (re.compile(r"[0-9a-f]{32}"), "NAME"),
    (re.compile(r"backup-\d{4}(-\d\d){5}\.\d{6}"), "CONTAINER"),
    (re.compile(r"\d{4}/\d\d/\d\d\.\d\d:\d\d:\d\d\+0000"), "TIME"),
    (re.compile(r"Committed \(\d+\)"), "Committed (VERSION)"),
    (re.compile(r"progress target is [0-9.]+%"), "progress target is N%"),
    (re.compile(r"((?:Log|Range)Bytes written - |totalBytes=|SnapshotBytes: )\d+"), r"\1N"),
    (re.compile(r"((?:Begin|End|start|end|Restorable)?[vV]ersion[:=] *|to version )\d+"), r"\1VERSION"),
    (re.compile(r"(timestamp +- |restore version |at version )\d+"), r"\1VERSION"),
    (re.compile(r"((?:Blocks|BlocksInProgress|Files|BytesWritten|CurrentVersion): )[-\d/]+"), r"\1N"),
)  # fmt: skip
_CONTAINER = re.compile(r"file://.*/backup-2026-11-15-02-16-33\.\d+")
_MEASURED = {
    *("Version", "EpochSeconds", "Timestamp", "LagSeconds", "LogBytesWritten", "TotalBytes"),
    *("RangeBytesWritten", "ExpectedProgress", "ShardsBehind", "TotalSnapshotBytes", "RelativeDays"),
}  # fmt: skip


def alike(text: str) -> str:
    for pattern, word in _ALIKE:
        text = pattern.sub(word, text)
    if text.startswith("{"):
        return json.dumps(unmeasured(json.loads(text)))
    return "\n".join(once(text.splitlines()))


def once(lines: list[str]) -> Iterator[str]:
    """Yield lines; of those that tell how far a restore is, each kind once."""
    before = ""
    for line in lines:
        if line != before or not _PROGRESS.match(line):
            yield line
        before = line


def unmeasured(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: "N" if key in _MEASURED else unmeasured(it) for key, it in value.items()}
    return [unmeasured(it) for it in value] if isinstance(value, list) else value


# -------------------------------------------------------------------------- the world before


def with_old_tags() -> Database:
    """Return a database with tags of which nothing came."""
    database = filled()
    for tag in ("default", "noagent", "noagent2"):
        old = Backup(tag, tag.encode().hex().ljust(32, "0"), f"file:///LAB/old/{tag}", 0)
        old.stage = Stage.ABORTED
        backing.submit(database, old)
    return database


def with_moved_backup(player: Player) -> None:
    """Have files where the first recording ended: a container, and another that is its folder."""
    for it in ("backup-2026-11-15-02-06-50.296108/a", "kvranges/a", "properties/a", "snapshots/a"):
        player.files.write(f"/LAB/run/backups/{it}", b"")


@dataclass(frozen=True, slots=True)
class Scene:
    begin: Callable[[], Database]
    first: Callable[[Player], None]
    #: Before which step the agent comes, and before which it is gone.
    agent: range
    explained: Mapping[int, str] = field(default_factory=dict)


STAGES = {
    "13_backup": Scene(
        with_old_tags,
        lambda _player: None,
        range(17, 99),
        {37: "where files go elsewhere a snapshot is begun anew, so it is not over yet"},
    ),
    "14_restore": Scene(filled, with_moved_backup, range(17)),
}


class Player:
    """Types commands, while an agent, if there is one, takes a piece and tells of it, by turns."""

    def __init__(self, stage: Scene) -> None:
        self.database, self.files = stage.begin(), MemoryFiles()
        self._agent = MemoryAgent(AgentSeen("a"), self.files)
        self._piece: Piece | None = None
        self._is_there = False
        stage.first(self)

    def play(self, words: list[str], *, is_there: bool) -> Answer:
        if self._is_there and not is_there:
            self._agent.leave(self.database)
        elif is_there and not self._is_there:
            agency.come(self.database, AgentSeen("a"))
        self._is_there = is_there
        if words[0] == "fdbcli":
            given = dict(zip(words[1::2], words[2::2], strict=False))
            return Fdbcli(self.database).run(given["--exec"], float(given["--timeout"]))
        typed = [self._ours(it) for it in words[1:]]
        tape = Tape(self.database)
        steps = commands.typed(tape, Place(self.files), words[0], typed)
        while True:
            try:
                self.later(next(steps))
            except StopIteration as end:
                out, err = (it.replace("/LAB", "LAB") for it in (tape.out, tape.err))
                return Answer(end.value, out, err)

    def _ours(self, word: str) -> str:
        """Return a word that means here what theirs meant there."""
        word = word.replace("LAB", "/LAB")
        backup = self.database.backups.backups.get("default")
        return word if backup is None else _CONTAINER.sub(backup.url, word)

    def later(self, seconds: float) -> None:
        """Let time go by."""
        until = self.database.now + seconds
        while self.database.now < until:
            self.database.advance(min(until, self.database.now + 1))
            if not self._is_there:
                continue
            if self._piece is not None:
                agency.report(self.database, carry_out(self._piece, self.files))
            self._piece = self._agent.take(self.database)


def steps(name: str) -> list[Any]:
    return list(json.loads((FOLDER / f"{name}.json").read_text()))


@pytest.mark.parametrize("name", STAGES)
def test_the_stand_in_says_what_the_real_one_said(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    stage, every = STAGES[name], steps(name)
    player, wrong, same = Player(stage), [], 0
    for number, step in enumerate(every):
        ours = player.play(step["cmd"], is_there=number in stage.agent)
        if "status json" not in step["cmd"]:
            known = as_fdbcli if step["cmd"][0] == "fdbcli" else alike
            said = [step["rc"], known(step["stdout"]), known(step["stderr"])]
            got = [ours.code, known(ours.out), known(ours.err)]
            same += got == said
            if (got == said) is (number in stage.explained):
                wrong.append(f"{number}: {step['cmd']}\n  theirs {said}\n  ours   {got}")
        player.later(pause(every, number))
    record_property(telling.NAME, [name, same, len(stage.explained)])
    assert not wrong, "\n".join(wrong)


def pause(every: list[Any], number: int) -> float:
    """Return how many seconds went by after a step, before the next began."""
    if number + 1 == len(every):
        return 0.0
    now, then = every[number], every[number + 1]
    return max(0.0, moments.from_rfc3339(then["at"]) - moments.from_rfc3339(now["at"]) - then["elapsed_s"])  # fmt: skip


def test_both_recordings_are_played() -> None:
    assert STAGES.keys() == OF_BACKUPS
