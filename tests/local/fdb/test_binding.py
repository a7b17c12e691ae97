"""Keys by FoundationDB's own client, with a module in its place that answers from the stand-in."""

from __future__ import annotations

import asyncio
import ctypes
import io
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from fakes.fdb_binding import FakeFdb, Opened
from fakes.fdb_databases import STRING, configured
from stateward.core.clock import SystemClock
from stateward.core.errors import OutcomeUnknown, PeerError
from stateward.fdb.admin.errors import DatabaseRefused, DatabaseSilent, ProgramUnusable, Refusal
from stateward.fdb.admin.keyed.optimistic import Order, Reply
from stateward.fdb.admin.keys import KeyTransaction, excluded_key
from stateward.fdb.admin.native import fdbkeys, library
from stateward.fdb.admin.native.binding import BindingKeys
from stateward.fdb.admin.session import Tls
from stateward.fdb.model import exclusions
from stateward.fdb.model.connection import ConnectionString
from stateward.runtime.telling.metrics import Metrics

KEY = b"\xff\x02/lab/x"
CONNECTION = ConnectionString.parse(STRING)


class Place:
    """A database by a module that looks like the real one."""

    def __init__(self) -> None:
        self.model = configured()
        self.module = FakeFdb(self.model)
        self.module.api_version(library.API_VERSION)
        self.trouble = self.module.trouble
        self.metrics = Metrics(SystemClock())
        meter = self.metrics.programs("fdb")
        self.keys = BindingKeys(self.module, SystemClock(), meter, seconds=0.4)
        self.keys.find_by(CONNECTION)

    def opened(self) -> dict[str, Opened]:
        found: dict[str, Opened] = self.module.impl.open_databases
        return found

    def ends(self) -> str:
        lines = self.metrics.render()[0].decode().splitlines()
        ends = [it for it in lines if it.startswith("stateward_fdb_program_ends_total")]
        return " ".join(it.partition('end="')[2].partition('"')[0] for it in ends)


@pytest.fixture
def place() -> Iterator[Place]:
    made = Place()
    yield made
    made.keys.close()


async def write(keys: KeyTransaction) -> None:
    keys.set(KEY, b"1")


async def read(keys: KeyTransaction) -> bytes | None:
    return await keys.get(KEY)


# -------------------------------------------------------------------------- what works


async def test_keys_of_the_system_are_written_and_read(place: Place) -> None:
    assert await place.keys.transact(read) is None
    await place.keys.transact(write)
    assert await place.keys.transact(read) == b"1"
    (opened,) = place.opened().values()
    assert opened.transactions[0].options.chosen == {
        "timeout": 400,
        "retry_limit": 0,
        "access_system_keys": 1,
        "lock_aware": 1,
        "special_key_space_enable_writes": 1,
        "special_key_space_relaxed": 1,
    }
    assert all(it.cancelled for it in opened.transactions)
    assert place.ends() == "ok"


async def test_a_long_range_comes_in_pages(place: Place) -> None:
    async def fill(keys: KeyTransaction) -> None:
        for number in range(7):
            keys.set(KEY + b"%d" % number, b"v")
        keys.set(KEY + b"gone", b"v")
        keys.clear(KEY + b"gone")

    async def all_of_it(keys: KeyTransaction) -> list[tuple[bytes, bytes]]:
        return await keys.get_range(KEY, KEY + b"\xff")

    assert await place.keys.transact(all_of_it) == []
    await place.keys.transact(fill)
    assert await place.keys.transact(all_of_it) == [(KEY + b"%d" % it, b"v") for it in range(7)]


async def test_a_locked_database_is_managed_all_the_same(place: Place) -> None:
    place.model.store.locked_by = "somebody"
    await place.keys.transact(write)
    assert await place.keys.transact(read) == b"1"


async def test_the_cluster_file_is_ours_alone_and_gone_in_the_end(place: Place) -> None:
    await place.keys.transact(read)
    folder = place.keys.file.parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert list(place.opened()) == [str(place.keys.file)]
    assert place.keys.found_by() == CONNECTION
    place.keys.find_by(CONNECTION)
    assert place.opened() == {}, "it is looked for anew"
    await place.keys.transact(read)
    place.keys.close()
    assert not folder.exists()
    assert place.opened() == {}, "the module keeps every database that nobody takes from it"


# -------------------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("where", "code", "kind", "end"),
    [
        ("commit", 1021, OutcomeUnknown, "timeout"),
        ("commit", 1031, OutcomeUnknown, "timeout"),
        ("commit", 1038, DatabaseRefused, "failed"),
        ("commit", 4100, OutcomeUnknown, "timeout"),
        ("get", 1031, DatabaseSilent, "timeout"),
        ("get", 1038, DatabaseRefused, "failed"),
        ("get_range", 1007, DatabaseRefused, "failed"),
    ],
)
async def test_what_a_number_becomes(
    place: Place, where: str, code: int, kind: type[PeerError], end: str
) -> None:
    place.trouble.fails[where] = code

    async def all_three(keys: KeyTransaction) -> None:
        await keys.get(KEY)
        await keys.get_range(KEY, KEY + b"\xff")
        keys.set(KEY, b"1")

    with pytest.raises(kind, match=rf"\({code}\)"):
        await place.keys.transact(all_three)
    assert place.ends() == end
    (opened,) = place.opened().values()
    assert len(opened.transactions) == 1, "nothing is tried again"


@pytest.mark.parametrize("where", ["get", "commit"])
@pytest.mark.parametrize("retriable", [True, False])
async def test_who_refuses_a_key_says_why(place: Place, where: str, retriable: bool) -> None:
    place.trouble.fails[where] = 2117
    flag = str(retriable).lower()
    place.trouble.message = (
        '{"command":"exclude","message":"ERROR: This exclude may cause the total available space'
        f' in the cluster to drop below 10%.\\n","retriable":{flag}}}'
    ).encode()

    async def exclude(keys: KeyTransaction) -> None:
        await keys.get(KEY)
        keys.set(excluded_key(exclusions.parse("127.0.1.1")), b"")

    with pytest.raises(DatabaseRefused, match="exclude: This exclude may cause") as caught:
        await place.keys.transact(exclude)
    assert caught.value.refusal is Refusal.NO_ROOM
    assert caught.value.may_be_granted_later is retriable
    assert place.model.excluded == set()


@pytest.mark.parametrize(("where", "kind"), [("get", DatabaseSilent), ("commit", OutcomeUnknown)])
@pytest.mark.parametrize("deaf", [False, True], ids=["silent", "deaf"])
async def test_who_does_not_answer_is_given_up(
    place: Place, monkeypatch: pytest.MonkeyPatch, where: str, kind: type[PeerError], deaf: bool
) -> None:
    monkeypatch.setattr("stateward.fdb.admin.native.binding._GRACE", 0.3)
    (place.trouble.deaf if deaf else place.trouble.hangs).add(where)

    async def both(keys: KeyTransaction) -> None:
        await keys.get(KEY)
        keys.set(KEY, b"1")

    began = time.monotonic()
    with pytest.raises(kind, match="libfdb_c said nothing" if deaf else "1031"):
        await place.keys.transact(both)
    assert time.monotonic() - began < 10


async def test_the_loop_goes_on_meanwhile(place: Place) -> None:
    place.trouble.hangs.add("get")
    waiting = asyncio.create_task(place.keys.transact(read))
    beats = 0
    while not waiting.done():
        await asyncio.sleep(0.01)
        beats += 1
    assert beats > 10
    with pytest.raises(DatabaseSilent):
        await waiting


async def test_who_gives_up_ends_the_transaction(place: Place) -> None:
    place.trouble.deaf.add("get")
    waiting = asyncio.create_task(place.keys.transact(read))
    await asyncio.sleep(0.05)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    (opened,) = place.opened().values()
    assert opened.transactions[0].cancelled
    assert place.ends() == "given_up"


async def test_what_the_work_raises_comes_out_and_nothing_is_done(place: Place) -> None:
    async def change_of_mind(keys: KeyTransaction) -> None:
        keys.set(KEY, b"1")
        raise ValueError("the lock is not ours")

    with pytest.raises(ValueError, match="the lock is not ours"):
        await place.keys.transact(change_of_mind)
    assert await place.keys.transact(read) is None


@pytest.mark.parametrize("text", ["", "lab:abc@", "garbage", "\x00\x01"])
async def test_a_cluster_file_that_is_none_is_said_to(place: Place, text: str) -> None:
    place.keys.file.write_text(text)
    with pytest.raises(DatabaseRefused, match="the cluster file must hold") as caught:
        await place.keys.transact(read)
    assert caught.value.refusal is Refusal.CLUSTER_FILE


# -------------------------------------------------------------------------- loading it


def installed(monkeypatch: pytest.MonkeyPatch, module: ModuleType | None) -> None:
    monkeypatch.setitem(sys.modules, "fdb", module)  # type: ignore[arg-type]


def test_it_is_loaded_with_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    module = FakeFdb(configured())
    installed(monkeypatch, module)
    tls = Tls(Path("/c.pem"), Path("/k.pem"), Path("/ca.pem"), "Check.Valid=1")
    assert library.load(tls=tls) is module
    assert module.chosen == library.API_VERSION
    assert module.told == {
        "set_tls_cert_path": "/c.pem",
        "set_tls_key_path": "/k.pem",
        "set_tls_ca_path": "/ca.pem",
        "set_tls_verify_peers": b"Check.Valid=1",
    }
    module.open("/x")
    with pytest.raises(ProgramUnusable, match="must be told of certificates before"):
        library.load(tls=tls)


@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        (None, "the package foundationdb must be installed"),
        (ModuleType("fdb"), "must be that of the package foundationdb"),
        (FakeFdb(configured(), library=0), "Unable to locate the FoundationDB API"),
        (FakeFdb(configured(), latest=710), "Latest known FDB API version is 710"),
        (FakeFdb(configured(), latest=800), "not supported by the installed"),
    ],
)
def test_what_cannot_be_loaded_is_said_to(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType | None, sentence: str
) -> None:
    installed(monkeypatch, module)
    with pytest.raises(ProgramUnusable, match=sentence) as caught:
        library.load()
    assert caught.value.hint


def test_a_library_that_is_none_is_said_to(tmp_path: Path) -> None:
    nonsense = tmp_path / "libfdb_c.so"
    nonsense.write_bytes(b"\x7fELF nonsense")
    for path in (nonsense, tmp_path / "none.so"):
        with pytest.raises(ProgramUnusable, match="must be a library that can be loaded"):
            library.load(path)


def test_the_library_is_had_by_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(ctypes, "CDLL", asked.append)
    installed(monkeypatch, FakeFdb(configured()))
    library.load(Path("/opt/fdb/libfdb_c.so"))
    assert asked == ["/opt/fdb/libfdb_c.so"]


# -------------------------------------------------------------------------- the program over it


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Have an order typed for a program that finds the stand-in; return its cluster file."""
    module = FakeFdb(configured())
    module.api_version(library.API_VERSION)
    monkeypatch.setattr(library, "load", lambda *_: module)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    order = msgspec.json.encode(Order(writes=[(KEY, b"1")]))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(order)))
    file = tmp_path / "lent" / "fdb.cluster"
    file.parent.mkdir()
    return file


def test_the_program_works_on_the_very_file_and_leaves_nothing_behind(
    typed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed.write_text(f"{STRING}\n", encoding="ascii")
    assert fdbkeys.main(["-C", str(typed), "--library", "libfdb_c.so"]) == 0
    assert msgspec.json.decode(capsys.readouterr().out, type=Reply) == Reply()
    assert sorted(typed.parent.parent.rglob("*")) == [typed.parent, typed]


def test_a_cluster_file_that_is_none_is_refused(
    typed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed.write_text("nobody\n", encoding="ascii")
    assert fdbkeys.main(["-C", str(typed), "--library", "libfdb_c.so"]) == 0
    reply = msgspec.json.decode(capsys.readouterr().out, type=Reply)
    assert reply.trouble == Refusal.CLUSTER_FILE
