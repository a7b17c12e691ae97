"""Which certificates of others are good enough, by FoundationDB's rules about peers. Pure.

Rules are alternatives between ``;`` (in words of the database's own programs ``|``), each of
conditions between ``,``: ``S.CN=name`` about the subject, ``I.O=name`` about the issuer,
``S.subjectAltName=DNS:name``; ``>=`` compares beginnings and ``<=`` ends. ``Check.Valid=1`` is
always so: who does not come from the authority is not let in. What is said about the root of a
chain is never fulfilled, since it cannot be seen from here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stateward.core.errors import UsageError

_SCOPES = {"S": "subject", "Subject": "subject", "I": "issuer", "Issuer": "issuer"}
_ROOTS = {"R", "Root"}
_FIELDS = {
    "CN": "commonName",
    "C": "countryName",
    "L": "localityName",
    "ST": "stateOrProvinceName",
    "O": "organizationName",
    "OU": "organizationalUnitName",
    "UID": "userId",
    "DC": "domainComponent",
}
_ALTERNATIVE = "subjectAltName"

_CONDITION = re.compile(
    r"(?:(?P<scope>\w+)\.)?(?P<field>\w+)(?P<how>[<>]?)=(?P<value>.*)", re.DOTALL
)
_ESCAPED = re.compile(r"\\([0-9a-fA-F]{2}|.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Condition:
    """What one name in a certificate must be."""

    #: ``subject`` or ``issuer``; empty when it can never be fulfilled.
    scope: str
    field: str
    how: str
    value: str

    def fits(self, certificate: Mapping[str, Any]) -> bool:
        """Tell whether any such name in a certificate, as ``ssl`` reads it, is good."""
        return any(self._is_good(text) for text in self._names(certificate))

    def _names(self, certificate: Mapping[str, Any]) -> Iterator[str]:
        if self.field == _ALTERNATIVE:
            kind = self.value.partition(":")[0]
            found = certificate.get(_ALTERNATIVE, ()) if self.scope == "subject" else ()
            return (f"{name}:{text}" for name, text in found if name == kind)
        groups = certificate.get(self.scope, ())
        return (text for group in groups for name, text in group if name == self.field)

    def _is_good(self, text: str) -> bool:
        if self.how == ">":
            return text.startswith(self.value)
        if self.how == "<" and self.field == _ALTERNATIVE:
            return text.endswith(self.value.partition(":")[2])
        return text.endswith(self.value) if self.how == "<" else text == self.value


@dataclass(frozen=True, slots=True)
class Rules:
    """Alternatives, each of conditions; without any, every certificate of the authority is good."""

    alternatives: tuple[tuple[Condition, ...], ...] = ()

    def allow(self, certificate: Mapping[str, Any] | None) -> bool:
        """Tell whether somebody with this certificate, or none, may ask."""
        if not certificate:
            return False
        if not self.alternatives:
            return True
        return any(all(it.fits(certificate) for it in them) for them in self.alternatives)


def parse(text: str, separator: str = ";") -> Rules:
    """Read rules; raise UsageError when they cannot be understood."""
    if not text.strip():
        return Rules()
    return Rules(
        tuple(
            tuple(it for word in _split(option, ",") for it in _condition(word.strip()))
            for option in _split(text, re.escape(separator))
        )
    )


def _split(text: str, separator: str) -> list[str]:
    """Split where a separator is not escaped."""
    return re.split(rf"(?<!\\){separator}", text)


def _condition(word: str) -> list[Condition]:
    found = _CONDITION.fullmatch(word)
    if found is None:
        raise UsageError(f"a rule about peers must look like 'S.CN=name', got {word!r}")
    scope, field, value = found["scope"] or "S", found["field"], _unescaped(found["value"])
    if (scope, field) in {("Check", "Valid"), ("Check", "Unexpired")} and value == "1":
        return []
    if scope in _ROOTS:
        return [Condition("", field, found["how"], value)]
    if scope not in _SCOPES or (field not in _FIELDS and field != _ALTERNATIVE):
        raise UsageError(f"a rule about peers must name a known field, got {word!r}")
    return [Condition(_SCOPES[scope], _FIELDS.get(field, field), found["how"], value)]


def _unescaped(text: str) -> str:
    r"""Return a value without its backslashes.

    >>> _unescaped(r"a\,b\3bc")
    'a,b;c'
    """
    return _ESCAPED.sub(lambda it: chr(int(it[1], 16)) if len(it[1]) == 2 else it[1], text)
