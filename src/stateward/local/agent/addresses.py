"""A loopback address for every pod, the same one for the same name, today and after a restart.

The address follows from the name of the cluster, the namespace and the pod. Two names that want the
same one are told apart in the order of their coming, and that is remembered in a file.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from stateward.core.errors import UsageError

#: So many names are remembered; beyond, those that nobody uses are forgotten, oldest first.
REMEMBERED = 4096
_TRIES = 1000


def candidate(salt: str, name: str, attempt: int = 0) -> str:
    """Return the address a name wants: within 127.1.0.1 to 127.254.255.254.

    >>> candidate("cluster", "shop/orders-0") == candidate("cluster", "shop/orders-0")
    True
    """
    digest = hashlib.sha256(f"{salt}|{name}|{attempt}".encode()).digest()
    return f"127.{1 + digest[0] % 254}.{digest[1]}.{1 + digest[2] % 254}"


def can_bind(address: str) -> bool:
    """Tell whether this machine lets us listen on an address."""
    with socket.socket() as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


def choose(
    salt: str, name: str, known: Mapping[str, str], is_usable: Callable[[str], bool] = can_bind
) -> str:
    """Return the address of a name: the one it has, else the first it wants that nobody has."""
    if name in known:
        return known[name]
    taken = set(known.values())
    for attempt in range(_TRIES):
        address = candidate(salt, name, attempt)
        if address not in taken and is_usable(address):
            return address
    raise UsageError(
        f"an address of 127.0.0.0/8 must be free for {name}, and {_TRIES} were not",
        hint="the loopback device must be up and own the whole of 127.0.0.0/8",
    )


def remembered(path: Path) -> dict[str, str]:
    """Return who has which address by a file; one that makes no sense is as good as none."""
    try:
        kept = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    if not isinstance(kept, dict):
        return {}
    return {str(name): address for name, address in kept.items() if _is_ours(address)}


def _is_ours(address: object) -> bool:
    return isinstance(address, str) and address.startswith("127.") and address != "127.0.0.1"


class Addresses:
    """Who has which address."""

    def __init__(
        self, salt: str, path: Path, *, is_usable: Callable[[str], bool] = can_bind
    ) -> None:
        self._salt = salt
        self._path = path
        self._is_usable = is_usable
        self._known: dict[str, str] = remembered(path)
        self._used: set[str] = set()

    def take(self, name: str) -> str:
        """Return the address of a name, which is in use from now on."""
        self._used.add(name)
        return self.of(name)

    def of(self, name: str) -> str:
        """Return the address of a name that nobody need go by yet; it is its own from now on."""
        if name not in self._known:
            self._known[name] = choose(self._salt, name, self._known, self._is_usable)
            self._forget_some(name)
            self._write()
        return self._known[name]

    def release(self, name: str) -> None:
        """Take in that nobody goes by the name now; its address stays its own."""
        self._used.discard(name)

    def _forget_some(self, but: str) -> None:
        spare = [name for name in self._known if name not in self._used and name != but]
        for name in spare[: max(0, len(self._known) - REMEMBERED)]:
            del self._known[name]

    def _write(self) -> None:
        fresh = self._path.with_suffix(".new")
        with suppress(OSError):  # on a full disk names are remembered until we end
            fresh.write_text(json.dumps(self._known, indent=0))
            os.replace(fresh, self._path)  # noqa: PTH105 - the words of the manual: atomic
