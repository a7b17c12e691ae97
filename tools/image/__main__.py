"""`make image`: write the image as an archive; `--root` only makes its files, for the Containerfile."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from stateward import __version__
from tools.image import application, archive, debian
from tools.image.errors import ImageImpossible

NAME: Final = f"stateward:{__version__}"
OUTPUT: Final = application.PROJECT / "dist" / f"stateward-{__version__}.oci.tar"
_MACHINES: Final = {"x86_64": "amd64", "aarch64": "arm64"}

CONFIG: Final = {
    "User": f"{application.USER}:{application.USER}",
    "WorkingDir": "/",
    "Entrypoint": ["/usr/bin/python3.11", "-m", "stateward"],
    "Cmd": ["operator"],
    "Env": [
        "PATH=/usr/bin",
        f"PYTHONPATH=/{application.HOME}",
        "PYTHONDONTWRITEBYTECODE=1",
        "PYTHONUNBUFFERED=1",
        "LC_ALL=C.UTF-8",
    ],
    "Labels": {
        "org.opencontainers.image.title": "stateward",
        "org.opencontainers.image.description": "runs etcd clusters on Kubernetes",
        "org.opencontainers.image.version": __version__,
        "org.opencontainers.image.licenses": "Apache-2.0",
    },
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Make it; return the exit code."""
    parser = argparse.ArgumentParser(prog="make image", description=__doc__)
    parser.add_argument("--output", type=Path, default=OUTPUT, help="where the archive goes")
    parser.add_argument("--packages", type=Path, help="a list of an earlier image: exactly these")
    parser.add_argument("--root", type=Path, help="only make the files, in this folder")
    given = parser.parse_args(arguments)
    os.umask(0o022)
    try:
        if given.root is not None:
            make_root(given.root, _lines(given.packages))
            return 0
        return _make(given.output, _lines(given.packages))
    except ImageImpossible as error:
        print(f"image: {error}", file=sys.stderr)
        return 1


def _lines(packages: Path | None) -> list[str] | None:
    """Return the lines of a list of packages, if there is one."""
    if packages is None:
        return None
    try:
        lines = packages.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ImageImpossible(f"{packages}: must be a list of packages: {error}") from None
    return [line for line in lines if line.strip()]


def make_root(root: Path, lines: Sequence[str] | None = None) -> list[str]:
    """Make the files of the image in a folder: of the newest packages, or exactly of a list's.

    Returns which packages are among them.
    """
    wanted = debian.PACKAGES if lines is None else debian.pinned(lines)
    with tempfile.TemporaryDirectory(prefix="stateward-image-") as scraps:
        debs = debian.fetch(Path(scraps) / "debian", wanted)
        if lines is not None:
            debian.compare(debs, lines)
        found = debian.listed(debs)
        root.mkdir(parents=True, exist_ok=True)
        for deb in debs:
            debian.unpack(deb, root)
    application.furnish(root)
    application.install(root)
    application.compile_all(root)
    return found


def _make(output: Path, lines: Sequence[str] | None) -> int:
    machine = _MACHINES.get(platform.machine())
    if machine is None:
        raise ImageImpossible(f"the machine must be one of {', '.join(_MACHINES)}")
    with tempfile.TemporaryDirectory(prefix="stateward-image-") as scraps:
        root = Path(scraps) / "root"
        packages = make_root(root, lines)
        layers = [archive.layer(root, lambda it: not _is_ours(it)), archive.layer(root, _is_ours)]
        shutil.rmtree(root)
    output.parent.mkdir(parents=True, exist_ok=True)
    digest = archive.write(archive.image(layers, CONFIG, machine, NAME), output)
    listing = output.with_suffix(".packages")
    listing.write_text("\n".join(packages) + "\n", encoding="utf-8")
    megabytes = output.stat().st_size / 1e6
    print(f"image: {NAME} {digest}")
    print(f"image: wrote {output} ({megabytes:.0f} MB) and {listing.name}")
    return 0


def _is_ours(name: str) -> bool:
    """Tell whether a file changes with us, and not with Debian."""
    return name == application.HOME or name.startswith(f"{application.HOME}/")


if __name__ == "__main__":
    sys.exit(main())
