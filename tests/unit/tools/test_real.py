"""`make real` with a Go that only pretends: what is built, kept, told, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tools.real import building, store
from tools.real.building import BuildFailed, Go, find_go
from tools.real.command import main
from tools.real.sources import source_of

from fakes.programs import saying, write
from stateward.local.real.programs import ETCD, HELM, KUBERNETES, PARTS

ROOT = Path(__file__).parents[3]
SOURCES = [source_of(part, program) for part in PARTS for program in part.programs]
SCHEDULER = source_of(KUBERNETES, "kube-scheduler")
HELM_SOURCE = source_of(HELM, "helm")

#: What a good Go does: it writes a program that says the version which its folder is to have.
WRITES = "echo '#!/bin/sh' > $out; echo \"echo $version\" >> $out; chmod +x $out"


@dataclass(frozen=True, slots=True)
class Machine:
    """One with nothing on PATH but what a test puts there."""

    root: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": str(self.root / "bin"), "XDG_CACHE_HOME": str(self.root / "xdg")}

    @property
    def cache(self) -> Path:
        return self.root / "xdg" / "stateward" / "real"

    def go(self, *cases: str, version: str = "1.26.8") -> None:
        """Have a Go; ``PATTERN) what it does ;;`` by the name of the file that it is to write."""
        versions = "\n".join(
            f"*/{part.folder}/*) version={source_of(part, part.programs[0]).version};;"
            for part in PARTS
        )
        write(
            self.root / "bin" / "go",
            f"""
            PATH=/usr/bin:/bin
            if [ "$1" = env ]; then echo go{version}; exit; fi
            echo "$@" >> {self.root}/words
            echo "$PWD $CGO_ENABLED $GOTOOLCHAIN $GOWORK" >> {self.root}/places
            while [ "$1" != -o ]; do shift; done
            out=$2
            case $out in {versions} esac
            case $out in {" ".join(cases)} *) {WRITES};; esac
            """,
        )

    def built(self) -> list[str]:
        """Return the names of what Go was asked for, in order."""
        path = self.root / "words"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line.split(" -o ")[1].split()[0].rpartition("/")[2] for line in lines]

    def kept(self) -> set[str]:
        """Return every file in the cache but the checksums and the lock."""
        files = {str(it.relative_to(self.cache)) for it in self.cache.rglob("*") if it.is_file()}
        return {it for it in files if not it.endswith((store.SUMS, ".lock"))}

    def place(self, source) -> Path:
        return self.cache / source.part.folder / source.version / source.program


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def everything() -> set[str]:
    return {f"{it.part.folder}/{it.version}/{it.program}" for it in SOURCES}


# ------------------------------------------------------------------ how it goes well
def test_everything_is_built_once(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.go()

    assert main(machine.environment) == 0

    first = capsys.readouterr().out.splitlines()
    assert machine.kept() == everything()
    assert machine.built() == [it.program for it in SOURCES]
    assert " ".join(first[0].split()) == f"real: {SOURCES[0]} building ..."
    assert " ".join(first[1].split()).startswith(f"real: {SOURCES[0]} built in ")
    assert first[-1] == f"real: everything is there; {machine.cache} takes 0 MB"

    assert main(machine.environment) == 0

    again = capsys.readouterr().out.splitlines()
    assert len(again) == len(SOURCES) + 1
    assert all(it.endswith("is there, in the cache") for it in again[:-1])
    assert len(machine.built()) == len(SOURCES)


def test_go_is_asked_for_a_plain_program_and_fetches_no_other_go(machine: Machine) -> None:
    machine.go()

    main(machine.environment)

    words = next(it for it in (machine.root / "words").read_text().splitlines() if "helm" in it)
    assert words.startswith(
        "build -mod=readonly -trimpath -tags= -ldflags"
        f" -s -w -X helm.sh/helm/v3/internal/version.version=v{HELM_SOURCE.version} -o "
    )
    assert words.endswith("/helm helm.sh/helm/v3/cmd/helm")
    assert f"{HELM_SOURCE.folder} 0 local off" in (machine.root / "places").read_text()


def test_what_is_there_is_not_built(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.go()
    saying(machine.root / "bin" / "helm", "v3.1.2")
    saying(machine.root / "assets" / "kubectl", "v1.34.1")
    environment = machine.environment | {"KUBEBUILDER_ASSETS": str(machine.root / "assets")}

    assert main(environment) == 0

    lines = [" ".join(it.split()) for it in capsys.readouterr().out.splitlines()]
    assert "real: helm 3.1.2 is there, of PATH" in lines
    assert "real: kubectl 1.34.1 is there, of KUBEBUILDER_ASSETS" in lines
    assert not {"helm", "kubectl"} & set(machine.built())


@pytest.mark.parametrize(
    "damage", ["changed", "a folder", "no sums", "other sums", "sums a folder"]
)
def test_what_is_not_what_was_built_is_built_again(
    machine: Machine, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    machine.go()
    main(machine.environment)
    path = machine.place(SCHEDULER)
    sums = path.parent / store.SUMS
    if damage == "changed":
        path.write_text(path.read_text() + "#\n")
    elif damage == "a folder":
        path.unlink()
        (path / "inner").mkdir(parents=True)
    elif damage == "sums a folder":
        sums.unlink()
        (sums / "inner").mkdir(parents=True)
    elif damage == "no sums":
        sums.unlink()
    else:
        sums.write_text("nonsense\n\x00\n")
    capsys.readouterr()

    assert main(machine.environment) == 0

    lines = [" ".join(it.split()) for it in capsys.readouterr().out.splitlines()]
    assert f"real: {SCHEDULER} is not what was built: removed" in lines
    assert f"real: {SCHEDULER} building ..." in lines
    assert machine.kept() == everything()
    assert store.is_sound(path)


def test_an_older_version_goes_when_the_newer_one_is_whole(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.go("*/helm) exit 1;;")
    old = [
        saying(machine.cache / name, "old")
        for name in ("helm-3/3.1.0/helm", "etcd-3.6/3.6.1/etcd", "promtool-3/mine/promtool")
    ]

    assert main(machine.environment) == 1

    assert [it.exists() for it in old] == [False, False, True]
    assert "etcd 3.6.1" in capsys.readouterr().out


def test_a_newer_version_of_somebody_else_is_taken(machine: Machine) -> None:
    machine.go()
    with store.workbench(machine.cache, HELM.folder) as folder:
        store.keep(saying(folder / "helm", "v3.99.0"), "3.99.0")

    assert main(machine.environment) == 0

    assert "helm" not in machine.built()
    assert f"{HELM.folder}/3.99.0/helm" in machine.kept()


def test_what_a_killed_one_left_is_removed(machine: Machine) -> None:
    machine.go()
    left = machine.cache / ETCD.folder / ".unfinished-x" / "etcd"
    saying(left, "half")

    assert main(machine.environment) == 0

    assert machine.kept() == everything()


# ------------------------------------------------------------------ how it goes wrong
@pytest.mark.parametrize(
    ("does", "says"),
    [
        ("echo go: downloading a v1; echo cannot find b; exit 1", ["go build ended with 1", "    cannot find b"]),
        ("exit 2", ["go build ended with 2 and said nothing"]),
        ("seq 20 >&2; exit 1", ["go build ended with 1", *(f"    {it}" for it in range(13, 21))]),
        ("true", ["Go ended well, but what it built does not say its version"]),
        (f"version=3.0.0; {WRITES}", ["Go ended well, but what it built says it is 3.0.0"]),
    ],
    ids=["says why", "says nothing", "says much", "no program", "wrong program"],
)  # fmt: skip
def test_one_that_fails_is_said_and_the_others_go_on(
    machine: Machine, capsys: pytest.CaptureFixture[str], does: str, says: list[str]
) -> None:
    machine.go(f"*/helm) {does};;")

    assert main(machine.environment) == 1

    lines = capsys.readouterr().out.splitlines()
    at = next(i for i, it in enumerate(lines) if "FAILED" in it)
    first = lines[at].partition("FAILED: ")[2]
    assert [first, *lines[at + 1 : at + len(says)]] == says
    assert lines[at + len(says)].split()[1] == "promtool"
    assert lines[-1].startswith(f"real: MISSING {HELM_SOURCE}; ")
    assert machine.kept() == {it for it in everything() if "helm" not in it}


def test_without_go_one_line_says_how_to_get_on(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(machine.environment) == 1

    (line,) = capsys.readouterr().out.splitlines()
    assert line == (
        "real: there is no Go to build kubernetes 1.35, kubernetes 1.32, etcd 3.6, etcd 3.5, helm 3,"
        " promtool 3, so what asks a real Kubernetes cannot run: install Go 1.26.0 or newer, or have"
        " built programs on PATH or named by KUBEBUILDER_ASSETS and STATEWARD_ETCD_BIN"
    )
    assert not machine.cache.exists()


def test_a_go_that_is_too_old_is_said_once(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.go(version="1.25.3")

    assert main(machine.environment) == 1

    (line,) = capsys.readouterr().out.splitlines()
    assert "/bin/go is 1.25.3, too old to build kubernetes 1.35, " in line
    assert "install Go 1.26.0 or newer" in line
    assert not machine.built()


def test_without_a_way_to_the_sources_nothing_more_is_tried(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.go("*) echo 'a@v1: Get \"x\": dial tcp: lookup x: no such host'; exit 1;;")

    assert main(machine.environment) == 1

    lines = capsys.readouterr().out.splitlines()
    assert [it.split()[1] for it in lines if "FAILED" in it] == ["kube-apiserver"]
    assert lines[-1].startswith("real: MISSING kube-apiserver 1.35")
    assert "promtool" in lines[-1]


def test_a_cache_that_cannot_be_written_is_said(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.go()
    (machine.root / "xdg").write_text("a file")

    assert main(machine.environment) == 1

    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"real: {machine.cache} must be writable: ")
    assert line.endswith("; or name another folder in XDG_CACHE_HOME")


@pytest.mark.parametrize("deaf", ["", "trap '' INT; "], ids=["hears", "is deaf"])
def test_a_go_that_hangs_is_ended(
    machine: Machine, deaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "_ENDING", 0.5)
    machine.go(f"*) {deaf}echo $$ > {machine.root}/pid; while :; do sleep 0.1; done;;")
    go = find_go(machine.environment)
    assert isinstance(go, Go)

    with pytest.raises(BuildFailed, match="did not end within 1 s"):
        building.build(go, HELM_SOURCE, machine.root, lambda _: None, limit=1.0)

    assert not is_alive(int((machine.root / "pid").read_text()))


# ------------------------------------------------------------------ as a process
def started(machine: Machine, stderr: int = subprocess.STDOUT) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tools.real"],
        cwd=ROOT,
        env=machine.environment,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_interrupted_it_keeps_what_is_whole_and_leaves_nothing_else(
    machine: Machine, number: int
) -> None:
    slow = f"echo half > $out; echo $$ > {machine.root}/pid; exec sleep 60"
    machine.go(f"*/kube-scheduler) {slow};;")
    process = started(machine)
    assert process.stdout is not None
    for line in process.stdout:
        if "kube-scheduler" in line and "building" in line:
            break
    while not (machine.root / "pid").exists():
        assert process.poll() is None

    process.send_signal(number)
    rest, _ = process.communicate(timeout=30)

    assert rest == "real: interrupted; what was built before is kept\n"
    assert process.returncode == 130
    assert machine.kept() == {
        f"{KUBERNETES.folder}/{SCHEDULER.version}/{it}"
        for it in ("kube-apiserver", "kube-controller-manager")
    }
    assert not list(machine.cache.glob("*/.unfinished*"))
    assert not is_alive(int((machine.root / "pid").read_text()))


def test_killed_it_leaves_no_go_behind(machine: Machine) -> None:
    machine.go(f"*) echo $$ > {machine.root}/pid; exec sleep 60;;")
    process = started(machine)
    pid = machine.root / "pid"
    wait_until(lambda: pid.exists() and pid.read_text().endswith("\n"))

    process.kill()
    process.communicate(timeout=30)

    wait_until(lambda: not is_alive(int(pid.read_text())))


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_reader_who_leaves_ends_it_without_a_word(machine: Machine) -> None:
    machine.go(f"*/promtool) sleep 0.5; {WRITES};;")
    process = started(machine, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()

    assert process.stderr.read() == ""
    assert process.wait(timeout=30) == 1
    process.stderr.close()


def test_interrupted_at_its_very_start_it_says_so_in_one_line() -> None:
    """The first thing that it imports is where it is interrupted here."""
    script = (
        "import signal, sys\n"
        "from tools.real.__main__ import run\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        "        signal.raise_signal(signal.SIGTERM)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "sys.exit(run())\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "real: interrupted\n")


def test_whoever_has_no_home_is_told_so(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)

    assert main({"PATH": str(machine.root)}) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("real: this user must have a home folder")


def test_a_go_that_is_named_from_here_is_found_from_everywhere(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.go()
    monkeypatch.chdir(machine.root)

    assert main(machine.environment | {"PATH": "bin"}) == 0
    assert machine.kept() == everything()


def test_two_at_once_build_everything_once(machine: Machine) -> None:
    machine.go(f"*/promtool) sleep 0.5; {WRITES};;")

    ends = [it.communicate(timeout=60)[0] for it in [started(machine) for _ in range(2)]]

    verdicts = [it.splitlines()[-1] for it in ends]
    assert [it.startswith("real: everything is there") for it in verdicts] == [True, True]
    assert sorted(machine.built()) == sorted(it.program for it in SOURCES)


def test_one_waits_for_another_and_says_so(machine: Machine) -> None:
    machine.go()
    with store.locked(machine.cache, lambda _: None):
        process = started(machine)
        assert process.stdout is not None
        said = process.stdout.readline()
        assert machine.built() == []

    process.communicate(timeout=60)

    assert said == "real: waiting for another `make real` to end\n"
    assert process.returncode == 0
    assert machine.kept() == everything()
