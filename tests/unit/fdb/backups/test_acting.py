"""An act is asked for by what the server says now, not by an answer that came long ago."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from stateward.fdb.api.backups.backup import FoundationDBBackupSpec
from stateward.fdb.api.backups.kinds import BACKUPS, FoundationDBBackup
from stateward.fdb.backups.acting import same
from stateward.kube.meta import ObjectMeta

pytestmark = pytest.mark.virtual


class Slow:
    """A server that has the object, and a process that hears of it late."""

    def __init__(self, item: FoundationDBBackup, seconds: float) -> None:
        self._item, self._seconds = item, seconds

    async def get(self, *_: Any) -> Any:
        await asyncio.sleep(self._seconds)
        return self._item


@pytest.mark.parametrize(("seconds", "counts"), [(0.0, True), (4.0, True), (6.0, False)])
async def test_an_answer_that_is_old_does_not_count(seconds: float, *, counts: bool) -> None:
    metadata = ObjectMeta(name="nightly", namespace="ns", uid="u", generation=3)
    item = FoundationDBBackup(
        metadata=metadata, spec=FoundationDBBackupSpec(version="7.3.63", cluster_name="shop")
    )
    assert await same(Slow(item, seconds), BACKUPS, item) == counts
