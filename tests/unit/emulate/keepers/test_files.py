"""Files: noticed, written whole, kept inside; and where a container's paths and programs are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stateward.core.errors import UsageError
from stateward.emulate.keepers import files
from stateward.emulate.keepers.files import Copy, CopyFailed, Watched
from stateward.emulate.keepers.image import Image
from stateward.emulate.keepers.places import Places
from stateward.emulate.keepers.unified.copies import Wishes, copies


def test_a_change_counts_when_it_has_come_to_rest(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("a")
    watched = Watched(file)
    assert not watched.changed()
    file.write_text("")
    assert not watched.changed()
    file.write_text("bcd")
    assert [watched.changed() for _ in range(3)] == [False, True, False]
    file.unlink()
    assert [watched.changed() for _ in range(3)] == [False, True, False]
    file.write_text("e")
    assert [watched.changed() for _ in range(3)] == [False, True, False]


def test_another_file_behind_a_link_is_a_change(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_text("same")
    (tmp_path / "data").symlink_to("one")
    (tmp_path / "f").symlink_to("data/f")
    watched = Watched(tmp_path / "f")
    (tmp_path / "new").symlink_to("two")
    (tmp_path / "new").rename(tmp_path / "data")
    assert [watched.changed() for _ in range(3)] == [False, True, False]


def test_a_link_to_itself_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "f").symlink_to("f")
    assert files.stamp(tmp_path / "f") is None
    assert files.inside(tmp_path, "f") is None or not (tmp_path / "f").exists()


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "deep/f"

    def fails(path: Path) -> None:
        path.write_text("half")
        raise OSError("no space")

    files.write_whole(target, lambda path: path.write_text("whole") and None)
    with pytest.raises(OSError, match="no space"):
        files.write_whole(target, fails)
    assert target.read_text() == "whole"
    assert list(target.parent.iterdir()) == [target]


def test_copies_keep_permissions_and_what_is_there(tmp_path: Path) -> None:
    source, target = tmp_path / "s", tmp_path / "d/t"
    source.write_text("1")
    source.chmod(0o750)
    assert files.copy(Copy(source, target))
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("1", 0o750)
    source.write_text("2")
    assert not files.copy(Copy(source, target, keep=True))
    assert target.read_text() == "1"
    assert files.copy(Copy(source, target, mode=0o744))
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("2", 0o744)
    source.write_text("")
    with pytest.raises(CopyFailed, match="must not be empty"):
        files.copy(Copy(source, target, required=True))
    with pytest.raises(CopyFailed, match="must be copied"):
        files.copy(Copy(tmp_path / "absent", target))
    assert target.read_text() == "2"


@pytest.mark.parametrize(
    ("name", "is_inside"),
    [
        ("f", True),
        ("a/b", True),
        ("absent", True),
        ("./f", True),
        ("", False),
        ("/f", False),
        ("..", False),
        ("a/../../f", False),
        ("out", False),
        ("out/f", False),
        ("a\0b", False),
    ],
)
def test_inside(tmp_path: Path, name: str, is_inside: bool) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "out").symlink_to("..")
    assert (files.inside(folder, name) is not None) is is_inside


def test_places() -> None:
    table = '{"/var/fdb/data": "/pods/1/data", "/var/fdb": "/pods/1/fdb"}'
    places = Places.of({"STATEWARD_MOUNTS": table})
    text = "--datadir=/var/fdb/data/1 /var/fdb/x /var/fdbs /a/var/fdb file:/var/fdb"
    assert places.translated(text).split() == [
        "--datadir=/pods/1/data/1",
        "/pods/1/fdb/x",
        "/var/fdbs",
        "/a/var/fdb",
        "file:/pods/1/fdb",
    ]
    assert Places.of({}).path("/var/fdb") == Path("/var/fdb")
    for broken in ("[]", "{", "3"):
        with pytest.raises(UsageError, match="STATEWARD_MOUNTS"):
            Places.of({"STATEWARD_MOUNTS": broken})


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o755)
    return path


def test_where_programs_are(tmp_path: Path) -> None:
    env = {"STATEWARD_FDB_PROGRAMS": str(tmp_path), "STATEWARD_FDB_VERSION": "7.4.1", "PATH": ""}
    image = Image.of(env)
    assert image.program("fdbserver") is None
    assert image.runs("/usr/bin/fdbserver") == "/usr/bin/fdbserver"
    flat = program(tmp_path / "fdbserver")
    assert image.runs("/usr/bin/fdbserver") == image.runs("fdbserver") == str(flat)
    program(tmp_path / "7.3.79/fdbserver")
    assert image.program("fdbserver") == flat
    own = program(tmp_path / "7.4.1/fdbserver")
    assert image.program("fdbserver") == own
    own.chmod(0o644)
    assert image.program("fdbserver") == flat
    assert image.runs("/opt/fdbserver") == "/opt/fdbserver"
    elsewhere = Image.of({"PATH": str(tmp_path)}, tmp_path / "absent")
    assert (elsewhere.program("fdbserver"), elsewhere.version) == (flat, "7.3.79")


def test_the_version_of_an_image(tmp_path: Path) -> None:
    file = tmp_path / "version"
    file.write_text("7.1.57\n")
    assert Image.of({}, file).version == "7.1.57"
    assert Image.of({"STATEWARD_FDB_VERSION": "7.4.1"}, file).line == "7.4"


def test_what_the_unified_image_copies(tmp_path: Path) -> None:
    server = program(tmp_path / "fdbserver")
    library = program(tmp_path / "lib/libfdb_c_7.3.so")
    image = Image.of({"STATEWARD_FDB_PROGRAMS": str(tmp_path)}, tmp_path / "absent")
    source, target = Path("/in"), Path("/out")
    wishes = Wishes(source, target, ["a/f"], ["fdbserver"], ["7.3"], "7.3", ["a/f"])
    found = copies(wishes, image, as_sidecar=True)
    assert found == [
        Copy(source / "a/f", target / "f", required=True),
        Copy(server, target / "bin/7.3.79/fdbserver"),
        Copy(library, target / "libfdb_c_7.3.so"),
        Copy(library, target / "libfdb_c.so"),
    ]
    assert copies(wishes, image, as_sidecar=False)[1].target == target / "7.3/fdbserver"


@pytest.mark.parametrize(
    "wishes",
    [
        Wishes(Path(), Path(), ["/etc/passwd"]),
        Wishes(Path(), Path(), ["../f"]),
        Wishes(Path(), Path(), [""]),
        Wishes(Path(), Path(), programs=["../f"]),
        Wishes(Path(), Path(), programs=["f"], programs_folder="/etc"),
        Wishes(Path(), Path(), libraries=["../7.3"]),
        Wishes(Path(), Path(), ["f"], required=["g"]),
    ],
)
def test_what_it_does_not_copy(tmp_path: Path, wishes: Wishes) -> None:
    image = Image.of({}, tmp_path / "absent")
    with pytest.raises(UsageError, match="must"):
        copies(wishes, image, as_sidecar=True)


@pytest.mark.parametrize("name", ["fdbmonitor", "kubernetes_monitor", "sidecar"])
def test_a_program_is_light_until_it_talks_to_somebody(name: str) -> None:
    heavy = ("aiohttp", "msgspec", "prometheus_client", "stateward.kube")
    script = f"import sys, stateward.emulate.keepers.{name}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert [it for it in done.stdout.split() if it.startswith(heavy)] == []
