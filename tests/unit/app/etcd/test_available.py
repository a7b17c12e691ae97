"""Which etcds are found, and which of them stands for a version."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.programs import saying, write
from stateward.app.etcd.available import (
    BUILT,
    FETCHED,
    NAMED,
    ON_PATH,
    PACKAGED,
    Found,
    available,
    best,
    nearest,
    of_minor,
)
from stateward.core.version import Version, same_minor


def environment(root: Path, **more: str) -> dict[str, str]:
    """Return one in which nothing of this machine is found."""
    return {"PATH": str(root / "bin"), "XDG_CACHE_HOME": str(root / "xdg"), **more}


def etcd(path: Path, version: str) -> Path:
    return saying(path, f"etcd Version: {version}")


def told(found: tuple[Found, ...]) -> list[tuple[str, str]]:
    return [(str(it.version), it.source) for it in found]


def test_all_places_in_their_order(tmp_path: Path) -> None:
    mine = etcd(tmp_path / "mine" / "my-etcd", "3.6.99")
    etcd(tmp_path / "folder" / "etcd", "3.5.30")
    etcd(tmp_path / "bin" / "etcd", "3.4.1")
    cache = tmp_path / "xdg" / "stateward"
    for folder in ("real/etcd-3.5/3.5.35", "real/etcd-3.6/3.6.16", "etcd/3.6.2"):
        etcd(cache / folder / "etcd", "asked of the folder's name alone")
    wheel = etcd(tmp_path / "wheel" / "etcd", "3.5.1")

    named = f"{mine}:{tmp_path / 'folder'}:{tmp_path / 'nowhere'}"
    found = available(environment(tmp_path, STATEWARD_ETCD_BIN=named), lambda: wheel)

    assert told(found) == [
        ("3.6.99", NAMED),
        ("3.5.30", NAMED),
        ("3.4.1", ON_PATH),
        ("3.5.35", BUILT),
        ("3.6.16", BUILT),
        ("3.6.2", FETCHED),
        ("3.5.1", PACKAGED),
    ]
    assert found[0].path == mine


def test_the_same_file_is_one_etcd_and_what_does_not_run_is_none(tmp_path: Path) -> None:
    program = etcd(tmp_path / "bin" / "etcd", "3.6.1")
    (tmp_path / "link").symlink_to(program)
    write(tmp_path / "silent", "exit 1")
    (tmp_path / "text").write_text("no program")

    named = ":".join(str(tmp_path / it) for it in ("link", "silent", "text"))
    found = available(environment(tmp_path, STATEWARD_ETCD_BIN=named), lambda: tmp_path / "text")

    assert told(found) == [("3.6.1", NAMED)]


def test_nothing_anywhere_is_no_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", homeless)
    assert available({"PATH": ""}, lambda: None) == ()


def test_folders_that_are_not_for_us_have_nothing(tmp_path: Path) -> None:
    for folder in ("mine", "bin", "xdg/stateward/real/etcd-3.6/3.6.1"):
        etcd(tmp_path / folder / "etcd", "3.6.1")
    tmp_path.chmod(0)
    was = os.geteuid()
    if was == 0:
        os.seteuid(65534)  # root looks into everything, so ask as nobody
    try:
        named = {"STATEWARD_ETCD_BIN": str(tmp_path / "mine")}
        found = available(environment(tmp_path, **named), lambda: tmp_path / "wheel")
    finally:
        os.seteuid(was)
        tmp_path.chmod(0o700)

    assert found == ()


def test_the_package_of_this_environment_is_found() -> None:
    assert (PACKAGED in {it.source for it in available({"PATH": ""})}) is True


@pytest.mark.parametrize(
    ("version", "is_sound"),
    [("3.4.35", True), ("3.5.0", False), ("3.5.2", False), ("3.5.3", True), ("3.6.0", True)],
)
def test_who_may_lose_consistency(version: str, is_sound: bool) -> None:
    assert (Found(Version.parse(version), Path("/x"), ON_PATH).caveat == "") is is_sound


def those(text: str) -> list[Found]:
    """Read ``3.5.1 3.6.2!``: an exclamation mark is one that the user named."""
    return [
        Found(Version.parse(it.strip("!")), Path(it), NAMED if "!" in it else PACKAGED)
        for it in text.split()
    ]


@pytest.mark.parametrize(
    ("wanted", "there", "same_minor_", "any_"),
    [
        ("3.5.35", "3.5.1 3.5.35 3.5.40", "3.5.35", "3.5.35"),
        ("3.5.35", "3.5.1 3.5.40 3.6.16", "3.5.40", "3.5.1"),
        ("3.5.35", "3.5.35 3.5.1!", "3.5.1!", "3.5.35"),
        ("3.6.16", "3.5.1 3.5.35", None, "3.5.35"),
        ("3.6.16", "3.5.1 3.6.99! 3.6.16", "3.6.99!", "3.6.16"),
        ("3.4.2", "3.6.0 3.5.1", None, "3.5.1"),
        ("3.4.2", "", None, None),
    ],
)
def test_which_one_stands_for_a_version(
    wanted: str, there: str, same_minor_: str | None, any_: str | None
) -> None:
    version, found = Version.parse(wanted), those(there)
    chosen = of_minor(version, found), nearest(version, found)

    assert [str(it.path) if it else None for it in chosen] == [same_minor_, any_]


@pytest.mark.parametrize(
    ("there", "chosen"),
    [
        ("3.4.9 3.5.1", "3.4.9"),
        ("3.5.1 3.5.35 3.6.16 3.6.2", "3.6.16"),
        ("3.5.0 3.5.1", "3.5.1"),
        ("", None),
    ],
)
def test_the_best_is_the_newest_that_nothing_is_known_against(
    there: str, chosen: str | None
) -> None:
    found = best(those(there))
    assert (str(found.version) if found else None) == chosen


numbers = st.builds(Version, st.just(3), st.integers(4, 7), st.integers(0, 40))


@given(
    numbers,
    st.lists(st.builds(Found, numbers, st.just(Path("/x")), st.sampled_from([NAMED, BUILT]))),
)
def test_of_one_minor_somebody_is_chosen_whenever_there_is_one(
    wanted: Version, found: list[Found]
) -> None:
    chosen = of_minor(wanted, found)

    assert (chosen is not None) is any(same_minor(wanted, it.version) for it in found)
    assert chosen is None or same_minor(chosen.version, wanted)
