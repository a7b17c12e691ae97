"""What is run for an image of etcd, and what is said when that is not quite it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.programs import saying
from stateward.app.etcd.available import BUILT, NAMED, PACKAGED, Found
from stateward.app.etcd.programs import (
    REPOSITORIES,
    EtcdProgram,
    StandIn,
    choose,
    images_with_etcd,
    version_of_tag,
)
from stateward.core.version import Version
from stateward.local.agent.files.mounts import Mounts
from stateward.local.agent.images import Answer, Asked, ImageRefused, ProgramMissing


def found(root: Path, version: str, source: str = BUILT, *tools: str) -> Found:
    for name in ("etcd", *tools):
        saying(root / version / name, version)
    return Found(Version.parse(version), root / version / "etcd", source)


def asked(*command: str, image: str = "quay.io/coreos/etcd:v3.6.16", args: str = "") -> Asked:
    env = {"PATH": "/usr/bin:/bin"}
    return Asked(image, command, tuple(args.split()), env, "ns", "p-0", "127.1.2.3", Mounts({}))


@pytest.mark.parametrize(
    ("tag", "version"),
    [
        ("v3.5.35", "3.5.35"),
        ("3.5.35", "3.5.35"),
        ("3.5.15-0", "3.5.15"),
        ("v3.5.35-arm64", "3.5.35"),
        ("v3.6.0-rc.1", "3.6.0-rc.1"),
        ("latest", None),
        ("v3.5", None),
        ("3.5.01", None),
        ("", None),
    ],
)
def test_what_a_tag_says(tag: str, version: str | None) -> None:
    read = version_of_tag(tag)
    assert (str(read) if read else None) == version


@pytest.mark.parametrize("repository", REPOSITORIES)
def test_every_repository_of_etcd_is_known(tmp_path: Path, repository: str) -> None:
    program = found(tmp_path, "3.6.16")
    images = images_with_etcd([program])
    image = f"{repository}:3.6.16-0"

    assert images.find(image)(asked("etcd", image=image)) == Answer((str(program.path),))
    with pytest.raises(ImageRefused, match=r"known: .*etcd"):
        images.find("example.org/etcd:v3.6.16")


@pytest.mark.parametrize(
    ("command", "args", "runs"),
    [
        (("etcd",), "--name=a --data-dir=/d", "etcd --name=a --data-dir=/d"),
        (("/usr/local/bin/etcd", "--name=a"), "", "etcd --name=a"),
        ((), "etcd --name=a", "etcd --name=a"),
        ((), "", "etcd"),
        (("etcdctl", "put"), "a b", "etcdctl put a b"),
    ],
)
def test_the_words_are_the_containers_and_the_program_is_ours(
    tmp_path: Path, command: tuple[str, ...], args: str, runs: str
) -> None:
    program = found(tmp_path, "3.6.16", BUILT, "etcdctl")
    first, _, rest = runs.partition(" ")

    answer = EtcdProgram([program])(asked(*command, args=args))

    assert answer.argv == (str(program.path.parent / first), *rest.split())


@pytest.mark.parametrize("word", ["sh", "/bin/sh", "etcdutl", "/opt/etcd", "--name=a"])
def test_what_is_not_in_the_image_is_missing(tmp_path: Path, word: str) -> None:
    with pytest.raises(ProgramMissing, match="nothing else"):
        EtcdProgram([found(tmp_path, "3.6.16")])(asked(word))


@pytest.mark.parametrize("stand_in", list(StandIn))
@pytest.mark.parametrize("tag", [":latest", "", ":main"])
def test_a_tag_must_name_a_version(tmp_path: Path, tag: str, stand_in: StandIn) -> None:
    with pytest.raises(ImageRefused, match="must name a version"):
        choose(f"quay.io/coreos/etcd{tag}", [found(tmp_path, "3.6.16")], stand_in)


NOT_THERE = "etcd 3.6.16 is not on this machine, etcd {} from {} runs in its place"
INCONSISTENT = "etcd 3.5.0 to 3.5.2 can lose consistency when killed under load"


@pytest.mark.parametrize(
    ("wanted", "there", "source", "stand_in", "note"),
    [
        ("3.6.16", "3.6.16", BUILT, StandIn.SAME_MINOR, ""),
        ("3.6.16", "3.6.2", BUILT, StandIn.SAME_MINOR, NOT_THERE.format("3.6.2", BUILT)),
        ("3.6.16", "3.6.2", NAMED, StandIn.ANY, NOT_THERE.format("3.6.2", NAMED)),
        ("3.6.16", "3.5.35", BUILT, StandIn.ANY, NOT_THERE.format("3.5.35", BUILT)),
        ("3.5.1", "3.5.1", PACKAGED, StandIn.SAME_MINOR, INCONSISTENT),
        ("3.6.16", "3.5.1", PACKAGED, StandIn.ANY, f"{NOT_THERE.format('3.5.1', PACKAGED)}; {INCONSISTENT}"),
    ],
)  # fmt: skip
def test_who_stands_in_and_what_is_said(
    tmp_path: Path, wanted: str, there: str, source: str, stand_in: StandIn, note: str
) -> None:
    programs = [found(tmp_path, there, source)]

    assert choose(f"quay.io/coreos/etcd:v{wanted}", programs, stand_in).note == note


@pytest.mark.parametrize(
    ("there", "stand_in", "told"),
    [
        ("3.5.35 3.5.1", StandIn.SAME_MINOR, f"there is 3.5.35 ({BUILT}), 3.5.1 ({BUILT})"),
        ("", StandIn.SAME_MINOR, "there is none at all"),
        ("", StandIn.ANY, "there is none at all"),
    ],
)
def test_a_refusal_says_what_there_is_and_how_to_get_the_other(
    tmp_path: Path, there: str, stand_in: StandIn, told: str
) -> None:
    programs = [found(tmp_path, it) for it in there.split()]

    with pytest.raises(ImageRefused) as refused:
        choose("quay.io/coreos/etcd:v3.6.16", programs, stand_in)

    assert told in refused.value.message
    assert "get-etcd --version 3.6.16" in refused.value.hint


def test_a_stand_in_is_said_on_the_log_before_it_runs(tmp_path: Path) -> None:
    program = found(tmp_path, "3.5.35", BUILT, "etcdctl")
    stands = EtcdProgram([program], StandIn.ANY)

    shell, option, script, note, *rest = stands(asked("etcd", args="--name=a")).argv

    assert (Path(shell).name, option, rest) == ("sh", "-c", [str(program.path), "--name=a"])
    assert script.endswith('exec "$@"')
    assert note == f"stateward: {NOT_THERE.format('3.5.35', BUILT)}"
    assert stands(asked("etcdctl", "version")).argv[1:] == ("version",)
