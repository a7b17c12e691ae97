"""What a program is called, which version it stands for, and the word that says it is emulated."""

from __future__ import annotations

import os
import sys
from typing import Final

from stateward.core.version import Version
from stateward.emulate.fdb.servers import VERSION

#: Under which name the program was called, and which version it stands for.
_CALLED, _VERSION = "STATEWARD_FDB_CALLED", "STATEWARD_FDB_VERSION"
BANNER: Final = (
    "EMULATED: Stateward's stand-in for FoundationDB; it behaves like one, and is none to rely on"
)


def name(program: str) -> str:
    """Return how a program was called."""
    return os.environ.get(_CALLED) or program


def version() -> Version:
    """Return which version is stood for; raise ValueError for what is none."""
    return Version.parse(os.environ.get(_VERSION) or str(VERSION))


def protocol(*, future: bool = False) -> str:
    """Return the protocol of that version, by which programs understand each other or do not."""
    it = version()
    return f"fdb00b0{it.major:x}{it.minor:x}{int(future)}00000"


def version_text(program: str) -> str:
    """Return what ``--version`` prints: the word comes after what is parsed."""
    it = version()
    return (
        f"{program} {it.major}.{it.minor} (v{it})\n"
        f"source version {'0' * 40}\nprotocol {protocol()}\n{BANNER}"
    )


def say(text: str, end: str = "\n") -> None:
    """Print something at once."""
    sys.stdout.write(text + end)
    sys.stdout.flush()


def warn(text: str, end: str = "\n") -> None:
    """Print something at once where errors go."""
    sys.stderr.write(text + end)
    sys.stderr.flush()
