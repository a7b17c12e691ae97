"""Whether keys are there, by the words of fdbcli as they were recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stateward.core.errors import PeerConfused
from stateward.fdb.admin.backups.counting import counted

RECORDED = Path(__file__).parents[4] / "recordings/fdb/transcripts/14_restore.json"


def test_recorded_lists_are_counted() -> None:
    shown = [it for it in _runs(json.loads(RECORDED.read_text())) if "getrangekeys" in it["cmd"][4]]
    assert [counted(it["stdout"]) for it in shown if it["rc"] == 0] == [3]


def _runs(found: object) -> list[dict[str, object]]:
    if isinstance(found, list):
        return [one for it in found for one in _runs(it)]
    if not isinstance(found, dict):
        return []
    if isinstance(found.get("cmd"), list) and len(found["cmd"]) > 4:
        return [found]
    return [one for it in found.values() for one in _runs(it)]


@pytest.mark.parametrize("text", ["", "ERROR: Database is locked (1038)\n"])
def test_what_is_no_list_is_not_taken_for_an_empty_one(text: str) -> None:
    with pytest.raises(PeerConfused):
        counted(text)


def test_an_empty_list_is_one() -> None:
    assert counted("\nRange limited to 100 keys\n\n") == 0
