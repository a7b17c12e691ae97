"""The programs as files with their real names, so that whoever runs FoundationDB can run them."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Final

#: By name: the module that is run.
PROGRAMS: Final = {
    "fdbserver": "stateward.emulate.fdb.programs.fdbserver",
    "fdbcli": "stateward.emulate.fdb.programs.fdbcli",
}


def install(folder: Path, version: str) -> Path:
    """Have a folder with all programs, standing for a version of FoundationDB; return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, module in PROGRAMS.items():
        arriving = folder / f".{name}.{os.getpid()}"
        arriving.write_text(_script(module, version), encoding="utf-8")
        arriving.chmod(0o755)
        arriving.replace(folder / name)
    return folder


def _script(module: str, version: str) -> str:
    # -P: what lies in a container's folder is not imported.
    python = shlex.quote(sys.executable)
    return (
        "#!/bin/sh\n"
        f"STATEWARD_FDB_CALLED=$0 STATEWARD_FDB_VERSION={shlex.quote(version)}"
        f' exec {python} -P -m {module} "$@"\n'
    )
