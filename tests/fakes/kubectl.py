"""Which kubectl the tests drive: the one on PATH, that of ``make real``, or Debian's, if not too old.

A run that asks a real Kubernetes prefers the kubectl of its release.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from real import planes
from stateward.local.real import programs

#: The first release with `patch --subresource`, server-side field validation, OpenAPI v3, `auth whoami`.
OLDEST = (1, 28)
_PACKAGE = "kubernetes-client"


@dataclass(frozen=True, slots=True)
class Found:
    """A program and its version, or why there is none."""

    program: str = ""
    told: str = ""


@cache
def find() -> Found:
    """Return the kubectl to use."""
    too_old = None
    for program in _candidates():
        version = _version(program)
        if version >= OLDEST:
            return Found(program, f"{'.'.join(map(str, version))} ({program})")
        too_old = too_old or version
    if not too_old:
        return Found(
            told=f"none on PATH, and no Debian package {_PACKAGE} to be had: its tests are skipped"
        )
    had, wanted = (".".join(map(str, it)) for it in (too_old, OLDEST))
    return Found(told=f"{had} is too old, {wanted} or newer is needed: its tests are skipped")


def _candidates() -> Iterator[str]:
    real = programs.find(programs.KUBERNETES, "kubectl")
    known = [shutil.which("kubectl"), str(real.path) if real else None]
    if os.environ.get(planes.SHARED):
        known.reverse()
    yield from filter(None, known)
    yield from filter(None, [_from_debian()])


def _version(program: str) -> tuple[int, int]:
    ended = subprocess.run(
        [program, "version", "--client", "-o", "json"], capture_output=True, text=True, check=False
    )
    if ended.returncode != 0:
        return (0, 0)
    said = json.loads(ended.stdout)["clientVersion"]
    return int(said["major"]), int(said["minor"].rstrip("+"))


def _from_debian() -> str:
    """Fetch Debian's package into our cache, without installing it; return its kubectl, or nothing."""
    cached = (
        Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        / "stateward"
        / "debian-kubectl"
    )
    program = cached / "usr" / "bin" / "kubectl"
    if not program.exists() and shutil.which("apt-get") and shutil.which("dpkg"):
        cached.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cached.parent) as folder:
            _fetch(Path(folder), cached)
    return str(program) if program.exists() else ""


def _fetch(folder: Path, target: Path) -> None:
    _quietly(folder, "apt-get", "download", _PACKAGE)
    for package in folder.glob("*.deb"):
        _quietly(folder, "dpkg", "-x", str(package), "unpacked")
        if not target.exists():  # another worker may have been faster
            (folder / "unpacked").rename(target)


def _quietly(folder: Path, *words: str) -> None:
    try:
        subprocess.run(words, cwd=folder, capture_output=True, check=False, timeout=120)
    except subprocess.TimeoutExpired:
        return  # no package server to be reached
