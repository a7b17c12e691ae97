"""What is run for an image of FoundationDB: real programs where there are any, else the stand-in."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.programs import saying
from stateward.app.fdb.available import FETCHED, NAMED, Found
from stateward.app.fdb.programs import REPOSITORIES, add_fdb, version_of_tag
from stateward.core.version import Version
from stateward.local.agent.files.mounts import Mounts
from stateward.local.agent.images import Answer, Asked, ImageRefused, ProgramMissing, built_in

MONITOR = "foundationdb/fdb-kubernetes-monitor"


def real(root: Path, version: str, source: str = FETCHED) -> Found:
    folder = root / "real" / version
    programs = {it: folder / it for it in ("fdbserver", "fdbcli")}
    for it in programs.values():
        saying(it, version)
    return Found(Version.parse(version), source, programs, None)


def answered(
    root: Path, image: str, *command: str, args: str = "", found: tuple[Found, ...] = ()
) -> Answer:
    env = {"PATH": "/usr/bin:/bin"}
    asked = Asked(image, command, tuple(args.split()), env, "ns", "p-0", "127.1.2.3", Mounts({}))
    return add_fdb(built_in(), found, root / "cluster").find(image)(asked)


@pytest.mark.parametrize(
    ("tag", "version"),
    [
        ("7.3.79", "7.3.79"),
        ("7.3.79-1", "7.3.79"),
        ("7.4.0-rc1", "7.4.0-rc1"),
        ("7.1.67-debug", "7.1.67"),
        ("latest", None),
        ("7.3", None),
        ("7.03.1", None),
    ],
)
def test_what_a_tag_says(tag: str, version: str | None) -> None:
    read = version_of_tag(tag)
    assert (str(read) if read else None) == version


@pytest.mark.parametrize("repository", REPOSITORIES)
def test_without_a_real_one_it_is_emulated_and_said_so(tmp_path: Path, repository: str) -> None:
    found = answered(tmp_path, f"{repository}:7.3.79", args="--x 1")
    home = tmp_path / "cluster" / "fdb" / "7.3.79"

    assert found.emulated
    assert found.argv == (str(home / "keepers" / REPOSITORIES[repository]), "--x", "1")
    assert found.env["STATEWARD_FDB_PROGRAMS"] == str(home / "bin")
    assert found.env["STATEWARD_FDB_VERSION"] == "7.3.79"
    assert found.env["KUBECONFIG"] == str(tmp_path / "cluster" / "kubeconfig")
    assert (home / "bin" / "fdbserver").is_file()


def test_a_real_one_is_what_our_monitor_runs(tmp_path: Path) -> None:
    mine = real(tmp_path, "7.3.81")
    found = answered(tmp_path, f"{MONITOR}:7.3.79", found=(real(tmp_path, "7.1.67"), mine))

    assert not found.emulated
    assert found.env["STATEWARD_FDB_PROGRAMS"] == str(mine.programs["fdbserver"].parent)
    assert Path(found.argv[0]).name == "fdb-kubernetes-monitor"
    assert str(mine.programs["fdbcli"].parent) in found.env["PATH"].split(":")
    assert not (tmp_path / "cluster" / "fdb" / "7.3.81" / "bin").exists()


def test_a_command_is_a_program_of_the_image_or_of_this_machine(tmp_path: Path) -> None:
    image = "foundationdb/foundationdb:7.3.79"
    home = tmp_path / "cluster" / "fdb" / "7.3.79"

    assert answered(tmp_path, image, "/usr/bin/fdbcli").argv == (str(home / "bin" / "fdbcli"),)
    assert answered(tmp_path, image, "sh", "-c", "fdbmonitor").argv[1:] == ("-c", "fdbmonitor")
    with pytest.raises(ProgramMissing, match="must be a program of it"):
        answered(tmp_path, image, "/opt/nothing")
    with pytest.raises(ProgramMissing, match="can be found on PATH"):
        answered(tmp_path, image, "no-such-program")


def test_who_names_programs_of_another_release_wants_no_stand_in(tmp_path: Path) -> None:
    with pytest.raises(ImageRefused, match="must have FoundationDB"):
        answered(tmp_path, f"{MONITOR}:7.3.79", found=(real(tmp_path, "7.1.67", NAMED),))


def test_a_tag_must_name_a_version(tmp_path: Path) -> None:
    with pytest.raises(ImageRefused, match="must name a version of FoundationDB"):
        answered(tmp_path, f"{MONITOR}:latest")
