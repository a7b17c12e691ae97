"""Objects as the embedded controllers read them: metadata as a type, the rest as text.

A controller of workloads hands whole pod templates on, so narrow types would not do; and a cache of
plain values would cost ten times the memory of the text. So the text is kept, which the store holds
anyway, and is read when somebody asks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from stateward.kube.codec import Json
from stateward.kube.meta import Object
from stateward.kube.resources import Resource

_NOTHING = msgspec.Raw(b"{}")


class Document(Object):
    """An object whose spec and status are read when somebody asks."""

    spec_text: msgspec.Raw = msgspec.field(name="spec", default=_NOTHING)
    status_text: msgspec.Raw = msgspec.field(name="status", default=_NOTHING)

    @property
    def spec(self) -> Json:
        """What is asked for, as plain values of the reader's own."""
        return _read(self.spec_text)

    @property
    def status(self) -> Json:
        """How it is, as plain values of the reader's own."""
        return _read(self.status_text)


def loosely(resource: Resource[Any]) -> Resource[Document]:
    """Return a resource whose objects are read as documents."""
    return replace(resource, type=Document)


def _read(text: msgspec.Raw) -> Json:
    found: Json | None = msgspec.json.decode(text, type=dict[str, Any] | None)
    return found or {}
