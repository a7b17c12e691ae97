"""Where real programs are looked for, and which of them are taken."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from fakes.programs import saying, write
from stateward.core.errors import UsageError
from stateward.local.real import programs
from stateward.local.real.programs import (
    ETCD,
    HELM,
    KUBERNETES,
    OLDER_ETCD,
    OLDEST_KUBERNETES,
    PROMTOOL,
    Found,
    Part,
    find,
)

API = "kube-apiserver"


def environment(root: Path, **more: str) -> dict[str, str]:
    """Return one in which nothing of this machine is found; names are folders of the test."""
    named = {
        name: ":".join(str(root / it) for it in text.split(":")) for name, text in more.items()
    }
    return {"PATH": str(root / "bin"), "XDG_CACHE_HOME": str(root / "xdg"), **named}


def cached(root: Path, part: Part, version: str, program: str) -> Path:
    return saying(root / "xdg" / "stateward" / "real" / part.folder / version / program, "9.9.9")


@pytest.mark.parametrize(
    ("part", "program", "says", "version"),
    [
        (KUBERNETES, API, "Kubernetes v1.35.4", "1.35.4"),
        (KUBERNETES, "kubectl", "Client Version: v1.35.0\nKustomize Version: v5.7.1", "1.35.0"),
        (KUBERNETES, API, "Kubernetes v1.34.9", None),
        (KUBERNETES, API, "Kubernetes v1.3.5", None),
        (OLDEST_KUBERNETES, API, "Kubernetes v1.32.5", "1.32.5"),
        (ETCD, "etcd", "etcd Version: 3.6.16\nGit SHA: 1.2.3", "3.6.16"),
        (OLDER_ETCD, "etcdctl", "etcdctl version: 3.5.35", "3.5.35"),
        (OLDER_ETCD, "etcd", "etcd Version: 3.6.16", None),
        (HELM, "helm", "v3.22.0+g1234567", "3.22.0"),
        (HELM, "helm", "v4.0.0", None),
        (PROMTOOL, "promtool", "promtool, version 3.15.0 (branch: , revision: )", "3.15.0"),
        (PROMTOOL, "promtool", "", None),
        (PROMTOOL, "promtool", "usage: promtool [flags]", None),
    ],
)
def test_a_program_on_path_must_be_of_the_release(
    tmp_path: Path, part: Part, program: str, says: str, version: str | None
) -> None:
    path = saying(tmp_path / "bin" / program, says)

    found = find(part, program, environment(tmp_path))

    assert found == (Found(path, version, "PATH") if version else None)


@pytest.mark.parametrize(
    ("part", "says", "taken"),
    [
        (KUBERNETES, "v1.31.14", False),
        (KUBERNETES, "v1.32.0", True),
        (KUBERNETES, "v1.34.1", True),
        (KUBERNETES, "v1.36.0", True),
        (KUBERNETES, "nothing", False),
        (OLDEST_KUBERNETES, "v1.34.1", False),
        (OLDEST_KUBERNETES, "v1.32.1", True),
    ],
)
def test_the_environment_may_name_any_kubernetes_that_we_claim(
    tmp_path: Path, part: Part, says: str, taken: bool
) -> None:
    saying(tmp_path / "assets" / API, says)

    found = find(part, API, environment(tmp_path, KUBEBUILDER_ASSETS="assets"))

    assert (found is not None) is taken


def test_they_are_asked_in_order(tmp_path: Path) -> None:
    everywhere = environment(tmp_path, KUBEBUILDER_ASSETS="none:assets", PATH="none:old:bin")
    saying(tmp_path / "old" / API, "v1.30.1")
    there = [
        saying(tmp_path / "assets" / API, "v1.35.1"),
        saying(tmp_path / "bin" / API, "v1.35.2"),
        cached(tmp_path, KUBERNETES, "1.35.10", API),
        cached(tmp_path, KUBERNETES, "1.35.9", API),
    ]

    found = []
    for path in there:
        known = find(KUBERNETES, API, everywhere)
        assert known is not None
        found.append((known.path, known.version, known.origin))
        path.unlink()

    assert found == list(
        zip(
            there,
            ["1.35.1", "1.35.2", "1.35.10", "1.35.9"],
            ["KUBEBUILDER_ASSETS", "PATH", "cache", "cache"],
            strict=True,
        )
    )
    assert find(KUBERNETES, API, everywhere) is None


@pytest.mark.parametrize(
    ("named", "program", "expected"),
    [
        ("new", "etcd", "new/etcd"),
        ("new", "etcdctl", "new/etcdctl"),
        ("new/etcd", "etcd", "new/etcd"),
        ("new/etcd", "etcdctl", "new/etcdctl"),
        ("odd/etcd-3.6", "etcd", "odd/etcd-3.6"),
        ("odd/etcd-3.6", "etcdctl", None),
        ("old:new", "etcd", "new/etcd"),
        ("old", "etcd", None),
        ("none", "etcd", None),
    ],
)
def test_etcd_may_be_named_as_a_folder_or_itself(
    tmp_path: Path, named: str, program: str, expected: str | None
) -> None:
    saying(tmp_path / "old" / "etcd", "etcd Version: 3.5.35")
    for name in ("new/etcd", "new/etcdctl", "odd/etcd-3.6"):
        saying(tmp_path / name, "version: 3.6.16")

    found = find(ETCD, program, environment(tmp_path, STATEWARD_ETCD_BIN=named))

    assert (found.path if found else None) == (tmp_path / expected if expected else None)


def test_what_cannot_be_run_or_says_nonsense_is_passed_over(tmp_path: Path) -> None:
    for name in ("folder", "text", "rude", "binary"):
        (tmp_path / name).mkdir()
    (tmp_path / "folder" / "etcd").mkdir()
    (tmp_path / "text" / "etcd").write_text("3.6.1")
    write(tmp_path / "rude" / "etcd", "exit 3")
    write(tmp_path / "binary" / "etcd", r"printf '\377\376\000'")
    path = saying(tmp_path / "bin" / "etcd", "3.6.7")

    found = find(ETCD, "etcd", environment(tmp_path, PATH="folder:text:rude:binary:bin"))

    assert found == Found(path, "3.6.7", "PATH")


def test_a_program_that_does_not_answer_has_no_version(tmp_path: Path) -> None:
    path = write(tmp_path / "etcd", "exec sleep 60")

    assert programs.version_of(path, "etcd", patience=0.1) == ""


def test_a_program_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    number = str(800_000 + os.getpid())
    path = write(tmp_path / "etcd", f"sleep {number} & sleep {number}")

    assert programs.version_of(path, "etcd", patience=0.3) == ""
    ends = time.monotonic() + 10
    while (left := [it for it in commands() if number.encode() in it]) and time.monotonic() < ends:
        time.sleep(0.01)  # who is killed is still there until it is its turn to die
    assert not left


def commands() -> list[bytes]:
    """Return the words of every process of this machine."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdecimal():
                found.append((entry / "cmdline").read_bytes())
    return found


@pytest.fixture
def nobody() -> Iterator[None]:
    """Be somebody who may not look everywhere, as root may."""
    was = os.geteuid()
    if was == 0:
        os.seteuid(65534)
    yield
    os.seteuid(was)


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Path]:
    """Have a folder with programs into which nobody may look."""
    for name in (API, "etcd"):
        saying(tmp_path / "closed" / name, "v1.35.1")
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    (tmp_path / "closed").chmod(0)
    yield tmp_path / "closed"
    (tmp_path / "closed").chmod(0o700)


@pytest.mark.parametrize("variable", ["PATH", "KUBEBUILDER_ASSETS", "XDG_CACHE_HOME"])
@pytest.mark.parametrize("inside", ["closed", "closed/inner", "closed/etcd"])
def test_where_we_may_not_look_there_is_nothing(
    tmp_path: Path, closed: Path, nobody: None, variable: str, inside: str
) -> None:
    places = environment(tmp_path, **{variable: inside})

    assert find(KUBERNETES, API, places) is None
    assert find(ETCD, "etcd", places | {"STATEWARD_ETCD_BIN": str(tmp_path / inside)}) is None
    assert len(programs.named_in_vain({"KUBEBUILDER_ASSETS": f"{closed}/inner"})) == 1


@pytest.mark.parametrize(
    ("part", "program", "named"),
    [
        (KUBERNETES, API, {"KUBEBUILDER_ASSETS": "here"}),
        (ETCD, "etcd", {"STATEWARD_ETCD_BIN": "here/etcd"}),
        (ETCD, "etcd", {"STATEWARD_ETCD_BIN": "./here"}),
        (KUBERNETES, API, {"PATH": "here"}),
    ],
)
def test_what_is_named_from_here_is_found_from_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: Part, program: str, named: dict[str, str]
) -> None:
    for name, version in ((API, "v1.35.1"), ("etcd", "3.6.1")):
        saying(tmp_path / "here" / name, version)
    monkeypatch.chdir(tmp_path)

    found = find(part, program, environment(tmp_path) | named)

    assert found is not None
    assert found.path == tmp_path / "here" / program


@pytest.mark.parametrize(
    ("named", "place"),
    [
        ({"XDG_CACHE_HOME": "/caches"}, "/caches/stateward/real"),
        ({"XDG_CACHE_HOME": "caches"}, "/home/me/.cache/stateward/real"),
        ({"XDG_CACHE_HOME": ""}, "/home/me/.cache/stateward/real"),
        ({}, "/home/me/.cache/stateward/real"),
    ],
)
def test_where_the_cache_is(
    monkeypatch: pytest.MonkeyPatch, named: dict[str, str], place: str
) -> None:
    monkeypatch.setenv("HOME", "/home/me")

    assert programs.cache(named) == Path(place)


def test_whoever_has_no_home_is_told_what_to_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(programs.Path, "home", homeless)

    with pytest.raises(UsageError, match="must have a home folder") as told:
        programs.cache({})
    assert "XDG_CACHE_HOME" in told.value.sentence()


def test_a_program_is_asked_again_only_when_it_changed(tmp_path: Path) -> None:
    path = write(tmp_path / "etcd", f"echo asked >> {tmp_path}/log; echo 3.6.1")
    for _ in range(3):
        assert programs.version_of(path, "etcd") == "3.6.1"
    assert (tmp_path / "log").read_text() == "asked\n"

    saying(path, "3.6.2")

    assert programs.version_of(path, "etcd") == "3.6.2"


def test_odd_names_in_the_cache_are_not_ours(tmp_path: Path) -> None:
    for version in ("latest", "1.35.x", "1.34.1", ".unfinished-1.35.9", "1.35.4.old", "1..35"):
        cached(tmp_path, KUBERNETES, version, API)
    (tmp_path / "xdg" / "stateward" / "real" / KUBERNETES.folder / "1.35.5").write_text("a file")

    assert find(KUBERNETES, API, environment(tmp_path)) is None


def test_the_folder_in_the_cache_says_the_version_and_nobody_is_asked(tmp_path: Path) -> None:
    path = cached(tmp_path, KUBERNETES, "1.35.4", API)  # it would say 9.9.9

    assert find(KUBERNETES, API, environment(tmp_path)) == Found(path, "1.35.4", "cache")


def test_a_part_may_be_spread_over_versions(tmp_path: Path) -> None:
    cached(tmp_path, ETCD, "3.6.17", "etcd")
    path = cached(tmp_path, ETCD, "3.6.16", "etcdctl")

    assert find(ETCD, "etcdctl", environment(tmp_path)) == Found(path, "3.6.16", "cache")
