"""The programs as files with their real names, so that whoever runs FoundationDB can run them.

``python -m stateward.emulate.fdb.programs.shims FOLDER [VERSION]`` writes all of them.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from stateward.emulate.fdb.servers import VERSION

#: By name: the module that is run. First those that are the database, where there is no real one.
DATABASE: Final = {
    "fdbserver": "stateward.emulate.fdb.programs.fdbserver",
    "fdbcli": "stateward.emulate.fdb.programs.fdbcli",
    "fdbkeys": "stateward.emulate.fdb.programs.keyed.fdbkeys",
    "fdbbackup": "stateward.emulate.fdb.programs.backups.fdbbackup",
    "fdbrestore": "stateward.emulate.fdb.programs.backups.fdbrestore",
    "backup_agent": "stateward.emulate.fdb.programs.backups.backup_agent",
}
#: Those that keep it running, which are ours everywhere but in real images.
KEEPERS: Final = {
    "fdbmonitor": "stateward.emulate.keepers.fdbmonitor",
    "fdb-kubernetes-monitor": "stateward.emulate.keepers.kubernetes_monitor",
    "sidecar": "stateward.emulate.keepers.sidecar",
}


def install(folder: Path, version: str, programs: Mapping[str, str] = DATABASE) -> Path:
    """Have a folder with programs, standing for a version of FoundationDB; return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, module in programs.items():
        text = _script(module, version)
        if _is_there(folder / name, text):
            continue
        arriving = folder / f".{name}.{os.getpid()}"
        arriving.write_text(text, encoding="utf-8")
        arriving.chmod(0o755)
        arriving.replace(folder / name)
    return folder


def _is_there(file: Path, text: str) -> bool:
    try:
        return file.read_text(encoding="utf-8") == text
    except OSError:
        return False


def _script(module: str, version: str) -> str:
    # -P: what lies in a container's folder is not imported.
    python = shlex.quote(sys.executable)
    return (
        "#!/bin/sh\n"
        f"STATEWARD_FDB_CALLED=$0 STATEWARD_FDB_VERSION={shlex.quote(version)}"
        f' exec {python} -P -m {module} "$@"\n'
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Write all programs into a folder; say where they are."""
    words = list(sys.argv[1:] if argv is None else argv)
    if len(words) not in (1, 2):
        sys.stderr.write("usage: python -m stateward.emulate.fdb.programs.shims FOLDER [VERSION]\n")
        return 2
    version = words[1] if len(words) > 1 else str(VERSION)
    place = install(Path(words[0]).absolute(), version, {**DATABASE, **KEEPERS})
    sys.stdout.write(f"EMULATED: fdbserver, fdbcli and what keeps them are in {place}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
