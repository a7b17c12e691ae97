"""A thousand process groups: made with few writes, and at rest they cost little and ask nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest
from tools.bench.groups.alone import grown
from tools.bench.groups.passes import Cost, measured
from tools.bench.groups.world import KEY, Paper, Rested, lived

from stateward.core.facts import Known
from stateward.core.version import Version
from stateward.fdb.groups.memo import Memo
from stateward.fdb.groups.seen import GroupSeen
from stateward.fdb.groups.viewing import view_of
from stateward.fdb.status.processes import Roster
from stateward.kube.meta import Condition
from stateward.kube.objects.pods import ContainerStatus

edited = msgspec.structs.replace


# ------------------------------------------------------------------ a thousand
@pytest.fixture(scope="module")
def cost() -> Cost:
    async def play() -> Cost:
        paper = Paper(1_000)
        await paper.make()
        return await measured(paper)

    return lived(play)


def test_a_group_is_made_with_at_most_four_writes(cost: Cost) -> None:
    assert cost.writes <= 4.0, "by both controllers, with the cluster's status and events"


def test_at_rest_kubernetes_is_not_asked_and_the_database_once(cost: Cost) -> None:
    assert cost.troubles == []
    assert cost.megabytes == pytest.approx(2.9, abs=0.2), "as large as that of a real one"
    assert cost.calls == 0, "no read and no write, in passes over the cluster and over all groups"
    assert cost.asked == 1


def test_a_pass_at_rest_costs_at_most_five_times_the_decoding_of_the_status(cost: Cost) -> None:
    assert cost.ratio <= 5.0, f"{cost.rest:.1f} ms, and {cost.decode:.1f} ms for msgspec alone"
    assert cost.changed <= 2 * cost.rest, "that a pod changed concerns its group only"


# ------------------------------------------------------------------ a few
def test_a_thousand_passes_leave_nothing_behind() -> None:
    assert grown(20, 1_000) < 500, "blocks of memory: not one for every other pass"


# ------------------------------------------------------------------ what is not judged again
def _pod(seen: GroupSeen, **changed: object) -> GroupSeen:
    assert seen.pod is not None
    return replace(seen, pod=edited(seen.pod, **changed))


def _unready(seen: GroupSeen) -> GroupSeen:
    assert seen.pod is not None
    some = (ContainerStatus(name="foundationdb", restart_count=1),)
    return _pod(seen, status=edited(seen.pod.status, container_statuses=some))


def _labelled(seen: GroupSeen, field: str) -> GroupSeen:
    assert seen.pod is not None
    return _pod(seen, metadata=edited(seen.pod.metadata, **{field: {}}))


def _leaving(seen: GroupSeen) -> GroupSeen:
    assert seen.pod is not None
    gone = edited(seen.pod.metadata, deletion_timestamp="2026-01-01T00:00:30Z")
    return _pod(seen, metadata=gone)


def _spec(seen: GroupSeen, **changed: object) -> GroupSeen:
    group = seen.group
    return replace(seen, group=edited(group, spec=edited(group.spec, **changed)))


def _process(seen: GroupSeen, **changed: object) -> GroupSeen:
    posted = seen.posted
    assert posted is not None
    assert isinstance(posted.processes, Known)
    name = seen.group.spec.process_group_id
    (one,) = posted.processes.value.groups[name]
    others = {
        **posted.processes.value.groups,
        name: (replace(one, entry=edited(one.entry, **changed)),),
    }
    told = replace(posted.processes, value=Roster(others))
    return replace(seen, posted=replace(posted, processes=told))


def _silence(seen: GroupSeen) -> GroupSeen:
    posted = seen.posted
    assert posted is not None
    assert isinstance(posted.processes, Known)
    told = replace(posted.processes, value=Roster({}))
    return replace(seen, posted=replace(posted, processes=told))


def _posted(seen: GroupSeen, **changed: object) -> GroupSeen:
    assert seen.posted is not None
    return replace(seen, posted=replace(seen.posted, **changed))  # type: ignore[arg-type]


def _sick(seen: GroupSeen) -> GroupSeen:
    """It is well by now, and its status does not say so yet."""
    wrong = Condition(type="PodFailing", status="True", last_transition_time="2026-01-01T00:00:30Z")
    status = edited(seen.group.status, conditions=(wrong,))
    return replace(seen, group=edited(seen.group, status=status))


CHANGES: dict[str, Callable[[GroupSeen], GroupSeen]] = {
    "nothing": lambda it: it,
    "time alone": lambda it: replace(it, now=it.now + 10_000),
    "its pod is gone": lambda it: replace(it, pod=None),
    "its pod leaves": _leaving,
    "its pod ended": lambda it: _pod(it, status=edited(it.pod.status, phase="Failed")),  # type: ignore[union-attr]
    "a container is not ready": _unready,
    "its pod lost its labels": lambda it: _labelled(it, "labels"),
    "its pod lost its annotations": lambda it: _labelled(it, "annotations"),
    "its claim is gone": lambda it: replace(it, claim=None),
    "its sidecar is silent": lambda it: replace(it, silent=True),
    "it shall go": lambda it: _spec(it, remove=True),
    "its pod shall go": lambda it: _spec(it, obsolete_pod="x"),
    "it was unwell": _sick,
    "nobody reports": _silence,
    "a process is excluded": lambda it: _process(it, excluded=True),
    "a process has other arguments": lambda it: _process(it, command_line="fdbserver --class=log"),
    "a process is of another version": lambda it: _process(it, version="7.1.0"),
    "a process is in another zone": lambda it: _process(it, locality={"zoneid": "z"}),
    "another version is wanted": lambda it: _posted(it, version=Version(7, 3, 80)),
    "another configuration is wanted": lambda it: _posted(it, data={}),
    "its zone is under maintenance": lambda it: _posted(
        it, maintenance_zone=it.group.status.fault_domain
    ),
    "the database is away": lambda it: _posted(it, available=False),
}


@pytest.fixture(scope="module")
def calm() -> tuple[GroupSeen, Memo]:
    """Return a group that is well, and what is kept in mind of it."""

    async def play() -> tuple[GroupSeen, Memo]:
        paper = Paper(20)
        await paper.make()
        rested = Rested(paper)
        await rested.look()
        group = rested.caches.of_cluster(KEY)[-1]
        return rested.eyes.glance(group), rested.eyes.memo

    return lived(play)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_is_kept_in_mind_of_a_group_is_what_is_judged_anew(
    calm: tuple[GroupSeen, Memo], change: Callable[[GroupSeen], GroupSeen]
) -> None:
    seen, memo = calm
    assert view_of(seen, memo) == view_of(seen, Memo())
    other = change(seen)
    for at in (0.0, 100.0, 1_000.0):
        later = replace(other, now=other.now + at)
        assert view_of(later, memo) == view_of(later, Memo())
    assert view_of(seen, memo) == view_of(seen, Memo()), "and back"


def test_a_group_that_is_well_is_not_judged_again(calm: tuple[GroupSeen, Memo]) -> None:
    seen, memo = calm
    first = view_of(seen, memo)
    again = view_of(replace(seen, now=seen.now + 60.0), memo)
    assert again.conditions is first.conditions
