"""The adapter over fdbcli, with a program in its place that says what is written for it."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stateward.core.clock import SystemClock
from stateward.core.errors import OutcomeUnknown, StatewardError
from stateward.core.facts import Known
from stateward.core.version import Version
from stateward.fdb.admin.answers import Stage
from stateward.fdb.admin.binaries import Binaries
from stateward.fdb.admin.costs import Meter
from stateward.fdb.admin.errors import DatabaseRefused, DatabaseSilent, ProgramUnusable, Refusal
from stateward.fdb.admin.fdbcli import Fdbcli
from stateward.fdb.admin.session import Session, Shared, Tls
from stateward.fdb.admin.turns import Turns
from stateward.fdb.model import exclusions
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.configuration import Configuration
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.status import health

VERSION = Version(7, 3, 79)
STRING = ConnectionString.parse("lab:abc@127.0.1.1:4501,127.0.1.2:4501,127.0.1.3:4501")
RECORDINGS = Path(__file__).parents[2] / "recordings" / "fdb"

#: It notes how it was called, and does what the file beside it says.
PROGRAM = """\
import json, os, sys, time
here = os.path.dirname(os.path.abspath(__file__))
script = json.load(open(os.path.join(here, "script.json")))
if sys.argv[1:] == ["--version"]:
    print(script.get("version", "FoundationDB CLI 7.3 (v7.3.79)"))
    sys.exit(0)
with open(os.path.join(here, "calls"), "a") as calls:
    calls.write(json.dumps({"argv": sys.argv[1:], "env": dict(os.environ)}) + "\\n")
if "cluster file" in script:
    open(sys.argv[2], "w").write(script["cluster file"])
sys.stdout.write(script.get("out", ""))
sys.stderr.write(script.get("err", ""))
sys.stdout.flush()
sys.exit(script.get("code", 0))
"""


class Tally(Meter):
    """Remembers what was counted."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, str]] = []
        self.costs: list[tuple[float, float]] = []
        self.waits: list[float] = []

    def ended(self, program: str, command: str, end: str, wall: float, cpu: float) -> None:
        self.calls.append((program, command, end))
        self.costs.append((wall, cpu))

    def waited(self, seconds: float) -> None:
        self.waits.append(seconds)


class Place:
    """A database whose fdbcli says what we want."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        program = folder / "fdbcli"
        program.write_text(f"#!{sys.executable}\n{PROGRAM}")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        self.tally = Tally()
        shared = Shared(
            Binaries([folder]),
            Turns(2),
            SystemClock(),
            self.tally,
            {"PATH": "/usr/bin", "FDB_NETWORK_OPTION_EXTERNAL_CLIENT_DIRECTORY": "/x"},
        )
        tls = Tls(Path("/c.pem"), Path("/k.pem"), Path("/ca.pem"), "Check.Valid=1")
        self.session = Session(shared, "ns/shop", VERSION, tls)
        self.session.find_by(STRING)
        self.database = Fdbcli(self.session)
        self.says()

    def says(self, out: str = "", err: str = "", code: int = 0, **more: str) -> None:
        """Have it say something from now on."""
        script = {"out": out, "err": err, "code": code} | {
            name.replace("_", " "): it for name, it in more.items()
        }
        (self._folder / "script.json").write_text(json.dumps(script))

    def calls(self) -> list[dict[str, object]]:
        lines = (self._folder / "calls").read_text().splitlines()
        return [json.loads(it) for it in lines]

    def typed(self) -> str:
        """Return the last command."""
        argv = self.calls()[-1]["argv"]
        assert isinstance(argv, list)
        return str(argv[argv.index("--exec") + 1])


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    made.session.close()


async def test_how_it_is_called(place: Place) -> None:
    place.says((RECORDINGS / "status" / "healthy.json").read_text())
    status = await place.database.status()
    assert health.is_available(status) == Known(True, status.at, "status json")
    (call,) = place.calls()
    argv, env = call["argv"], call["env"]
    assert isinstance(argv, list)
    assert isinstance(env, dict)
    assert argv[2:] == ["--exec", "status json", "--timeout", "40"]
    folder = Path(argv[1]).parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert env["HOME"] == str(folder)
    assert env["FDB_TLS_CERTIFICATE_FILE"] == "/c.pem"
    assert env["FDB_TLS_VERIFY_PEERS"] == "Check.Valid=1"
    told = {name: it for name, it in env.items() if name.startswith("FDB_NETWORK")}
    assert told == {"FDB_NETWORK_OPTION_TRACE_LOG_GROUP": "fdb-kubernetes-operator"}
    assert place.tally.calls == [("fdbcli", "--version", "ok"), ("fdbcli", "status", "ok")]
    assert all(0 < cpu < wall + 1 for wall, cpu in place.tally.costs)
    assert len(place.tally.waits) == 1
    place.session.close()
    assert not folder.exists()


async def test_what_is_typed(place: Place) -> None:
    database, wanted = place.database, exclusions.of_instance("storage-1")
    place.says("Configuration changed\n")
    await database.configure(Configuration(logs=3))
    assert place.typed() == "configure double ssd-2 usable_regions=1 logs=3 regions=[]"
    place.says("Database created\n")
    await database.create(Configuration())
    assert place.typed().startswith("configure new double ssd-2")
    place.says("", "  127.0.1.5:4501  ---- WARNING: Exclusion in progress! It is not safe\n")
    assert list((await database.exclude([wanted])).values()) == [Stage.MOVING]
    assert place.typed() == "exclude no_wait locality_instance_id:storage-1"
    place.says()
    await database.include([wanted])
    await database.begin_maintenance("z1", 60)
    assert place.typed() == "maintenance on z1 60"
    await database.end_maintenance()
    place.says("Attempted to kill 1 processes\n")
    assert await database.kill([Address("10.0.0.1", 4500, tls=True)], twice=True) == 1
    assert place.typed() == "kill; kill 10.0.0.1:4500; sleep 1; kill 10.0.0.1:4500; sleep 5"


async def test_new_coordinators_are_read_back(place: Place) -> None:
    new = [Address("127.0.1.4", 4501)]
    place.says(
        "Coordination state changed\n", cluster_file="# DO NOT EDIT!\nlab:xyz@127.0.1.4:4501\n"
    )
    assert str(await place.database.change_coordinators(new)) == "lab:xyz@127.0.1.4:4501"
    place.says("Coordination state changed\n", cluster_file="lab:zyx@127.0.1.9:4501\n")
    with pytest.raises(OutcomeUnknown, match="does not name the new coordinators yet"):
        await place.database.change_coordinators(new)
    place.says("Coordination state changed\n", cluster_file="garbage")
    with pytest.raises(OutcomeUnknown, match="the cluster file must hold"):
        await place.database.change_coordinators(new)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({"err": "Specified timeout reached -- exiting...\n", "code": 1}, DatabaseSilent),
        (
            {"err": "Invalid cluster file `x': 2104 Connection string invalid\n", "code": 1},
            DatabaseRefused,
        ),
    ],
)
async def test_what_a_question_raises(
    place: Place, said: dict[str, object], kind: type[StatewardError]
) -> None:
    place.says(**said)  # type: ignore[arg-type]
    with pytest.raises(kind):
        await place.database.status()


async def test_garbage_is_an_unknown_status(place: Place) -> None:
    place.says("\x00\x01garbage{{{")
    status = await place.database.status()
    assert "no whole JSON document" in status.flaws[""]


async def test_a_program_of_another_release_is_refused(place: Place) -> None:
    place.says(version="FoundationDB CLI 7.1 (v7.1.61)")
    with pytest.raises(ProgramUnusable, match=r"must be of FoundationDB 7\.3, and is 7\.1\.61"):
        await place.database.status()
    place.says(version="what?")
    with pytest.raises(ProgramUnusable, match="--version must name a version"):
        await place.database.status()


async def test_no_program_is_said_to(tmp_path: Path) -> None:
    shared = Shared(Binaries([tmp_path / "a", tmp_path / "b"]), Turns(1), SystemClock())
    session = Session(shared, "ns/shop", VERSION)
    with pytest.raises(
        ProgramUnusable, match=r"fdbcli of FoundationDB 7\.3 must be on this machine"
    ):
        await Fdbcli(session).status()
    session.close()


def test_programs_of_several_versions(tmp_path: Path) -> None:
    for name in ("7.3.79", "7.3", "."):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "fdbcli").write_text("")
        (tmp_path / name / "fdbcli").chmod(0o755)
    found = Binaries([tmp_path / "none", tmp_path])
    assert found.find("fdbcli", Version(7, 3, 79)).parent.name == "7.3.79"
    assert found.find("fdbcli", Version(7, 3, 27)).parent.name == "7.3"
    assert found.find("fdbcli", Version(7, 1, 27)).parent == tmp_path
    assert DatabaseRefused(Refusal.LOCKED, "x").refusal is Refusal.LOCKED


async def test_programs_of_ours_are_found_from_where_we_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are run in a folder of their own, from which a relative path leads nowhere."""
    program = tmp_path / "fdbkeys"
    program.write_text('#!/bin/sh\necho "FoundationDB CLI 7.3 (v7.3.79) $PYTHONPATH"\n')
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": os.pathsep.join(("src", "/lib", ""))}
    shared = Shared(Binaries([tmp_path]), Turns(1), SystemClock(), environment=environment)
    session = Session(shared, "ns/shop", VERSION)
    session.find_by(STRING)
    try:
        answer = await session.run("fdbkeys", [], 30.0)
    finally:
        session.close()
    assert answer.out.split()[-1].split(os.pathsep) == [f"{tmp_path}/src", "/lib", f"{tmp_path}"]
