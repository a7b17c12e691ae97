"""What the stand-in says against keys of management, in the words of the real one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from stateward.emulate.fdb import data
from stateward.emulate.fdb.state import State
from stateward.fdb.admin.keys import COORDINATORS
from stateward.fdb.model import exclusions
from stateward.fdb.model.addresses import parse_all

#: Where exclusions are, whichever they are.
EXCLUSIONS: Final = (
    b"\xff\xff/management/excluded/",
    b"\xff\xff/management/excluded_locality/",
    b"\xff\xff/management/failed/",
    b"\xff\xff/management/failed_locality/",
)
_UNCHANGED: Final = "No change (existing configuration satisfies request)"
_NO_ROOM: Final = (
    "ERROR: This exclude may cause the total available space in the cluster to drop below 10%.\n"
    'Call set("0xff0xff/management/options/exclude/force", ...) first to exclude without checking'
    " available space.\n"
)


def refusal(state: State, wanted: Mapping[bytes, bytes | None]) -> bytes | None:
    """Return why these keys cannot be written, as the database's error message; None: they can."""
    written = {key: value for key, value in wanted.items() if value is not None}
    if COORDINATORS in written:
        return _against_coordinators(state, written[COORDINATORS].decode())
    return _against_exclusions(state, list(_excluded(written)))


def _against_coordinators(state: State, text: str) -> bytes | None:
    try:
        moved = parse_all(text)
    except ValueError:
        return _said("coordinators", _no_address(text))
    return (
        _said("coordinators", _UNCHANGED) if set(moved) == set(state.string.coordinators) else None
    )


def _excluded(written: Iterable[bytes]) -> Iterator[str]:
    """Yield the names of whom keys exclude."""
    for key in written:
        folder = next((it for it in EXCLUSIONS if key.startswith(it)), None)
        if folder is not None:
            yield key.removeprefix(folder).decode()


def _against_exclusions(state: State, names: Sequence[str]) -> bytes | None:
    targets = []
    for name in names:
        try:
            targets.append(exclusions.parse(name))
        except ValueError:
            return _said("exclude", _no_address(name))
    storage = data.storage_disks(state)
    gone = {disk for disk, it in state.servers.items() if it.is_meant(targets)}
    is_short = bool(storage) and (storage <= gone or not data.leaves_room(state, gone))
    return _said("exclude", _NO_ROOM) if targets and is_short else None


def _no_address(text: str) -> str:
    return f"ERROR: '{text}' is not a valid network endpoint address\n"


def _said(command: str, message: str) -> bytes:
    return json.dumps({"command": command, "message": message, "retriable": False}).encode()
