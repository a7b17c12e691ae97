"""A node answers the API server alone, and shows logs alone: over real sockets and certificates."""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from stateward.core.ports import Ports
from stateward.kube.client import LogOptions
from stateward.kube.errors import BadRequest, NotFound
from stateward.kube.meta import ObjectKey
from stateward.local.agent.nodes import Node, NodeSpec, status_of
from stateward.local.real.kubelet import Kubelet
from stateward.local.server.identity import identity

WEB = ObjectKey("shop", "web-0")
PORTS = Ports.of_this_machine()


async def said(key: ObjectKey, options: LogOptions) -> AsyncGenerator[bytes, None]:
    """Say what was asked for; know one pod with two containers."""
    if key != WEB:
        raise NotFound(f'pods "{key.name}" has no log')
    if options.container == "waits":
        raise BadRequest('container "waits" in pod "web-0" is waiting to start: PodInitializing')
    if options.container == "silent":
        return
    yield f"{options.container} tail={options.tail_lines} since={options.since_seconds}".encode()
    yield f" {options.previous} {options.follow} {options.timestamps}\n".encode()


@asynccontextmanager
async def asking(papers: Path, *, shows: bool) -> AsyncGenerator[aiohttp.ClientSession, None]:
    context = ssl.create_default_context(cafile=str(papers / "ca.crt"))
    context.check_hostname = False
    if shows:
        context.load_cert_chain(papers / "server.crt", papers / "server.key")
    connector = aiohttp.TCPConnector(ssl=context)
    async with aiohttp.ClientSession(connector=connector) as session:
        yield session


@asynccontextmanager
async def a_node(papers: Path) -> AsyncGenerator[str, None]:
    identity(PORTS.clock.now(), papers)
    node = Node(NodeSpec("n"), "127.9.8.7")
    async with Kubelet(said, PORTS.clock, papers).listening([node]):
        endpoint = status_of(node, {}, 0.0)["daemonEndpoints"]["kubeletEndpoint"]
        yield f"https://{node.address}:{endpoint['Port']}"


@pytest.mark.parametrize(
    ("path", "code", "text"),
    [
        ("shop/web-0/main", 200, "main tail=None since=None False False False\n"),
        (
            "shop/web-0/main?tailLines=3&sinceSeconds=9&previous=true&follow=true&timestamps=true",
            200,
            "main tail=3 since=9 True True True\n",
        ),
        ("shop/web-0/main?limitBytes=4", 200, "main"),
        ("shop/web-0/silent", 200, ""),
        (
            "shop/web-0/waits",
            400,
            'container "waits" in pod "web-0" is waiting to start: PodInitializing',
        ),
        ("shop/web-1/main", 404, 'pods "web-1" has no log'),
        ("shop/web-0/main?tailLines=many", 400, None),
        ("shop/web-0", 404, None),
    ],
)
async def test_what_is_asked_is_shown(
    tmp_path: Path, path: str, code: int, text: str | None
) -> None:
    async with (
        a_node(tmp_path) as url,
        asking(tmp_path, shows=True) as session,
        session.get(f"{url}/containerLogs/{path}") as answer,
    ):
        told = await answer.text()

    assert answer.status == code
    assert text in {None, told}


async def test_nothing_else_is_offered(tmp_path: Path) -> None:
    async with (
        a_node(tmp_path) as url,
        asking(tmp_path, shows=True) as session,
        session.post(f"{url}/exec/shop/web-0/main") as answer,
    ):
        assert answer.status == 404
        assert "only logs are" in await answer.text()


async def test_who_shows_no_certificate_of_ours_is_not_answered(tmp_path: Path) -> None:
    async with a_node(tmp_path) as url, asking(tmp_path, shows=False) as session:
        with pytest.raises((aiohttp.ClientError, ssl.SSLError)):
            await session.get(f"{url}/containerLogs/shop/web-0/main")
