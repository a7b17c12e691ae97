"""A served API without nodes, in a thread of this process, and kubectl pointed at it.

With ``--real`` everything that asks for kubectl is also asked of the real Kubernetes beside it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from contract.kubernetes.columns import EMBEDDED
from fakes.threads import in_a_thread
from local.clusters import Kubectl, kubectl_for
from real import planes
from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.local.collector import Collector
from stateward.local.schema.served import served_api
from stateward.local.server.app import ApiServer
from stateward.local.server.identity import identity, kubeconfig_text, write_secret


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "kubeconfig" in metafunc.fixturenames:
        columns = planes.columns({EMBEDDED: None}, planes.kubeconfigs())
        metafunc.parametrize(
            "kubeconfig", columns.values(), ids=columns, indirect=True, scope="session"
        )


@pytest.fixture(scope="session")
def kubeconfig(request: pytest.FixtureRequest) -> Path:
    """Return how a server is reached: a real one, or our own."""
    path: Path = request.param or request.getfixturevalue("embedded")
    return path


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Serve until the end of the session."""
    path = tmp_path_factory.mktemp("kubectl") / "kubeconfig"
    with in_a_thread(lambda: _serving(path)):
        yield path


@asynccontextmanager
async def _serving(path: Path) -> AsyncGenerator[None, None]:
    ports = Ports.of_this_machine()
    api = served_api(ports)
    who = identity(ports.clock.now())
    collector = Collector(api, lambda: [kind.resource for kind in api.kinds])
    async with ApiServer(api, ports, token=who.token).listening(tls=who.tls) as url:
        write_secret(path, kubeconfig_text(url, who.token, who.authority).encode())
        collecting = asyncio.create_task(collector.run(ports))
        yield
        collecting.cancel()


@pytest.fixture(scope="session")
def anywhere(kubeconfig: Path, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    """kubectl in the namespace ``default``."""
    return kubectl_for(kubeconfig, tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def ours(embedded: Path, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    """kubectl before our own server, for what only that one says."""
    return kubectl_for(embedded, tmp_path_factory.mktemp("home"))


@pytest.fixture
def kubectl(anywhere: Kubectl, request: pytest.FixtureRequest, tmp_path: Path) -> Kubectl:
    """kubectl in a namespace that only this test has."""
    namespace = request.node.name.partition("[")[0].replace("_", "-")[:60].strip("-")
    namespace = f"{namespace[:50]}-{Chance.from_system().suffix(8)}"
    anywhere("create", "namespace", namespace)
    path = tmp_path / "kubeconfig"
    text = anywhere.kubeconfig.read_text().replace("namespace: default", f"namespace: {namespace}")
    write_secret(path, text.encode())
    return Kubectl(anywhere.program, path, anywhere.home)
