"""Our locked packages and ourselves, as files below one folder of the image."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tools.image.errors import ImageImpossible

PROJECT: Final = Path(__file__).parents[2]
#: Where they are in the image, and where Python looks for them.
HOME: Final = "opt/stateward"
LOCK: Final = PROJECT / "requirements" / "runtime.txt"
#: The Python of the image: compiled parts of packages are made for one.
PYTHON: Final = (3, 11)
#: What the image runs as.
USER: Final = 65_532

#: What is published as source alone; all of it is Python.
_SOURCES: Final = ("foundationdb",)

_FILES: Final = {
    "etc/passwd": f"root:x:0:0:root:/:/nothing\nstateward:x:{USER}:{USER}::/:/nothing\n",
    "etc/group": f"root:x:0:\nstateward:x:{USER}:\n",
    "etc/nsswitch.conf": "hosts: files dns\n",
}


def install(root: Path) -> None:
    """Install what the lock names, exactly that, and our own package."""
    if sys.version_info[:2] != PYTHON:
        raise ImageImpossible(
            f"the image has Python {PYTHON[0]}.{PYTHON[1]}, so it must be made with that;"
            " try: make PYTHON=python3.11 image"
        )
    home = root / HOME
    exactly = ["--require-hashes", "--no-deps", "--only-binary=:all:", "--no-compile"]
    exactly += [f"--no-binary={','.join(_SOURCES)}"]
    quietly = ["--quiet", "--disable-pip-version-check", "--no-warn-script-location"]
    command = [*_pip(), "install", *exactly, *quietly]
    command += ["--target", str(home), "--requirement", str(LOCK)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ImageImpossible(f"the locked packages must be installable: {done.stderr.strip()}")
    shutil.rmtree(home / "bin", ignore_errors=True)  # they would name the Python of this machine
    for record in home.glob("*.dist-info/RECORD"):
        record.unlink()  # so do these
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PROJECT / "src" / "stateward", home / "stateward", ignore=skip)


def _pip() -> list[str]:
    """Return how pip is called: the virtual environment has none of its own."""
    outside = Path(sys.base_prefix) / "bin" / "python3.11"
    for python in (sys.executable, outside, "python3.11"):
        command = [str(python), "-m", "pip"]
        try:
            found = subprocess.run([*command, "--version"], capture_output=True, check=False)
        except OSError:
            continue
        if found.returncode == 0:
            return command
    raise ImageImpossible("pip is needed beside Python 3.11")


def furnish(root: Path) -> None:
    """Make what every process expects: who there is, where names come from, room for scraps."""
    for name, text in _FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (root / "tmp").mkdir(exist_ok=True)
    (root / "tmp").chmod(0o1777)


def compile_all(root: Path) -> None:
    """Compile everything by the image's own Python, so that a read-only image starts fast.

    It needs no root and no other root directory: its loader is told where its libraries are.
    """
    loader = next(root.glob("lib/*/ld-linux-*.so.*"), None)
    if loader is None:
        raise ImageImpossible("the image has no loader; libc6 must be among its packages")
    libraries = ":".join(
        str(it) for it in (*root.glob("lib/*-linux-gnu"), *root.glob("usr/lib/*-linux-gnu"))
    )
    python = [str(loader), "--library-path", libraries, str(root / "usr/bin/python3.11")]
    # By hash and unchecked: times are all the same in an image, and nobody changes it.
    how = ["-q", "-f", "--invalidation-mode", "unchecked-hash", "-s", str(root), "-p", "/"]
    folders = [str(root / "usr/lib/python3.11"), str(root / HOME)]
    environment = {"PYTHONHOME": str(root / "usr"), "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"}
    command = [*python, "-B", "-m", "compileall", *how, *folders]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        said = (done.stdout + done.stderr).strip().splitlines()
        raise ImageImpossible(
            f"the image's Python must compile itself: {said[-1] if said else '?'}"
        )
