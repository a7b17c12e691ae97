"""Where processes listen: ``IP:PORT``, ``[IPV6]:PORT`` or ``NAME:PORT``, perhaps with ``:tls``.

One process may have two, one with TLS and one without. Exclusions and kills name an address without
its ``:tls``; coordinators keep it; an exclusion of a whole machine has no port either.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final

_TLS: Final = ":tls"
#: How a status marks the address of a coordinator that is named by a host.
_RESOLVED: Final = "(fromHostname)"
_PORT: Final = re.compile(r"[1-9][0-9]{0,4}")
_LABEL: Final = r"[a-z0-9]([-a-z0-9_]{0,61}[a-z0-9])?"
_NAME: Final = re.compile(rf"{_LABEL}(\.{_LABEL})*\.?")
_LONGEST_NAME: Final = 253
_LAST_PORT: Final = 65_535
#: Addresses of the same few processes are read again and again.
_REMEMBERED: Final = 16_384


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """One place where a process listens; ``resolved``: a status says that a name stands for it.

    >>> str(Address.parse("[0:0::1]:4500:tls"))
    '[::1]:4500:tls'
    """

    host: str
    port: int
    tls: bool = False
    resolved: bool = False

    @staticmethod
    def parse(text: str) -> Address:
        """Read an address; raise ValueError that says what it must look like."""
        return _parsed(text)

    @property
    def is_name(self) -> bool:
        """Whether it must be resolved before anybody can connect."""
        return ip_of(self.host) is None

    @property
    def plain(self) -> str:
        """How exclusions and kills name it: without TLS."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def canonical(self) -> Address:
        """The same without the mark that a name stands for it: what to compare."""
        return replace(self, resolved=False) if self.resolved else self

    def __str__(self) -> str:
        return self.plain + (_TLS if self.tls else "")


@lru_cache(maxsize=_REMEMBERED)
def parse_all(text: str) -> tuple[Address, ...]:
    """Read addresses with commas between them, at least one, each another.

    >>> [str(it) for it in parse_all("10.0.0.1:4500:tls,10.0.0.1:4501")]
    ['10.0.0.1:4500:tls', '10.0.0.1:4501']
    """
    found = tuple(Address.parse(it.strip()) for it in text.split(","))
    if len(set(found)) < len(found):
        raise ValueError(f"each address must be named once, got {text!r}")
    return found


@lru_cache(maxsize=_REMEMBERED)
def host_of(text: str) -> str:
    """Return a host as we write it: a short IPv6, a name in small letters; or raise ValueError."""
    bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    found = ip_of(bare)
    if found is not None:
        return found
    name = bare.lower()
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name) or name.rpartition(".")[2].isdigit():
        raise ValueError(f"a host must be an IP address or a DNS name, got {text!r}")
    return name


@lru_cache(maxsize=_REMEMBERED)
def _parsed(text: str) -> Address:
    rest = text
    resolved, tls = rest.endswith(_RESOLVED), False
    rest = rest.removesuffix(_RESOLVED)
    if rest.endswith(_TLS):
        rest, tls = rest.removesuffix(_TLS), True
        # A status writes the mark before or after the flag.
        resolved, rest = resolved or rest.endswith(_RESOLVED), rest.removesuffix(_RESOLVED)
    host, colon, port = rest.rpartition(":")
    if not colon or not _PORT.fullmatch(port) or int(port) > _LAST_PORT:
        raise ValueError(f"an address must be HOST:PORT or HOST:PORT:tls, got {text!r}")
    if ":" in host and not host.startswith("["):
        raise ValueError(f"an IPv6 address must stand in brackets, as in [::1]:4500, got {text!r}")
    return Address(host_of(host), int(port), tls, resolved)


def ip_of(text: str) -> str | None:
    """Return an IP address as we write it; None: it is none."""
    kind = IPv6Address if ":" in text else IPv4Address
    try:
        return str(kind(text))
    except AddressValueError:
        return None
