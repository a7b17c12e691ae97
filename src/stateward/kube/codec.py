"""JSON in and out of typed objects.

A type names only the fields that we read; everything else in a document is skipped without being
built, which is most of the speed (docs/architecture.md has the numbers). The price: a typed object
must never be written back whole, because what we did not read would be lost. Write bodies are
minimal documents of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, TypeVar, dataclass_transform

import msgspec

from stateward.core.errors import PeerConfused

T = TypeVar("T")

#: A document as plain Python values, as JSON has them.
Json: TypeAlias = dict[str, Any]
#: What may be written: a minimal document, as plain values or as a typed one.
Body: TypeAlias = Mapping[str, Any] | msgspec.Struct

#: Words that Kubernetes spells in capitals when they are not the first of a name: podIP, clusterID.
_ACRONYMS = {"ip": "IP", "ips": "IPs", "id": "ID", "ca": "CA", "cidr": "CIDR", "uid": "UID"}


def wire_name(name: str) -> str:
    """Return the JSON spelling of a Python field name.

    >>> wire_name("resource_version"), wire_name("pod_ip"), wire_name("uid")
    ('resourceVersion', 'podIP', 'uid')
    """
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(_ACRONYMS.get(word, word.capitalize()) for word in rest)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Part(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    rename=wire_name,
    gc=False,  # documents hold no cycles: the collector need not walk a cache of them
):
    """Base of every typed document and of its parts."""


#: What a decoder raises about text it cannot read; the last one about text that is nested too deep.
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

#: Made once: to read what a type means takes longer than to read a small document.
_JSON: msgspec.json.Decoder[Json] = msgspec.json.Decoder(dict[str, Any])
_DECODERS: dict[type, msgspec.json.Decoder[Any]] = {}


def _decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    if kind not in _DECODERS:
        _DECODERS[kind] = msgspec.json.Decoder(kind)
    return _DECODERS[kind]


def decode(data: bytes | str, kind: type[T]) -> T:
    """Return the document as the given type; raise :class:`PeerConfused` when it is not one."""
    try:
        return _decoder(kind).decode(data)
    except UNREADABLE as error:
        raise PeerConfused(f"expected a JSON document of type {kind.__name__}: {error}") from error


def decode_json(data: bytes | str) -> Any:
    """Return the document as plain values; raise :class:`PeerConfused` when it is not JSON."""
    try:
        return msgspec.json.decode(data)
    except UNREADABLE as error:
        raise PeerConfused(f"expected a JSON document: {error}") from error


def encode(body: Body | list[Any] | tuple[Any, ...]) -> bytes:
    """Return the JSON text of a document."""
    return msgspec.json.encode(body)


def plain(body: Body) -> Json:
    """Return a document as plain Python values, fresh: changing them changes nothing else."""
    return _JSON.decode(msgspec.json.encode(body))
