"""The unified image: a launcher that follows its configuration and its pod, and its other modes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from local.keepers.runs import (
    Run,
    fdbserver,
    is_alive,
    outcome,
    put,
    running,
    variables_of,
    words_of,
)
from stateward.core.ports import Ports
from stateward.emulate.keepers.unified import pod as pods
from stateward.kube.client import MergePatch
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS
from stateward.local.client import MemoryClient
from stateward.local.schema.served import served_api
from stateward.local.server.app import ApiServer

PORT = {"type": "ProcessNumber", "offset": 4499, "multiplier": 2}
ADDRESS = {
    "type": "Concatenate",
    "values": [
        {"value": "--public_address=["},
        {"type": "Environment", "source": "FDB_PUBLIC_IP"},
        {"value": "]:"},
        PORT,
    ],
}
KEY = ObjectKey("default", "shop-log-1")


class Site:
    """A container: folders, a program, a configuration."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = fdbserver(folder / "programs").parent
        self.config = folder / "conf/config.json"
        self.config.parent.mkdir()

    def write(self, *words: str, version: str = "7.3.79", **more: Any) -> str:
        arguments = [{"value": it} for it in words]
        text = json.dumps({"version": version, "arguments": [*arguments, ADDRESS], **more})
        put(self.config, text)
        return text

    @asynccontextmanager
    async def running(self, *words: str | Path, **env: str) -> AsyncIterator[Run]:
        variables = {
            "STATEWARD_FDB_PROGRAMS": str(self.programs),
            "FDB_PUBLIC_IP": "127.0.0.1",
            "INPUT_DIR": str(self.config.parent),
            "SHARED_BINARY_DIR": str(self.folder / "shared"),
            "LISTEN_ADDRESS": "127.0.0.1:0",
        }
        async with running("kubernetes_monitor", *words, env=variables | env) as run:
            yield run


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


async def started(run: Run, times: int = 1) -> list[int]:
    await run.said("FDBD joined cluster.", times)
    return run.children()


async def kill(run: Run, pid: int, number: int = signal.SIGUSR1) -> None:
    """End a process as ``kill`` of fdbcli does, or otherwise."""
    os.kill(pid, number)
    await run.until(lambda: not is_alive(pid))


async def test_new_arguments_wait_for_the_next_exit(site: Site) -> None:
    site.write("--class=log")
    async with site.running("--process-count", "2") as run:
        first, second = await started(run, 2)
        assert words_of(first) == ["--class=log", "--public_address=[127.0.0.1]:4501"]
        assert words_of(second) == ["--class=log", "--public_address=[127.0.0.1]:4503"]
        site.write("--class=storage")
        await run.said("new configuration", 2)
        assert run.children() == [first, second]
        await kill(run, first)
        pids = await started(run, 3)
        assert pids[0] == second
        assert words_of(pids[1]) == ["--class=storage", "--public_address=[127.0.0.1]:4501"]
        assert await run.end() == 0
        assert not any(map(is_alive, pids))
    assert "EMULATED" in run.documents()[0]["msg"]


async def test_no_servers_while_none_are_wanted(site: Site) -> None:
    site.write(runServers=False)
    async with site.running() as run:
        await run.said("new configuration")
        assert run.children() == []
        site.write()
        pids = await started(run)
        site.write(runServers=False)
        await run.said("new configuration", 3)
        assert run.children() == pids
        await kill(run, pids[0])
        await run.said("fdbserver ended")
        site.write("--class=log")
        assert await started(run, 2) != pids
        assert run.count("starting fdbserver") == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "JSON document"),
        ('{"version": "7.3.79", "argum', "JSON document"),
        ("[1]", "JSON document"),
        ('{"version": "7.3.79", "arguments": [{"value": 3}]}', "arguments"),
        ('{"version": "new"}', "a version must look like"),
        ('{"version": "7.4.1"}', "shared/7.4.1/fdbserver must be a program"),
        (
            '{"version": "7.3.79", "arguments": [{"type": "Environment", "source": "RACK"}]}',
            "the variable RACK",
        ),
        ('{"version": "7.3.79", "arguments": [{"type": "Magic"}]}', "Magic"),
        ('{"version": "7.3.79", "arguments": [' + '{"values": [' * 5000, "JSON document"),
    ],
)
async def test_a_configuration_is_refused_and_the_old_one_stays(
    site: Site, text: str, why: str
) -> None:
    site.write("--class=log")
    async with site.running() as run:
        pids = await started(run)
        put(site.config, text)
        line = await run.said("the configuration is refused")
        assert why in json.loads(line)["error"]
        await kill(run, pids[0])
        (pid,) = await started(run, 2)
        assert words_of(pid)[0] == "--class=log"
        assert run.count("the configuration is refused") == 1


async def test_a_program_of_another_version_is_used_once_it_is_there(site: Site) -> None:
    site.write()
    async with site.running() as run:
        pids = await started(run)
        site.write(version="7.4.1")
        await run.said("the configuration is refused")
        program = fdbserver(site.folder / "shared/7.4.1")
        await run.said('"version": "7.4.1"')
        await kill(run, pids[0])
        (pid,) = await started(run, 2)
        assert variables_of(pid)["STATEWARD_COMMAND_LINE"].startswith(f"{program} ")


async def test_failures_wait_longer_each_time(site: Site) -> None:
    (site.programs / "failing").touch()
    site.write()
    async with site.running() as run:
        await run.said('"seconds": 1.0')
        await run.said('"seconds": 4.0')
        assert [it["seconds"] for it in run.documents() if "seconds" in it][:3] == [0.0, 1.0, 4.0]
        assert any(it.get("output") == "cannot begin" for it in run.documents())
        assert await run.end() == 0


async def test_who_is_deaf_is_killed_and_nobody_outlives_the_launcher(site: Site) -> None:
    (site.programs / "deaf").touch()
    site.write()
    async with site.running(STATEWARD_KEEPER_PATIENCE="0.5") as run:
        (pid,) = await started(run)
        assert await run.end() == 0
        assert not is_alive(pid)
    async with site.running() as run:
        (pid,) = await started(run)
        run.process.kill()
        await run.until(lambda: not is_alive(pid))


async def test_its_numbers_are_told(site: Site) -> None:
    site.write(version="7.3.27")
    async with site.running() as run:
        pids = await started(run)
        await kill(run, pids[0])
        await started(run, 2)
        text = await metrics(run)
    found = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    prefix = "fdbkubernetesmonitor_"
    assert float(found[f'{prefix}restart_count{{process="1"}}']) == 2
    assert float(found[f"{prefix}configuration_change_count"]) == 1
    assert float(found[f'{prefix}running_version{{version="7.3.27"}}']) == 1
    assert float(found[f'{prefix}desired_version{{version="7.3.27"}}']) == 1
    assert float(found[f"{prefix}last_applied_configuration_timestamp"]) > 1.7e9
    assert float(found[f'{prefix}start_timestamp{{process="1"}}']) > 1.7e9


async def metrics(run: Run) -> str:
    port = json.loads(await run.said("metrics are served"))["port"]
    async with aiohttp.ClientSession() as session:
        url = f"http://127.0.0.1:{port}"
        async with session.get(f"{url}/metrics") as answer, session.get(f"{url}/no") as no:
            assert (answer.status, no.status) == (200, 404)
            return await answer.text()


# ------------------------------------------------------------------ the pod
POD = {
    "metadata": {
        "namespace": KEY.namespace,
        "name": KEY.name,
        "annotations": {"theirs": "stay"},
    },
    "spec": {"containers": [{"name": "foundationdb", "image": "foundationdb/monitor:7.3.79"}]},
}


@asynccontextmanager
async def kubernetes(folder: Path) -> AsyncIterator[tuple[MemoryClient, dict[str, str]]]:
    """Serve a cluster with one pod; give a client of it, and the environment of that pod."""
    ports = Ports.of_this_machine()
    api = served_api(ports)
    client = MemoryClient(api, field_manager="you")
    await client.create(PODS, POD)
    async with ApiServer(api, ports, token="t").listening() as url:
        document = {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": url}}],
            "users": [{"name": "u", "user": {"token": "t"}}],
        }
        file = folder / "kubeconfig"
        file.write_text(yaml.safe_dump(document))
        yield (
            client,
            {
                "KUBECONFIG": str(file),
                "FDB_POD_NAME": KEY.name,
                "FDB_POD_NAMESPACE": KEY.namespace,
            },
        )


async def annotated(client: MemoryClient, name: str, value: str | None = None) -> str:
    """Wait until the pod has an annotation, with this value if one is given."""
    async with asyncio.timeout(30):
        while True:
            found = (await client.get(PODS, KEY)).metadata.annotations
            if name in found and value in {None, found[name]}:
                return found[name]
            await asyncio.sleep(0.02)


async def annotate(client: MemoryClient, **annotations: str | None) -> None:
    named = {f"foundationdb.org/{k.replace('_', '-')}": v for k, v in annotations.items()}
    await client.patch(PODS, KEY, MergePatch({"metadata": {"annotations": named}}))


async def test_what_is_in_force_is_written_on_the_pod(site: Site, tmp_path: Path) -> None:
    text = site.write("--class=log")
    async with kubernetes(tmp_path) as (client, env), site.running(**env) as run:
        await annotated(client, pods.CONFIGURATION, text)
        environment = json.loads(await annotated(client, pods.ENVIRONMENT))
        assert environment == {"BINARY_DIR": "/usr/bin", "FDB_PUBLIC_IP": "127.0.0.1"}
        put(site.config, '{"version": "7.3')
        await run.said("the configuration is refused")
        assert await annotated(client, pods.CONFIGURATION) == text
        newer = site.write("--class=storage")
        await annotated(client, pods.CONFIGURATION, newer)
        assert await annotated(client, "theirs") == "stay"


async def test_a_pod_that_is_isolated_has_no_servers_until_it_is_not(
    site: Site, tmp_path: Path
) -> None:
    site.write()
    async with kubernetes(tmp_path) as (client, env), site.running(**env) as run:
        (pid,) = await started(run)
        await annotate(client, isolate_process_group="true")
        await run.until(lambda: not run.children())
        assert not is_alive(pid)
        site.write("--class=log")
        await run.said("new configuration", 2)
        assert run.children() == []
        await annotate(client, isolate_process_group=None)
        (pid,) = await started(run, 2)
        assert words_of(pid)[0] == "--class=log"


async def test_who_is_isolated_from_the_start_starts_nothing(site: Site, tmp_path: Path) -> None:
    text = site.write()
    async with kubernetes(tmp_path) as (client, env):
        await annotate(client, isolate_process_group="1")
        async with site.running(**env) as run:
            await annotated(client, pods.CONFIGURATION, text)
            assert run.count("starting fdbserver") == 0
            await annotate(client, isolate_process_group="0")
            await started(run)


async def test_an_end_may_be_delayed_while_the_servers_are_gone(site: Site, tmp_path: Path) -> None:
    site.write()
    async with kubernetes(tmp_path) as (client, env), site.running(**env) as run:
        (pid,) = await started(run)
        await annotated(client, pods.CONFIGURATION)
        await annotate(client, delay_shutdown="2s", isolate_process_group="false")
        await annotated(client, pods.DELAY)
        # The launcher has heard of it once it has heard of what came after it.
        await annotate(client, isolate_process_group="true")
        await run.until(lambda: not is_alive(pid))
        began = asyncio.get_running_loop().time()
        assert await run.end() == 0
        assert asyncio.get_running_loop().time() - began >= 1.9


async def test_a_new_cluster_file_is_told(site: Site, tmp_path: Path) -> None:
    file = tmp_path / "fdb.cluster"
    file.write_text("a:b@127.0.0.1:4500")
    site.write(f"--cluster_file={file}")
    async with kubernetes(tmp_path) as (client, env), site.running(**env) as run:
        await started(run)
        await annotated(client, pods.ENVIRONMENT)
        file.write_text("a:c@127.0.0.1:4500,127.0.0.2:4500")
        assert int(await annotated(client, pods.CLUSTER_FILE)) > 1.7e9
        assert await annotated(client, pods.ENVIRONMENT)


async def test_servers_run_while_kubernetes_cannot_be_reached(site: Site, tmp_path: Path) -> None:
    site.write()
    async with kubernetes(tmp_path) as (_, env):
        pass
    async with site.running(**env) as run:
        await started(run)
        await run.said("annotations of the pod are not written")
        assert await run.end() == 0


async def test_a_pod_that_is_not_there_is_not_made(site: Site, tmp_path: Path) -> None:
    site.write()
    async with kubernetes(tmp_path) as (client, env):
        async with site.running(**env | {"FDB_POD_NAME": "nobody"}) as run:
            await started(run)
            await run.said("the pod is gone")
        assert [it.metadata.name for it in (await client.list(PODS)).items] == [KEY.name]


async def test_another_pod_of_the_same_name_is_not_ours(site: Site, tmp_path: Path) -> None:
    site.write()
    async with kubernetes(tmp_path) as (client, env), site.running(**env) as run:
        await annotated(client, pods.CONFIGURATION)
        ours = (await client.get(PODS, KEY)).metadata
        await client.delete(PODS, KEY, uid=ours.uid, grace_seconds=0)
        await client.create(PODS, POD)
        site.write("--class=log")
        await run.said("annotations of the pod are not written")
        assert (await client.get(PODS, KEY)).metadata.annotations == {"theirs": "stay"}


async def test_without_a_pod_it_goes_on_and_says_so_once(site: Site) -> None:
    site.write()
    async with site.running(FDB_POD_NAME="me", HOME="/nowhere") as run:
        await started(run)
        await run.said("goes on without annotations")
        assert run.count("goes on without annotations") == 1


# ------------------------------------------------------------------ other modes
async def test_a_sidecar_copies_programs_of_a_newer_version_and_idles(site: Site) -> None:
    words = ("--mode", "sidecar", "--output-dir", site.folder, "--copy-binary", "fdbserver")
    newer = {"STATEWARD_FDB_VERSION": "7.4.1"}
    async with site.running(*words, "--main-container-version", "7.3.79", **newer) as run:
        await run.said("waiting for the end")
        copied = site.folder / "bin/7.4.1/fdbserver"
        assert os.access(copied, os.X_OK)
        assert copied.read_bytes() == (site.programs / "fdbserver").read_bytes()
        assert await run.end() == 0


async def test_a_sidecar_of_the_same_version_copies_nothing(site: Site) -> None:
    words = ("--mode", "sidecar", "--output-dir", site.folder, "--copy-binary", "fdbserver")
    async with site.running(*words, "--main-container-version", "7.3.79") as run:
        await run.said("waiting for the end")
        assert not (site.folder / "bin").exists()
        assert await run.end(signal.SIGINT) == 0


@pytest.mark.parametrize(
    ("content", "words", "code"),
    [
        ("a:b@c", ["--require-not-empty", "fdb.cluster"], 0),
        ("", [], 0),
        ("", ["--require-not-empty", "fdb.cluster"], 1),
        ("a", ["--require-not-empty", "other"], 1),
        ("a", ["--copy-file", "../secret"], 1),
        ("a", ["--copy-binary", "no-such-program"], 1),
        ("a", ["--copy-library", "7.3"], 1),
    ],
)
async def test_an_init_container_copies_and_ends(
    tmp_path: Path, content: str, words: list[str], code: int
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/fdb.cluster").write_text(content)
    folders = ("--input-dir", tmp_path / "in", "--output-dir", tmp_path / "out")
    ended, lines = await outcome(
        "kubernetes_monitor", "--mode", "init", *folders, "--copy-file", "fdb.cluster", *words
    )
    assert ended == code, lines
    if code == 0:
        assert (tmp_path / "out/fdb.cluster").read_text() == content


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--listen-address", "nowhere"], "must look like"),
        (["--listen-address", "203.0.113.1:1"], "must be free to listen on"),
        (["--process-count", "0"], "must be 1 or more"),
        (["--additional-env-file", "/nowhere"], "must be a text"),
    ],
)
async def test_what_a_launcher_refuses(site: Site, words: list[str], told: str) -> None:
    site.write()
    async with site.running(*words) as run:
        assert await run.ended() == 1
    assert any(told in line for line in run.lines)


async def test_a_mode_that_nobody_knows_is_refused(site: Site) -> None:
    async with site.running(MODE="magic") as run:
        assert await run.ended() == 1
    assert any("the mode must be one of" in line for line in run.lines)


async def test_its_lines_are_in_a_file_too(site: Site) -> None:
    site.write("--class=log")
    extra = site.folder / "extra"
    extra.write_text("export FDB_PUBLIC_IP=127.0.0.9\nnonsense\n")
    log = site.folder / "logs/monitor.log"
    async with site.running("--log-path", log, "--additional-env-file", extra) as run:
        (pid,) = await started(run)
        assert words_of(pid)[1] == "--public_address=[127.0.0.9]:4501"
        assert await run.end() == 0
    assert log.read_text().splitlines() == run.lines
