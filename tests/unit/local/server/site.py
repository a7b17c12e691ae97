"""A served API and somebody who asks it things, on a socket of this machine."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from stateward.core.chance import Chance
from stateward.core.clock import SystemClock
from stateward.core.ports import Ports
from stateward.local.api import Api
from stateward.local.client import LogSource
from stateward.local.schema.served import served_api
from stateward.local.server.app import ApiServer
from stateward.local.server.streams import Temper

TOKEN = "open-sesame"
CONFIGS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: Any
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def refusal(self) -> tuple[int, str, str]:
        assert self.json["kind"] == "Status", self.text
        return self.status, self.json.get("reason", ""), self.json["message"]


@dataclass(frozen=True, slots=True)
class Site:
    url: str
    api: Api
    server: ApiServer
    session: aiohttp.ClientSession

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        """Send a request; a body that is no text travels as JSON."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None and not isinstance(body, str | bytes):
            body = json.dumps(body)
            sent.setdefault("Content-Type", "application/json")
        if isinstance(body, str):
            body = io.BytesIO(body.encode())
        async with self.session.request(method, self.url + path, data=body, headers=sent) as answer:
            return Reply(answer.status, answer.headers, await answer.text())

    async def get(self, path: str, **headers: str) -> Reply:
        return await self.ask("GET", path, **headers)

    async def post(self, path: str, body: Any, **headers: str) -> Reply:
        return await self.ask("POST", path, body, **headers)

    async def put_config(self, name: str, **labels: str) -> Any:
        made = await self.post(CONFIGS, {"metadata": {"name": name, "labels": labels}})
        assert made.status == 201, made.text
        return made.json

    async def lines(self, path: str, count: int, **headers: str) -> list[Any]:
        """Return so many lines of a watch."""
        found: list[Any] = []
        async with self.session.get(self.url + path, headers=headers) as answer:
            assert answer.status == 200, await answer.text()
            while len(found) < count and (line := await answer.content.readline()):
                found.append(json.loads(line))
        return found


@asynccontextmanager
async def serving(
    *, temper: Temper | None = None, logs: LogSource | None = None, token: str = TOKEN
) -> AsyncIterator[Site]:
    ports = Ports(SystemClock(), Chance(1))
    api = served_api(ports)
    server = ApiServer(api, ports, token=TOKEN, temper=temper, logs=logs)
    sent = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        server.listening() as url,
        aiohttp.ClientSession(headers=sent, skip_auto_headers={"Content-Type"}) as session,
    ):
        yield Site(url, api, server, session)
