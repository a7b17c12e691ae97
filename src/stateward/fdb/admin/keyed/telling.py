"""What operators of one database tell each other, in its keys: read whole, and written at once.

All that can be got and updated of it is one store: ``look`` returns every list, and ``say`` changes
lists in the one transaction in which they are read. It lies below the prefix of the lock, and is
small: a key for each process group that is about to change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeAlias

from stateward.fdb.admin.keys import Conflicted, Keys, KeyTransaction
from stateward.fdb.model import intents, locks
from stateward.fdb.model.intents import Intents

Writes: TypeAlias = Mapping[bytes, bytes | None]
#: Returns what to write, judged by what is said.
Change: TypeAlias = Callable[[Intents], Writes]

#: How often something is said anew, with what others said in the same moment.
_TIMES: Final = 3


@dataclass(frozen=True, slots=True)
class IntentKeys:
    """What is said below a prefix of keys."""

    keys: Keys
    prefix: bytes = locks.PREFIX

    async def look(self) -> Intents:
        """Return all that is said; nothing is written."""
        return await self.keys.transact(self.read)

    async def say(self, *changes: Change) -> Intents:
        """Write what each of some changes wants, one upon the other; return what is said then.

        All operators write here, and often: who comes in between is heard, and answered at once.
        """

        async def work(at: KeyTransaction) -> Intents:
            rows: dict[bytes, bytes] = dict(await at.get_range(*intents.span(self.prefix)))
            told = intents.read(self.prefix, rows.items())
            for change in changes:
                writes = change(told)
                write(at, writes)
                rows = {key: it for key, it in {**rows, **writes}.items() if it is not None}
                told = intents.read(self.prefix, rows.items())
            return told

        for _ in range(_TIMES - 1):
            with suppress(Conflicted):
                return await self.keys.transact(work)
        return await self.keys.transact(work)

    async def read(self, at: KeyTransaction) -> Intents:
        """Return all that is said, within a transaction in which something is done by it."""
        return intents.read(self.prefix, await at.get_range(*intents.span(self.prefix)))


def write(at: KeyTransaction, writes: Writes) -> None:
    """Write all of it, or clear what is to be gone, when the transaction is through."""
    for key, value in writes.items():
        if value is None:
            at.clear(key)
        else:
            at.set(key, value)
