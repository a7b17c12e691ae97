"""Who may go for good. Groups are written as in ``fakes.fdb_views``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.fdb_databases import configured
from fakes.fdb_situations import exclude
from fakes.fdb_views import NOW, cluster, coordinators_of, healthy, host, names, status_of
from stateward.core.facts import Fact, Known, Unknown
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.decide.removing import RemovalPlan, plan
from stateward.fdb.model.addresses import Address
from stateward.fdb.status.exclusions import Left, Leftovers
from stateward.fdb.views import GroupView, PodSeen

TERMINATING = GroupConditionType.RESOURCES_TERMINATING
READY, UNREADY = PodSeen("p1"), PodSeen("p1", ready=False)


def empty(instance: str, processes: int) -> Fact[Left]:
    del instance, processes
    return Known(Left(), NOW, "test")


def full(instance: str, processes: int) -> Fact[Left]:
    del instance, processes
    return Known(Left("it has the role storage"), NOW, "test")


def silent(instance: str, processes: int) -> Fact[Left]:
    del processes
    return Unknown(f"{instance} does not report")


def planned(
    picture: str,
    leftovers: Callable[[str, int], Fact[Left]] = empty,
    coordinators: str = "",
    **fields: Any,
) -> RemovalPlan:
    view = cluster(f"{picture} s9@99", **fields)
    by_id = {str(it.id): it for it in view.groups}
    return plan(
        view,
        leftovers,
        frozenset(Address(host(by_id[it].id), 4501) for it in coordinators.split()),
    )


def mode(name: str, **options: Any) -> dict[str, Any]:
    return {"automationOptions": {"removalMode": name, **options}}


#: Groups, who is proved now, who is deleted now.
TABLE: dict[str, tuple[str, list[str], list[str]]] = {
    "nobody is marked": ("s1 s2 s3", [], []),
    "what is proved is written first": ("s1 s2 s3-", ["storage-3"], []),
    "what is written is deleted": ("s1 s2 s3!", [], ["storage-3"]),
    "without exclusion": ("s1 s2 s3~", [], ["storage-3"]),
    "testers need none": ("s1 s2 T1-", [], ["test-1"]),
    "whoever leaves is not deleted again": ("s1 s2 s3!> s4~> T1->", [], []),
    "somebody deleted it before it was proved": ("s1 s2 s3->", ["storage-3"], []),
    "one zone at a time": ("s1! s2! l2!", [], ["log-1", "storage-2"]),
    "of two zones the first": ("s2! s1!", [], ["storage-2"]),
    "without a zone one by one": ("s! s! l!", [], ["log-1"]),
    "proofs do not wait for zones": ("s1- s2- s3!", ["storage-1", "storage-2"], ["storage-3"]),
}


@pytest.mark.parametrize("name", TABLE)
def test_who_goes(name: str) -> None:
    picture, gone, delete = TABLE[name]
    found = planned(picture)
    assert (names(found.gone), names(found.delete)) == (gone, delete)


@pytest.mark.parametrize("word", ["s3~", "s3~>"])
def test_who_goes_with_what_it_holds_is_told_when_it_may(word: str) -> None:
    """Whoever deletes its object does not choose the moment."""
    found = planned(f"s1 s2 {word}", change=lambda it: replace(it, proved_at=None))
    assert found.delete == ()
    assert names([*found.gone, *found.renew]) == ["storage-3"]


@pytest.mark.parametrize(
    ("word", "pod", "goes"),
    [
        ("s3~", READY, False),
        ("s3~", UNREADY, False),
        ("s3~?", READY, False),
        ("s3~?", UNREADY, True),
        ("s3~?", None, True),
    ],
)
def test_who_may_have_coordinated_until_a_moment_ago_stays(
    word: str, pod: PodSeen | None, goes: bool
) -> None:
    """Coordinators changed: that was a recovery. One that is away leads nobody to the new ones.

    But one that runs is not away because a status does not tell of it.
    """
    tree = healthy(recovery_state__seconds_since_last_recovered=100.0)
    found = planned(f"s1 s2 {word}", tree=tree, change=lambda it: replace(it, pod=pod))
    assert (names(found.delete) == ["storage-3"]) is goes
    assert goes or "coordinator" in found.held[0].why


@pytest.mark.parametrize("leftovers", [full, silent])
@pytest.mark.parametrize("word", ["s1-", "s1!", "s1->"])
def test_without_proof_in_this_pass_nobody_goes(
    word: str, leftovers: Callable[[str, int], Fact[Left]]
) -> None:
    found = planned(word, leftovers)
    assert (found.gone, found.delete) == ((), ())
    assert found.held[0].why in ("it has the role storage", "storage-1 does not report")


def test_one_that_is_stuck_holds_no_other() -> None:
    def one_is_full(instance: str, processes: int) -> Fact[Left]:
        return (full if instance == "storage-1" else empty)(instance, processes)

    found = planned("s1! s2! s3-", one_is_full)
    assert names(found.delete) == ["storage-2"]
    assert names(found.gone) == ["storage-3"]
    assert names(found.held) == ["storage-1"]


@pytest.mark.parametrize("word", ["s1-", "s1!", "s1~", "s1->"])
def test_a_coordinator_never_goes(word: str) -> None:
    found = planned(word, coordinators="storage-1")
    assert (found.gone, found.delete) == ((), ())
    assert found.held[0].why == "it coordinates"


@pytest.mark.parametrize("word", ["s1-", "s1!", "s1~", "T1-"])
def test_nobody_goes_while_nobody_knows_who_coordinates(word: str) -> None:
    view = cluster(f"{word} s2")
    found = plan(view, empty, Unknown("it was not asked"))
    assert (found.gone, found.delete) == ((), ())
    assert "it was not asked" in found.held[0].why


@pytest.mark.parametrize(
    "changes",
    [
        {"recovery_state__active_generations": 2},
        {"messages": [{"name": "storage_servers_error"}]},
        {"database_available": False},
        {"messages": ...},
    ],
)
def test_a_status_that_leaves_things_out_proves_nothing(changes: dict[str, Any]) -> None:
    found = planned("s1- s2!", tree=healthy(**changes))
    assert (found.gone, found.delete) == ((), ())
    assert all("the status proves nothing" in it.why for it in found.held)


def test_nobody_goes_while_no_fault_domain_may_be_lost() -> None:
    found = planned("s1! s2~ s3-", tree=healthy(data__state__min_replicas_remaining=1))
    assert names(found.gone) == ["storage-3"]
    assert found.delete == ()
    assert all("1 copies" in it.why for it in found.held)


def test_blocked_removals_stay() -> None:
    found = planned("s1! s2!", buggify={"blockRemoval": ["storage-1"]})
    assert names(found.delete) == ["storage-2"]
    assert names(planned("s1! s2!", buggify={"blockRemoval": ["*"]}).delete) == []


# ------------------------------------------------------------------ how many at a time
#: By mode: who of four goes now.
MODES = {
    "All": ["log-1", "storage-1", "storage-2", "storage-3"],
    "Zone": ["storage-2", "storage-3"],
    "ProcessGroup": ["storage-2"],
    "None": [],
}


@pytest.mark.parametrize("name", MODES)
def test_how_many_go_at_a_time(name: str) -> None:
    found = planned("l1! s3! s2! s2!", **mode(name))
    assert names(found.delete) == MODES[name]
    assert len(found.held) == 4 - len(MODES[name])


@pytest.mark.parametrize(
    ("refused", "expected"),
    [
        ("", ["storage-2", "storage-3"]),
        ("storage-2", ["log-1"]),  # as full as its own zone then, and first by name
        ("storage-2 storage-3", ["log-1"]),
        ("log-1", ["storage-2", "storage-3"]),
        ("log-1 storage-1 storage-2 storage-3", ["storage-2", "storage-3"]),
    ],
)
def test_one_that_kubernetes_keeps_holds_no_other_zone_up(
    refused: str, expected: list[str]
) -> None:
    view = cluster("l1! s3! s2! s2! s9@99", **mode("Zone"))
    uids = frozenset(it.uid for it in view.groups if str(it.id) in refused.split())
    found = plan(view, empty, frozenset(), refused=uids)
    assert names(found.delete) == expected


def terminating(since: float | None) -> Callable[[GroupView], GroupView]:
    def change(it: GroupView) -> GroupView:
        if not it.leaving:
            return it
        return replace(it, conditions={} if since is None else {TERMINATING: since})

    return change


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0, []), (59, []), (60, ["storage-2"]), (9_000, ["storage-2"])]
)
def test_between_two_zones_there_is_a_pause(seconds: float, expected: list[str]) -> None:
    found = planned("s1!> s2!", change=terminating(NOW - seconds))
    assert names(found.delete) == expected
    assert len(found.held) == 1 - len(expected)


def test_the_pause_is_counted_from_the_last_that_went() -> None:
    def change(it: GroupView) -> GroupView:
        since = {1: NOW - 900, 2: NOW - 5}.get(it.id.number)
        return it if since is None else replace(it, conditions={TERMINATING: since})

    assert planned("s1!> s2!> s3!", change=change).delete == ()


def test_the_spec_says_how_long_the_pause_is() -> None:
    short = mode("Zone", waitBetweenRemovalsSeconds=5)
    assert names(planned("s1!> s2!", change=terminating(NOW - 6), **short).delete) == ["storage-2"]


def test_a_pod_that_has_not_begun_to_go_is_waited_for() -> None:
    assert planned("s1!> s2!", change=terminating(None)).delete == ()


def test_all_at_once_knows_no_pause() -> None:
    found = planned("s1!> s2!", change=terminating(None), **mode("All"))
    assert names(found.delete) == ["storage-2"]


def test_somebody_elses_deletion_waits_for_its_turn_too() -> None:
    found = planned("s1-> s2!", change=terminating(None))
    assert (names(found.gone), names(found.delete)) == (["storage-1"], [])
    assert names(found.held) == ["storage-2"]


# ------------------------------------------------------------------ proved long ago
def proved(seconds: float) -> Callable[[GroupView], GroupView]:
    return lambda it: replace(it, proved_at=NOW - seconds) if it.excluded else it


def test_a_proof_is_written_anew_before_its_group_is_deleted() -> None:
    late = planned("s1! s2", change=proved(900))
    assert (names(late.renew), names(late.delete)) == (["storage-1"], [])
    found = planned("s1! s2", change=proved(5))
    assert (names(found.renew), names(found.delete)) == ([], ["storage-1"])


def test_who_is_let_go_is_proved_anew_or_taken_back() -> None:
    held = planned("s1!> s2", full, change=proved(5))
    assert (names(held.taken_back), held.renew) == (["storage-1"], ())
    unknown = planned("s1!> s2", silent, change=proved(900))
    assert (unknown.taken_back, unknown.renew, names(unknown.going)) == ((), (), ["storage-1"])
    late = planned("s1!> s2", change=proved(900))
    assert (late.taken_back, names(late.renew)) == ((), ["storage-1"])
    assert planned("s1~> T1-> s2", full).taken_back == ()


def test_who_has_nothing_any_more_is_not_taken_back() -> None:
    bare = planned("s1!>", full, change=lambda it: replace(it, pod=None, has_claim=False))
    assert bare.taken_back == ()


# ------------------------------------------------------------------ with a database
def test_a_storage_server_goes_when_its_data_has_left_it() -> None:
    """All of it by what the stand-in says: on the list, then empty, then proved."""
    database = configured("new double ssd logs=2", seconds=300.0)
    view = cluster("s4@5- s1@99")
    proved = []
    for seconds in (0.0, 600.0):
        targets = ["locality_instance_id:storage-5"] if not seconds else []
        exclude(database, seconds, *targets)
        view = replace(view, database=status_of(database))
        proved.append(names(plan(view, Leftovers(view.database).on, coordinators_of(view)).gone))
    assert proved == [[], ["storage-5"]]


# ------------------------------------------------------------------ laws
WORDS = st.builds(
    "".join,
    st.tuples(
        st.sampled_from("slxT"),
        st.sampled_from("123"),
        st.sampled_from(["", "-", "!", "~", "->", "!>"]),
    ),
)


@given(
    st.lists(WORDS, max_size=8),
    st.sampled_from(list(MODES)),
    st.sets(st.integers(1, 4)),
    st.sets(st.integers(1, 4)),
)
def test_whoever_goes_is_proved_and_no_coordinator(
    words: list[str], name: str, stuck: set[int], coordinating: set[int]
) -> None:
    view = cluster(" ".join([*words, "s9@99"]), **mode(name))

    def left(instance: str, processes: int) -> Fact[Left]:
        return (full if int(instance.rpartition("-")[2]) in stuck else empty)(instance, processes)

    some = [it for it in view.groups if it.id.number in coordinating]
    found = plan(view, left, frozenset(Address(host(it.id), 4501) for it in some))
    going = [*found.gone, *found.delete]
    for it in going:
        assert it.marked
        assert it.id.number not in coordinating
        assert it.id.number not in stuck or it.skipped or it.process_class == "test"
    assert all(it.holds_nothing or it.process_class == "test" for it in found.delete)
    assert not any(it.leaving for it in found.delete)
    if name != "All":
        assert len({it.zone for it in found.delete}) <= 1
    assert len(found.delete) == 0 or name != "None"
    told = names([*going, *found.held])
    assert len(told) == len(set(told))
