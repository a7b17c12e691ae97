"""Versions of FoundationDB: which understand each other, and what they can do.

The first two numbers decide: processes of 7.1 and 7.3 cannot be one database, so such an upgrade
stops all of them at once, while a patch can be rolled. A pre-release is alone with itself.

Upgrades go from one line of releases to the next: what a line wrote, the one after it can read.
"""

from __future__ import annotations

import re
from typing import Final

from stateward.core.version import Version, same_minor

#: Versions that are not released yet say so behind theirs.
PRERELEASE: Final = "-PRERELEASE"
#: The lines of releases that databases are upgraded along, each from the one before it. 7.2 never
#: became a release for users.
LINES: Final = ((7, 1), (7, 3), (7, 4))
#: By the minor release: the first patch in which something works.
_LOCALITY_EXCLUSIONS: Final = {(7, 1): 42, (7, 3): 26}
_BACKUP_ENCRYPTION: Final = {(7, 3): 73, (7, 4): 6}
_MUTATION_LOG_TYPES: Final = {(7, 4): 7}

_PROTOCOL: Final = re.compile(r"0?fdb00b0(?P<major>[0-9a-f])(?P<minor>[0-9a-f])[0-9a-f]{6}")


def are_compatible(a: Version, b: Version) -> bool:
    """Tell whether processes of both can be one database.

    >>> are_compatible(Version(7, 3, 27), Version(7, 3, 79))
    True
    """
    return same_minor(a, b) and a.pre == b.pre


def line_of(protocol: str) -> tuple[int, int] | None:
    """Return the minor release that speaks a protocol, as clients and a status tell it.

    >>> line_of("fdb00b073000000")
    (7, 3)
    """
    found = _PROTOCOL.fullmatch(protocol.lower())
    return (int(found["major"], 16), int(found["minor"], 16)) if found else None


def protocol_of(line: tuple[int, int]) -> str:
    """Return the protocol of a minor release, as a status tells it.

    >>> protocol_of((7, 3))
    'fdb00b073000000'
    """
    return f"fdb00b0{line[0]:x}{line[1]:x}000000"


def path_between(running: Version, wanted: Version) -> tuple[str, ...] | None:
    """Return the lines that an upgrade goes through on its way; None: no way is known.

    >>> path_between(Version(7, 1, 61), Version(7, 4, 5))
    ('7.3',)
    """
    first, last = (running.major, running.minor), (wanted.major, wanted.minor)
    if first == last:
        return ()
    if first not in LINES or last not in LINES or first > last:
        return None
    between = LINES[LINES.index(first) + 1 : LINES.index(last)]
    return tuple(f"{major}.{minor}" for major, minor in between)


def has_locality_exclusions(version: Version) -> bool:
    """Tell whether all processes with a locality can be excluded by one entry, and reliably."""
    return _has(version, _LOCALITY_EXCLUSIONS)


def has_backup_encryption(version: Version) -> bool:
    """Tell whether what a backup writes can be encrypted."""
    return _has(version, _BACKUP_ENCRYPTION)


def has_mutation_log_types(version: Version) -> bool:
    """Tell whether fdbbackup is told by one word how changes are written."""
    return _has(version, _MUTATION_LOG_TYPES)


def _has(version: Version, since: dict[tuple[int, int], int]) -> bool:
    """Tell whether a version has something: by its own line, else if all lines before it have."""
    line = (version.major, version.minor)
    if line in since:
        return version.patch >= since[line]
    return line > max(since)
