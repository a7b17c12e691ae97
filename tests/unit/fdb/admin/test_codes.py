"""What error numbers mean: before a commit nothing was done, from a commit on perhaps it was."""

from __future__ import annotations

import json

import pytest

from stateward.core.errors import OutcomeUnknown, PeerError
from stateward.fdb.admin.codes import meaning, refused_by_key
from stateward.fdb.admin.errors import DatabaseRefused, DatabaseSilent, Refusal
from stateward.fdb.admin.keys import Conflicted

NO, SILENT, UNKNOWN = DatabaseRefused, DatabaseSilent, OutcomeUnknown


@pytest.mark.parametrize(
    ("code", "before", "from_a_commit_on"),
    [
        (1020, Conflicted, Conflicted),
        (1021, NO, UNKNOWN),
        (1031, SILENT, UNKNOWN),
        (1004, SILENT, UNKNOWN),
        (1025, SILENT, UNKNOWN),
        (1039, SILENT, UNKNOWN),
        (1007, NO, NO),
        (1038, NO, NO),
        (2004, NO, NO),
        (2114, NO, NO),
        (4100, NO, UNKNOWN),
        (9999, NO, UNKNOWN),
    ],
)
def test_a_number(code: int, before: type[PeerError], from_a_commit_on: type[PeerError]) -> None:
    for committing, kind in ((False, before), (True, from_a_commit_on)):
        found = meaning(code, "so it is", committing=committing)
        assert type(found) is kind
        assert f"so it is ({code})" in found.message


def test_what_a_number_says_more() -> None:
    def refused(code: int) -> DatabaseRefused:
        found = meaning(code, "", committing=True)
        assert isinstance(found, DatabaseRefused)
        return found

    assert refused(1038).refusal is Refusal.LOCKED
    assert refused(2104).refusal is Refusal.CLUSTER_FILE
    assert refused(1007).may_be_granted_later
    assert not refused(2004).may_be_granted_later


def said(message: str, *, retriable: bool = False) -> bytes:
    return json.dumps({"command": "exclude", "message": message, "retriable": retriable}).encode()


@pytest.mark.parametrize(
    ("raw", "refusal", "later", "words"),
    [
        (
            said(
                "ERROR: This exclude may cause the total available space in the cluster to drop below 10%.\n"
            ),
            Refusal.NO_ROOM,
            False,
            "exclude: This exclude may cause",
        ),
        (
            said(
                "ERROR: Could not calculate the impact of this exclude on the total free space",
                retriable=True,
            ),
            Refusal.NOT_YET,
            True,
            "exclude: Could not calculate",
        ),
        (
            said("No change (existing configuration satisfies request)"),
            Refusal.UNCHANGED,
            False,
            "No change",
        ),
        (
            said("ERROR: 'nonsense' is not a valid network endpoint address\n"),
            Refusal.OTHER,
            False,
            "'nonsense' is not",
        ),
        (said("who knows", retriable=True), Refusal.OTHER, True, "who knows"),
        (None, Refusal.OTHER, False, "nobody says why (2117)"),
        (b"\xff\x00garbage", Refusal.OTHER, False, "nobody says why"),
        (b"[1]", Refusal.OTHER, False, "nobody says why"),
        (b"[" * 100_000, Refusal.OTHER, False, "nobody says why"),
        (b"{}", Refusal.OTHER, False, "?: "),
        (said("x" * 1_000_000), Refusal.OTHER, False, "xxx"),
    ],
)
def test_why_a_key_was_refused(
    raw: bytes | None, refusal: Refusal, later: bool, words: str
) -> None:
    found = refused_by_key(raw)
    assert (found.refusal, found.may_be_granted_later) == (refusal, later)
    assert words in found.message
    assert len(found.message) < 1000
