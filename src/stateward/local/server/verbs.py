"""The verbs on objects: from a request to the API and back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from aiohttp import web

from stateward.core.ports import Ports
from stateward.kube.client import Apply, Propagation
from stateward.kube.codec import Json
from stateward.kube.errors import ApiError, BadRequest, MethodNotAllowed, NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CUSTOM_RESOURCES, JOBS, NAMESPACES
from stateward.local.api import Api
from stateward.local.kinds import Kind
from stateward.local.rules import validity
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.metadata import check_type
from stateward.local.rules.scale import SCALES
from stateward.local.rules.writes import Author
from stateward.local.server import bodies, options, pages
from stateward.local.server.addresses import Address
from stateward.local.server.answers import answer, document
from stateward.local.server.forms import EVENT_FORMS, FORMS, LIST_FORMS, Show
from stateward.local.server.negotiation import Form, wanted
from stateward.local.server.refusals import Refused, success
from stateward.local.server.streams import Streams

_OPTIONS: Final = {"POST": "CreateOptions", "PUT": "UpdateOptions", "PATCH": "PatchOptions"}
#: Of these a deletion shows what they were, of others only that they are gone.
_SHOWN_AT_LAST: Final = frozenset(
    [
        *("persistentvolumeclaims", "persistentvolumes", "pods", "serviceaccounts", "services"),
        CUSTOM_RESOURCES.name,
    ]
)
_ORPHANED_JOBS: Final = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background"
    " to remove them or set propagationPolicy=Orphan to suppress this warning"
)


@dataclass(frozen=True, slots=True)
class Call:
    """One request about the objects of a kind."""

    request: web.BaseRequest
    address: Address
    kind: Kind
    query: options.Query

    @property
    def key(self) -> ObjectKey:
        """The object that it is about."""
        return self.address.key

    def author(self) -> Author:
        """Return who writes."""
        kind = _OPTIONS[self.request.method]
        return options.author(self.query, self.request.headers.get("User-Agent", ""), kind)

    async def sent(self, author: Author | None = None) -> Json:
        """Return the document that came with it; tell its author what is odd about it."""
        body = await bodies.read(self.request)
        found = bodies.document_of(body, self.request.headers.get("Content-Type", ""), author)
        if not self.kind.built_in and not self.address.subresource:
            _check_kind(found, self.kind)
        return found

    async def sent_if_any(self) -> Json | None:
        """Return the document that came with it, or None when there is no body."""
        body = await bodies.read(self.request)
        content_type = self.request.headers.get("Content-Type", "")
        return bodies.document_of(body, content_type) if body else None


Verb = Callable[[Call], Awaitable[web.StreamResponse]]


class Verbs:
    """Everything that can be asked of objects and of lists of them."""

    def __init__(self, api: Api, ports: Ports, streams: Streams) -> None:
        self._api = api
        self._now = ports.clock.now
        self._streams = streams
        self._on_lists: dict[str, Verb] = {
            "GET": self._list,
            "POST": self._create,
            "DELETE": self._delete_all,
        }
        self._on_objects: dict[str, Verb] = {
            "GET": self._get,
            "PUT": self._update,
            "PATCH": self._patch,
            "DELETE": self._delete,
        }

    async def serve(self, call: Call) -> web.StreamResponse:
        """Do what a request asks for, or raise why not."""
        of = self._on_objects if call.address.name else self._on_lists
        verb = of.get(call.request.method)
        if verb is None or (call.address.subresource and call.request.method == "DELETE"):
            raise not_allowed()
        if not call.address.name and call.request.method in {"POST", "DELETE"}:
            _check_collection(call)
        return await verb(call)

    def show(self, call: Call, forms: frozenset[Form] = FORMS) -> Show:
        """Return how the asker wants to see objects."""
        form = wanted(call.request.headers.get("Accept", ""), forms)
        return Show.of(call.kind, form, call.query.get("includeObject", ""), self._now)

    async def _get(self, call: Call) -> web.StreamResponse:
        show = self.show(call)
        pages.check_known(self._api.store, options.revision(call.query))
        found = self._api.get(call.kind.resource, call.key, subresource=call.address.subresource)
        return answer(show.one(found))

    async def _list(self, call: Call) -> web.StreamResponse:
        asked = options.Listing.of(call.query, call.address.namespace)
        if options.flag(call.query, "watch"):
            return await self._streams.serve(call.request, self.show(call, EVENT_FORMS), asked)
        show = self.show(call, LIST_FORMS)
        page = pages.page(self._api.store, call.kind, asked)
        return answer(show.many(page.items, page.meta))

    async def _create(self, call: Call) -> web.StreamResponse:
        show, author = self.show(call), call.author()
        sent = await call.sent(author)
        try:
            made = self._api.create(call.kind.resource, call.address.namespace, sent, author)
        except ApiError as error:
            raise Refused(error, _name_in(sent)) from error
        return answer(show.one(made), 201, warnings=author.warnings)

    async def _update(self, call: Call) -> web.StreamResponse:
        show, author = self.show(call), call.author()
        sent = await call.sent(author)
        fresh = self._is_absent(call)
        made = self._api.update(
            call.kind.resource, call.key, sent, author, subresource=call.address.subresource
        )
        return answer(show.one(made), 201 if fresh else 200, warnings=author.warnings)

    async def _patch(self, call: Call) -> web.StreamResponse:
        show, author = self.show(call), call.author()
        force = options.flag(call.query, "force") if "force" in call.query else None
        patch = bodies.patch_of(
            await bodies.read(call.request),
            call.request.headers.get("Content-Type", ""),
            call.query.get("fieldManager", ""),
            author,
            force=force,
        )
        if isinstance(patch, Apply):
            is_scale = call.address.subresource == "scale"
            check_type(patch.body, SCALES if is_scale else call.kind.resource)
        fresh = self._is_absent(call)
        made = self._api.patch(
            call.kind.resource, call.key, patch, author, subresource=call.address.subresource
        )
        return answer(show.one(made), 201 if fresh else 200, warnings=author.warnings)

    async def _delete(self, call: Call) -> web.StreamResponse:
        show = self.show(call)
        asked = options.deleting(call.query, await call.sent_if_any())
        how, warnings = _as_used(call, asked)
        ended = self._api.delete(call.kind.resource, call.key, how)
        if ended.gone and call.kind.resource.name not in _SHOWN_AT_LAST:
            return document(success(call.address, uid=ended.stored.uid))
        return answer(show.one(ended.stored), warnings=warnings)

    async def _delete_all(self, call: Call) -> web.StreamResponse:
        show = self.show(call, LIST_FORMS)
        asked = options.deleting(call.query, await call.sent_if_any())
        how, warnings = _as_used(call, asked)
        listing = options.Listing.of(call.query, call.address.namespace)
        page = pages.page(self._api.store, call.kind, listing)
        for stored in page.items:
            with suppress(NotFound):  # of an old list some may be gone
                self._api.delete(call.kind.resource, stored.key, how)
        return answer(show.many(page.items, page.meta), warnings=warnings)

    def _is_absent(self, call: Call) -> bool:
        return self._api.store.get(call.kind.resource.name, call.key) is None


def not_allowed() -> MethodNotAllowed:
    """Return the refusal of a verb that a resource does not have."""
    return MethodNotAllowed("the server does not allow this method on the requested resource")


def _check_kind(document: Json, kind: Kind) -> None:
    """Insist that an object of a custom kind says what it is: nothing else tells its type."""
    resource = kind.resource
    if not document.get("kind"):
        raise BadRequest(
            f"the object provided is unrecognized (must be of type {resource.kind}):"
            " it must have a kind"
        )
    if document.get("apiVersion", "") != resource.api_version:
        raise BadRequest(
            f"the API version in the data ({document.get('apiVersion', '')}) does not match"
            f" the expected API version ({resource.api_version})"
        )
    if document["kind"] != resource.kind:
        raise validity.unfitting(kind, _name_in(document), "kind", document["kind"])


def _name_in(document: Json) -> str:
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def _check_collection(call: Call) -> None:
    """Refuse what is done to the objects of one namespace only; namespaces go one by one."""
    resource = call.kind.resource
    if resource.namespaced and not call.address.namespace:
        raise not_allowed()
    if resource.name == NAMESPACES.name and call.request.method == "DELETE":
        raise not_allowed()


def _as_used(call: Call, asked: options.Deleting) -> tuple[DeleteOptions, list[str]]:
    """Return how to delete; jobs leave their pods behind unless somebody says otherwise."""
    if call.kind.resource.name != JOBS.name:
        return asked.as_used(None), []
    warnings = [_ORPHANED_JOBS] if asked.propagation is None else []
    return asked.as_used(Propagation.ORPHAN), warnings
