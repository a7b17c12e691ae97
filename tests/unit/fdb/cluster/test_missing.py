"""Who is missing: who would be replaced, if that were to last, however long it has lasted."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_groups import NOW, cluster, group
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.cluster.detecting import Missing, missing
from stateward.fdb.decide.groups.failures import FAILURES
from stateward.fdb.views import GroupView


def ill(name: str, *kinds: Kind, seconds: float = 5, **said: Any) -> GroupView:
    return group(name, *(kinds or (Kind.MISSING_PROCESSES,)), since=NOW - seconds, **said)


def names(*groups: GroupView, **spec: Any) -> list[str]:
    return [it.group for it in missing(cluster(*groups, spec=spec))]


@pytest.mark.parametrize("kind", FAILURES)
def test_each_failure_is_told_at_once(kind: Kind) -> None:
    """How long it must last is for the operator to say, and so is whether it is replaced."""
    assert missing(cluster(ill("storage-1", kind))) == (Missing("storage-1", kind, 5),)


@pytest.mark.parametrize("kind", [Kind.READY, Kind.INCORRECT_POD_SPEC, Kind.INCORRECT_COMMAND_LINE])
def test_what_can_be_mended_is_not_missing(kind: Kind) -> None:
    assert names(ill("storage-1", kind)) == []


def test_what_has_lasted_longest_is_told_first_of_a_group_and_of_all() -> None:
    long, short = ill("storage-1", Kind.POD_FAILING, seconds=90), ill("log-1")
    found = missing(cluster(short, long))
    assert [str(it) for it in found] == [
        "storage-1: PodFailing for 90 s",
        "log-1: MissingProcesses for 5 s",
    ]


@pytest.mark.parametrize(
    ("said", "spec"),
    [
        ({"marked": True}, {}),
        ({"leaving": True}, {}),
        ({}, {"buggify": {"crashLoop": ["storage-1"]}}),
    ],
)
def test_whoever_shall_fail_or_go_is_not_missing(
    said: dict[str, Any], spec: dict[str, Any]
) -> None:
    assert names(ill("storage-1", **said), ill("storage-2"), **spec) == ["storage-2"]
