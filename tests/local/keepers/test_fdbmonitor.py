"""fdbmonitor with children that fail, are deaf, or left behind, and with files that go wrong."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from local.keepers.runs import (
    Run,
    fdbserver,
    is_alive,
    outcome,
    put,
    running,
    variables_of,
    words_of,
)


class Site:
    """A folder with a configuration and a program."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = fdbserver(folder / "bin")
        self.conf = folder / "foundationdb.conf"

    def write(self, *processes: str, general: str = "") -> None:
        put(self.conf, self.text(*processes, general=general))

    def text(self, *processes: str, general: str = "") -> str:
        sections = "".join(f"[fdbserver.{it}]\nclass = c{it}\n" for it in processes)
        return f"[general]\n{general}\n[fdbserver]\ncommand = {self.program}\n{sections}"

    def words(self) -> tuple[str | Path, ...]:
        return ("--conffile", self.conf, "--lockfile", self.folder / "lock/file")

    @asynccontextmanager
    async def running(self, **env: str) -> AsyncIterator[Run]:
        async with running("fdbmonitor", *self.words(), env=env) as run:
            yield run


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


async def gone(run: Run, *pids: int) -> None:
    await run.until(lambda: not any(map(is_alive, pids)), "all children are gone")


async def test_who_fails_waits_longer_each_time(site: Site) -> None:
    (site.program.parent / "failing").touch()
    site.write("1", general="restart-delay = 100\nrestart-backoff = 100")
    async with site.running() as run:
        first = await run.said("exited 3, restarting in")
        second = await run.said("exited 3, restarting in", 2)
        assert await run.end() == 0
    assert first.endswith("restarting in 0 seconds")
    assert 90 <= int(second.split()[-2]) <= 110
    assert 'Severity="40"' in first
    assert any('Severity="40"' in it and "cannot begin" in it for it in run.lines)


async def test_a_hangup_forgets_failures_and_reads_the_file_again(site: Site) -> None:
    (site.program.parent / "failing").touch()
    site.write("1", general="restart-delay = 100")
    async with site.running() as run:
        await run.said("exited 3, restarting in", 2)
        (site.program.parent / "failing").unlink()
        run.process.send_signal(signal.SIGHUP)
        await run.said("FDBD joined cluster.")
        await run.said("Loading configuration", 2)
        assert run.count("Received signal 1 (Hangup), resetting timeouts") == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_with_all_children(site: Site, number: int) -> None:
    site.write("1", "2", "3")
    async with site.running() as run:
        await run.said("FDBD joined cluster.", 3)
        pids = run.children()
        assert (site.folder / "lock/file").read_text() == f"{run.process.pid}\n"
        assert await run.end(number) == 0
        assert not any(map(is_alive, pids))
        assert not (site.folder / "lock/file").exists()


async def test_children_do_not_outlive_a_monitor_that_is_killed(site: Site) -> None:
    site.write("1", "2")
    async with site.running() as run:
        await run.said("FDBD joined cluster.", 2)
        pids = run.children()
        run.process.kill()
        await gone(run, *pids)


async def test_who_is_deaf_is_killed(site: Site) -> None:
    (site.program.parent / "deaf").touch()
    site.write("1", "2")
    async with site.running(STATEWARD_KEEPER_PATIENCE="0.5") as run:
        await run.said("FDBD joined cluster.", 2)
        pids = run.children()
        site.write("2")
        await run.said("did not end when asked to")
        await run.until(lambda: run.children() == pids[1:])
        assert await run.end() == 0
        assert not any(map(is_alive, pids))


async def test_who_dies_by_a_signal_is_told_so(site: Site) -> None:
    site.write("1")
    async with site.running() as run:
        await run.said("FDBD joined cluster.")
        pid = run.children()[0]
        os.kill(pid, signal.SIGKILL)
        line = await run.said(f"Process {pid} terminated by signal 9, restarting in 0 seconds")
        assert 'Severity="20"' in line
        await run.said("FDBD joined cluster.", 2)


async def test_new_arguments_wait_for_the_next_start_when_they_are_to(site: Site) -> None:
    general = "kill-on-configuration-change = false\n"
    site.write("1", "2", general=general)
    async with site.running() as run:
        await run.said("FDBD joined cluster.", 2)
        first, second = run.children()
        site.write("1", general=f"{general}memory = 1GiB")
        await run.said("Found new configuration for fdbserver.1")
        assert run.count("Deconfigured fdbserver.2") == 1
        assert run.children() == [first, second]
        os.kill(second, signal.SIGUSR1)
        await gone(run, second)
        os.kill(first, signal.SIGUSR1)
        await run.said("FDBD joined cluster.", 3)
        assert [words_of(it) for it in run.children()] == [["--class", "c1", "--memory", "1GiB"]]
        assert run.count("Killing") == 0


async def test_a_config_map_is_swapped_by_its_link(site: Site) -> None:
    for name, processes in (("..1", ["1"]), ("..2", ["1", "2"])):
        (site.folder / name).mkdir()
        (site.folder / name / "foundationdb.conf").write_text(site.text(*processes))
    (site.folder / "..data").symlink_to("..1")
    site.conf.symlink_to("..data/foundationdb.conf")
    async with site.running() as run:
        await run.said("FDBD joined cluster.")
        assert run.count(f"Loading configuration {site.folder}/..1/") == 1
        (site.folder / "..new").symlink_to("..2")
        (site.folder / "..new").rename(site.folder / "..data")
        await run.said(f"Loading configuration {site.folder}/..2/foundationdb.conf")
        await run.said("Starting fdbserver.2")
        await run.said("Updated configuration for fdbserver.1")


async def test_half_a_file_is_not_read(site: Site) -> None:
    site.write("1")
    async with site.running() as run:
        await run.said("FDBD joined cluster.")
        with site.conf.open("w") as file:
            for piece in site.text("1", "2").splitlines(keepends=True):
                file.write(piece)
                file.flush()
        await run.said("Starting fdbserver.2")
        assert run.count("Deconfigured") == 0


@pytest.mark.parametrize("content", [b"\xff\xfe\x00garbage", b"", b"[", b"=\n=x\n[]\n]\n"])
async def test_garbage_ends_all_and_the_next_file_begins_anew(site: Site, content: bytes) -> None:
    site.write("1")
    async with site.running() as run:
        await run.said("FDBD joined cluster.")
        beside = site.folder / "beside"
        beside.write_bytes(content)
        beside.replace(site.conf)
        await run.said("Deconfigured fdbserver.1")
        await run.until(lambda: not run.children())
        site.write("1")
        await run.said("FDBD joined cluster.", 2)


async def test_a_file_that_is_removed_is_taken_at_its_word(site: Site) -> None:
    site.write("1")
    async with site.running() as run:
        await run.said("FDBD joined cluster.")
        site.conf.unlink()
        await run.said("Conf file has been deleted")
        await run.said("Unable to load configuration file")
        await run.until(lambda: not run.children())
        site.write("1")
        await run.said("FDBD joined cluster.", 2)


async def test_a_huge_file_changes_nothing(site: Site) -> None:
    site.write("1")
    async with site.running() as run:
        await run.said("FDBD joined cluster.")
        put(site.conf, "# nothing\n" * 1_000_000)
        await run.said("too large")
        assert run.count("Deconfigured") == 0
        assert len(run.children()) == 1


async def test_a_section_that_cannot_be_is_told(site: Site) -> None:
    put(site.conf, "[fdbserver.1]\nclass = x\n[fdbserver.2]\ncommand = /nowhere/fdbserver\n")
    async with site.running() as run:
        await run.said("No command is given for fdbserver.1")
        await run.said("Unable to launch /nowhere/fdbserver")
        site.write("1")
        await run.said("FDBD joined cluster.")
        await run.said("Deconfigured fdbserver.2")


async def test_two_with_one_lock_run_one_after_the_other(site: Site) -> None:
    site.write("1")
    async with site.running() as first:
        await first.said("FDBD joined cluster.")
        async with site.running() as second:
            await second.said("Waiting for another fdbmonitor")
            assert second.count("Starting") == 0
            assert await first.end() == 0
            await second.said("FDBD joined cluster.")
            assert (site.folder / "lock/file").read_text() == f"{second.process.pid}\n"
            assert await second.end() == 0


async def test_the_variables_of_a_child(site: Site) -> None:
    site.write("1", general="delete-envvars = SECRET OTHER\nenvvars = A=1 B=x=y")
    async with site.running(SECRET="s", KEPT="k") as run:
        await run.said("FDBD joined cluster.")
        found = variables_of(run.children()[0])
        assert ("SECRET" in found, found["KEPT"], found["A"], found["B"]) == (
            False,
            "k",
            "1",
            "x=y",
        )
        assert found["STATEWARD_COMMAND_LINE"] == f"{site.program} --class c1"


async def test_paths_of_a_container_are_paths_of_this_machine(site: Site) -> None:
    """The program of the image, and what the file says about mounted folders."""
    text = "[fdbserver.1]\ncommand = /usr/bin/fdbserver\ndatadir = /var/fdb/data/1\n"
    put(site.conf, text)
    env = {
        "STATEWARD_FDB_PROGRAMS": str(site.program.parent),
        "STATEWARD_MOUNTS": f'{{"/var/fdb/data": "{site.folder}/volume"}}',
    }
    async with site.running(**env) as run:
        await run.said("FDBD joined cluster.")
        pid = run.children()[0]
        assert run.count(f"Launching /usr/bin/fdbserver ({pid}) for fdbserver.1") == 1
        assert words_of(pid) == ["--datadir", f"{site.folder}/volume/1"]
        shown = variables_of(pid)["STATEWARD_COMMAND_LINE"]
        assert shown == "/usr/bin/fdbserver --datadir /var/fdb/data/1"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--daemonize"], "must not be given"),
        (["--loggroup", 'a"b'], "no quotation mark"),
        (["--nonsense"], "Usage: fdbmonitor"),
        (["--conffile"], "Usage: fdbmonitor"),
    ],
)
async def test_what_is_refused(words: list[str], told: str) -> None:
    code, lines = await outcome("fdbmonitor", *words)
    assert code == 1
    assert "EMULATED" in lines[0]
    assert any(told in line for line in lines)


async def test_a_lock_that_cannot_be(site: Site) -> None:
    site.write("1")
    words = ("--conffile", site.conf, "--lockfile", site.program / "lock")
    code, lines = await outcome("fdbmonitor", *words)
    assert (code, "Unable to open lockfile" in lines[-1]) == (1, True)
