"""Volumes as folders, and logs: on a real disk, in no time."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from stateward.kube.client import LogOptions
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey, ObjectMeta
from stateward.local.agent.environment import PodView
from stateward.local.agent.files import lastwords, logs, projections
from stateward.local.agent.files.logs import LogFile
from stateward.local.agent.files.volumes import Folders, NotMounted, Volumes, mounts_of, wipe
from stateward.local.agent.references import Contents
from stateward.local.agent.tokens import Tokens
from stateward.local.documents import Document
from unit.local.agent.acting import inline


class Shelf:
    """What volumes refer to."""

    tokens: Tokens | None = None

    def __init__(self) -> None:
        self.maps: dict[str, Contents] = {"conf": {"a": b"1", "b": b"2"}}

    def config_map(self, key: ObjectKey) -> Contents | None:
        return self.maps.get(key.name)

    def secret(self, key: ObjectKey) -> Contents | None:
        return {"s": b"x"} if key.name == "pass" else None

    def claim(self, key: ObjectKey) -> Document | None:
        return None

    def volume(self, name: str) -> Document | None:
        return None


def pod(*volumes: Json, **labels: str) -> PodView:
    return PodView(
        ObjectMeta(name="p", namespace="ns", uid="u", labels=labels),
        {"volumes": list(volumes), "containers": [{"name": "c"}]},
    )


def tree(folder: Path) -> dict[str, str]:
    """Return the files that a program sees, with their modes and contents."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and not name.parts[0].startswith(".."):
            found[str(name)] = f"{path.stat().st_mode & 0o777:o} {path.read_text()}"
    for name in (
        it.name for it in folder.iterdir() if it.is_dir() and not it.name.startswith("..")
    ):
        found |= {f"{name}/{inner}": text for inner, text in tree(folder / name).items()}
    return found


@pytest.mark.parametrize(
    ("volume", "files"),
    [
        ({"configMap": {"name": "conf"}}, {"a": "644 1", "b": "644 2"}),
        (
            {
                "configMap": {
                    "name": "conf",
                    "defaultMode": 0o600,
                    "items": [{"key": "a", "path": "x/y"}],
                }
            },
            {"x/y": "600 1"},
        ),
        (
            {"configMap": {"name": "conf", "items": [{"key": "a", "path": "a", "mode": 0o400}]}},
            {"a": "400 1"},
        ),
        ({"configMap": {"name": "none", "optional": True}}, {}),
        (
            {"configMap": {"name": "conf", "optional": True, "items": [{"key": "z", "path": "z"}]}},
            {},
        ),
        ({"secret": {"secretName": "pass"}}, {"s": "644 x"}),
        (
            {
                "downwardAPI": {
                    "items": [{"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}]
                }
            },
            {"l": '644 k="v"'},
        ),
        (
            {
                "projected": {
                    "sources": [
                        {"configMap": {"name": "conf"}},
                        {"secret": {"name": "pass"}},
                        {"serviceAccountToken": {"path": "t"}},
                    ]
                }
            },
            {"a": "644 1", "b": "644 2", "s": "644 x"},
        ),
        ({"emptyDir": {}}, {}),
        ({}, {}),
    ],
    ids=str,
)
def test_what_is_in_a_volume(tmp_path: Path, volume: Json, files: dict[str, str]) -> None:
    places = Volumes(Folders(tmp_path), Shelf()).prepare(pod({"name": "v", **volume}, k="v"))
    assert tree(places["v"]) == files


@pytest.mark.parametrize(
    ("volume", "message"),
    [
        ({"configMap": {"name": "none"}}, 'configmap "none" not found'),
        (
            {"configMap": {"name": "conf", "items": [{"key": "z", "path": "z"}]}},
            'key "z" must be in configmap ns/conf',
        ),
        (
            {"configMap": {"name": "conf", "items": [{"key": "a", "path": "../a"}]}},
            "must stay inside",
        ),
        ({"secret": {"secretName": "none"}}, 'secret "none" not found'),
        ({"persistentVolumeClaim": {"claimName": "c"}}, 'persistentvolumeclaim "c" not found'),
        ({"ephemeral": {}}, 'persistentvolumeclaim "p-v" not found'),
        ({"hostPath": {"path": "/no/such/thing", "type": "Directory"}}, "must exist"),
        ({"nfs": {}}, "got nfs"),
    ],
    ids=str,
)
def test_what_cannot_be_mounted(tmp_path: Path, volume: Json, message: str) -> None:
    with pytest.raises(NotMounted, match=message):
        Volumes(Folders(tmp_path), Shelf()).prepare(pod({"name": "v", **volume}))


def test_files_are_swapped_in_one_step(tmp_path: Path) -> None:
    text = projections.FileText
    folder = tmp_path / "v"
    assert projections.write(folder, {"a": text(b"1"), "b": text(b"1")})
    held = (folder / "..data").resolve()
    assert not projections.write(folder, {"b": text(b"1"), "a": text(b"1")})
    assert projections.write(folder, {"a": text(b"2"), "c/d": text(b"2")})
    assert tree(folder) == {"a": "644 2", "c/d": "644 2"}
    assert not held.exists()


def test_a_config_map_that_is_gone_leaves_its_files(tmp_path: Path) -> None:
    shelf = Shelf()
    volumes, view = (
        Volumes(Folders(tmp_path), shelf),
        pod({"name": "v", "configMap": {"name": "conf"}}),
    )
    place = volumes.prepare(view)["v"]
    shelf.maps["conf"] = {"a": b"3"}
    volumes.refresh(view)
    assert tree(place) == {"a": "644 3"}
    shelf.maps.clear()
    volumes.refresh(view)
    assert tree(place) == {"a": "644 3"}


def test_sub_paths_are_made_and_kept_inside(tmp_path: Path) -> None:
    def mounts(**more: str) -> Any:
        return mounts_of(
            {"volumeMounts": [{"name": "v", "mountPath": "/d", **more}]},
            {"v": tmp_path},
            {"POD": "p"},
        )

    assert mounts().places == {"/d": tmp_path}
    assert mounts(subPath="x").places == {"/d": tmp_path / "x"}
    assert mounts(subPathExpr="y/$(POD)").places == {"/d": tmp_path / "y/p"}
    assert (tmp_path / "y/p").is_dir()
    with pytest.raises(NotMounted, match="inside"):
        mounts(subPath="../x")
    with pytest.raises(NotMounted, match="must name a volume"):
        mounts(name="other")


def test_a_sub_path_does_not_follow_a_link_out_of_its_volume(tmp_path: Path) -> None:
    volume, outside = tmp_path / "v", tmp_path / "outside"
    (volume / "real").mkdir(parents=True)
    outside.mkdir()
    (volume / "out").symlink_to(outside)
    (volume / "in").symlink_to("real")
    (volume / "circle").symlink_to("circle")

    def mounted(inner: str) -> Any:
        mount = {"name": "v", "mountPath": "/d", "subPath": inner}
        return mounts_of({"volumeMounts": [mount]}, {"v": volume}, {}).places["/d"]

    assert mounted("in/new").resolve() == volume / "real/new"
    for inner in ("out", "out/new"):
        with pytest.raises(NotMounted, match="out of it"):
            mounted(inner)
    with pytest.raises(NotMounted, match="must be a folder we may make"):
        mounted("circle/x")
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("planted", ["file", "folder", "link"])
def test_nothing_planted_hides_a_key_for_ever(tmp_path: Path, planted: str) -> None:
    text, folder = projections.FileText, tmp_path / "v"
    projections.write(folder, {"a": text(b"1")})
    for name in ("b", "..fresh"):
        if planted == "file":
            (folder / name).write_text("mine")
        elif planted == "folder":
            (folder / name / "inner").mkdir(parents=True)
        else:
            (folder / name).symlink_to(tmp_path / "elsewhere")
    projections.write(folder, {"a": text(b"1"), "b": text(b"2")})
    assert tree(folder) == {"a": "644 1", "b": "644 2"}


# ------------------------------------------------------------------ last words
def test_last_words_are_the_end_of_a_plain_file(tmp_path: Path) -> None:
    file = tmp_path / "words" / "c"
    lastwords.begin(file)
    assert lastwords.read(file) == b""
    file.write_bytes(b"x" * 10_000 + b"end")
    assert lastwords.read(file) == b"x" * 4093 + b"end"


@pytest.mark.parametrize("planted", ["pipe", "link", "endless", "folder"])
def test_whatever_is_planted_for_last_words_is_neither_followed_nor_waited_for(
    tmp_path: Path, planted: str
) -> None:
    precious, file = tmp_path / "precious", tmp_path / "words" / "c"
    precious.write_text("kept")
    file.parent.mkdir()
    match planted:
        case "pipe":
            os.mkfifo(file)
        case "link":
            file.symlink_to(precious)
        case "endless":
            file.symlink_to("/dev/zero")
        case _:
            (file / "inner").mkdir(parents=True)
    assert lastwords.read(file) == b""
    lastwords.begin(file)
    assert file.is_file()
    assert not file.is_symlink()
    assert precious.read_text() == "kept"


def test_wiping_leaves_the_folder(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "c").write_text("x")
    wipe(tmp_path)
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------ logs
NOW = 1_700_000_000.0


class Told:
    """A log and what somebody reads of it."""

    def __init__(self, folder: Path, *, largest: int = 1000) -> None:
        self.now = NOW
        self.file = LogFile(folder / "logs/0.log", lambda: self.now, largest=largest)
        self.file.open()

    async def read(self, **options: Any) -> str:
        pieces = logs.read(self.file, LogOptions(**options), self.now, inline)
        return b"".join([it async for it in pieces]).decode()


@pytest.mark.virtual
async def test_which_part_of_a_log(tmp_path: Path) -> None:
    log = Told(tmp_path)
    for word in ("one", "two", "three"):
        log.file.write(f"{word}\n".encode())
        log.now += 10
    log.file.write(b"half")

    assert await log.read() == "one\ntwo\nthree\n"
    assert await log.read(tail_lines=2) == "two\nthree\n"
    assert await log.read(tail_lines=0) == ""
    assert await log.read(tail_lines=99) == "one\ntwo\nthree\n"
    assert await log.read(since_seconds=15) == "three\n"
    assert await log.read(tail_lines=1, timestamps=True) == "2023-11-14T22:13:40.000000Z three\n"
    log.file.close()
    assert await log.read(tail_lines=1) == "half\n"
    assert await log.read(follow=True, tail_lines=2) == "three\nhalf\n"


@pytest.mark.virtual
@pytest.mark.parametrize(("options", "lines"), [({"tail_lines": 3}, 3), ({}, 40)], ids=str)
async def test_a_log_that_grows_while_it_is_read_ends_where_it_was(
    tmp_path: Path, options: Any, lines: int
) -> None:
    log = Told(tmp_path, largest=10**9)
    log.file.write(b"word\n" * 40)
    steps = iter(range(50))

    async def busy(work: Any, /) -> Any:
        next(steps)
        found = work()
        log.file.write(b"more\n" * 100_000)
        return found

    pieces = logs.read(log.file, LogOptions(**options), log.now, busy)
    assert b"".join([it async for it in pieces]) == b"word\n" * lines
    log.file.close()


@pytest.mark.virtual
@pytest.mark.parametrize("planted", ["pipe", "link"])
async def test_what_is_planted_for_a_log_is_neither_followed_nor_waited_for(
    tmp_path: Path, planted: str
) -> None:
    precious, place = tmp_path / "precious", tmp_path / "logs/0.log"
    precious.write_text("kept")
    place.parent.mkdir()

    def plant() -> None:
        place.unlink(missing_ok=True)
        if planted == "pipe":
            os.mkfifo(place)
        else:
            place.symlink_to(precious)

    plant()
    log = Told(tmp_path)
    log.file.write(b"word\n")
    assert await log.read() == "word\n"
    plant()
    assert await log.read() == ""
    log.file.close()
    assert await log.read(follow=True) == ""
    assert precious.read_text() == "kept"


@pytest.mark.virtual
async def test_a_log_turns_to_a_new_file_and_forgets_the_oldest(tmp_path: Path) -> None:
    log = Told(tmp_path, largest=100)
    for number in range(10):
        log.file.write(f"{number}\n".encode())
    assert await log.read() == "6\n7\n8\n9\n"
    assert await log.read(tail_lines=3) == "7\n8\n9\n"
    assert sorted(it.name for it in (tmp_path / "logs").iterdir()) == ["0.log", "0.log.1"]
    log.file.close()


@pytest.mark.virtual
async def test_following_over_a_turn(tmp_path: Path) -> None:
    log = Told(tmp_path, largest=100)
    reading = asyncio.create_task(log.read(follow=True))
    for number in range(10):
        log.file.write(f"{number}\n".encode())
        await asyncio.sleep(1)
    log.file.close()
    assert await reading == "".join(f"{number}\n" for number in range(10))


@pytest.mark.virtual
async def test_a_line_without_an_end_is_cut(tmp_path: Path) -> None:
    log = Told(tmp_path, largest=10**6)
    log.file.write(b"x" * 40_000)
    assert len((await log.read()).splitlines()) == 2
    log.file.close()
    assert sum(len(line) for line in (await log.read()).splitlines()) == 40_000


@pytest.mark.parametrize("lines", [1, 100, 3999, 4000])
def test_the_tail_of_a_large_file(tmp_path: Path, lines: int) -> None:
    file = tmp_path / "large"
    file.write_bytes(b"".join(b"%060d\n" % number for number in range(4000)))
    with file.open("rb") as opened:
        place, found = logs._tail_start(opened, lines, file.stat().st_size)
        opened.seek(place)
        assert (len(opened.read().splitlines()), found) == (lines, lines)


@pytest.mark.parametrize("plant", ["folder", "file", "link"])
def test_whatever_is_in_the_place_of_a_pods_folder_goes_with_it(tmp_path: Path, plant: str) -> None:
    folders, outside = Folders(tmp_path / "root"), tmp_path / "outside"
    (outside / "kept").mkdir(parents=True)
    place = folders.pod("uid")
    place.parent.mkdir(parents=True)
    match plant:
        case "folder":
            (place / "work").mkdir(parents=True)
        case "file":
            place.write_text("hi")
        case _:
            place.symlink_to(outside)

    Volumes(folders, Shelf()).remove("uid")

    assert not place.exists()
    assert not place.is_symlink()
    assert (outside / "kept").exists()
