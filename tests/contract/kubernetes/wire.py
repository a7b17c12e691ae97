"""Words to tell stories over HTTP with: paths as short as they can be, and what was answered.

``pods/a`` is a pod of the story's own namespace, ``elsewhere:pods/a`` one of its second namespace,
``namespaces/x`` something without a namespace; what begins with a slash is taken as it is.
"""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
from yarl import URL

from fakes.trust import trusting
from stateward.core.chance import Chance
from stateward.kube.http.access import BearerToken, ClusterAccess

#: Seconds for a controller to do its work.
PATIENCE: Final = 30.0

#: Where the kinds are; everything else is in the core group.
_GROUPS: Final = {
    "apps/v1": ("statefulsets", "deployments", "replicasets", "controllerrevisions"),
    "batch/v1": ("jobs", "cronjobs"),
    "policy/v1": ("poddisruptionbudgets",),
    "coordination.k8s.io/v1": ("leases",),
    "discovery.k8s.io/v1": ("endpointslices",),
    "storage.k8s.io/v1": ("storageclasses",),
    "rbac.authorization.k8s.io/v1": (
        "roles",
        "rolebindings",
        "clusterroles",
        "clusterrolebindings",
    ),
    "apiextensions.k8s.io/v1": ("customresourcedefinitions",),
    "authorization.k8s.io/v1": ("selfsubjectaccessreviews",),
}
_BY_KIND: Final = {kind: f"/apis/{group}" for group, kinds in _GROUPS.items() for kind in kinds}
_CLUSTER_WIDE: Final = frozenset(
    [
        "namespaces",
        "nodes",
        "persistentvolumes",
        "storageclasses",
        "customresourcedefinitions",
        "clusterroles",
        "clusterrolebindings",
        "selfsubjectaccessreviews",
    ]
)
_PATCHES: Final = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said."""

    code: int
    body: Any
    headers: Mapping[str, str]
    #: The texts of its Warning headers.
    warnings: tuple[str, ...] = ()

    def __getitem__(self, path: str) -> Any:
        """Return what is at a path like ``spec.containers.0.name``; None where nothing is."""
        value = self.body
        for step in path.split("."):
            if isinstance(value, list):
                value = value[int(step)] if int(step) < len(value) else None
            else:
                value = value.get(step) if isinstance(value, dict) else None
        return value

    @property
    def name(self) -> str:
        return str(self["metadata.name"])

    @property
    def revision(self) -> str:
        return str(self["metadata.resourceVersion"])

    @property
    def names(self) -> list[str]:
        """The names of a list's items, the cluster's own objects left out."""
        found = [it["metadata"]["name"] for it in self.body["items"]]
        return [it for it in found if it not in {"kube-root-ca.crt", "default"}]

    def ok(self, code: int = 200) -> Answer:
        """Check that it was done."""
        assert self.code == code, f"{self.code}: {self.body}"
        return self

    def made(self) -> Answer:
        """Check that something was created."""
        return self.ok(201)

    def refused(self, code: int, reason: str, *causes: str, says: str = "") -> Answer:
        """Check a refusal: its code, its reason, its causes as ``FieldValueInvalid spec.x``, its text.

        Without causes they may be any; ``says`` is a part of the message.
        """
        assert isinstance(self.body, dict), f"{self.code}: {self.body}"
        said = self.code, self.body.get("reason", "")
        assert said == (code, reason), f"{self.code}: {self.body}"
        assert self.body.get("kind") == "Status", self.body
        assert self.body.get("status") == "Failure", self.body
        assert says in self.body.get("message", ""), self.body
        if causes:
            assert sorted(self.causes) == sorted(causes), self.body
        return self

    @property
    def about(self) -> dict[str, str]:
        """What a refusal names: the name, group and kind of its details."""
        told = self["details"] or {}
        return {name: told[name] for name in ("name", "group", "kind") if name in told}

    @property
    def causes(self) -> list[str]:
        found = (self["details.causes"] or []) if isinstance(self.body, dict) else []
        return [f"{it.get('reason', '')} {it.get('field', '')}".strip() for it in found]


@dataclass(frozen=True, slots=True)
class Wire:
    """A server, and two namespaces of it that only this story uses."""

    session: aiohttp.ClientSession
    url: str
    namespace: str
    elsewhere: str

    async def get(self, path: str, *, accept: str = "application/json", **query: Any) -> Answer:
        return await self.ask("GET", path, headers={"Accept": accept}, **query)

    async def post(self, path: str, body: Any, **query: Any) -> Answer:
        return await self.ask("POST", path, body, **query)

    async def put(self, path: str, body: Any, **query: Any) -> Answer:
        return await self.ask("PUT", path, body, **query)

    async def patch(self, path: str, body: Any, kind: str = "merge", **query: Any) -> Answer:
        headers = {"Content-Type": _PATCHES[kind]}
        return await self.ask("PATCH", path, body, headers=headers, **query)

    async def apply(self, path: str, body: Any, manager: str = "me", **query: Any) -> Answer:
        """Apply on the server's side, as one manager of fields."""
        return await self.patch(path, body, "apply", fieldManager=manager, **query)

    async def delete(self, path: str, options: Any = None, **query: Any) -> Answer:
        return await self.ask("DELETE", path, options, **query)

    async def ask(
        self,
        verb: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        **query: Any,
    ) -> Answer:
        """Ask anything; a body that is text or bytes goes as it is, a path with ``%`` too."""
        data = _sent(body)
        given = {"Content-Type": "application/json"} if data is not None else {}
        async with self.session.request(
            verb,
            URL(self.url + self.place(path), encoded="%" in path),
            data=data,
            params={key: _word(value) for key, value in query.items()},
            headers={**given, **(headers or {})},
        ) as answer:
            text = await answer.text()
            told = tuple(answer.headers.getall("Warning", ()))
            warnings = tuple(it.split('"', 1)[1].rsplit('"', 1)[0] for it in told)
            return Answer(answer.status, _parsed(text), dict(answer.headers), warnings)

    @asynccontextmanager
    async def watch(self, path: str, **query: Any) -> AsyncGenerator[AsyncIterator[Any], None]:
        """Watch; each event is a document with ``type`` and ``object``."""
        params = {"watch": "true", **{key: _word(value) for key, value in query.items()}}
        async with self.session.get(self.url + self.place(path), params=params) as answer:
            assert answer.status == 200, await answer.text()
            try:
                yield _events(answer)
            finally:
                # The farewell of TLS waits for the peer, and could outlive the story.
                if answer.connection is not None and answer.connection.transport is not None:
                    answer.connection.transport.abort()

    async def until(self, holds: Callable[[], Awaitable[Any]]) -> Any:
        """Wait until a controller has made something hold; return what held."""
        async with asyncio.timeout(PATIENCE):
            while not (found := await holds()):  # noqa: ASYNC110 - a cluster rings no bell
                await asyncio.sleep(0.05)
            return found

    async def gone(self, path: str) -> None:
        """Wait until something is not there."""

        async def is_gone() -> bool:
            return (await self.get(path)).code == 404

        await self.until(is_gone)

    def place(self, path: str) -> str:
        """Return the path on the server."""
        if path.startswith("/"):
            return path
        where, _, rest = path.rpartition("elsewhere:")
        namespace = self.elsewhere if where or path.startswith("elsewhere:") else self.namespace
        kind = rest.split("/")[0]
        root = _BY_KIND.get(kind, "/api/v1")
        return (
            f"{root}/{rest}" if kind in _CLUSTER_WIDE else f"{root}/namespaces/{namespace}/{rest}"
        )


def _sent(body: Any) -> io.BytesIO | None:
    if body is None:
        return None
    text = body if isinstance(body, str | bytes) else json.dumps(body)
    return io.BytesIO(text.encode() if isinstance(text, str) else text)


async def _events(answer: aiohttp.ClientResponse) -> AsyncIterator[Any]:
    async for line in answer.content:
        yield json.loads(line)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@asynccontextmanager
async def wire_to(access: ClusterAccess) -> AsyncGenerator[Wire, None]:
    """Provide two fresh namespaces on a server, which go with it.

    Nobody deletes them: to empty hundreds of namespaces keeps a control plane from all else.
    """
    namespace = f"story-{Chance.from_system().suffix(8)}"
    async with wire_within(access, namespace, f"{namespace}-b") as wire:
        for name in (wire.namespace, wire.elsewhere):
            (await wire.post("namespaces", {"metadata": {"name": name}})).made()
            await wire.until(lambda name=name: _is_furnished(wire, name))
        yield wire


@asynccontextmanager
async def wire_within(
    access: ClusterAccess, namespace: str, elsewhere: str
) -> AsyncGenerator[Wire, None]:
    """Provide namespaces that are there already, or do not matter."""
    credentials = access.credentials
    assert isinstance(credentials, BearerToken)
    async with aiohttp.ClientSession(
        headers={"Authorization": f"Bearer {credentials.token}"},
        connector=aiohttp.TCPConnector(ssl=trusting(access)),
        read_bufsize=2**22,
    ) as session:
        yield Wire(session, str(access.server).rstrip("/"), namespace, elsewhere)


async def _is_furnished(wire: Wire, namespace: str) -> bool:
    """Tell whether a namespace takes pods: they need its service account."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/default"
    return (await wire.get(path)).code == 200
