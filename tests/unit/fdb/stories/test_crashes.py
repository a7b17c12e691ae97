"""The operator dies at a call while a cluster becomes another; another takes over, as it should.

It dies at some calls that write, and at fewer that only ask: what is read is forgotten with or
without a crash, so those between two writes are alike. With ``make crashes`` it dies at every call
of every story.
"""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_crashes import PLAIN, Crashes, crashed, ended, made
from fakes.fdb_stories import Story, spec
from stateward.kube.codec import Json

KNOB = {"general": {"customParameters": ["knob_max_trace_lines=1000000"]}}
LARGER = {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "32G"}}}}}
SPLIT = {**PLAIN, "imageType": "split"}


# ------------------------------------------------------------------ making
@pytest.mark.parametrize(
    ("body", "strides"),
    [
        pytest.param(PLAIN, {"reads": 18, "writes_too": 2}, id="unified"),
        pytest.param(SPLIT, {"reads": 90, "writes_too": 5}, id="split"),
    ],
)
def test_while_a_cluster_is_made(body: Json, strides: dict[str, int]) -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        it.apply(body)
        await it.rest(0.1)
        crashes.begin(it)
        await ended(it)
        assert len(it.groups()) == len(it.pods()) == 3, "none too many"
        assert len(it.claims()) == 2

    assert crashed(story, Crashes(**strides)) > 3


# ------------------------------------------------------------------ processes
@pytest.mark.parametrize(
    ("body", "strides"),
    [
        pytest.param(PLAIN, {"reads": 18, "writes_too": 2}, id="unified"),
        pytest.param(SPLIT, {"reads": 90, "writes_too": 5}, id="split"),
    ],
)
def test_while_processes_are_started_anew(body: Json, strides: dict[str, int]) -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        await made(it, body)
        before = it.uids()
        crashes.begin(it)
        it.change(processes=KNOB)
        await ended(it)
        assert it.uids() == before
        kills = [line for line in it.watcher.commands if line.startswith("kill")]
        assert 1 <= len(kills) <= 2

    assert crashed(story, Crashes(**strides)) > 3


# ------------------------------------------------------------------ groups
@pytest.mark.parametrize(
    ("process_class", "change", "stride"),
    [
        pytest.param("storage", lambda name: {"processGroupsToRemove": [name]}, 3, id="storage"),
        pytest.param("log", lambda name: {"processGroupsToRemove": [name]}, 7, id="log"),
        pytest.param(
            "stateless",  # of one that keeps data, a single copy would be lost, as was asked for
            lambda name: {"processGroupsToRemoveWithoutExclusion": [name]},
            1,
            id="without exclusion",
        ),
        pytest.param("storage", lambda _name: {"processes": {"storage": LARGER}}, 7, id="volume"),
    ],
)
def test_while_a_group_is_replaced(process_class: str, change: Any, stride: int) -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        await made(it, PLAIN)
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

    assert crashed(story, Crashes(reads=40 * stride, writes_too=stride)) > 3


def test_while_an_exclusion_is_taken_back() -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        await made(it, PLAIN)
        gone = next(iter(it.groups("stateless")))
        it.change(processGroupsToRemove=[gone])
        await it.until("its pod is gone", lambda: gone not in it.pods())
        await it.rest(420)
        crashes.begin(it)
        await it.until("gone", it.none_leaves)
        await ended(it)
        assert not it.database.barred

    assert crashed(story, Crashes(reads=20)) > 3


def test_while_a_copy_of_the_logs_is_given_up() -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        await made(it, spec(processCounts={"stateless": 1}))
        name = next(iter(it.groups("log")))
        crashes.begin(it)
        it.change(processGroupsToRemoveWithoutExclusion=[name])
        await it.until("its claim is gone", lambda: f"shop-{name}-data" not in it.claims())
        await ended(it)

    assert crashed(story, Crashes(reads=40, writes_too=4)) >= 3


@pytest.mark.parametrize("process_class", ["storage", "log", "stateless", "commit_proxy"])
def test_while_a_class_grows_and_shrinks(process_class: str) -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        await made(it, PLAIN)
        few = len(it.groups(process_class))
        crashes.begin(it)
        it.change(processCounts={process_class: few + 1})
        await ended(it)
        assert len(it.groups(process_class)) == few + 1
        it.change(processCounts={process_class: few or -1})
        await it.until("one shall go", lambda: not it.none_leaves())
        await it.until("gone", lambda: len(it.pods(process_class)) == few)
        await ended(it)

    assert crashed(story, Crashes(reads=90, writes_too=7)) >= 3


# ------------------------------------------------------------------ pods
@pytest.mark.parametrize("image_type", ["unified", "split"])
def test_while_pods_are_made_anew_zone_by_zone(image_type: str) -> None:
    """The watcher looks on: no two zones at a time."""

    async def story(it: Story, crashes: Crashes) -> None:
        options = {"podUpdateStrategy": "Delete"}
        await made(
            it,
            spec(
                processCounts={"log": 3, "stateless": 1},
                automationOptions=options,
                imageType=image_type,
            ),
        )
        before, claims = {*it.groups()}, it.claims()
        crashes.begin(it)
        it.change(version="7.3.69")
        await ended(it)
        assert {*it.groups()} == before, "in place"
        assert it.claims() == claims

    assert crashed(story, Crashes(reads=45, writes_too=30)) >= 3


# ------------------------------------------------------------------ the database, and the rest
@pytest.mark.parametrize(
    ("change", "stride"),
    [
        pytest.param({"version": "7.3.69"}, 25, id="image"),
        pytest.param({"databaseConfiguration": {"logs": 2}}, 1, id="configuration"),
    ],
)
def test_while_something_else_changes(change: dict[str, Any], stride: int) -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        await made(it, PLAIN)
        crashes.begin(it)
        it.change(**change)
        await ended(it)

    assert crashed(story, Crashes(reads=60, writes_too=stride)) >= 3


@pytest.mark.parametrize(("few", "many"), [("single", "double"), ("double", "single")])
def test_while_copies_become_others(few: str, many: str) -> None:
    async def story(it: Story, crashes: Crashes) -> None:
        counts = {"storage": 3, "log": 3, "stateless": 1}
        mode = {"redundancy_mode": few, "logs": 2}
        await made(it, spec(processCounts=counts, databaseConfiguration=mode))
        crashes.begin(it)
        it.change(databaseConfiguration={"redundancy_mode": many})
        await ended(it)
        assert it.database.settings is not None
        assert it.database.settings.redundancy == many

    assert crashed(story, Crashes(reads=40, writes_too=4)) >= 3
