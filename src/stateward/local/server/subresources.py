"""What is asked of a part of an object: bind, evict, finalize, read its log, scale it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import msgspec
from aiohttp import web

from stateward.core.ports import Ports
from stateward.kube.client import Propagation
from stateward.kube.codec import Json, Part
from stateward.kube.errors import BadRequest, MethodNotAllowed, NotFound, ServerFailed
from stateward.kube.resources import NAMESPACES, PODS
from stateward.local.api import Api
from stateward.local.client import LogSource
from stateward.local.rules.binding import Target
from stateward.local.server import options, podlogs
from stateward.local.server.answers import document
from stateward.local.server.refusals import not_found_here, success
from stateward.local.server.streams import Streams
from stateward.local.server.verbs import Call, Verb, Verbs, not_allowed

#: What a real cluster has and nothing here can do.
NOT_OFFERED: Final = frozenset(
    {"exec", "attach", "portforward", "proxy", "ephemeralcontainers", "resize"}
)


class Subresources:
    """Everything that can be asked of a part of an object."""

    def __init__(
        self, api: Api, ports: Ports, verbs: Verbs, streams: Streams, logs: LogSource | None
    ) -> None:
        self._api = api
        self._now = ports.clock.now
        self._verbs = verbs
        self._streams = streams
        self._logs = logs
        self._own: dict[tuple[str, str], tuple[str, Verb]] = {
            (PODS.name, "log"): ("GET", self._log),
            (PODS.name, "eviction"): ("POST", self._evict),
            (PODS.name, "binding"): ("POST", self._bind),
            (NAMESPACES.name, "finalize"): ("PUT", self._verbs.serve),
        }

    async def serve(self, call: Call) -> web.StreamResponse:
        """Do what a request asks for, or raise why not."""
        name, part = call.kind.resource.name, call.address.subresource
        if (own := self._own.get((name, part))) is not None:
            method, verb = own
            if call.request.method != method:
                raise not_allowed()
            return await verb(call)
        if part == "status" and call.kind.resource.has_status:
            return await self._verbs.serve(call)
        if part == "scale" and call.kind.scale is not None:
            return await self._verbs.serve(call)
        if name == PODS.name and part in NOT_OFFERED:
            raise self._not_offered(call)
        raise not_found_here()

    def _not_offered(self, call: Call) -> MethodNotAllowed:
        """Say what to do instead: the pod is a process of this machine."""
        stored = self._api.store.get(PODS.name, call.key)
        status = (stored.document() if stored is not None else {}).get("status") or {}
        address = status.get("podIP") or "its address (status.podIP)"
        return MethodNotAllowed(
            f"pods/{call.address.subresource} is not offered here: the pod is a process of this"
            f" machine, reach it at {address}, and read what it writes with: stateward local logs"
        )

    async def _log(self, call: Call) -> web.StreamResponse:
        pod = self._api.get(PODS, call.key).document()
        asked = podlogs.log_options(call.query, pod, self._now())
        if not pod["spec"].get("nodeName"):
            return web.Response(status=204)  # it runs nowhere, and has nothing to say
        if self._logs is None:
            raise NotFound(f'pods "{call.key.name}" has no log: nothing runs pods here')
        pieces = podlogs.at_most(
            self._logs(call.key, asked), options.number(call.query, "limitBytes")
        )
        first = await anext(pieces, b"")  # what is wrong is said before the answer begins
        return await self._streams.write(
            call.request, podlogs.beginning_with(first, pieces), "text/plain"
        )

    async def _evict(self, call: Call) -> web.StreamResponse:
        sent = await self._sent(call, "Eviction")
        asked = options.deleting({}, sent.get("deleteOptions") or {})
        how = asked.as_used(Propagation.BACKGROUND)
        rehearsal = how.dry_run or options.dry_run(call.query, "CreateOptions")
        self._api.evict(call.key, replace(how, dry_run=rehearsal))
        return document(success(call.address, code=201), 201)

    async def _bind(self, call: Call) -> web.StreamResponse:
        sent = await self._sent(call, "Binding")
        self._api.bind(
            call.key,
            _target(sent, dry_run=options.dry_run(call.query, "CreateOptions")),
        )
        return document(success(call.address, code=201), 201)

    async def _sent(self, call: Call, kind: str) -> Json:
        sent = await call.sent()
        if sent.get("kind", kind) != kind:
            raise BadRequest(f"the body must be of kind {kind}, got {sent['kind']!r}")
        if _metadata(sent).get("name") != call.key.name:
            raise BadRequest(f"name in URL does not match name in {kind} object")
        return sent


class _Meant(Part):
    uid: str | None = None
    resource_version: str | None = None
    annotations: dict[str, str] | None = None


class _Node(Part):
    name: str | None = None
    kind: str | None = None


class _Binding(Part):
    metadata: _Meant = _Meant()
    target: _Node = _Node()


def _target(sent: Json, *, dry_run: bool) -> Target:
    """Read where a pod shall be."""
    try:
        asked = msgspec.convert(sent, _Binding)
    except msgspec.ValidationError as error:
        raise BadRequest(f"the Binding cannot be read: {error}") from error
    meant, node = asked.metadata, asked.target
    if node.kind not in {None, "", "Node"}:
        raise ServerFailed(
            f'target.kind: Unsupported value: "{node.kind}": supported values: "Node", "<empty>"'
        )
    return Target(
        node.name or "",
        meant.uid or "",
        meant.resource_version or "",
        meant.annotations or {},
        dry_run=dry_run,
    )


def _metadata(sent: Json) -> dict[str, Any]:
    found = sent.get("metadata")
    return found if isinstance(found, dict) else {}
