"""Command lines of fdbbackup and fdbrestore that no recording has."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from fakes.fdb_databases import configured, unconfigured
from stateward.emulate.fdb.backups.agent import MemoryAgent
from stateward.emulate.fdb.backups.cli import commands
from stateward.emulate.fdb.backups.cli.asked import Asked
from stateward.emulate.fdb.backups.files import DiskFiles, Files, MemoryFiles, Unusable
from stateward.emulate.fdb.backups.state import AgentSeen
from stateward.emulate.fdb.cli.tape import Tape
from stateward.emulate.fdb.console import Console
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.keys import Transaction
from stateward.fdb.admin.answers import Answer

C, D = "-C f", "--dest-cluster-file f"
URL = "file:///b/one"


class Typing:
    """A database with a key, one who types, and an agent if it is told to work."""

    def __init__(self, database: Database | None = None) -> None:
        self.database = database or configured()
        self.files = MemoryFiles()
        self.console = Console(self.database, files=self.files)
        self.agent = MemoryAgent(AgentSeen("a"), self.files, "/blobs")

    def type(self, line: str, seconds: float = 30.0) -> Answer:
        program, *words = line.split(" ")
        words = [it.replace("~", " ") for it in words]
        return asyncio.run(self.console.run(program, words, seconds))

    def write(self, *keys: bytes) -> None:
        work = Transaction(self.database.store, self.database.now)
        for it in keys:
            work.set(it, b"value")
        work.commit(self.database.now)

    def clear(self) -> None:
        work = Transaction(self.database.store, self.database.now)
        work.clear_range(b"", b"\xff")
        work.commit(self.database.now)

    def keys(self) -> list[bytes]:
        store = self.database.store
        return [key for key, _ in store.span(b"", b"\xff", store.version)]

    def work(self, seconds: int) -> None:
        for _ in range(seconds):
            self.database.advance(self.database.now + 1)
            while self.agent.step(self.database):
                pass

    def saved(self, words: str = "") -> str:
        """Have a backup that is over; return where it is."""
        self.type(f"fdbbackup start {C} -d file:///b{words}")
        self.work(30)
        return self.database.backups.backups["default"].url


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("fdbbackup nosuch", 1, "unknown option `nosuch'"),
        ("fdbbackup query -C f", 1, "EMULATED: the stand-in has no `fdbbackup query'"),
        ("fdbbackup start -C f -d file:///b --what", 1, "unknown option `--what'"),
        ("fdbbackup start -C f -d", 1, "requires an argument"),
        ("fdbbackup start -C f -d file://b", 10, "absolute path required"),
        ("fdbbackup start -C f -d file:///b/../c", 10, "path must be simple"),
        ("fdbbackup start -C f -d blobstore:///x", 10, "a host must be named"),
        ("fdbbackup start -C f -d file:///b -s soon", 1, "Could not parse interval from soon"),
        ("fdbbackup start -C f -d file:///b -k b~a", 1, "Invalid key range"),
        ("fdbbackup start -C f -d file:///b -k a~b~c", 1, "Invalid key range"),
        ('fdbbackup start -C f -d file:///b -k "a', 1, "Invalid key range"),
        ("fdbbackup expire -d file:///b --expire-before-timestamp now", 1, "a time must look like"),
        ("fdbbackup describe", 10, "No backup destination was specified"),
        ("fdbbackup describe -d file:///nothing", 1, "Backup does not exist"),
        ("fdbbackup delete -d file:///nothing", 1, "Backup does not exist"),
        ("fdbrestore start --dest-cluster-file f -r http://x", 1, "invalid URL prefix"),
        ("fdbrestore nosuch", 1, "unknown option `nosuch'"),
    ],
)  # fmt: skip
def test_what_is_refused_at_once(line: str, code: int, said: str) -> None:
    found = Typing(unconfigured()).type(line)
    assert (found.code, found.in_time) == (code, True)
    assert said in found.err


@pytest.mark.parametrize(
    "line", [f"fdbbackup status {C}", f"fdbbackup start {C} -d {URL}", f"fdbrestore abort {D}"]
)
def test_who_finds_no_database_waits_for_it(line: str) -> None:
    it = Typing(unconfigured())
    began = it.database.now
    assert not it.type(line, 20).in_time
    assert it.database.now == began + 20


def test_only_ranges_that_are_asked_for_are_saved() -> None:
    it = Typing()
    it.write(b"a", b"b", b"c1", b"c2", b"d")
    url = it.saved(" -k a~b -k c")
    it.clear()
    assert it.type(f"fdbrestore start {D} -r {url}").code == 0
    it.work(3)
    assert it.keys() == [b"a", b"c1", b"c2"]


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        ("", [b"a/1", b"a/2", b"b/1"]),
        (" -k a/", [b"a/1", b"a/2"]),
        (" -k a/~a/2 -k b", [b"a/1", b"b/1"]),
        (" -k a/ --add-prefix x/ --remove-prefix a/", [b"x/1", b"x/2"]),
        (" --remove-prefix a/", [b"1", b"2"]),
        (r" --add-prefix \x00", [b"\0a/1", b"\0a/2", b"\0b/1"]),
    ],
)
def test_which_keys_come_back_and_what_they_are_called(words: str, keys: list[bytes]) -> None:
    it = Typing()
    it.write(b"a/1", b"a/2", b"b/1")
    url = it.saved()
    it.clear()
    assert it.type(f"fdbrestore start {D} -r {url}{words}").code == 0
    it.work(3)
    assert it.keys() == keys


@pytest.mark.parametrize(
    ("words", "is_free"),
    [
        ("", False),
        (" -k b~z", False),
        (" -k a/", True),
        (" -k a/ --add-prefix m --remove-prefix a/", False),
        (" -k a/ --add-prefix x/ --remove-prefix a/", True),
        (" --remove-prefix a/ --add-prefix n", True),
        (" --remove-prefix a/ --add-prefix m", False),
    ],
)
def test_only_where_keys_come_to_be_there_must_be_none(words: str, *, is_free: bool) -> None:
    it = Typing()
    it.write(b"a/1")
    url = it.saved()
    it.clear()
    it.write(b"middle")
    assert (it.type(f"fdbrestore start {D} -r {url}{words}").code == 0) is is_free
    it.work(3)
    assert (len(it.keys()) == 2) is is_free


def test_a_version_that_is_not_there_is_refused() -> None:
    it = Typing()
    url = it.saved()
    found = it.type(f"fdbrestore start {D} -r {url} -v 5")
    assert (found.code, "Restore version 5 is not possible" in found.err) == (1, True)
    it.files.delete(f"{url.removeprefix('file://')}/snapshots")
    found = it.type(f"fdbrestore start {D} -r {url}")
    assert (found.code, "not restorable to any version" in found.err) == (1, True)


def test_the_same_tag_runs_once() -> None:
    it = Typing()
    url = it.saved()
    it.clear()
    assert it.type(f"fdbrestore start {D} -r {url}").code == 0
    again = it.type(f"fdbrestore start {D} -r {url}")
    assert (again.code, "Restore duplicate request" in again.err) == (1, True)
    other = it.type(f"fdbrestore start {D} -r {url} -t other")
    assert "Database is locked" in other.err


def test_a_damaged_file_is_told_and_waited_for() -> None:
    it = Typing()
    it.write(b"a")
    url = it.saved()
    (path,) = (one for one in it.files.kept if "kvranges" in one)
    whole = it.files.kept[path]
    it.files.kept[path] = whole[:-3]
    it.clear()
    it.type(f"fdbrestore start {D} -r {url}")
    it.work(20)
    assert "LastError: 'Corrupted backup data" in it.type(f"fdbrestore status {D}").out
    assert "State: running" in it.type(f"fdbrestore status {D} -t default").out
    it.files.kept[path] = whole
    it.work(20)
    assert it.keys() == [b"a"]


def test_errors_are_told_with_how_long_they_are_ago() -> None:
    it = Typing()
    it.type(f"fdbbackup start {C} -d file:///b -z -s 10")
    it.files.is_away = lambda _path: True
    it.work(100)
    text = it.type(f"fdbbackup status {C}").out
    assert "Recent Errors (since initialization)\n" in text
    assert "second(s) ago : Input/output error" in text
    assert it.type(f"fdbbackup status {C} -e 0").out.count("Errors") == 0
    it.files.is_away = lambda _path: False
    it.work(100)
    assert "Older Errors\n1.7" in it.type(f"fdbbackup status {C}").out


def test_blob_stores_are_folders() -> None:
    it = Typing()
    it.write(b"a")
    url = "blobstore://key@store:443/nightly?bucket=b"
    assert it.type(f"fdbbackup start {C} -d {url}").code == 0
    it.work(30)
    assert all(one.startswith("/blobs/store:443/b/nightly/") for one in it.files.kept)
    listed = it.type("fdbbackup list -b blobstore://key@store:443/?bucket=b")
    assert listed.out == "blobstore://key@store:443/nightly?bucket=b\n"
    found = json.loads(it.type(f"fdbbackup describe -d {url} --json").out)
    assert (found["URL"], found["Restorable"]) == (url, True)


def test_modifying_what_is_over_is_refused() -> None:
    it = Typing()
    it.saved()
    assert "is not runnable" in it.type(f"fdbbackup modify {C} -s 5").err
    it.type(f"fdbbackup start {C} -d {URL} -z")
    it.type(f"fdbbackup abort {C}")
    assert "Cannot modify aborted backup" in it.type(f"fdbbackup modify {C} -s 5").err


def test_a_discontinued_one_ends_once_it_can_be_restored() -> None:
    it = Typing()
    it.type(f"fdbbackup start {C} -d {URL} -z")
    assert "successfully discontinued" in it.type(f"fdbbackup discontinue {C}").out
    assert "already discontinued" in it.type(f"fdbbackup discontinue {C}").err
    assert not it.type(f"fdbbackup wait {C}", 5).in_time
    it.work(30)
    assert it.type(f"fdbbackup wait {C}").out == "The backup on tag `default' has been completed.\n"


def test_nobody_who_asks_again_begins_twice() -> None:
    """A command whose answer was lost is carried out anew by the name of what it began."""
    it = Typing()
    asked = Asked("fdbbackup", "start", url=URL, uid="a" * 32, goes_on=True)
    for _ in range(2):
        tape = Tape(it.database)
        for seconds in commands.steps(asked, tape):
            it.database.advance(it.database.now + seconds)
        assert not tape.err
    assert it.database.backups.backups["default"].uid == "a" * 32


def test_files_of_a_disk_are_as_those_in_memory(tmp_path: Path) -> None:
    def lived(files: Files, root: str) -> list[object]:
        found: list[object] = [files.list(root)]
        files.write(f"{root}/a/b", b"1")
        files.write(f"{root}/a/c", b"2")
        files.write(f"{root}/a/b", b"3")
        found += [files.read(f"{root}/a/b"), [it.removeprefix(root) for it in files.list(root)]]
        files.delete(f"{root}/a/c")
        files.delete(f"{root}/a/c")
        found.append([it.removeprefix(root) for it in files.list(root)])
        files.delete(f"{root}/a")
        found.append(files.list(root))
        with pytest.raises(Unusable, match="No such file"):
            files.read(f"{root}/a/b")
        return found

    assert lived(DiskFiles(), str(tmp_path)) == lived(MemoryFiles(), "/x")
    (tmp_path / "file").write_text("")
    with pytest.raises(Unusable):
        DiskFiles().write(str(tmp_path / "file" / "a"), b"")
