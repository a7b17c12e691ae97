"""Note every write, so that nobody plans before the caches show it (see ``own_writes.py``)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any, TypeVar, cast

import msgspec

from stateward.core.errors import PeerConfused
from stateward.kube import codec
from stateward.kube.client import Apply, JsonPatch, MergePatch
from stateward.kube.errors import did_nothing
from stateward.kube.interception import Call, PassThrough
from stateward.kube.meta import Object
from stateward.runtime.informer import Informer
from stateward.runtime.own_writes import PASS, Deleted, Doubtful, Written

R = TypeVar("R")


class Tracking(PassThrough):
    """An interceptor that leaves notes for the informers about every write."""

    def __init__(self, informers: Iterable[Informer[Any]]) -> None:
        self._informers = {informer.resource.name: informer for informer in informers}

    async def around(self, call: Call, perform: Callable[[], Awaitable[R]]) -> R:
        """Perform the call and note what it wrote, or that we do not know."""
        informer = self._informers.get(call.resource.name)
        if informer is None or not call.writes:
            return await perform()
        writes = informer.own_writes
        # Asked before the call: the cache may forget it meanwhile. What is created is new.
        known = writes.known(call.key, call.uid) if call.verb != "create" else None
        try:
            result = await perform()
        except BaseException as error:
            # A name that the server makes up cannot be looked up.
            if call.key.name and not did_nothing(error):
                target = known or _target(call, informer.resource.type)
                writes.note(Doubtful(target, PASS.get(), known))
            raise
        if call.verb == "bind":
            # The answer shows nothing of the pod: it is looked up before anybody plans with it.
            target = known or _target(call, informer.resource.type)
            writes.note(Doubtful(target, PASS.get(), known))
        elif call.verb not in {"delete", "evict"}:
            writes.note(Written(cast("Object", result), PASS.get(), known))
        elif known is not None:
            writes.note(Deleted(known, PASS.get(), known))
        return result


def _target(call: Call, kind: type[Object]) -> Object:
    """Return the object of a call as its body tells: whole, or its metadata, or its name."""
    body = call.body.body if isinstance(call.body, Apply) else call.body
    if body is None or isinstance(body, MergePatch | JsonPatch):
        body = {}
    sent = _read(codec.encode(body), kind)
    uid = call.uid or sent.metadata.uid
    metadata = msgspec.structs.replace(
        sent.metadata, namespace=call.key.namespace, name=call.key.name, uid=uid
    )
    return msgspec.structs.replace(sent, metadata=metadata)


def _read(text: bytes, kind: type[Object]) -> Object:
    """Read what was sent, which may be only part of an object."""
    for attempt in (kind, Object):
        with suppress(PeerConfused):
            return codec.decode(text, attempt)
    return Object()
