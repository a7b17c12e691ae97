"""The table at the end of a run: which recordings of FoundationDB were played, and how it went."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from contract.fdb.stages import NOT_PLAYED

#: Under which a test records what came of a recording: its name, commands alike, and explained.
NAME = "fdb recording"


def lines_of(stats: Mapping[str, Iterable[Any]]) -> Iterator[str]:
    """Yield the table, if any recording was played in this run."""
    rows = sorted(
        value
        for report in stats.get("passed", ())
        for name, value in getattr(report, "user_properties", ())
        if name == NAME
    )
    if not rows:
        return
    yield f"{'FoundationDB, recorded':34} {'the same':>9} {'explained':>10}"
    for name, same, explained in rows:
        yield f"{name:34} {same:9} {explained:10}"
    alike, odd = sum(it[1] for it in rows), sum(it[2] for it in rows)
    yield f"{'all':34} {alike:9} {odd:10}   not played: {len(NOT_PLAYED)} recordings"
    if not os.environ.get("STATEWARD_FDB_BIN"):
        yield "scenarios: on the model and its programs; STATEWARD_FDB_BIN names no real FoundationDB"
