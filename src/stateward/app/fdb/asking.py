"""Asks a program of FoundationDB which version it is, in bounded time and memory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from stateward.fdb.admin import running
from stateward.fdb.admin.errors import ProgramUnusable
from stateward.fdb.admin.running import Call

_PATIENCE: Final = 20.0
#: Bytes that are plenty for a version.
_PLENTY: Final = 65_536


async def said(program: Path, environment: Mapping[str, str] = os.environ) -> str:
    """Return what a program says of its version; raise ProgramUnusable when it says nothing."""
    call = Call([str(program), "--version"], environment, Path("/"), _PATIENCE, _PLENTY)
    answer, _ = await running.run(call)
    if not answer.in_time:
        raise ProgramUnusable(f"{program} --version must answer within {_PATIENCE:g} s")
    return answer.out
