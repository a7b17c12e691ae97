"""`stateward operator` as a cluster runs it: a process of its own, probes, metrics, a lease, signals."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from local.clusters import STATEWARD
from real.clusters import RunningCluster
from stateward.app.kinds import definitions
from stateward.core.ports import Ports
from stateward.example.api import TEAM_LABEL, TEAMS
from stateward.kube.client import Client, MergePatch, Selection
from stateward.kube.errors import AlreadyExists, ApiError, NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, CUSTOM_RESOURCES, LEASES, NAMESPACES

PATIENCE = 40.0
DEFINITION = definitions()[f"{TEAMS.name}.yaml"]


async def until(what: str, holds: Callable[[], Awaitable[Any]]) -> float:
    """Wait for something to hold; return the seconds that it took."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    try:
        async with asyncio.timeout(PATIENCE):
            while not await holds():  # noqa: ASYNC110 - a cluster rings no bell
                await asyncio.sleep(0.05)
    except TimeoutError:
        pytest.fail(f"{what}: not within {PATIENCE:g} s")
    return loop.time() - began


@dataclass(frozen=True, slots=True)
class Instance:
    """One running process, what it wrote, and its two doors."""

    process: subprocess.Popen[bytes]
    log: Path
    session: aiohttp.ClientSession

    def said(self) -> list[dict[str, Any]]:
        lines = self.log.read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    async def says(self, text: str) -> dict[str, Any]:
        """Wait for a line of the log; return it."""

        async def found() -> bool:
            assert self.process.poll() is None, self.log.read_text()
            return any(text in line["event"] for line in self.said())

        await until(f"it says {text!r}", found)
        return next(line for line in self.said() if text in line["event"])

    async def ask(self, what: str, path: str) -> tuple[int, str]:
        where = (await self.says(f"{what} are served"))["address"]
        async with self.session.get(f"http://{where}{path}") as answer:
            return answer.status, await answer.text()

    async def ready(self) -> bool:
        return (await self.ask("probes", "/readyz"))[0] == 200

    async def metric(self, name: str) -> float:
        """Return the sum of all series of a family."""
        _, text = await self.ask("metrics", "/metrics")
        return sum(map(float, re.findall(rf"^{name}(?:{{.*}})? (.*)$", text, re.MULTILINE)))

    async def leads(self) -> bool:
        return await self.metric("leader_election_master_status") == 1

    async def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal; return the exit code."""
        self.process.send_signal(number)
        return await asyncio.to_thread(self.process.wait, PATIENCE)


@dataclass(frozen=True, slots=True)
class Stand:
    """A namespace of the test's own, with a lease that nobody ever held, and a client of the user's."""

    cluster: RunningCluster
    client: Client
    namespace: str
    stack: AsyncExitStack
    session: aiohttp.ClientSession
    folder: Path

    @property
    def lease(self) -> ObjectKey:
        return ObjectKey(self.namespace, "stateward-example")

    async def holder(self) -> str:
        return (await self.client.get(LEASES, self.lease)).spec.holder_identity or ""

    def start(self, *words: str) -> Instance:
        """Start one more instance; it ends with the test."""
        log = self.folder / f"{len(list(self.folder.iterdir()))}.log"
        command = [str(STATEWARD), "operator", "--kubeconfig", str(self.cluster.kubeconfig)]
        command += ["--product", "example", "--log-format", "json"]
        command += ["--lease-namespace", self.namespace]
        for door in ("--metrics-address", "--probe-address"):
            command += [door, "127.0.0.1:0"]
        with log.open("wb") as stream:
            process = subprocess.Popen([*command, *words], stderr=stream, stdout=stream)
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        return Instance(process, log, self.session)

    async def start_two(self) -> tuple[Instance, Instance]:
        """Start one that leads, and then one that stands by."""
        first = self.start()
        await until("the first leads", first.leads)
        second = self.start()
        await until("the second is ready", second.ready)
        return first, second

    async def team(self, namespace: str, size: int, name: str = "crew", **labels: str) -> None:
        spec = {"size": size, "motto": "ahoy"}
        metadata = {"namespace": namespace, "name": name, "labels": labels}
        await self.client.create(TEAMS, {"metadata": metadata, "spec": spec})

    async def members(self, namespace: str) -> int:
        chosen = Selection(namespace, labels=TEAM_LABEL)
        return len((await self.client.list(CONFIG_MAPS, chosen)).items)


async def make_namespace(client: Client, ports: Ports) -> str:
    name = f"op-{ports.chance.suffix(6)}"
    await client.create(NAMESPACES, {"metadata": {"name": name}})
    return name


@asynccontextmanager
async def stand(cluster: RunningCluster, folder: Path) -> AsyncGenerator[Stand, None]:
    ports = Ports.of_this_machine()
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(cluster.client("you", ports))
        session = await stack.enter_async_context(aiohttp.ClientSession())
        with suppress(AlreadyExists):
            await client.create(CUSTOM_RESOURCES, DEFINITION)
        it = Stand(cluster, client, await make_namespace(client, ports), stack, session, folder)
        where = {"namespace": it.lease.namespace, "name": it.lease.name}
        await client.create(LEASES, {"metadata": where, "spec": {}})
        yield it


async def test_it_gets_ready_leads_works_and_lets_go_when_told(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    async with stand(cluster, tmp_path) as it:
        operator = it.start()
        await until("it is ready", operator.ready)
        await until("it leads", operator.leads)
        assert await operator.ask("probes", "/healthz") == (200, "ok\n")
        assert (await it.holder()) == (await operator.says("the operator starts"))["identity"]
        assert 0 < await operator.metric("process_resident_memory_bytes") <= 90e6
        assert await operator.metric("rest_client_requests_total") > 0

        await it.team(it.namespace, 2)

        async def both() -> bool:
            return await it.members(it.namespace) == 2

        await until("the team has its members", both)
        loop = asyncio.get_running_loop()
        told = loop.time()

        assert await operator.end() == 0
        assert loop.time() - told < 5, "nothing was under way"
        assert await it.holder() == "", "the next one need not wait"


async def test_a_second_instance_stands_by_and_follows_a_killed_one(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    async with stand(cluster, tmp_path) as it:
        first, second = await it.start_two()
        await asyncio.sleep(2)
        assert not await second.leads()
        before = await it.holder()

        await first.end(signal.SIGKILL)
        took = await until("the second leads", second.leads)

        assert 15 - 6 <= took <= 15 + 2 + 2, "a lease's time after the last renewal, and a look"
        assert await it.holder() not in {before, ""}
        assert await second.end(signal.SIGINT) == 0
        assert await it.holder() == ""


async def test_whoever_follows_one_that_let_go_leads_at_once(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    async with stand(cluster, tmp_path) as it:
        first, second = await it.start_two()

        assert await first.end() == 0
        assert await until("the second leads", second.leads) <= 2


async def test_it_looks_after_the_namespaces_that_it_is_told_and_no_others(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    async with stand(cluster, tmp_path) as it:
        theirs = await make_namespace(it.client, Ports.of_this_machine())
        mine = await make_namespace(it.client, Ports.of_this_machine())
        operator = it.start("--namespace", it.namespace, "--namespace", mine)
        for namespace in (theirs, mine, it.namespace):
            await it.team(namespace, 1)

        async def has_members() -> bool:
            return [await it.members(n) for n in (mine, it.namespace)] == [1, 1]

        await until("both of ours have members", has_members)
        assert await it.members(theirs) == 0
        assert await operator.end() == 0


async def test_it_looks_after_teams_with_its_labels_and_lets_go_of_one_that_loses_them(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    async with stand(cluster, tmp_path) as it:
        operator = it.start("--selector", "fleet=blue")
        await it.team(it.namespace, 5, "theirs", fleet="green")
        await it.team(it.namespace, 1, "ours", fleet="blue")

        async def are(number: int) -> bool:
            return await it.members(it.namespace) == number

        await until("ours has its member", lambda: are(1))
        grown = {"metadata": {"labels": {"fleet": "green"}}, "spec": {"size": 3}}
        await it.client.patch(TEAMS, ObjectKey(it.namespace, "ours"), MergePatch(grown))
        await it.team(it.namespace, 2, "new", fleet="blue")
        await until("the new one has its members", lambda: are(3))
        assert await operator.end() == 0
        assert await it.members(it.namespace) == 3


async def test_alone_it_leads_without_a_lease(cluster: RunningCluster, tmp_path: Path) -> None:
    async with stand(cluster, tmp_path) as it:
        operator = it.start("--no-leader-election")
        await it.team(it.namespace, 1)

        async def has_one() -> bool:
            return await it.members(it.namespace) == 1

        await until("the team has its member", has_one)
        assert await it.holder() == ""
        assert await operator.end() == 0


async def remove_kind(client: Client) -> None:
    """Take the kind out of the cluster, with all teams that other tests left behind."""
    for team in (await client.list(TEAMS)).items:
        free = MergePatch({"metadata": {"finalizers": None}})
        await client.patch(TEAMS, team.metadata.key, free)
    where = ObjectKey("", TEAMS.name)
    found = await client.get(CUSTOM_RESOURCES, where)
    await client.delete(CUSTOM_RESOURCES, where, uid=found.metadata.uid)

    async def is_gone() -> bool:
        with suppress(NotFound):
            await client.get(CUSTOM_RESOURCES, where)
            return False
        with suppress(ApiError):
            await client.list(TEAMS)
            return False
        return True

    await until("the kind is gone", is_gone)


async def test_without_its_kind_it_says_what_to_apply_and_goes_on_when_it_is_there(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    async with stand(cluster, tmp_path) as it:
        await remove_kind(it.client)
        operator = it.start()
        line = await operator.says("must serve")
        assert line["event"] == (
            f"the API server must serve {TEAMS.name}, and does not;"
            " apply its definition: stateward crds --example | kubectl apply --server-side -f -"
        )
        status, text = await operator.ask("probes", "/readyz")
        assert (status, line["event"] in text) == (503, True)
        assert (await operator.ask("probes", "/healthz"))[0] == 200, "restarting would not help"

        await it.client.create(CUSTOM_RESOURCES, DEFINITION)
        await until("it is ready", operator.ready)
        await until("it leads", operator.leads)
        assert await operator.end() == 0


async def test_told_to_end_while_its_kind_is_missing_it_ends(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    """Here nobody answers at all, which is as good a reason to wait."""
    async with stand(cluster, tmp_path) as it:
        config = tmp_path / "config"
        cluster_, user = {"server": "http://127.0.0.1:1"}, {"cluster": "c"}
        config.write_text(
            json.dumps(
                {
                    "current-context": "x",
                    "contexts": [{"name": "x", "context": user}],
                    "clusters": [{"name": "c", "cluster": cluster_}],
                }
            )
        )
        operator = it.start("--kubeconfig", str(config))
        await operator.says("must be listed")
        assert not await operator.ready()
        assert await operator.end() == 0


async def test_a_wrong_kubeconfig_is_a_sentence_and_exit_code_2(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    async with stand(cluster, tmp_path) as it:
        operator = it.start("--kubeconfig", str(tmp_path / "nowhere"))
        assert await asyncio.to_thread(operator.process.wait, PATIENCE) == 2
        said = operator.log.read_text()
        assert said.startswith(f"stateward: kubeconfig {tmp_path / 'nowhere'} must exist; ")
        assert said.count("\n") == 1
