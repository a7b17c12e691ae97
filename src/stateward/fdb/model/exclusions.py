"""Who shall hold no data: processes by address, whole machines by IP, or all with a locality."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Self, TypeAlias

from stateward.fdb.model import locality
from stateward.fdb.model.addresses import Address, ip_of

_PORTLESS: Final = 0


@dataclass(frozen=True, slots=True, order=True)
class ByAddress:
    """A process, or with port 0 every process of an IP."""

    host: str
    port: int = _PORTLESS

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``IP`` or ``IP:PORT``, no name; a ``:tls`` is dropped, as the database does."""
        if (machine := ip_of(text)) is not None:
            return cls(machine)
        found = Address.parse(text)
        if found.is_name:
            raise ValueError(f"an exclusion must be of an IP or a locality, got {text!r}")
        return cls(found.host, found.port)

    def covers(self, addresses: Iterable[Address], localities: Mapping[str, str]) -> bool:
        """Tell whether a process is meant."""
        del localities
        return any(it.host == self.host and self.port in (_PORTLESS, it.port) for it in addresses)

    def __str__(self) -> str:
        return Address(self.host, self.port).plain if self.port else self.host


@dataclass(frozen=True, slots=True, order=True)
class ByLocality:
    """Every process with a locality."""

    key: str
    value: str

    def covers(self, addresses: Iterable[Address], localities: Mapping[str, str]) -> bool:
        """Tell whether a process is meant."""
        del addresses
        return localities.get(self.key) == self.value

    def __str__(self) -> str:
        return locality.word(self.key, self.value)


Exclusion: TypeAlias = ByAddress | ByLocality


def parse(text: str) -> Exclusion:
    """Read an entry as fdbcli and a status write it; raise ValueError.

    >>> [str(parse(it)) for it in ("10.0.0.1:4501:tls", "::1", "locality_zoneid:z1")]
    ['10.0.0.1:4501', '::1', 'locality_zoneid:z1']
    """
    found = locality.parse(text)
    return ByLocality(*found) if found is not None else ByAddress.parse(text)


def of_instance(name: str) -> ByLocality:
    """Return the exclusion of a process group, whatever its address is or becomes."""
    return ByLocality(locality.INSTANCE, name)
