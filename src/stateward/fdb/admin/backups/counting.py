r"""Keys that are there, counted and not read: by fdbcli, which lists the first of them.

What a key is called may be a secret as well; nothing of it is kept, and values are not asked for.
"""

from __future__ import annotations

from typing import Final

from stateward.core.errors import PeerConfused
from stateward.fdb.admin import answers, commands
from stateward.fdb.admin.backups.ports import KeyCounter
from stateward.fdb.admin.fdbcli import Console

_PROGRAM: Final = "fdbcli"
#: Seconds that fdbcli gives it, and those more after which it is killed if it does not end.
_SECONDS, _GRACE = 20, 10
_HEAD: Final = "Range limited to "


class ProgramCounter(KeyCounter):
    """Counts keys of one database."""

    def __init__(self, session: Console) -> None:
        self._session = session

    async def first_keys(self) -> int:
        """Return how many keys of users there are, up to a hundred."""
        file, asked = str(self._session.file), commands.FIRST_KEYS
        words = ["-C", file, "--exec", asked, "--timeout", str(_SECONDS)]
        answer = await self._session.run(_PROGRAM, words, _SECONDS + _GRACE)
        return counted(answers.check_read(answer))


def counted(text: str) -> int:
    r"""Return how many keys were listed; each is a line of its own, whatever bytes it has.

    >>> counted("\nRange limited to 3 keys\n`a'\n`\\x02fill'\n\n")
    2
    """
    if _HEAD not in text:
        raise PeerConfused(f"fdbcli must list keys, and said {text.strip()[:80]!r}")
    return sum(it.startswith("`") for it in text.splitlines())
