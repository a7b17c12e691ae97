"""Whatever a program says or does not say: a typed error with a sentence, in bounded time and memory."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from fakes.programs import write
from stateward.core.clock import SystemClock
from stateward.core.errors import OutcomeUnknown, PeerConfused, PeerError
from stateward.core.version import Version
from stateward.fdb.admin import fdbcli, session
from stateward.fdb.admin.binaries import Binaries
from stateward.fdb.admin.clusterfile import ClusterFile
from stateward.fdb.admin.errors import DatabaseRefused, DatabaseSilent, ProgramUnusable, Refusal
from stateward.fdb.admin.fdbcli import Fdbcli
from stateward.fdb.admin.session import Session, Shared
from stateward.fdb.admin.turns import Turns
from stateward.fdb.model import exclusions
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.configuration import Configuration
from stateward.fdb.model.connection import ConnectionString

STRING = ConnectionString.parse("lab:abc@127.0.1.1:4501")
SOMEBODY = [exclusions.of_instance("storage-1")]
Ask = Callable[[Fdbcli], Awaitable[object]]

#: All that can be asked, with what an answer that makes no sense must become.
ASKED: dict[str, tuple[Ask, type[PeerError]]] = {
    "exclusions": (lambda it: it.exclusions(), PeerConfused),
    "maintenance": (lambda it: it.maintenance(), PeerConfused),
    "create": (lambda it: it.create(Configuration()), OutcomeUnknown),
    "configure": (lambda it: it.configure(Configuration()), OutcomeUnknown),
    "exclude": (lambda it: it.exclude(SOMEBODY), OutcomeUnknown),
    "include": (lambda it: it.include(SOMEBODY), OutcomeUnknown),
    "kill": (lambda it: it.kill([Address("10.0.0.1", 4500)]), OutcomeUnknown),
    "begin": (lambda it: it.begin_maintenance("z1", 60), OutcomeUnknown),
    "end": (lambda it: it.end_maintenance(), OutcomeUnknown),
    "move": (lambda it: it.change_coordinators([Address("10.0.0.1", 4500)]), OutcomeUnknown),
}
CHANGES = {name for name, (_, kind) in ASKED.items() if kind is OutcomeUnknown}


class Place:
    """A database whose fdbcli is a script."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        shared = Shared(Binaries([folder]), Turns(1), SystemClock(), environment=os.environ)
        self.session = Session(shared, "ns/shop", Version(7, 3, 79))
        self.session.find_by(STRING)
        self.database = Fdbcli(self.session)

    def does(self, script: str, version: str = "echo '(v7.3.79)'") -> None:
        write(self._folder / "fdbcli", f'[ "$1" = --version ] && {{ {version}; exit; }}\n{script}')


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    made.session.close()


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have nobody wait for long."""
    for name, seconds in (("_LONG", 1), ("_SHORT", 1), ("_GRACE", 0)):
        monkeypatch.setattr(fdbcli, name, seconds)
    monkeypatch.setattr(session, "_SOON", 1.0)


@pytest.mark.parametrize("name", ASKED)
async def test_binary_garbage(place: Place, name: str) -> None:
    place.does("head -c 100000 /dev/urandom")
    ask, kind = ASKED[name]
    with pytest.raises(kind) as caught:
        await ask(place.database)
    assert 0 < len(caught.value.message) < 2000


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("name", ["status", *ASKED])
async def test_who_hangs_and_does_not_listen(place: Place, name: str) -> None:
    place.does("trap '' TERM INT HUP; sleep 300 & wait; sleep 300")
    ask = ASKED[name][0] if name in ASKED else lambda it: it.status()
    kind = OutcomeUnknown if name in CHANGES else DatabaseSilent
    began = time.monotonic()
    with pytest.raises(kind, match="did not answer in time"):
        await ask(place.database)
    assert time.monotonic() - began < 20


@pytest.mark.usefixtures("soon")
async def test_who_does_not_even_say_its_version(place: Place) -> None:
    place.does("exit 0", version="trap '' TERM; sleep 300")
    with pytest.raises(ProgramUnusable, match="--version must answer within 1 s"):
        await place.database.status()


#: What fdbcli may do of which nobody knows whether it did what it was asked for.
UNKNOWN = {
    "perhaps": "echo 'ERROR: Transaction may or may not have committed (1021)' >&2; exit 1",
    "no memory": "echo 'Fatal Error: Out of memory' >&2; exit 1",
    "killed": "echo 'Configuration changed'; kill -9 $$",
    "broken": "kill -11 $$",
    "too much": "head -c 40000000 /dev/zero",
    "words": "echo 'terminate called' >&2",
    "no cluster file": "rm -f $2; echo 'Coordination state changed'",
    "a new stage": "echo '  10.0.0.1:4500  ---- Something new'",
}


@pytest.mark.parametrize("name", sorted(CHANGES))
@pytest.mark.parametrize("does", UNKNOWN)
async def test_nobody_knows_whether_it_was_done(place: Place, does: str, name: str) -> None:
    place.does(UNKNOWN[does])
    with pytest.raises(OutcomeUnknown) as caught:
        await ASKED[name][0](place.database)
    assert type(caught.value) is OutcomeUnknown


@pytest.mark.parametrize("name", sorted(CHANGES))
async def test_what_was_not_even_asked_is_not_unknown(
    place: Place, name: str, tmp_path: Path
) -> None:
    ask = ASKED[name][0]
    place.does("exit 0", version="head -c 40000000 /dev/zero")
    with pytest.raises(ProgramUnusable, match="must print less than") as caught:
        await ask(place.database)
    assert type(caught.value) is ProgramUnusable
    (tmp_path / "fdbcli").write_bytes(b"\x00garbage")
    with pytest.raises(ProgramUnusable, match="must be a program that can be run"):
        await ask(place.database)
    (tmp_path / "fdbcli").unlink()
    with pytest.raises(ProgramUnusable, match="must be on this machine"):
        await ask(place.database)


@pytest.mark.parametrize("source", ["/dev/zero", "/dev/urandom"])
async def test_a_hundred_megabytes(place: Place, source: str) -> None:
    place.does(f"head -c 104857600 {source}")
    before = begun()
    began = time.monotonic()
    with pytest.raises(ProgramUnusable, match="fdbcli must print less than 33554432 bytes"):
        await place.database.status()
    assert time.monotonic() - began < 30
    assert memory("VmHWM") - before < 80_000, "kB"


async def test_as_much_garbage_as_may_be(place: Place) -> None:
    place.does("head -c 33554000 /dev/urandom")
    before = begun()
    status = await place.database.status()
    assert "no whole JSON document" in status.flaws[""]
    assert memory("VmHWM") - before < 160_000, "kB"


def begun() -> int:
    """Return how much memory we have, and forget how much it ever was."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


def memory(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(it.split()[1]) for it in lines if it.startswith(f"{name}:"))


async def test_what_is_no_program(place: Place, tmp_path: Path) -> None:
    (tmp_path / "fdbcli").write_bytes(os.urandom(1000))
    (tmp_path / "fdbcli").chmod(0o755)
    with pytest.raises(ProgramUnusable, match="must be a program that can be run"):
        await place.database.status()


# -------------------------------------------------------------------------- cluster files


@pytest.fixture
def kept() -> Iterator[ClusterFile]:
    made = ClusterFile()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b"", "must not be empty"),
        (b"# only words\n", "must not be empty"),
        (b"lab:abc@", "must be DESCRIPTION:ID@HOST:PORT"),
        (b"lab:abc@,", ""),
        (b"lab:abc@127.0.0.1", ""),
        (b"lab:abc@127.0.0.1:99999", ""),
        (b"127.0.0.1:4500", "must be DESCRIPTION:ID@HOST:PORT"),
        (b"\xff\xfe\x00garbage", ""),
        ("läb:abc@127.0.0.1:4500".encode(), ""),
        (b"x" * 100_000_000, "more than 65536 bytes"),
        (b"l:a@" + b",".join(b"10.0.0.1:%d" % it for it in range(1, 102)), "at most 100"),
    ],
    ids=lambda it: repr(it)[:24],
)
def test_a_cluster_file_that_is_none(kept: ClusterFile, raw: bytes, sentence: str) -> None:
    kept.path.write_bytes(raw)
    with pytest.raises(DatabaseRefused, match="the cluster file must hold") as caught:
        kept.found_by()
    assert caught.value.refusal is Refusal.CLUSTER_FILE
    assert sentence in caught.value.message
    assert len(caught.value.message) < 500


def test_a_cluster_file_that_cannot_be_read_or_written(kept: ClusterFile) -> None:
    with pytest.raises(DatabaseRefused, match="No such file"):
        kept.found_by()
    kept.path.mkdir()
    with pytest.raises(DatabaseRefused, match="Is a directory"):
        kept.found_by()
    with pytest.raises(DatabaseRefused, match="must be ours to write"):
        kept.find_by(STRING)
    kept.path.rmdir()
    kept.find_by(STRING)
    assert kept.found_by() == STRING
    with as_nobody(), pytest.raises(DatabaseRefused, match="Permission denied"):
        kept.found_by()


class as_nobody:  # noqa: N801 - reads as what is done
    """Root reads everything, so ask as nobody."""

    def __enter__(self) -> None:
        self._was = os.geteuid()
        if self._was != 0:
            pytest.skip("only root can be somebody else")
        os.seteuid(65534)

    def __exit__(self, *_: object) -> None:
        os.seteuid(self._was)


def test_no_place_for_a_cluster_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", f"{sys.prefix}/no/such/folder")
    with pytest.raises(DatabaseRefused, match="there must be a place for a cluster file"):
        ClusterFile()
