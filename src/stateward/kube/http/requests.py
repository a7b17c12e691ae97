"""Verbs as requests: which method, path, query and body Kubernetes wants for each. Pure.

A path is refused when it would mean something else than was asked: without a name, a deletion would
be one of the whole collection, and without a namespace the answer would be a misleading "not
found".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import urlencode

from stateward.core.errors import HouseError
from stateward.kube.client import (
    Apply,
    JsonPatch,
    LogOptions,
    MergePatch,
    Patch,
    Propagation,
    Read,
    Selection,
)
from stateward.kube.codec import Body, Json, encode, plain
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS, Resource

AnyResource: TypeAlias = Resource[Any]

JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Request:
    """One request, without the credentials.

    A body may be a Secret, and a query holds long tokens: neither is shown.
    """

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)
    content_type: str = ""
    #: What metrics call it.
    verb: str = ""

    @property
    def writes(self) -> bool:
        """True when the server may change something because of it."""
        return self.method != "GET"

    @property
    def target(self) -> str:
        """The path with the query, quoted."""
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def get(resource: AnyResource, key: ObjectKey) -> Request:
    """Ask for one object."""
    return Request("GET", _object_path(resource, key))


def page(
    resource: AnyResource, selection: Selection, read: Read, *, limit: int, continue_: str
) -> Request:
    """Ask for one page of a list; ``limit`` 0 asks for all of it."""
    query = _selectors(selection)
    if limit:
        query["limit"] = str(limit)
    if continue_:
        # The token names the revision; naming it twice is an error.
        query["continue"] = continue_
    elif read.value:
        query["resourceVersion"] = read.value
    return Request("GET", resource.path(selection.namespace), tuple(query.items()))


def watch(resource: AnyResource, selection: Selection, *, since: str, seconds: int) -> Request:
    """Ask for the changes after a revision, for so many seconds."""
    query = _selectors(selection) | {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": since,
        "timeoutSeconds": str(seconds),
    }
    path = resource.path(selection.namespace)
    return Request("GET", path, tuple(query.items()), verb="WATCH")


def log(key: ObjectKey, options: LogOptions) -> Request:
    """Ask for the log of a container."""
    asked = {
        "container": options.container,
        "tailLines": _number(options.tail_lines),
        "sinceSeconds": _number(options.since_seconds),
        "previous": "true" if options.previous else "",
        "follow": "true" if options.follow else "",
        "timestamps": "true" if options.timestamps else "",
    }
    query = tuple((name, value) for name, value in asked.items() if value)
    return Request("GET", _object_path(PODS, key, "log"), query)


VERSION = Request("GET", "/version")


@dataclass(frozen=True, slots=True)
class Writing:
    """The writing verbs, with what is the same in all of them: who writes, and how strictly fields
    are checked.
    """

    field_manager: str
    field_validation: str = ""

    def create(self, resource: AnyResource, body: Body, *, dry_run: bool) -> Request:
        """Ask for a new object; the server may choose its name."""
        document = _complete(resource, body)
        key = _key_in(document)
        path = resource.path(_namespace(resource, key))
        return Request("POST", path, self._query(dry_run=dry_run), encode(document), JSON)

    def update(
        self, resource: AnyResource, body: Body, *, subresource: str, dry_run: bool
    ) -> Request:
        """Ask for an object to be replaced."""
        document = _complete(resource, body)
        path = _object_path(resource, _key_in(document), subresource)
        return Request("PUT", path, self._query(dry_run=dry_run), encode(document), JSON)

    def patch(
        self,
        resource: AnyResource,
        key: ObjectKey,
        patch: Patch,
        *,
        subresource: str,
        dry_run: bool,
    ) -> Request:
        """Ask for a part of an object to be changed."""
        path = _object_path(resource, key, subresource)
        query = self._query(dry_run=dry_run)
        match patch:
            case MergePatch(body):
                content, content_type = encode(body), "application/merge-patch+json"
            case JsonPatch(operations):
                content, content_type = encode(operations), "application/json-patch+json"
            case Apply(body, manager, force):
                # The body is JSON, which every YAML parser reads.
                content, content_type = (
                    encode(_complete(resource, body)),
                    "application/apply-patch+yaml",
                )
                query = self._query(dry_run=dry_run, manager=manager, force=force)
        return Request("PATCH", path, query, content, content_type)

    def _query(
        self, *, dry_run: bool, manager: str = "", force: bool = False
    ) -> tuple[tuple[str, str], ...]:
        asked = {
            "fieldManager": manager or self.field_manager,
            "fieldValidation": self.field_validation,
            "dryRun": "All" if dry_run else "",
            "force": "true" if force else "",
        }
        return tuple((name, value) for name, value in asked.items() if value)


@dataclass(frozen=True, slots=True)
class Deletion:
    """Which object is to go, and how."""

    uid: str
    resource_version: str = ""
    propagation: Propagation | None = None
    grace_seconds: int | None = None
    dry_run: bool = False

    def options(self) -> Json:
        """Return the DeleteOptions; the body is the only place where the server looks for them."""
        if not self.uid:
            raise HouseError("a deletion must name the UID of the object it is about")
        preconditions = {"uid": self.uid}
        if self.resource_version:
            preconditions["resourceVersion"] = self.resource_version
        options: Json = {"preconditions": preconditions}
        if self.propagation is not None:
            options["propagationPolicy"] = self.propagation.value
        if self.grace_seconds is not None:
            options["gracePeriodSeconds"] = self.grace_seconds
        if self.dry_run:
            options["dryRun"] = ["All"]
        return options


def delete(resource: AnyResource, key: ObjectKey, deletion: Deletion) -> Request:
    """Ask for an object to be deleted."""
    body = {"apiVersion": "v1", "kind": "DeleteOptions", **deletion.options()}
    return Request("DELETE", _object_path(resource, key), (), encode(body), JSON)


def evict(key: ObjectKey, deletion: Deletion) -> Request:
    """Ask for a pod to leave."""
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": key.name, "namespace": key.namespace},
        "deleteOptions": deletion.options(),
    }
    return Request("POST", _object_path(PODS, key, "eviction"), (), encode(body), JSON)


def bind(key: ObjectKey, node: str, *, uid: str) -> Request:
    """Put a pod on a node."""
    body = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": key.name, "namespace": key.namespace, "uid": uid},
        "target": {"kind": "Node", "name": node},
    }
    return Request("POST", _object_path(PODS, key, "binding"), (), encode(body), JSON)


def _object_path(resource: AnyResource, key: ObjectKey, subresource: str = "") -> str:
    if key.name in {"", ".", ".."}:
        raise HouseError(f"a request for one of {resource} must name it, got {key.name!r}")
    return resource.path(_namespace(resource, key), key.name, subresource)


def _namespace(resource: AnyResource, key: ObjectKey) -> str:
    if resource.namespaced and key.namespace in {"", ".", ".."}:
        raise HouseError(f"{resource} {key.name!r} must have a namespace, got {key.namespace!r}")
    return key.namespace


def _selectors(selection: Selection) -> dict[str, str]:
    asked = {"labelSelector": selection.labels, "fieldSelector": selection.fields}
    return {name: value for name, value in asked.items() if value}


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def _complete(resource: AnyResource, body: Body) -> Json:
    document = plain(body)
    for name, value in (("apiVersion", resource.api_version), ("kind", resource.kind)):
        if not document.get(name):
            document[name] = value
    return document


def _key_in(document: Json) -> ObjectKey:
    metadata = document.get("metadata") or {}
    return ObjectKey(metadata.get("namespace") or "", metadata.get("name") or "")
