"""A cluster becomes another: groups are replaced, pods are made anew, processes start anew."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_stories import Story, played, single, spec

IMAGE = "7.3.69"


def version_of(it: Story, group: str) -> str:
    """Return the tag of the main container of a group's pod."""
    found = it.pods()[group]["spec"]["containers"]
    image: str = next(one["image"] for one in found if one["name"] == "foundationdb")
    return image.rpartition(":")[2]


# ------------------------------------------------------------------ replacing
@pytest.mark.parametrize("which", ["storage", "log", "stateless"])
@pytest.mark.parametrize(
    "field", ["processGroupsToRemove", "processGroupsToRemoveWithoutExclusion"]
)
def test_a_group_that_is_listed_is_replaced(which: str, field: str) -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        coordinating = it.coordinators()
        chosen = [name for name in it.groups(which) if name in coordinating] or [*it.groups(which)]
        gone, many = chosen[0], len(it.groups(which))
        excluded = len([line for line in it.watcher.commands if line.startswith("exclude")])
        it.change(**{field: [gone]})
        await it.reconciled()
        await it.until("gone", lambda: gone not in it.groups())
        assert len(it.groups(which)) == many
        assert f"shop-{gone}-data" not in it.claims()
        after = [line for line in it.watcher.commands if line.startswith("exclude ")]
        assert len(after) - excluded == (0 if "Without" in field else 1)
        assert len(it.coordinators()) == 3
        await it.at_rest()

    played(story)


def test_a_larger_volume_is_another_group() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        old, others = {*it.groups("storage")}, {**it.uids("log"), **it.uids("stateless")}
        request = {"requests": {"storage": "32G"}}
        it.change(processes={"storage": {"volumeClaimTemplate": {"spec": {"resources": request}}}})
        await it.reconciled()
        await it.until("gone", lambda: old.isdisjoint(it.groups()))
        assert len(it.groups("storage")) == 3
        assert others.items() <= it.uids().items(), "what did not change stays"
        assert sorted(it.watcher.deleted_claims) == sorted(f"shop-{name}-data" for name in old)
        it.is_whole()
        await it.at_rest()

    played(story)


# ------------------------------------------------------------------ pods
@pytest.mark.parametrize(
    ("strategy", "kept"),
    [
        ("ReplaceTransactionSystem", {"storage"}),
        ("Delete", {"storage", "log", "stateless"}),
        ("Replace", set()),
        (None, {"storage"}),
    ],
)
def test_another_image_is_another_pod(strategy: str | None, kept: set[str]) -> None:
    """Within a minor release: in place zone by zone, or by other groups, as the strategy says."""

    async def story(it: Story) -> None:
        await it.create(spec(imageType="unified"))
        names = {which: {*it.groups(which)} for which in ("storage", "log", "stateless")}
        claims = it.claims()
        more: dict[str, Any] = (
            {} if strategy is None else {"automationOptions": {"podUpdateStrategy": strategy}}
        )
        it.change(version=IMAGE, **more)
        await it.reconciled()
        await it.until("gone", it.none_leaves)
        for which, before in names.items():
            same = before == {*it.groups(which)}
            assert same is (which in kept), which
            if which in kept and which != "stateless":
                assert {f"shop-{name}-data" for name in before} <= claims & it.claims()
        assert {version_of(it, name) for name in it.groups()} == {IMAGE}
        assert it.status["runningVersion"] == IMAGE
        if "storage" in kept:
            zones = it.watcher.zones
            apart = [zone for n, zone in enumerate(zones) if n == 0 or zones[n - 1] != zone]
            assert len(apart) == len({*zones}) > 1, "zone by zone, each once"
        it.is_whole()
        await it.at_rest()

    played(story)


@pytest.mark.parametrize("strategy", ["Delete", "Replace"])
def test_pods_that_are_made_anew_degrade_nothing(strategy: str) -> None:
    """But for the seconds of a recovery, in which the database really takes no transactions."""

    async def story(it: Story) -> None:
        await it.create(spec(version="7.3.62", automationOptions={"podUpdateStrategy": strategy}))
        told: list[str] = []

        def is_over() -> bool:
            found = it.condition("Degraded")
            if found["status"] != "False" and found["reason"] != "DatabaseUnavailable":
                told.append(f"{found['reason']}: {found['message']}")
            return it.is_reconciled and it.none_leaves()

        it.change(version="7.3.63")
        await it.until("begun", lambda: not it.is_reconciled)
        await it.until("over", is_over)
        assert told == []
        await it.reconciled()
        await it.until("who went is forgotten", lambda: not it.database.barred)

    played(story)


def test_a_label_is_no_reason_to_make_pods_anew() -> None:
    async def story(it: Story) -> None:
        await it.create(single())
        before = it.uids()
        template = {"metadata": {"labels": {"team": "shop"}}}
        it.change(processes={"general": {"podTemplate": template}})
        await it.reconciled()
        assert it.uids() == before
        assert {pod["metadata"]["labels"]["team"] for pod in it.pods().values()} == {"shop"}
        await it.at_rest()

    played(story)


# ------------------------------------------------------------------ arguments
@pytest.mark.parametrize("image_type", ["unified", "split"])
def test_a_knob_is_one_bounce_and_one_recovery(image_type: str) -> None:
    async def story(it: Story) -> None:
        await it.create(spec(imageType=image_type))
        before, recoveries = it.uids(), len(it.recoveries)
        knob = "knob_max_trace_lines=1000000"
        it.change(processes={"general": {"customParameters": [knob]}})
        await it.reconciled()
        lines = {one.command_line for one in it.database.servers.values()}
        assert all("knob_max_trace_lines" in line for line in lines)
        assert it.uids() == before, "no pod is made anew for it"
        kills = [line for line in it.watcher.commands if line.startswith("kill")]
        assert len(kills) == 1, kills
        assert len(it.recoveries) == recoveries + 1, it.recoveries
        await it.at_rest()

    played(story)


# ------------------------------------------------------------------ the database
def test_double_becomes_triple() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        before = it.uids()
        it.change(databaseConfiguration={"redundancy_mode": "triple"})
        await it.reconciled()
        assert it.database.settings is not None
        assert it.database.settings.redundancy == "triple"
        assert len(it.coordinators()) == 5
        assert before.items() <= it.uids().items()
        await it.at_rest()

    played(story)


@pytest.mark.parametrize(
    ("asked", "set_to"),
    [
        pytest.param(
            {"storage_engine": "ssd-rocksdb-v1", "storage_migration_type": "aggressive"},
            ("storage_engine", "ssd-rocksdb-v1"),
            id="engine",
        ),
        pytest.param({"logs": 5}, ("logs", 5), id="logs"),
        pytest.param({"commit_proxies": 3}, ("commit_proxies", 3), id="proxies"),
    ],
)
def test_a_setting_is_one_command(asked: dict[str, Any], set_to: tuple[str, Any]) -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        it.change(databaseConfiguration=asked)
        await it.reconciled()
        assert it.database.settings is not None
        assert it.database.settings.value(set_to[0]) == set_to[1]
        lines = [line for line in it.watcher.commands if line.startswith("configure")]
        assert len(lines) == 2, lines
        assert it.watcher.deleted_pods == []
        await it.at_rest()

    played(story)


def test_triple_becomes_double_again() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(databaseConfiguration={"redundancy_mode": "triple"}))
        it.change(databaseConfiguration={"redundancy_mode": "double"})
        await it.reconciled()
        await it.until("fewer", lambda: len(it.groups("storage")) == 3)
        assert len(it.coordinators()) == 3
        await it.at_rest()

    played(story)


def test_what_the_database_would_refuse_is_told_and_harms_nobody() -> None:
    async def story(it: Story) -> None:
        await it.create(single())
        before = it.uids()
        it.change(databaseConfiguration={"storage_engine": "ssd-rocksdb-v1"})
        await it.rest(600)
        assert not it.is_reconciled
        assert "engine_can_change" in [one["guard"] for one in it.status["blockers"]]
        assert "storage_migration_type" in it.condition("Ready")["message"]
        it.change(databaseConfiguration={"storage_engine": "ssd-2"})
        await it.reconciled()
        assert it.uids() == before
        await it.at_rest()

    played(story)
