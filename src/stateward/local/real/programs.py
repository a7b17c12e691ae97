"""Where the programs of a real Kubernetes are on this machine.

Asked in this order: the folders that the environment names, PATH, and the cache that ``make real``
fills. What is found must be of the release that is wanted.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

#: Folders with Kubernetes' programs, as other test tools name them.
ASSETS: Final = "KUBEBUILDER_ASSETS"
#: A folder with etcd and its tools, or several with a colon between them.
ETCD_BIN: Final = "STATEWARD_ETCD_BIN"

#: Seconds for a program to say its version.
_PATIENCE: Final = 20.0


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

_ASK: Final = {
    "kubectl": ("version", "--client"),
    "etcdctl": ("version",),
    "etcdutl": ("version",),
    "helm": ("version", "--short"),
}
_VERSION: Final = re.compile(r"\bv?(\d+\.\d+\.\d+)")


@dataclass(frozen=True, slots=True)
class Found:
    """A program, its version, and who named it."""

    path: Path
    version: str
    origin: str


def cache(environment: Mapping[str, str]) -> Path:
    """Return the folder that is filled once per machine."""
    base = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "stateward" / "real"


def find(part: Part, program: str, environment: Mapping[str, str] = os.environ) -> Found | None:
    """Return the first program of the wanted release, or None."""
    for origin, path in _candidates(part, program, environment):
        version = version_of(path)
        if version == part.release or version.startswith(f"{part.release}."):
            return Found(path, version, origin)
    return None


def version_of(path: Path) -> str:
    """Return what a program says its version is, or nothing when it says none."""
    words = _ASK.get(path.name, ("--version",))
    try:
        ended = subprocess.run(  # noqa: S603 - asking programs is what it is for
            [str(path), *words],
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    said = _VERSION.search(ended.stdout + ended.stderr)
    return said.group(1) if said else ""


def _candidates(
    part: Part, program: str, environment: Mapping[str, str]
) -> Iterator[tuple[str, Path]]:
    names = (ASSETS, ETCD_BIN) if part.name == "etcd" else (ASSETS,)
    for name in names:
        for named in filter(None, environment.get(name, "").split(":")):
            yield from _if_there(name, Path(named) / program)
    if known := shutil.which(program, path=environment.get("PATH", "")):
        yield "PATH", Path(known)
    for folder in _newest_first(cache(environment) / part.folder):
        yield from _if_there("cache", folder / program)


def _if_there(origin: str, path: Path) -> Iterator[tuple[str, Path]]:
    if os.access(path, os.X_OK):
        yield origin, path


def _newest_first(folder: Path) -> list[Path]:
    versions = [it for it in folder.iterdir() if it.is_dir()] if folder.is_dir() else []
    return sorted(versions, key=lambda it: tuple(map(int, it.name.split("."))), reverse=True)
