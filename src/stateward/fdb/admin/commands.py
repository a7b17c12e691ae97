"""How commands of fdbcli are written. Pure.

fdbcli has a tokenizer of its own: spaces part words, a semicolon parts commands, and quotes are
eaten unless they are escaped. A word of ours can be none of these, or it would be another command.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from stateward.fdb.model.addresses import Address
from stateward.fdb.model.configuration import Configuration
from stateward.fdb.model.exclusions import Exclusion

STATUS: Final = "status json"
EXCLUSIONS: Final = "exclude"
COORDINATORS: Final = "coordinators"
MAINTENANCE: Final = "maintenance"
MAINTENANCE_OFF: Final = "maintenance off"

#: How many keys are listed to see whether there are any: that there are is what is to be known.
FIRST: Final = 100
FIRST_KEYS: Final = f'getrangekeys "" \\xff {FIRST}'

_WORD: Final = re.compile(r"[A-Za-z0-9_.:\[\]/=+-]+")


def words(*parts: str) -> str:
    """Return words as one command; raise ValueError for one that fdbcli would not take as it is."""
    for it in parts:
        if not _WORD.fullmatch(it):
            raise ValueError(
                f"a word of a command must have no spaces, quotes and such, got {it!r}"
            )
    return " ".join(parts)


def configure(configuration: Configuration, *, new: bool = False, force: bool = False) -> str:
    """Return how a database is made, or made another."""
    if new and force:
        raise ValueError("a new database must not be forced")
    first = ["configure", *(["new"] if new else []), *(["FORCE"] if force else [])]
    tokens = [it.replace('"', '\\"') for it in configuration.tokens()]
    return " ".join([*first, *tokens])


def exclude(targets: Sequence[Exclusion]) -> str:
    """Return how somebody is excluded without a wait; asked again, it says how far that is."""
    return words("exclude", "no_wait", *_some(targets))


def include(targets: Sequence[Exclusion]) -> str:
    """Return how somebody may have data again."""
    return words("include", *_some(targets))


def _some(targets: Iterable[Exclusion]) -> list[str]:
    found = sorted(str(it) for it in targets)
    if not found:
        raise ValueError(
            "at least one must be named: `include` of nobody is an error, `all` is all"
        )
    return found


def coordinators(addresses: Sequence[Address]) -> str:
    """Return how others become coordinators."""
    if len(set(addresses)) < len(addresses) or not addresses:
        raise ValueError("coordinators must be at least one, each another")
    return words("coordinators", *map(str, addresses))


def kill(addresses: Sequence[Address], *, twice: bool = False) -> str:
    """Return how processes are restarted: the first command only fills fdbcli's list of them.

    ``twice`` is for upgrades, in which nobody may be left out.
    """
    if not addresses:
        raise ValueError("at least one process must be named")
    named = words("kill", *sorted(it.plain for it in addresses))
    again = f"; sleep 1; {named}" if twice else ""
    return f"kill; {named}{again}; sleep 5"


def maintenance(zone: str, seconds: int) -> str:
    """Return how processes of a zone may be away for a while."""
    if seconds < 1:
        raise ValueError(f"maintenance must last for at least a second, got {seconds}")
    return words("maintenance", "on", zone, str(seconds))
