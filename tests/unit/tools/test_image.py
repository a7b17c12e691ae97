"""The image: the same files give the same bytes, and the Containerfile says what `make image` does."""

from __future__ import annotations

import gzip
import io
import json
import os
import shlex
import tarfile
from pathlib import Path

import pytest
from tools.image import __main__ as command
from tools.image import application, archive, debian
from tools.image.errors import ImageImpossible

from stateward import __version__

CONTAINERFILE = (application.PROJECT / "Containerfile").read_text(encoding="utf-8")

# -------------------------------------------------------------------------- packages


def deb(path: Path, *names: str, inner: str = "data.tar.xz") -> Path:
    """Write a package with some files; a name that ends with "/" is a folder."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz") as files:
        for name in names:
            about = tarfile.TarInfo(f"./{name}")
            about.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
            about.mode, about.size = 0o755, 0 if name.endswith("/") else 1
            files.addfile(about, io.BytesIO(b"x"))
    parts = {"debian-binary": b"2.0\n", "control.tar.xz": b"odd", inner: packed.getvalue()}
    content = b"!<arch>\n"
    for name, it in parts.items():
        content += f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(it):<10}`\n".encode() + it
        content += b"\n" * (len(it) % 2)
    path.write_bytes(content)
    return path


def test_a_package_is_unpacked_without_its_manuals(tmp_path: Path) -> None:
    package = deb(
        tmp_path / "some_1%3a2.0_amd64.deb",
        "usr/",
        "usr/lib/some.so",
        "usr/share/man/man1/some.1",
        "usr/share/doc/some/copyright",
        "usr/share/doc/some/changelog",
    )
    debian.unpack(package, tmp_path / "root")

    found = {it.relative_to(tmp_path / "root").as_posix() for it in tmp_path.rglob("root/**/*")}
    assert found >= {"usr/lib/some.so", "usr/share/doc/some/copyright"}
    assert not any("man1" in it or "changelog" in it for it in found)
    (line,) = debian.listed([package])
    assert line.startswith("some=1:2.0 sha256:")


@pytest.mark.parametrize(
    ("names", "inner", "words"),
    [
        (("../outside",), "data.tar.xz", "leads out of its package"),
        (("usr/",), "odd.tar.xz", "has no files"),
    ],
)
def test_an_odd_package_is_refused(tmp_path: Path, names: tuple[str], inner: str, words: str):
    with pytest.raises(ImageImpossible, match=words):
        debian.unpack(deb(tmp_path / "a_1_all.deb", *names, inner=inner), tmp_path / "root")


def test_what_is_no_package_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a_1_all.deb").write_bytes(b"<html>")
    with pytest.raises(ImageImpossible, match="must be an ar archive"):
        debian.unpack(tmp_path / "a_1_all.deb", tmp_path / "root")


# -------------------------------------------------------------------------- archives


def root(path: Path, *, mask: int, age: float) -> Path:
    """Make some files, as different machines would."""
    before = os.umask(mask)
    try:
        for name in ("usr/bin", "tmp", "opt/stateward"):
            (path / name).mkdir(parents=True)
        (path / "usr/bin/python3.11").write_text("#!")
        (path / "usr/bin/python3.11").chmod(0o700)
        (path / "opt/stateward/a.py").write_text("pass")
        (path / "lib64").symlink_to("usr/lib64")
    finally:
        os.umask(before)
    for it in path.rglob("*.py"):
        os.utime(it, (age, age))
    return path


def test_the_same_files_are_the_same_image_whoever_makes_it(tmp_path: Path) -> None:
    digests = set()
    for number, (mask, age) in enumerate([(0o022, 1.0), (0o077, 2e9)]):
        made = root(tmp_path / str(number), mask=mask, age=age)
        layers = [archive.layer(made, lambda it: True)]
        image = archive.image(layers, command.CONFIG, "amd64", command.NAME)
        digests.add(archive.write(image, tmp_path / f"{number}.tar"))
    assert len(digests) == 1
    assert (tmp_path / "0.tar").read_bytes() == (tmp_path / "1.tar").read_bytes()


def test_an_archive_is_what_its_names_say(tmp_path: Path) -> None:
    made = root(tmp_path / "root", mask=0o022, age=1.0)
    parts = [lambda it: not command._is_ours(it), command._is_ours]
    layers = [archive.layer(made, it) for it in parts]
    digest = archive.write(
        archive.image(layers, command.CONFIG, "amd64", command.NAME), tmp_path / "image.tar"
    )
    with tarfile.open(tmp_path / "image.tar") as files:
        content = {it.name: files.extractfile(it).read() for it in files}  # type: ignore[union-attr]

    def blob(named: dict) -> bytes:
        found = content[f"blobs/{named['digest'].replace(':', '/')}"]
        assert archive._digest(found) == named["digest"]
        assert len(found) == named["size"]
        return found

    (entry,) = json.loads(content["index.json"])["manifests"]
    assert entry["digest"] == digest
    assert entry["annotations"]["org.opencontainers.image.ref.name"] == f"stateward:{__version__}"
    manifest = json.loads(blob(entry))
    config = json.loads(blob(manifest["config"]))
    assert config["config"] == command.CONFIG
    plain = [gzip.decompress(blob(it)) for it in manifest["layers"]]
    assert config["rootfs"]["diff_ids"] == [archive._digest(it) for it in plain]
    modes = {}
    for it in plain:
        with tarfile.open(fileobj=io.BytesIO(it)) as files:
            modes |= {one.name: (oct(one.mode), one.uid, one.mtime) for one in files}
    assert modes["tmp"] == ("0o1777", 0, 0)
    assert modes["usr/bin/python3.11"] == ("0o755", 0, 0)
    assert modes["opt/stateward/a.py"] == ("0o644", 0, 0)


def test_a_list_of_packages_must_be_there(tmp_path: Path, capsys) -> None:
    assert command.main(["--packages", str(tmp_path / "none")]) == 1
    assert "must be a list of packages: [Errno 2] No such file" in capsys.readouterr().err


LISTED = [f"{name}=1:2.0+x~y-1 sha256:{'0' * 64}" for name in debian.PACKAGES]


def test_a_list_of_packages_names_their_versions() -> None:
    assert debian.pinned(LISTED) == [f"{name}=1:2.0+x~y-1" for name in debian.PACKAGES]


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (["libc6"], "a line must be NAME=VERSION sha256:HASH"),
        (["-o=x sha256:" + "0" * 64], "a line must be NAME=VERSION sha256:HASH"),
        (LISTED[1:], "each package of the image once; these lack: libbz2-1.0"),
        ([*LISTED, LISTED[0]], "these are there twice: libbz2-1.0$"),
        ([*LISTED, LISTED[0].replace("libbz2", "mine")], "these are no part of it: mine-1.0"),
        ([], "it is empty, and these lack: libbz2-1.0, libc6"),
    ],
)
def test_a_list_that_is_not_one_is_refused(lines: list[str], sentence: str) -> None:
    with pytest.raises(ImageImpossible, match=sentence):
        debian.pinned(lines)


def test_packages_are_those_of_the_list_to_the_last_byte(tmp_path: Path) -> None:
    package = deb(tmp_path / "some_1_amd64.deb", "usr/")
    lines = debian.listed([package])
    debian.compare([package], lines)
    deb(tmp_path / "some_1_amd64.deb", "usr/", "usr/bin/odd")
    with pytest.raises(
        ImageImpossible, match=r"must have what the list says, some=1 sha.*, and has some=1 sha"
    ):
        debian.compare([package], lines)


# -------------------------------------------------------------------------- the Containerfile


def said(instruction: str) -> str:
    """Return what the last stage of the Containerfile says about something."""
    stage = CONTAINERFILE.rpartition("\nFROM ")[2].replace("\\\n", " ")
    return next(
        line.partition(" ")[2] for line in stage.splitlines() if line.startswith(f"{instruction} ")
    )


def test_the_containerfile_makes_the_same_image() -> None:
    config = command.CONFIG
    assert CONTAINERFILE.count("python3.11 -m tools.image --root /image") == 1
    assert json.loads(said("ENTRYPOINT")) == config["Entrypoint"]
    assert json.loads(said("CMD")) == config["Cmd"]
    assert (said("USER"), said("WORKDIR")) == (config["User"], config["WorkingDir"])
    assert shlex.split(said("ENV")) == config["Env"]
    assert shlex.split(said("LABEL")) == [f"{k}={v}" for k, v in config["Labels"].items()]  # type: ignore[union-attr]


def test_an_image_can_be_called_otherwise(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "file").write_text("x")
    layers = [archive.layer(tmp_path / "root", lambda _: True)]
    archive.write(archive.image(layers, {}, "amd64", "some:1"), tmp_path / "one.tar")

    archive.rename(tmp_path / "one.tar", "some:2", tmp_path / "two.tar")

    one, two = (contents(tmp_path / it) for it in ("one.tar", "two.tar"))
    index = two.pop("index.json")
    assert one.pop("index.json") != index
    assert one == two
    (entry,) = json.loads(index)["manifests"]
    assert entry["annotations"] == {
        "org.opencontainers.image.ref.name": "some:2",
        "io.containerd.image.name": "docker.io/library/some:2",
    }


def contents(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as files:
        return {it.name: files.extractfile(it).read() for it in files}  # type: ignore[union-attr]
