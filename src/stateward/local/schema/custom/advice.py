"""What the author of a definition is told although the definition is fine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from stateward.kube.codec import Json
from stateward.local.schema.formats import FORMATS

#: The formats of texts that are looked at; a validator knows some of them by itself.
_KNOWN: Final = (FORMATS.keys() - {"micro-time"}) | {
    *("date", "date-time", "email", "hostname", "ipv4", "ipv6", "uri"),
}


def on_formats(definition: Json) -> Iterator[str]:
    """Yield which formats nobody looks at."""
    spec = definition.get("spec")
    for version in (spec.get("versions") or ()) if isinstance(spec, dict) else ():
        yield from _unknown((version.get("schema") or {}).get("openAPIV3Schema"))


def _unknown(schema: Any) -> Iterator[str]:
    if not isinstance(schema, dict):
        return
    known = schema.get("format") or "date"
    if schema.get("type") == "string" and known not in _KNOWN:
        yield f'unrecognized format "{known}"'
    fields = schema.get("properties") or {}
    for inner in (*fields.values(), schema.get("items"), schema.get("additionalProperties")):
        yield from _unknown(inner)
