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
from stateward.local.catalog import ENDPOINT_SLICES, STORAGE_CLASSES

_NOTHING = msgspec.Raw(b"{}")
_NONE = msgspec.Raw(b"[]")
#: Made once: to read what a type means takes longer than to read a small document.
_DECODER: msgspec.json.Decoder[Json | None] = msgspec.json.Decoder(dict[str, Any] | None)


class Document(Object):
    """An object whose spec, status and data are read when somebody asks."""

    spec_text: msgspec.Raw = msgspec.field(name="spec", default=_NOTHING)
    status_text: msgspec.Raw = msgspec.field(name="status", default=_NOTHING)
    data_text: msgspec.Raw = msgspec.field(name="data", default=_NOTHING)
    #: The number of a ControllerRevision; other kinds have none.
    revision: int = 0

    @property
    def spec(self) -> Json:
        """What is asked for, as plain values of the reader's own."""
        return _read(self.spec_text)

    @property
    def status(self) -> Json:
        """How it is, as plain values of the reader's own."""
        return _read(self.status_text)

    @property
    def data(self) -> Json:
        """What it holds, as plain values of the reader's own."""
        return _read(self.data_text)


class StorageClass(Document):
    """How volumes of a class are made; its fields stand beside its metadata."""

    provisioner: str = ""
    reclaim_policy: str = "Delete"
    volume_binding_mode: str = "Immediate"
    allow_volume_expansion: bool = False


class EndpointSlice(Document):
    """Some of the pods behind a service; its fields stand beside its metadata."""

    address_type: str = ""
    endpoints_text: msgspec.Raw = msgspec.field(name="endpoints", default=_NONE)
    ports_text: msgspec.Raw = msgspec.field(name="ports", default=_NONE)


#: Kinds that say more than a spec and a status.
_SHAPES: dict[str, type[Document]] = {
    STORAGE_CLASSES.name: StorageClass,
    ENDPOINT_SLICES.name: EndpointSlice,
}


def loosely(resource: Resource[Any]) -> Resource[Document]:
    """Return a resource whose objects are read as documents."""
    return replace(resource, type=_SHAPES.get(resource.name, Document))


def _read(text: msgspec.Raw) -> Json:
    return _DECODER.decode(text) or {}
