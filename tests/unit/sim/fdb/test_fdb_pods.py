"""Pods of FoundationDB in virtual time: what runs in them, by what, and what stays when they go."""

from __future__ import annotations

import asyncio
import json

import pytest

from fakes import fdb_pods as made
from fakes.fdb_hand import Hand, played
from stateward.core.version import Version
from stateward.fdb.model import names
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.classes import ProcessClass
from stateward.kube.client import MergePatch
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import NAMESPACES, NODES, PODS
from stateward.sim.fdb.world import served

KNOB = "--knob_max=7"


def annotated(at: Hand, group: str, name: str) -> str:
    return str((at.document(group)["metadata"].get("annotations") or {}).get(name, ""))


def annotate(at: Hand, group: str, **said: str | None) -> None:
    values = {getattr(names, name): it for name, it in said.items()}
    patch = MergePatch({"metadata": {"annotations": values}})
    at.it.world.api.patch(PODS, made.key(group), patch, made.USER)


def give_sidecar(at: Hand, group: str, version: str) -> None:
    containers = at.document(group)["spec"]["containers"]
    containers[1]["image"] = f"foundationdb/fdb-kubernetes-monitor:{version}"
    patch = MergePatch({"spec": {"containers": containers}})
    at.it.world.api.patch(PODS, made.key(group), patch, made.USER)


def test_pods_are_ready_though_nothing_runs_in_them() -> None:
    async def play(at: Hand) -> None:
        await at.pods(*made.GROUPS)
        await asyncio.sleep(60)
        assert not any(map(at.runs, made.GROUPS))
        said = json.loads(annotated(at, "log-1", names.LAUNCHER_CONFIGURATION))
        assert said["runServers"] is False
        told = json.loads(annotated(at, "log-1", names.LAUNCHER_ENVIRONMENT))
        assert told["FDB_PUBLIC_IP"] == at.ip("log-1")
        assert told["BINARY_DIR"] == "/usr/bin"
        assert told["FDB_ZONE_ID"] == at.it.node_of(made.key("log-1"))
        statuses = at.document("log-1")["status"]["containerStatuses"]
        assert [it["name"] for it in statuses] == ["foundationdb", names.SIDECAR_CONTAINER]

    played(play)


def test_pods_of_a_class_keep_away_from_each_other_on_nodes_that_kubernetes_knows() -> None:
    async def play(at: Hand) -> None:
        await at.pods(*made.GROUPS)
        for kind in ("storage", "log"):
            there = {at.it.node_of(made.key(f"{kind}-{n}")) for n in (1, 2, 3)}
            assert len(there) == 3
        node = at.it.world.api.get(NODES, ObjectKey("", "node-4")).document()
        assert node["metadata"]["labels"]["topology.kubernetes.io/zone"] == "zone-1"

    played(play)


def test_a_database_is_made_and_its_processes_report_by_their_groups() -> None:
    async def play(at: Hand) -> None:
        await at.serve(*made.GROUPS, processes=2)
        assert await at.reporting() == {it: [f"{it}-1", f"{it}-2"] for it in sorted(made.GROUPS)}

    played(play)


def test_a_new_configuration_counts_at_the_next_start() -> None:
    async def play(at: Hand) -> None:
        await at.serve(*made.GROUPS)
        made.write_config(at.it, made.config_map(str(at.string), KNOB))
        at_once = at.it.world.loop.time()
        await at.until(
            "it is accepted",
            lambda: KNOB in annotated(at, "log-1", names.LAUNCHER_CONFIGURATION),
        )
        assert at.it.world.loop.time() - at_once > 1
        assert KNOB not in at.line("log-1")
        before = at.disk("log-1")
        assert await at.admin.kill([Address(at.ip("log-1"), 4501)]) == 1
        await at.until("it runs again", lambda: at.runs("log-1"), within=5)
        assert KNOB in at.line("log-1")
        assert at.disk("log-1") == before
        assert at.document("log-1")["status"]["containerStatuses"][0]["restartCount"] == 0
        await at.available()

    played(play)


def test_a_touched_pod_sees_its_configuration_sooner() -> None:
    def seconds(seed: int, *, touched: bool) -> float:
        found: list[float] = []

        async def play(at: Hand) -> None:
            await at.pods(*made.GROUPS)
            began = at.it.world.loop.time()
            made.write_config(at.it, made.config_map("", KNOB, run=False))
            if touched:
                annotate(at, "log-1", OUTDATED="now")
            await at.until(
                "it is accepted",
                lambda: KNOB in annotated(at, "log-1", names.LAUNCHER_CONFIGURATION),
            )
            found.append(at.it.world.loop.time() - began)

        played(play, seed)
        return found[0]

    assert all(seconds(it, touched=True) < 4 for it in (1, 2, 3))
    assert max(seconds(it, touched=False) for it in (1, 2, 3)) > 10


def test_a_configuration_that_cannot_be_is_refused_and_the_last_one_stays() -> None:
    async def play(at: Hand) -> None:
        await at.serve(*made.GROUPS)
        key = names.unified_conf_key(ProcessClass.LOG)
        made.write_config(at.it, {key: made.config("log", version="7.4.1")})
        await asyncio.sleep(60)
        assert "7.4.1" not in annotated(at, "log-1", names.LAUNCHER_CONFIGURATION)
        # A sidecar of that version brings the program.
        give_sidecar(at, "log-1", "7.4.1")
        await at.until(
            "it is accepted",
            lambda: "7.4.1" in annotated(at, "log-1", names.LAUNCHER_CONFIGURATION),
        )

    played(play)


def test_all_are_another_release_at_once_when_they_are_killed() -> None:
    async def play(at: Hand) -> None:
        await at.serve(*made.GROUPS)
        for it in made.GROUPS:
            give_sidecar(at, it, "7.4.1")
        made.write_config(at.it, made.config_map(str(at.string), version="7.4.1"))
        await at.until(
            "all accept it",
            lambda: all(
                "7.4.1" in annotated(at, it, names.LAUNCHER_CONFIGURATION) for it in made.GROUPS
            ),
        )
        every = [Address(at.ip(it), 4501) for it in made.GROUPS]
        assert await at.admin.kill(every, twice=True) >= len(every)
        at.version = Version.parse("7.4.1")
        await at.available()
        assert list(await at.reporting()) == sorted(made.GROUPS)
        assert at.line("log-1").startswith("/var/fdb/shared-binaries/bin/7.4.1/fdbserver ")
        # The image of the main container follows: it is started again for it.
        before = at.disk("log-1")
        containers = at.document("log-1")["spec"]["containers"]
        containers[0]["image"] = "foundationdb/fdb-kubernetes-monitor:7.4.1"
        patch = MergePatch({"spec": {"containers": containers}})
        at.it.world.api.patch(PODS, made.key("log-1"), patch, made.USER)
        await at.until(
            "it runs again", lambda: at.line("log-1").startswith("/usr/bin/fdbserver "), within=30
        )
        assert at.disk("log-1") == before
        assert at.document("log-1")["status"]["containerStatuses"][0]["restartCount"] == 1
        await at.available()

    played(play)


def test_a_process_that_is_killed_comes_back_and_others_go_on() -> None:
    async def play(at: Hand) -> None:
        await at.serve(*made.GROUPS)
        for _ in range(3):  # each time it waits for longer
            at.it.kill_process(made.key("storage-1"))
            assert not at.runs("storage-1")
            await at.until("it runs again", lambda: at.runs("storage-1"), within=10)
        await at.available()

    played(play)


def test_who_is_isolated_runs_nothing_until_it_is_no_longer() -> None:
    async def play(at: Hand) -> None:
        await at.serve(*made.GROUPS)
        annotate(at, "log-1", ISOLATED="true")
        await asyncio.sleep(30)
        assert not at.runs("log-1")
        assert at.is_ready("log-1")
        annotate(at, "log-1", ISOLATED=None)
        await at.until("it runs again", lambda: at.runs("log-1"), within=5)

    played(play)


def test_a_pod_that_is_made_anew_has_its_data_and_its_own_cluster_file() -> None:
    async def play(at: Hand) -> None:
        await at.serve(*made.GROUPS)
        before, where = at.disk("storage-2"), at.ip("storage-2")
        newer = [Address(at.ip(f"log-{n}"), 4501) for n in (1, 2, 3)]
        moved = await at.admin.change_coordinators(newer)
        at.it.delete_pod(made.key("storage-2"))
        await at.until("it is gone", lambda: not at.document("storage-2"))
        made.make_pod(at.it, "storage-2")
        await at.until("it runs again", lambda: at.runs("storage-2"))
        assert at.disk("storage-2") == before
        assert at.ip("storage-2") != where
        # The config map still names those before: only what is on the volume is of now.
        process = at.it.process(made.key("storage-2"))
        assert process is not None
        assert process.string == moved
        await at.available()

    played(play)


def test_a_pod_without_a_claim_begins_with_nothing() -> None:
    async def play(at: Hand) -> None:
        await at.serve(*made.GROUPS)
        before = at.disk("stateless-1")
        at.it.delete_pod(made.key("stateless-1"))
        await at.until("it is gone", lambda: not at.document("stateless-1"))
        made.make_pod(at.it, "stateless-1")
        await at.until("it runs again", lambda: at.runs("stateless-1"))
        assert at.disk("stateless-1") != before
        await at.available()

    played(play)


@pytest.mark.parametrize("dark", [False, True])
def test_a_node_is_lost_and_found(dark: bool) -> None:
    async def play(at: Hand) -> None:
        await at.serve(*made.GROUPS)
        node = at.it.node_of(made.key("storage-3"))
        at.it.lose_node(node, dark=dark)
        await asyncio.sleep(60)
        assert at.runs("storage-3") is not dark
        assert not at.is_ready("storage-3")
        document = at.it.world.api.get(NODES, ObjectKey("", node)).document()
        assert document["status"]["conditions"][0]["status"] == "Unknown"
        at.it.delete_pod(made.key("storage-3"), force=True)
        made.make_pod(at.it, "storage-3")
        await asyncio.sleep(60)
        # The volume is still where the node is that nobody hears of.
        assert at.is_ready("storage-3") is dark
        at.it.find_node(node)
        await at.until("it runs again", lambda: at.runs("storage-3"))
        await at.available()

    played(play)


def test_a_pod_that_sticks_is_there_with_nothing_in_it() -> None:
    async def play(at: Hand) -> None:
        await at.serve(*made.GROUPS)
        at.it.stick(made.key("log-2"), 100)
        at.it.delete_pod(made.key("log-2"))
        await asyncio.sleep(90)
        assert not at.runs("log-2")
        assert at.document("log-2")
        await asyncio.sleep(20)
        assert not at.document("log-2")

    played(play)


def test_a_kubernetes_with_every_rule_takes_them_too() -> None:
    async def play(at: Hand) -> None:
        at.it.world.api.create(NAMESPACES, "", {"metadata": {"name": made.NAMESPACE}}, made.USER)
        await at.serve(*made.GROUPS)
        assert list(await at.reporting()) == sorted(made.GROUPS)

    played(play, serve=served)


def test_the_same_seed_is_the_same_life_and_another_is_another() -> None:
    async def play(at: Hand) -> None:
        await at.serve(*made.GROUPS)
        at.it.kill_process(made.key("log-1"))
        at.it.delete_pod(made.key("storage-1"))
        await asyncio.sleep(100)

    assert played(play, 5) == played(play, 5)
    assert played(play, 5).digest != played(play, 6).digest
