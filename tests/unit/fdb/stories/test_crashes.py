"""The operator dies at a call of every story; another takes over, and all ends as it should.

Of the first five stories it dies at every call that writes, and at some that only ask: what is read
is forgotten with or without a crash, so those between two writes are alike. Of others, at some.
"""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_crashes import Crashes, crashed
from fakes.fdb_stories import Story, single, spec
from stateward.fdb.api.kind import PROCESS_GROUPS

KNOB = {"general": {"customParameters": ["knob_max_trace_lines=1000000"]}}
LARGER = {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "32G"}}}}}
#: Nothing waits longer than it must.
PLAIN = single(routing={"useDNSInClusterFile": True})


async def ended(it: Story) -> None:
    """Wait until all is as asked; nothing may have been lost."""
    await it.until("reconciled", lambda: it.is_reconciled)
    database, settings = it.database, it.database.settings
    assert settings is not None
    assert it.watcher.wrong == []
    assert database.recovery.serves
    assert database.shards.fewest_copies(database.servers) >= settings.copies
    version = database.store.at(it.it.world.clock.now())
    assert dict(database.store.span(b"order/", b"order0", version)) == it.keys
    made = [line for line in it.watcher.commands if line.startswith("configure new")]
    assert len(made) <= 2, "once, or once more where nobody knew"


def test_while_a_cluster_is_made() -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        it.apply(PLAIN)
        await it.rest(0.1)
        crashes.begin(it)
        await ended(it)
        assert len(it.groups()) == len(it.pods()) == 3, "none too many"
        assert len(it.claims()) == 2

    assert crashed(story, Crashes(reads=6)) > 30


def test_while_processes_are_started_anew() -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        it.apply(PLAIN)
        await it.until("reconciled", lambda: it.is_reconciled)
        it.write()
        before = it.uids()
        crashes.begin(it)
        it.change(processes=KNOB)
        await ended(it)
        assert it.uids() == before
        kills = [line for line in it.watcher.commands if line.startswith("kill")]
        assert 1 <= len(kills) <= 2

    assert crashed(story, Crashes(reads=6)) > 10


@pytest.mark.parametrize(
    ("process_class", "change"),
    [
        pytest.param("storage", lambda name: {"processGroupsToRemove": [name]}, id="replace"),
        pytest.param(
            "stateless",  # of one that keeps data, a single copy would be lost, as was asked for
            lambda name: {"processGroupsToRemoveWithoutExclusion": [name]},
            id="without exclusion",
        ),
        pytest.param("storage", lambda _name: {"processes": {"storage": LARGER}}, id="volume"),
    ],
)
def test_while_a_group_is_replaced(process_class: str, change: Any) -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        it.apply(PLAIN)
        await it.until("reconciled", lambda: it.is_reconciled)
        it.write()
        gone = next(iter(it.groups(process_class)))
        crashes.begin(it)
        it.change(**change(gone))
        await ended(it)
        await it.until("its pod is gone", lambda: gone not in it.pods())
        await it.until("its claim is gone", lambda: f"shop-{gone}-data" not in it.claims())
        staying = [
            one for one in it.groups(process_class).values() if not one["spec"].get("remove")
        ]
        assert len(staying) == 1, "none too many"

    assert crashed(story, Crashes(reads=40)) > 15


def test_while_an_exclusion_is_taken_back() -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        it.apply(PLAIN)
        await it.until("reconciled", lambda: it.is_reconciled)
        it.write()
        gone = next(iter(it.groups("stateless")))
        it.change(processGroupsToRemove=[gone])
        await it.until("its pod is gone", lambda: gone not in it.pods())
        await it.rest(420)
        crashes.begin(it)
        await it.until("gone", it.none_leaves)
        await ended(it)
        assert not it.database.barred

    assert crashed(story, Crashes(reads=20)) > 3


@pytest.mark.parametrize(
    ("change", "stride"),
    [
        pytest.param({"version": "7.3.69"}, 5, id="image"),
        pytest.param({"databaseConfiguration": {"logs": 2}}, 1, id="configuration"),
        pytest.param({"processCounts": {"stateless": 2}}, 2, id="grow"),
    ],
)
def test_while_something_else_changes(change: dict[str, Any], stride: int) -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        it.apply(PLAIN)
        await it.until("reconciled", lambda: it.is_reconciled)
        it.write()
        crashes.begin(it)
        it.change(**change)
        await ended(it)

    assert crashed(story, Crashes(reads=60, writes_too=stride)) >= 3


def test_while_a_group_that_somebody_deleted_is_replaced() -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        it.apply(PLAIN)
        await it.until("reconciled", lambda: it.is_reconciled)
        it.write()
        name = next(iter(it.groups("log")))
        crashes.begin(it)
        it.delete(PROCESS_GROUPS, it.pod(name).name)
        await it.until("its claim is gone", lambda: f"shop-{name}-data" not in it.claims())
        await ended(it)

    assert crashed(story, Crashes(reads=60, writes_too=5)) >= 3


def test_while_a_copy_of_the_logs_is_given_up() -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        it.apply(spec(processCounts={"stateless": 1}))
        await it.until("reconciled", lambda: it.is_reconciled)
        it.write()
        name = next(iter(it.groups("log")))
        crashes.begin(it)
        it.change(processGroupsToRemoveWithoutExclusion=[name])
        await it.until("its claim is gone", lambda: f"shop-{name}-data" not in it.claims())
        await ended(it)

    assert crashed(story, Crashes(reads=90, writes_too=5)) >= 3


def test_while_all_coordinators_are_away() -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        it.apply(spec(processCounts={"stateless": 1, "log": 3}))
        await it.until("reconciled", lambda: it.is_reconciled)
        it.write()
        for name in it.coordinators():
            it.it.delete_pod(it.pod(name))
        crashes.begin(it)
        await it.rest(200)
        await ended(it)

    assert crashed(story, Crashes(reads=60, writes_too=5)) > 3
