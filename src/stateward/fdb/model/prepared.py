"""Which process groups have the programs of another version, as operators list them in a database.

``PREFIX/upgrades/VERSION/GROUP`` is the group's name, as the compatible operator writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

_FOLDER: Final = b"/upgrades/"
_PARTS: Final = 2


def prepared_key(prefix: bytes, version: str, group: str) -> bytes:
    """Return the key that lists a group.

    >>> prepared_key(b"p", "7.4.1", "dc1-log-1")
    b'p/upgrades/7.4.1/dc1-log-1'
    """
    return prefix + _FOLDER + f"{version}/{group}".encode()


def span(prefix: bytes, version: str) -> tuple[bytes, bytes]:
    """Return between which keys the list for one version is."""
    folder = prefix + _FOLDER + version.encode()
    return folder + b"/", folder + b"0"


def read(prefix: bytes, keys: Iterable[bytes]) -> Mapping[str, frozenset[str]]:
    """Return which groups are listed, by version."""
    found: dict[str, set[str]] = {}
    for key in keys:
        if not key.startswith(prefix + _FOLDER):
            continue
        words = key.removeprefix(prefix + _FOLDER).decode(errors="backslashreplace").split("/")
        if len(words) == _PARTS:
            found.setdefault(words[0], set()).add(words[1])
    return {version: frozenset(groups) for version, groups in found.items()}
