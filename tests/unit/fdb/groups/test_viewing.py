"""What the board says, and how groups look to those who judge."""

from __future__ import annotations

import time
from dataclasses import replace

import msgspec
import pytest

from stateward.core.facts import Unknown
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.api.kind import FoundationDBProcessGroup
from stateward.fdb.groups.board import Board
from stateward.fdb.groups.caches import (
    GroupCaches,
    group_of_claim,
    groups_of_config,
    nobody,
    same_name,
    wake_groups,
)
from stateward.fdb.groups.viewing import addresses, view_of, zone
from stateward.kube.client import MergePatch
from stateward.kube.meta import Object, ObjectKey, ObjectMeta
from stateward.kube.resources import PODS
from unit.fdb.groups.desks import SHOP, STORAGE, Desk, conditions, wrong


def named(name: str) -> Object:
    return Object(metadata=ObjectMeta(namespace=SHOP.namespace, name=name))


# ------------------------------------------------------------------ views


async def test_a_group_that_is_well_is_seen_so() -> None:
    desk = Desk()
    group = await desk.settled()
    await desk.see()
    view = view_of(desk.eyes.glance(group), desk.eyes.memo)
    assert set(view.conditions) == {Kind.READY}
    assert (view.name, str(view.id), view.zone) == ("shop-storage-1", "storage-1", "node-a")
    assert view.addresses == ("10.0.0.7",)
    assert len(view.processes) == 1
    assert view.pod is not None
    assert (view.pod.phase, view.pod.ready) == ("Running", True)
    assert view.has_claim
    assert not view.has_service
    assert not view.marked


async def test_a_group_tells_of_each_of_its_objects() -> None:
    desk = Desk()
    status = (await desk.settled()).status
    assert status.pod is not None
    assert (status.pod.name, status.pod.ready) == ("shop-storage-1", True)
    assert status.volume_claim is not None
    assert status.volume_claim.name == "shop-storage-1-data"
    assert status.service is None, "none is asked for"
    await desk.delete(PODS, STORAGE)
    await desk.passes()
    pod = (await desk.now()).status.pod
    assert pod is None or (pod.ready is False and pod.terminating_since is not None)


async def test_of_a_group_that_is_away_it_is_known_that_it_was_there() -> None:
    desk = Desk()

    async def reported() -> bool:
        await desk.see()
        return view_of(desk.eyes.glance(await desk.now()), desk.eyes.memo).reported

    await desk.cluster()
    await desk.config()
    await desk.group()
    await desk.passes()
    assert not await reported(), "it has yet to begin"
    desk = Desk()
    version = (await desk.settled()).status.processes[0].version
    assert await reported()
    await desk.report()  # it reports no more
    await desk.passes()
    (told,) = (await desk.now()).status.processes
    assert (told.reporting, told.version) == (False, version)
    desk.start()
    assert await reported(), "also by the word of before"


async def test_after_a_restart_the_last_word_counts() -> None:
    desk = Desk()
    await desk.settled()
    await desk.report()  # it reports no more
    desk.clock.advance(10)
    await desk.passes()
    assert wrong(await desk.now()) == ["MissingProcesses"]
    since = (await desk.now()).status.conditions
    desk.start()
    desk.doorman.writes.clear()
    desk.clock.advance(100)
    await desk.passes()
    assert desk.doorman.writes == []
    await desk.see()
    view = view_of(desk.eyes.glance(await desk.now()), desk.eyes.memo)
    assert set(view.conditions) == {Kind.MISSING_PROCESSES}
    assert (await desk.now()).status.conditions == since


async def test_a_group_is_not_called_ready_before_the_database_was_asked() -> None:
    desk = Desk()
    await desk.cluster()
    await desk.config()
    await desk.group()
    await desk.passes()
    await desk.run_pod()
    desk.clock.advance(61)
    await desk.passes()
    group = await desk.now()
    assert conditions(group) == {"Ready": "False"}
    assert group.status.conditions[-1].reason == "ProcessesUnknown"


async def test_since_when_something_is_wrong_does_not_move() -> None:
    desk = Desk()
    await desk.settled()
    await desk.report()
    await desk.passes()
    first = {it.type: it.last_transition_time for it in (await desk.now()).status.conditions}
    desk.clock.advance(500)
    await desk.edit(logGroup="other")
    await desk.passes()
    assert {
        it.type: it.last_transition_time for it in (await desk.now()).status.conditions
    } == first


async def test_arguments_that_differ_are_noticed() -> None:
    desk = Desk()
    await desk.settled()
    await desk.report("storage-1", command_line="/usr/bin/fdbserver --class=log")
    await desk.passes()
    assert wrong(await desk.now()) == ["IncorrectCommandLine"]


async def test_the_zone_is_what_a_process_says_or_said_or_will_say() -> None:
    desk = Desk()
    group = await desk.settled()
    await desk.report("storage-1", zone="rack-1")
    await desk.see()
    seen = desk.eyes.glance(group)
    assert zone(seen) == "rack-1"
    silent = replace(seen, posted=None)
    assert zone(silent) == "node-a"
    blank = msgspec.structs.replace(
        group, status=msgspec.structs.replace(group.status, fault_domain="")
    )
    assert zone(replace(silent, group=blank)) == "node-a"
    assert zone(replace(silent, group=blank, pod=None)) == ""


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        ({"key": "foundationdb.org/none"}, "shop-storage-1"),
        ({"key": "foundationdb.org/kubernetes-cluster", "value": "east"}, "east"),
        ({"key": "topology.kubernetes.io/zone", "valueFrom": "spec.nodeName"}, "node-a"),
        ({"key": "rack", "valueFrom": "metadata.annotations['rack']"}, "r-7"),
    ],
)
async def test_the_zone_of_a_pod_that_does_not_report_yet(
    domain: dict[str, str], expected: str
) -> None:
    desk = Desk()
    await desk.cluster(faultDomain=domain)
    await desk.group()
    await desk.passes()
    await desk.run_pod()
    await desk.user.patch(PODS, STORAGE, MergePatch({"metadata": {"annotations": {"rack": "r-7"}}}))
    await desk.see()
    assert zone(desk.eyes.glance(await desk.now())) == expected


async def test_addresses_are_kept_while_the_database_is_not_available() -> None:
    desk = Desk()
    await desk.settled()
    await desk.run_pod(ip="10.0.0.8")
    await desk.see()
    seen = desk.eyes.glance(await desk.now())
    assert addresses(seen) == ("10.0.0.8",)
    assert addresses(replace(seen, posted=None)) == ("10.0.0.8", "10.0.0.7")
    assert addresses(replace(seen, pod=None)) == ("10.0.0.7",)


@pytest.mark.parametrize(
    ("kept", "excluded", "many"),
    [
        ("storage-1", {"10.0.0.7"}, 2),
        ("*", {"10.0.0.7"}, 2),
        ("storage-1", None, 2),
        ("storage-1", {"10.0.0.9"}, 1),
        ("storage-2", {"10.0.0.7"}, 1),
        ("storage-2", None, 1),
    ],
)
async def test_who_stays_after_all_is_known_by_what_is_excluded_of_it(
    kept: str, excluded: set[str] | None, many: int
) -> None:
    desk = Desk()
    await desk.settled(automationOptions={"cancelReplacementsForInstance": [kept]})
    await desk.run_pod(ip="10.0.0.8")
    await desk.see()
    seen = desk.eyes.glance(await desk.now())
    assert seen.posted is not None
    told = None if excluded is None else frozenset(excluded)
    seen = replace(seen, posted=replace(seen.posted, excluded=told))
    assert addresses(seen) == ("10.0.0.8", "10.0.0.7")[:many]


async def test_a_thousand_groups_are_seen_quickly() -> None:
    desk = Desk()
    group = await desk.settled()
    await desk.see()
    seen = desk.eyes.glance(group)
    many = [replace(seen, group=_other(group, number), pod=seen.pod) for number in range(1000)]
    for it in many:
        view_of(it, desk.eyes.memo)
    began = time.perf_counter()
    for it in many:
        view_of(it, desk.eyes.memo)
    assert time.perf_counter() - began < 2.0  # a fraction of it, on a machine that is not busy


def _other(group: FoundationDBProcessGroup, number: int) -> FoundationDBProcessGroup:
    metadata = msgspec.structs.replace(group.metadata, uid=f"uid-{number}")
    return msgspec.structs.replace(group, metadata=metadata)


# ------------------------------------------------------------------ the board


async def test_the_board_tells_of_whom_something_new_is_known() -> None:
    desk = Desk()
    await desk.settled()
    heard: list[tuple[ObjectKey, frozenset[str] | None]] = []
    board = Board()
    board.listen(lambda cluster, groups: heard.append((cluster, groups)))
    one = await desk.process("storage-1")
    busy = replace(one, entry=msgspec.structs.replace(one.entry, run_loop_busy=0.9))
    other = replace(one, entry=msgspec.structs.replace(one.entry, excluded=True))
    board.post(SHOP, first := desk.posted({"storage-1": (one,)}, available=True))
    board.post(SHOP, desk.posted({"storage-1": (busy,)}, available=True))
    assert heard == [(SHOP, None)]
    board.post(SHOP, desk.posted({"storage-1": (other,), "log-1": (one,)}, available=True))
    assert heard[1:] == [(SHOP, frozenset({"storage-1", "log-1"}))]
    board.post(SHOP, replace(first, processes=Unknown("it does not answer")))
    board.post(SHOP, replace(first, processes=Unknown("it still does not")))
    assert heard[2:] == [(SHOP, None)]
    board.post(SHOP, replace(first, processes=Unknown("it still does not"), skipped=True))
    board.post(SHOP, replace(first, processes=Unknown("it still does not")))
    assert heard[3:] == [(SHOP, None), (SHOP, None)], "all are looked at when a pause is over"
    board.forget(SHOP)
    assert board.of(SHOP) is None


# ------------------------------------------------------------------ who wakes whom


async def test_objects_wake_the_groups_that_they_are_named_for() -> None:
    assert list(same_name(named("shop-storage-1"))) == [STORAGE]
    assert list(group_of_claim(named("shop-storage-1-data"))) == [STORAGE]
    assert list(group_of_claim(named("anything"))) == []
    assert list(nobody(named("shop"))) == []


async def test_a_config_map_wakes_the_groups_of_its_cluster() -> None:
    desk = Desk()
    await desk.cluster(imageType="split")
    await desk.group()
    await desk.group("storage-2", imageType="unified")
    await desk.see()
    caches: GroupCaches = desk.caches
    wake = groups_of_config(caches.groups)
    assert len(set(wake(named("shop-config")))) == 2, "of both kinds of images"
    assert list(wake(named("other-config"))) == []
    assert list(wake(named("shop"))) == []
    assert len(caches.of_cluster(SHOP)) == 2


async def test_what_a_database_says_wakes_the_groups_that_it_is_about() -> None:
    desk = Desk()
    await desk.cluster()
    await desk.group()
    await desk.group("storage-2")
    await desk.see()
    woken: list[ObjectKey] = []
    heard = wake_groups(desk.caches, woken.append)
    heard(SHOP, frozenset({"storage-1", "storage-9"}))
    assert woken == [STORAGE]
    heard(SHOP, None)
    assert len(woken) == 3
