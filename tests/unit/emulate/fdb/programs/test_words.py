"""What programs are told: options, cluster files, the pace, and whom they believe."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.hand_clock import HandClock
from stateward.emulate.fdb.programs import fitness, flags, shims
from stateward.emulate.fdb.programs.flags import Known, Misunderstood
from stateward.emulate.fdb.programs.pace import Pace
from stateward.emulate.fdb.talk import clusterfile, tls
from stateward.emulate.fdb.talk.tls import Security
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.connection import ConnectionString

KNOWN = Known(valued={"datadir": "datadir", "d": "datadir"}, bare=frozenset({"version", "v"}))
STRING = ConnectionString.parse("lab:abc@127.0.0.1:4501")


@pytest.mark.parametrize(
    ("line", "values", "bare"),
    [
        ("--datadir x", {"datadir": "x"}, set()),
        ("--datadir=x=y", {"datadir": "x=y"}, set()),
        ("-d x -v", {"datadir": "x"}, {"v"}),
        ("--DataDir x", {"datadir": "x"}, set()),
        ("--locality-Zone-Id z1", {"locality_zone_id": "z1"}, set()),
        ("--knob_a_b=1 --version", {"knob_a_b": "1"}, {"version"}),
    ],
)
def test_options(line: str, values: dict[str, str], bare: set[str]) -> None:
    told = flags.read(line.split(), KNOWN)
    assert (told.values, told.bare) == (values, bare)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--bogus", "unknown option: `--bogus'"),
        ("--locality_ x", "unknown option"),
        ("datadir", "unknown option: `datadir'"),
        ("--version=1", "unknown option"),
        ("--datadir", "requires an argument"),
        ("-D x", "unknown option: `-D'"),
    ],
)
def test_what_is_no_option(line: str, said: str) -> None:
    with pytest.raises(Misunderstood, match=said):
        flags.read(line.split(), KNOWN)


def test_a_cluster_file_is_looked_for_as_the_real_programs_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert clusterfile.located("told", {"FDB_CLUSTER_FILE": "named"}) == Path("told")
    assert clusterfile.located("", {"FDB_CLUSTER_FILE": "named"}) == Path("named")
    (tmp_path / "fdb.cluster").write_text(str(STRING))
    assert clusterfile.located("", {}) == Path("fdb.cluster")


def test_a_cluster_file_is_written_with_a_warning_to_people(tmp_path: Path) -> None:
    file = tmp_path / "fdb.cluster"
    assert clusterfile.write(file, STRING)
    assert file.read_text().startswith("# DO NOT EDIT!\n")
    assert clusterfile.read(file, str(file)) == STRING
    assert list(tmp_path.iterdir()) == [file]
    assert not clusterfile.write(tmp_path / "nowhere" / "fdb.cluster", STRING)


def test_only_a_cluster_file_that_is_not_there_is_seeded(tmp_path: Path) -> None:
    file, other = tmp_path / "a" / "fdb.cluster", tmp_path / "seed"
    other.write_text(str(STRING))
    clusterfile.seed(file, {"seed_cluster_file": str(other)})
    assert clusterfile.read(file, "") == STRING
    clusterfile.seed(file, {"seed_connection_string": "other:x@127.0.0.2:1"})
    assert clusterfile.read(file, "") == STRING


def test_the_model_lives_faster_from_its_birth_on() -> None:
    clock = HandClock()
    pace = Pace.told(clock, {"STATEWARD_FDB_PACE": "20"})
    born = clock.now()
    clock.advance(3)
    assert pace.now(born) == born + 60
    assert pace.wall(60) == 3
    assert Pace.told(clock, {}).now(born) == born + 3


@pytest.mark.parametrize("text", ["0", "-1", "nan", "fast", "1e9"])
def test_a_pace_is_a_number_above_zero(text: str) -> None:
    with pytest.raises(ValueError, match="must be a number above 0"):
        Pace.told(HandClock(), {"STATEWARD_FDB_PACE": text})


def test_words_of_the_command_line_come_before_the_environment() -> None:
    told = {"tls_ca_file": "a", "tls_verify_peers": "S.CN=x,Check.Valid=0"}
    found = Security.told(told, {"FDB_TLS_CA_FILE": "b", "FDB_TLS_KEY_FILE": "k"})
    assert (found.ca_file, found.key_file, found.is_there) == ("a", "k", False)
    assert (found.is_open, found.rules) == (True, "S.CN=x")


def test_rules_that_nobody_understands_are_refused_at_the_start() -> None:
    with pytest.raises(ValueError, match="TLS cannot be used"):
        tls.check(Security(verify_peers="nonsense"))


def test_who_is_made_for_it_comes_first() -> None:
    order = sorted(ProcessClass, key=fitness.rank)
    assert order[:2] == [ProcessClass.CLUSTER_CONTROLLER, ProcessClass.STATELESS]
    assert fitness.rank(ProcessClass.STORAGE) < fitness.rank(ProcessClass.COORDINATOR)


def test_programs_are_written_once(tmp_path: Path) -> None:
    folder = shims.install(tmp_path / "with space", "7.3.79")
    before = {it.name: it.stat().st_mtime_ns for it in folder.iterdir()}
    assert before.keys() == shims.DATABASE.keys()
    shims.install(folder, "7.3.79")
    assert {it.name: it.stat().st_mtime_ns for it in folder.iterdir()} == before
    shims.install(folder, "7.1.67")
    assert "7.1.67" in (folder / "fdbserver").read_text()
