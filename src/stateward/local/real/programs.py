"""Where the programs of a real Kubernetes are on this machine.

Asked in this order: the folders that the environment names, PATH, and the cache that ``make real``
fills. What is found must be of the release that is wanted; only the Kubernetes that the environment
names may be any that we claim to work with, so that whoever has another one can ask that.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache as once
from pathlib import Path
from typing import Final

from stateward.core.errors import UsageError

#: Folders with the programs of Kubernetes and etcd, as other test tools name them.
ASSETS: Final = "KUBEBUILDER_ASSETS"
#: A folder with etcd and its tools, or etcd itself with them beside it; a colon between several.
ETCD_BIN: Final = "STATEWARD_ETCD_BIN"
_NAMED: Final = {"kubernetes": (ASSETS,), "etcd": (ETCD_BIN, ASSETS)}

#: Seconds for a program to say its version.
PATIENCE: Final = 5.0


@dataclass(frozen=True, slots=True)
class Part:
    """Programs that are built together, of one release."""

    name: str
    release: str
    programs: tuple[str, ...]

    @property
    def folder(self) -> str:
        """The name of its folder, in the cache and where it is built from."""
        return f"{self.name}-{self.release}"


KUBERNETES: Final = Part(
    "kubernetes",
    "1.35",
    ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"),
)
#: The oldest release that we claim to work with.
OLDEST_KUBERNETES: Final = Part("kubernetes", "1.32", ("kube-apiserver",))
ETCD: Final = Part("etcd", "3.6", ("etcd", "etcdctl", "etcdutl"))
OLDER_ETCD: Final = Part("etcd", "3.5", ("etcd", "etcdctl", "etcdutl"))
HELM: Final = Part("helm", "3", ("helm",))
PROMTOOL: Final = Part("promtool", "3", ("promtool",))
PARTS: Final = (KUBERNETES, OLDEST_KUBERNETES, ETCD, OLDER_ETCD, HELM, PROMTOOL)
#: What a cluster of real nodes takes.
NODES: Final = Part(
    "kubernetes",
    "1.35",
    (*KUBERNETES.programs, "kubelet", "kube-proxy"),
)
COREDNS: Final = Part("coredns", "1", ("coredns",))
CLUSTER_PARTS: Final = (NODES, ETCD, OLDER_ETCD, HELM, COREDNS)

_ASK: Final = {
    "kubectl": ("version", "--client"),
    "etcdctl": ("version",),
    "etcdutl": ("version",),
    "helm": ("version", "--short"),
    "coredns": ("-version",),
}
_VERSION: Final = re.compile(r"\bv?(\d+\.\d+\.\d+)")
_FOLDER: Final = re.compile(r"\d+(\.\d+)+")


@dataclass(frozen=True, slots=True)
class Found:
    """A program, its version, and who named it."""

    path: Path
    version: str
    origin: str


def cache(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder that is filled once per machine; raise UsageError when none can be."""
    base = Path(environment.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():  # such a one is to be ignored, by the rules for that variable
        base = _home() / ".cache"
    return base / "stateward" / "real"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        raise UsageError(
            "this user must have a home folder for the cache of programs",
            hint="name one in HOME, or a folder for caches in XDG_CACHE_HOME",
        ) from None


def find(part: Part, program: str, environment: Mapping[str, str] = os.environ) -> Found | None:
    """Return the first program of the wanted release, or None."""
    return next(_found(part, program, environment), None)


def order(version: str) -> tuple[int, ...]:
    """Return a version as numbers, which compare as versions do.

    >>> order("3.10.0") > order("3.9")
    True
    """
    return tuple(map(int, version.split(".")))


def version_of(path: Path, program: str, patience: float = PATIENCE) -> str:
    """Return what a program says its version is, or nothing when it says none."""
    try:
        known = path.stat()
    except OSError:
        return ""
    return _asked(path, known.st_mtime_ns, program, patience)


@once
def _asked(path: Path, _changed: int, program: str, patience: float) -> str:
    """Ask once for as long as the file stays the same: every question is a process."""
    words = _ASK.get(program, ("--version",))
    try:
        text = _said([str(path), *words], patience)
    except (OSError, subprocess.SubprocessError):
        return ""
    said = _VERSION.search(text.decode(errors="replace"))
    return said.group(1) if said else ""


def _said(argv: list[str], patience: float) -> bytes:
    """Return what a program says; one that takes too long is ended with all that it started."""
    with subprocess.Popen(  # noqa: S603 - asking programs is what it is for
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            said, complained = process.communicate(timeout=patience)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)  # not waited for yet, so the number is its own
            raise
    return said + complained


def can_run(path: Path) -> bool:
    """Tell whether it is a program that we may run."""
    return is_file(path) and os.access(path, os.X_OK)


def is_file(path: Path) -> bool:
    """Tell whether it is a file; one in a folder into which we may not look is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def _found(part: Part, program: str, environment: Mapping[str, str]) -> Iterator[Found]:
    for origin in _NAMED.get(part.name, ()):
        for path in _named(environment.get(origin, ""), program):
            version = version_of(path, program)
            if _is_of(part, version) or (part == KUBERNETES and _is_claimed(version)):
                yield Found(path, version, origin)
    for path in _in_folders(environment.get("PATH", "").split(os.pathsep), program):
        version = version_of(path, program)
        if _is_of(part, version):
            yield Found(path, version, "PATH")
    for folder in versions(cache(environment) / part.folder):
        if _is_of(part, folder.name) and can_run(folder / program):
            yield Found(folder / program, folder.name, "cache")


def versions(folder: Path) -> list[Path]:
    """Return the versions of a part in the cache, the newest first; odd names are not ours."""
    try:
        ours = [it for it in folder.iterdir() if it.is_dir() and _FOLDER.fullmatch(it.name)]
    except OSError:  # it is not there, or not for us
        return []
    return sorted(ours, key=lambda it: order(it.name), reverse=True)


def _is_of(part: Part, version: str) -> bool:
    return version == part.release or version.startswith(f"{part.release}.")


def _is_claimed(version: str) -> bool:
    return bool(version) and order(version) >= order(OLDEST_KUBERNETES.release)


def _named(text: str, program: str) -> Iterator[Path]:
    """Return where a program may be, of the folders and programs that a variable names."""
    for named in filter(None, text.split(os.pathsep)):
        path = Path(named).absolute()
        if program == "etcd" and is_file(path):  # by whatever name
            yield from filter(can_run, [path])
        else:
            yield from _in_folders([path.parent if is_file(path) else path], program)


def named_in_vain(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return what the environment names and nobody has, with the variable that does."""
    return [
        (variable, path)
        for variable in (ASSETS, ETCD_BIN)
        for path in filter(None, environment.get(variable, "").split(os.pathsep))
        if not os.access(path, os.F_OK)
    ]


def _in_folders(folders: Iterable[str | Path], program: str) -> Iterator[Path]:
    """Return where a program is; whoever runs it may be in another folder than we are."""
    return filter(can_run, (Path(it).absolute() / program for it in folders if it))
