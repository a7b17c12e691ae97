"""The recorded life of a real fdbmonitor, lived again: ours says the same lines in the same order."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import pytest

from local.keepers.runs import Run, fdbserver, put, running, words_of

RECORDED = json.loads(
    (Path(__file__).parents[2] / "recordings/fdb/transcripts/16_fdbmonitor.json").read_text()
)

#: What the recording was made with, as its command lines tell.
GENERAL = """\
[general]
cluster-file = {lab}/fdb.cluster
restart-delay = 10
[fdbserver]
command = {program}
datadir = {lab}/data/$ID
listen-address = public
logdir = {lab}/log
cache_memory = 100MiB
memory = 1500MiB
trace_format = json
public-address = 127.0.5.$ID:4501
locality-zoneid = mz$ID
locality_instance_id = mon-$ID
"""

LINE = re.compile(r'Time="[\d.]+" Severity="(\d+)" LogGroup="(\w+)" Process="([\w.]+)": (.*)')


def step(note: str) -> str:
    return next(it["stdout"] for it in RECORDED if it["note"].startswith(note))


def told(lines: list[str]) -> dict[str, list[tuple[str, str, str]]]:
    """Return what each process was said to do, in order; numbers of processes are all alike."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for line in lines:
        match = LINE.fullmatch(line)
        assert match, line
        severity, group, process, text = match.groups()
        text = re.sub(
            r"(?<=process |Process )\d+|(?<=fdbserver \()\d+", "PID", text, flags=re.IGNORECASE
        )
        found.setdefault(process, []).append((severity, group, text))
    return found


class Story:
    def __init__(self, folder: Path) -> None:
        self.lab = folder / "run/mon"
        self.lab.mkdir(parents=True)
        self.conf = self.lab / "foundationdb.conf"
        self.program = fdbserver(folder / "bin")

    def write(self, **classes: str) -> None:
        text = GENERAL.format(lab=self.lab, program=self.program)
        for number, role in classes.items():
            text += f"[fdbserver.{number[1:]}]\n" + (f"class = {role}\n" if role else "")
        put(self.conf, text)

    def plain(self, text: str) -> str:
        return text.replace(str(self.program), "BIN/fdbserver").replace(
            str(self.lab), "LAB/run/mon"
        )

    def processes(self, run: Run) -> list[str]:
        return [self.plain("BIN/fdbserver " + " ".join(words_of(it))) for it in run.children()]


def processes(note: str) -> list[str]:
    return [line.split(maxsplit=1)[1] for line in step(note).splitlines()]


async def kill(run: Run, place: int) -> None:
    """End a process as ``kill`` of fdbcli does."""
    joined = run.count("FDBD joined cluster.")
    os.kill(run.children()[place], signal.SIGUSR1)
    await run.said("FDBD joined cluster.", joined + 1)


async def test_the_recorded_story(tmp_path: Path) -> None:
    story = Story(tmp_path)
    story.write(_1="", _2="stateless")
    words = ("--conffile", story.conf, "--lockfile", story.lab / "l")
    async with running("fdbmonitor", *words) as run:
        await run.said("FDBD joined cluster.", 2)
        assert story.processes(run) == processes("children of fdbmonitor")
        await kill(run, 1)
        await kill(run, 1)
        assert story.processes(run) == processes("3 s after the second kill")
        story.write(_1="", _2="log", _3="storage")
        await run.said("FDBD joined cluster.", 6)
        assert story.processes(run) == processes("after the conf changed")
        story.write(_1="", _2="log")
        await run.said("Deconfigured fdbserver.3")
        await run.until(lambda: len(run.children()) == 2)
        assert story.processes(run) == processes("after 3 was removed")
        put(story.conf, "this is no configuration\n\x01\x02 at all")
        await run.said("Deconfigured fdbserver.1")
        await run.until(lambda: not run.children())
        story.write(_1="")
        await run.said("FDBD joined cluster.", 7)
        assert await run.end() == 0

    assert "EMULATED" in run.lines[0]
    ours = told([story.plain(line) for line in run.lines[1:]])
    assert ours == told(step("stdout of fdbmonitor").splitlines())


async def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    recorded = RECORDED[1]
    async with running(
        "fdbmonitor", "--conffile", "/nonexistent", "--lockfile", tmp_path / "l"
    ) as it:
        assert await it.ended() == recorded["rc"] == 1
    assert told(it.lines[1:]) == told(recorded["stderr"].splitlines())


@pytest.mark.parametrize("word", ["--help", "-h", "--version"])
async def test_it_says_what_it_is(word: str) -> None:
    async with running("fdbmonitor", word) as it:
        assert await it.ended() == 0
    assert "EMULATED" in it.lines[0]
    assert it.lines[1] == RECORDED[0]["stdout"].splitlines()[0]
