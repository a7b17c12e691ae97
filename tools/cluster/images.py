"""The images that nodes get: made of programs that are here, since there is no registry."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from stateward.etcd.api.settings import REPOSITORY
from stateward.local.real import programs
from stateward.local.real.programs import Part
from tools.cluster.plan import Plan
from tools.cluster.settings import PAUSE
from tools.image import archive, debian

COREDNS: Final = "stateward.test/coredns:1"
_MACHINES: Final = {"x86_64": "amd64", "aarch64": "arm64"}


def write_all(plan: Plan) -> None:
    """Write the archives of everything but the operator."""
    plan.images.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=plan.folder) as scraps:
        folder = Path(scraps)
        _pause(plan, folder / "pause")
        _of(plan, COREDNS, folder / "coredns", programs.COREDNS, entry=["/usr/bin/coredns"])
        for part in (programs.ETCD, programs.OLDER_ETCD):
            name = f"{REPOSITORY}:v{_version(part)}"
            _of(plan, name, folder / part.folder, part, entry=["/usr/bin/etcd"])


def take(plan: Plan, given: Path, name: str) -> None:
    """Give the nodes an image that is an archive already, under a name."""
    plan.images.mkdir(exist_ok=True)
    placed = plan.images / f"{_plain(name)}.tar"
    archive.rename(given, name, placed)
    placed.with_suffix(".name").write_text(archive.full_name(name))


def _version(part: Part) -> str:
    found = programs.find(part, part.programs[0])
    assert found is not None, "checked before anything is made"  # noqa: S101
    return found.version


def _pause(plan: Plan, root: Path) -> None:
    """Write the image that holds a pod's namespaces: it waits."""
    debian.unpack(_busybox(root.with_suffix(".debs")), root)
    _write(plan, PAUSE, root, {"Entrypoint": ["/bin/busybox", "tail", "-f", "/dev/null"]})


def _busybox(scraps: Path) -> Path:
    """Return the package with a program that waits: fetched once per machine."""
    kept = programs.cache() / "busybox-static.deb"
    if not kept.is_file():
        (found,) = debian.fetch(scraps, ("busybox-static",))
        kept.parent.mkdir(parents=True, exist_ok=True)
        arriving = kept.with_suffix(f".{os.getpid()}")
        shutil.copy(found, arriving)
        arriving.replace(kept)  # whole, or not there
    return kept


def _of(plan: Plan, name: str, root: Path, part: Part, entry: Sequence[str]) -> None:
    binaries = root / "usr" / "bin"
    binaries.mkdir(parents=True)
    (root / "tmp").mkdir()
    for program in part.programs:
        found = programs.find(part, program)
        assert found is not None, "checked before anything is made"  # noqa: S101
        shutil.copy(found.path, binaries / program)
    _write(plan, name, root, {"Entrypoint": list(entry)})


def _write(plan: Plan, name: str, root: Path, config: Mapping[str, Any]) -> None:
    layer = archive.layer(root, lambda _: True, level=1)  # they live for minutes
    machine = _MACHINES[os.uname().machine]
    settings = {**config, "Env": ["PATH=/usr/bin:/bin"], "WorkingDir": "/"}
    path = plan.images / f"{_plain(name)}.tar"
    archive.write(archive.image([layer], settings, machine, name), path)
    path.with_suffix(".name").write_text(archive.full_name(name))


def _plain(name: str) -> str:
    return name.replace("/", "-").replace(":", "-")
