"""Who is restarted. A group that needs it has a wrong command line; others stand beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from fakes.fdb_views import NOW, cluster, host, names
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.decide.bounces import BouncePlan, plan
from stateward.fdb.views import GroupView

WRONG = "IncorrectCommandLine"
#: By group: what is true of it, for how many seconds.
State = Mapping[str, Mapping[str, float]]


def planned(picture: str, state: State, **fields: Any) -> BouncePlan:
    def change(it: GroupView) -> GroupView:
        mine = state.get(str(it.id), {})
        told = {GroupConditionType(name): NOW - for_ for name, for_ in mine.items()}
        return replace(it, conditions=told)

    return plan(cluster(picture, change=change, **fields))


def wrong(*more: str, seconds: float = 10.0) -> dict[str, float]:
    return {WRONG: seconds, **dict.fromkeys(more, seconds)}


S1, S2 = "storage-1", "storage-2"
#: Groups, what is true of them, who is killed, for whom it waits.
TABLE: dict[str, tuple[str, State, list[str], list[str]]] = {
    "nobody needs it": ("s1 s2", {}, [], []),
    "one needs it": ("s1 s2", {S1: wrong()}, [S1], []),
    "all that need it at once": ("s1 s2 l3", {S1: wrong(), "log-1": wrong()}, ["log-1", S1], []),
    "never one that goes": ("s1- s2", {S1: wrong(), S2: wrong()}, [S2], []),
    "never one that somebody deletes": ("s1> s2", {S1: wrong(), S2: wrong()}, [S2], []),
    "never one whose pod ends": ("s1 s2", {S1: wrong("ResourcesTerminating"), S2: wrong()}, [S2], []),
    "never a tester": ("T1 s2", {"test-1": wrong(), "storage-1": wrong()}, [S1], []),
    "one whose pod is made anew": ("s1 s2", {S1: wrong("IncorrectPodSpec"), S2: wrong()}, [S2], []),
    "one whose sidecar is away": ("s1 s2", {S1: wrong("SidecarUnreachable"), S2: wrong()}, [S2], []),
    "one without new files": ("s1 s2", {S1: wrong("IncorrectConfigMap"), S2: wrong()}, [], [S1]),
    "another without new files": ("s1 s2", {S1: {"IncorrectConfigMap": 9}, S2: wrong()}, [], [S1]),
    "one that goes may have old files": ("s1- s2", {S1: {"IncorrectConfigMap": 9}, S2: wrong()},
                                         [S2], []),
    "files of those who need nothing do not matter": ("s1 s2", {S1: {"IncorrectConfigMap": 9}}, [], []),
    "one that needs it is away": ("s1? s2", {S1: wrong(), S2: wrong()}, [], [S1]),
    "it is away for a while": ("s1? s2", {S1: {WRONG: 30, "MissingProcesses": 30}, S2: wrong()}, [], [S1]),
    "it is away for long": ("s1? s2", {S1: {WRONG: 31, "MissingProcesses": 31}, S2: wrong()}, [S2], []),
    "another is away": ("s1? s2", {S1: {"MissingProcesses": 5}, S2: wrong()}, [S2], []),
    "it is pending": ("s1? s2", {S1: {WRONG: 9, "PodPending": 300}, S2: wrong()}, [], [S1]),
    "it is pending for long": ("s1? s2", {S1: {WRONG: 9, "PodPending": 301}, S2: wrong()}, [S2], []),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_who_is_restarted(name: str) -> None:
    picture, state, killed, waiting = TABLE[name]
    found = planned(picture, state)
    assert (names(found.groups), names(found.waiting)) == (killed, waiting)
    assert len(found.kill) == len(killed)


def test_a_process_is_killed_by_its_first_address() -> None:
    (found,) = planned("s1", {S1: wrong()}).groups
    bare = host(found.id)
    two = {S1: {"address": f"{bare}:4500:tls,{bare}:4501"}}
    assert [str(it) for it in planned("s1", {S1: wrong()}, entries=two).kill] == [
        f"{bare}:4500:tls"
    ]


def test_one_whose_address_cannot_be_read_is_waited_for() -> None:
    found = planned("s1 s2", {S1: wrong(), S2: wrong()}, entries={S1: {"address": "nonsense"}})
    assert (found.kill, names(found.waiting)) == ((), [S1])


def test_all_processes_of_a_pod_are_restarted() -> None:
    def two(it: GroupView) -> GroupView:
        return replace(it, servers=2, conditions={GroupConditionType.INCORRECT_COMMAND_LINE: 1.0})

    assert len(plan(cluster("s1 s2", change=two)).kill) == 4


def test_a_pod_of_which_not_all_report_is_waited_for() -> None:
    view = cluster(
        "s1",
        change=lambda it: replace(it, conditions={GroupConditionType.INCORRECT_COMMAND_LINE: 1.0}),
    )
    view = replace(view, groups=tuple(replace(it, servers=2) for it in view.groups))
    assert names(plan(view).waiting) == [S1]


def test_where_nothing_may_be_killed_it_is_said() -> None:
    off = {"killProcesses": False}
    found = planned("s1 s2", {S1: wrong()}, automationOptions=off)
    assert (found.kill, names(found.waiting)) == ((), [S1])
    assert "killProcesses" in found.waiting[0].why


def test_whoever_is_to_be_left_out_is_left_out() -> None:
    left = {"ignoreDuringRestart": [S1]}
    found = planned("s1? s2", {S1: wrong(), S2: wrong()}, buggify=left)
    assert names(found.groups) == [S2]


def test_patience_is_the_specs() -> None:
    state: State = {S1: {WRONG: 40, "MissingProcesses": 40}, S2: wrong()}
    more = {"ignoreMissingProcessesSeconds": 60}
    assert names(planned("s1? s2", state, automationOptions=more).waiting) == [S1]
