"""What an operator of FoundationDB hears in virtual time, in calm and when something goes wrong."""

from __future__ import annotations

import asyncio

import pytest

from fakes import fdb_pods as made
from fakes.fdb_hand import VERSION, Hand, is_so, played
from stateward.core.errors import OutcomeUnknown, PeerError, PeerUnreachable
from stateward.fdb.admin.answers import Stage
from stateward.fdb.admin.errors import DatabaseRefused, DatabaseSilent, Refusal
from stateward.fdb.admin.pod_agent import AgentRefused
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.exclusions import parse
from stateward.fdb.status import health
from stateward.kube.client import MergePatch
from stateward.kube.resources import CONFIG_MAPS, PODS
from stateward.local.rules.deletion import DeleteOptions
from stateward.sim.faults import Fault, Kind


def strike(at: Hand, kind: Kind, *details: str) -> None:
    """Let something befall the next call."""
    weather = at.it.world.weather
    weather.planned[weather.calls + 1] = [Fault(kind, details)]


def test_nobody_answers_where_nothing_runs() -> None:
    async def play(at: Hand) -> None:
        await at.pods(*made.GROUPS)
        began = at.it.world.loop.time()
        with pytest.raises(DatabaseSilent):
            await at.admin.exclusions()
        assert at.it.world.loop.time() - began > 5
        status = await at.admin.status()
        assert not is_so(health.is_available(status))

    played(play)


def test_who_asks_by_coordinators_of_before_is_told_of_those_of_now() -> None:
    async def play(at: Hand) -> None:
        await at.serve(*made.GROUPS)
        old = at.string
        newer = [Address(at.ip(f"log-{n}"), 4501) for n in (1, 2, 3)]
        moved = await at.admin.change_coordinators(newer)
        assert set(moved.coordinators) == set(newer)
        again = at.own.databases.reach(made.KEY, old, VERSION)
        await again.status()
        assert await again.connection_string() == moved
        # Once most of those before are gone, nobody shows the way any more.
        for it in ("storage-1", "storage-2"):
            at.it.delete_pod(made.key(it))
        await asyncio.sleep(10)
        lost = at.own.databases.reach(made.KEY, old, VERSION)
        assert not is_so(health.is_available(await lost.status()))
        assert await lost.connection_string() == old
        found = at.own.databases.reach(made.KEY, moved, VERSION)
        assert is_so(health.is_available(await found.status()))

    played(play)


def test_data_leaves_who_is_excluded_in_virtual_time() -> None:
    async def play(at: Hand) -> None:
        await at.serve(*made.GROUPS, "storage-4")
        target = parse(f"{at.ip('storage-4')}:4501")
        stages = await at.admin.exclude([target])
        assert target in (await at.admin.exclusions()).excluded
        began = at.it.world.loop.time()
        while stages[target] is not Stage.OVER:
            await asyncio.sleep(1)
            stages = await at.admin.exclude([target])
        assert 1 < at.it.world.loop.time() - began < 300
        await at.admin.include([target])
        assert not (await at.admin.exclusions()).excluded

    played(play)


def test_an_operator_that_gets_nowhere_hears_nothing_of_a_database_that_is_well() -> None:
    async def play(at: Hand) -> None:
        await at.serve(*made.GROUPS)
        for it in made.GROUPS:
            at.it.unreachable[made.key(it).name] += 1
        assert not is_so(health.is_available(await at.admin.status()))
        at.it.unreachable.clear()
        assert is_so(health.is_available(await at.admin.status()))

    played(play)


@pytest.mark.parametrize(
    ("kind", "error", "done"),
    [
        (Kind.LOST_REQUEST, OutcomeUnknown, False),
        (Kind.LOST_ANSWER, OutcomeUnknown, True),
        (Kind.UNAVAILABLE, DatabaseSilent, False),
        (Kind.CONFLICT, DatabaseSilent, False),
        (Kind.FAILED, PeerError, False),
        (Kind.UNAUTHORIZED, DatabaseRefused, False),
    ],
)
def test_a_change_that_goes_wrong(kind: Kind, error: type[PeerError], done: bool) -> None:
    async def play(at: Hand) -> None:
        await at.serve(*made.GROUPS)
        admin = at.admin
        strike(at, kind)
        with pytest.raises(error):
            await admin.begin_maintenance("node-1", 600)
        assert (await admin.maintenance() is not None) is done

    played(play)


def test_a_database_is_made_once_also_when_it_is_sent_twice() -> None:
    async def play(at: Hand) -> None:
        await at.serve(*made.GROUPS)
        with pytest.raises(DatabaseRefused) as refused:
            await at.admin.create(made.DOUBLE)
        assert refused.value.refusal is Refusal.EXISTS

    played(play)


def test_what_was_sent_is_done_though_its_sender_died_and_the_next_one_starts() -> None:
    async def play(at: Hand) -> None:
        await at.serve(*made.GROUPS)
        admin, before = at.admin, len(at.found)
        strike(at, Kind.CRASH_AFTER)
        waiting = asyncio.ensure_future(admin.begin_maintenance("node-1", 600))
        await at.until("another one is there", lambda: len(at.found) > before)
        assert await at.admin.maintenance() is not None
        waiting.cancel()

    played(play)


def test_an_operator_that_crashes_is_put_together_anew() -> None:
    async def play(at: Hand) -> None:
        await at.serve(*made.GROUPS)
        names = {it.identity for it in at.found}
        at.it.crash(at.slot, 3.0)
        await at.until("another one is there", lambda: len(at.found) > 1, within=5)
        assert at.own.identity not in names
        assert is_so(health.is_available(await at.admin.status()))

    played(play)


# -------------------------------------------------------------------------- sidecars


async def split_pod(at: Hand) -> None:
    made.write_config(at.it, made.config_map(run=False))
    made.make_claim(at.it, "storage-1")
    made.make_pod(at.it, "storage-1", split=True)
    await at.until("it is ready", lambda: at.is_ready("storage-1"))


def test_a_sidecar_copies_when_it_is_asked_to_and_not_before() -> None:
    async def play(at: Hand) -> None:
        await split_pod(at)
        agent = at.own.agents.reach(at.ip("storage-1"))
        values = await agent.substitutions()
        assert values["FDB_INSTANCE_ID"] == "storage-1"
        assert values["BINARY_DIR"] == "/usr/bin"
        before = await agent.check_hash("fdbmonitor.conf")
        made.write_config(at.it, made.config_map(f"shop:x@{at.ip('storage-1')}:4501"))
        await asyncio.sleep(60)
        assert await agent.check_hash("fdbmonitor.conf") == before
        assert not at.runs("storage-1")
        await agent.copy()
        assert await agent.check_hash("fdbmonitor.conf") != before
        await at.until("it runs", lambda: at.runs("storage-1"))
        assert "--locality_instance_id storage-1" in at.line("storage-1")
        with pytest.raises(AgentRefused) as refused:
            await agent.check_hash("nothing")
        assert refused.value.is_missing

    played(play)


def test_a_section_that_is_gone_ends_its_process() -> None:
    async def play(at: Hand) -> None:
        await split_pod(at)
        made.write_config(at.it, made.config_map(f"shop:x@{at.ip('storage-1')}:4501"))
        await asyncio.sleep(60)
        agent = at.own.agents.reach(at.ip("storage-1"))
        await agent.copy()
        await at.until("it runs", lambda: at.runs("storage-1"))
        made.write_config(at.it, {"fdbmonitor-conf-storage": ""})
        await asyncio.sleep(60)
        assert at.runs("storage-1")
        await agent.copy()
        assert not at.runs("storage-1")

    played(play)


def test_a_sidecar_starts_again_when_its_config_map_is_there() -> None:
    async def play(at: Hand) -> None:
        await split_pod(at)
        agent = at.own.agents.reach(at.ip("storage-1"))
        world = at.it.world
        world.api.delete(CONFIG_MAPS, made.CONFIG, DeleteOptions())
        containers = at.document("storage-1")["spec"]["containers"]
        containers[1]["image"] = "foundationdb/foundationdb-kubernetes-sidecar:7.4.1-1"
        patch = MergePatch({"spec": {"containers": containers}})
        world.api.patch(PODS, made.key("storage-1"), patch, made.USER)
        await asyncio.sleep(60)
        with pytest.raises(PeerUnreachable):
            await agent.is_present("bin/7.4.1/fdbserver")
        made.write_config(at.it, made.config_map(run=False))
        await asyncio.sleep(60)
        assert (await agent.substitutions())["FDB_INSTANCE_ID"] == "storage-1"

    played(play)


def test_nobody_is_at_another_address() -> None:
    async def play(at: Hand) -> None:
        await split_pod(at)
        with pytest.raises(PeerUnreachable):
            await at.own.agents.reach("10.9.9.9").substitutions()

    played(play)
