"""A kind of our own, small and with one of everything that merges: every backend serves it."""

from __future__ import annotations

from typing import Any

from stateward.kube.codec import Json
from stateward.kube.meta import Object
from stateward.kube.resources import Resource


class Widget(Object):
    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}


WIDGETS = Resource("contract.stateward.example", "v1", "Widget", "widgets", Widget, has_status=True)

_TEXT: Json = {"type": "string"}
_TEXTS: Json = {"type": "array", "items": _TEXT}

SCHEMA: Json = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "size": {"type": "integer"},
                "backup": {"type": "object", "properties": {"store": _TEXT, "keep": _TEXT}},
                "limits": {"type": "object", "additionalProperties": _TEXT},
                "origin": {
                    "type": "object",
                    "x-kubernetes-map-type": "atomic",
                    "properties": {"host": _TEXT, "path": _TEXT},
                },
                "words": _TEXTS,
                "tags": _TEXTS | {"x-kubernetes-list-type": "set"},
                "parts": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": _TEXT, "color": _TEXT, "weight": _TEXT},
                    },
                },
            },
        },
        "status": {
            "type": "object",
            "properties": {
                "phase": _TEXT,
                "conditions": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["type"],
                    "items": {
                        "type": "object",
                        "required": ["type"],
                        "properties": {"type": _TEXT, "status": _TEXT, "reason": _TEXT},
                    },
                },
            },
        },
    },
}

DEFINITION: Json = {
    "metadata": {"name": WIDGETS.name},
    "spec": {
        "group": WIDGETS.group,
        "scope": "Namespaced",
        "names": {"kind": WIDGETS.kind, "plural": WIDGETS.plural, "singular": "widget"},
        "versions": [
            {
                "name": WIDGETS.version,
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": SCHEMA},
            }
        ],
    },
}
