"""A served API without nodes, in a thread of this process, and kubectl pointed at it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.clusters import Kubectl, kubectl_for
from stateward.core.ports import Ports
from stateward.local.collector import Collector
from stateward.local.schema.served import served_api
from stateward.local.server.app import ApiServer
from stateward.local.server.identity import identity, kubeconfig_text, write_secret


@pytest.fixture(scope="session")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Serve until the end of the session."""
    path = tmp_path_factory.mktemp("kubectl") / "kubeconfig"
    ready, loop = threading.Event(), asyncio.new_event_loop()
    ending = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(_serve(path, ready, ending),))
    thread.start()
    try:
        assert ready.wait(10)
        yield path
    finally:
        loop.call_soon_threadsafe(ending.set)
        thread.join(10)
        loop.close()


async def _serve(path: Path, ready: threading.Event, ending: asyncio.Event) -> None:
    ports = Ports.of_this_machine()
    api = served_api(ports)
    who = identity(ports.clock.now())
    collector = Collector(api, lambda: [kind.resource for kind in api.kinds])
    async with ApiServer(api, ports, token=who.token).listening(tls=who.tls) as url:
        write_secret(path, kubeconfig_text(url, who.token, who.authority).encode())
        collecting = asyncio.create_task(collector.run(ports))
        ready.set()
        await ending.wait()
        collecting.cancel()


@pytest.fixture(scope="session")
def anywhere(kubeconfig: Path, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    """kubectl in the namespace ``default``."""
    return kubectl_for(kubeconfig, tmp_path_factory.mktemp("home"))


@pytest.fixture
def kubectl(anywhere: Kubectl, request: pytest.FixtureRequest, tmp_path: Path) -> Kubectl:
    """kubectl in a namespace that only this test has."""
    namespace = request.node.name.partition("[")[0].replace("_", "-")[:60].strip("-")
    namespace = f"{namespace[:50]}-{abs(hash(request.node.name)) % 10_000}"
    anywhere("create", "namespace", namespace)
    path = tmp_path / "kubeconfig"
    text = anywhere.kubeconfig.read_text().replace("namespace: default", f"namespace: {namespace}")
    write_secret(path, text.encode())
    return Kubectl(anywhere.program, path, anywhere.home)
