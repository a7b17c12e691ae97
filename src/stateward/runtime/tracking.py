"""Note every write, so that nobody plans before the caches show it (see ``own_writes.py``)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar, cast

from stateward.core.errors import OutcomeUnknown
from stateward.kube import codec
from stateward.kube.client import Apply, JsonPatch, MergePatch
from stateward.kube.errors import ServerFailed, Unavailable
from stateward.kube.interception import Call, PassThrough
from stateward.kube.meta import Object, ObjectMeta
from stateward.runtime.informer import Informer
from stateward.runtime.own_writes import Deleted, Doubtful, Written

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
        target = _target(call, informer)
        try:
            result = await perform()
        except Unavailable:
            raise  # the server said that it did nothing
        except (OutcomeUnknown, ServerFailed):
            informer.own_writes.note(Doubtful(target))
            raise
        if call.verb not in {"delete", "evict"}:
            informer.own_writes.note(Written(cast("Object", result)))
        elif target.metadata.uid == call.uid:
            # A cached object of another UID is not the one we deleted: nothing will be seen of ours.
            informer.own_writes.note(Deleted(target))
        return result


def _target(call: Call, informer: Informer[Any]) -> Object:
    """Return the object of a call as well as we know it: what is sent, or cached, or at least its name."""
    kind: type[Object] = informer.resource.type
    if call.body is not None and not isinstance(call.body, MergePatch | JsonPatch | Apply):
        return codec.decode(codec.encode(call.body), kind)
    cached: Object | None = informer.cache.peek(call.key)
    return cached or kind(metadata=ObjectMeta(namespace=call.key.namespace, name=call.key.name))
