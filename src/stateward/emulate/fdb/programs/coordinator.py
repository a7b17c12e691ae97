"""A coordinator: lets one process at a time control a cluster, and keeps what that one knows.

Every process can be one, of any number of clusters, each by ``description:id``. What it keeps is a
file in its data folder: whoever wipes the folders of a majority has lost the database.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from stateward.emulate.fdb.talk.messages import (
    Any,
    Find,
    Forward,
    Found,
    Granted,
    Kept,
    Read,
    Release,
    Stand,
    Write,
)

#: Seconds for which somebody is let; who goes on asks again well before.
TERM: Final = 1.5
_FILE: Final = "coordination-0.fdq"


class Memory(msgspec.Struct, frozen=True):
    """What is kept of one cluster: the last term that was promised, and what was written when."""

    term: int = 0
    #: Who that term was promised to: nobody else may have it.
    holder: str = ""
    version: int = 0
    state: bytes = b""
    forward: str = ""
    #: The term in which the state was written: of two states that of the later term counts.
    written: int = 0


@dataclass(slots=True)
class _Let:
    """Who controls a cluster, and until when."""

    holder: str
    until: float


class Coordinator:
    """What one process knows as a coordinator; ``monotonic`` measures how long leases last."""

    def __init__(self, folder: Path, monotonic: Callable[[], float]) -> None:
        self._file = folder / _FILE
        self._monotonic = monotonic
        self._memories = _read(self._file)
        self._let: dict[str, _Let] = {}

    def answer(self, asked: Any) -> Any | None:
        """Return the answer to a question to a coordinator; None: it is none."""
        match asked:
            case Find():
                return self._find(asked.cluster)
            case Stand():
                return self._stand(asked)
            case Release():
                return self._release(asked)
            case Read():
                memory = self._memories.get(asked.cluster, Memory())
                return Kept(memory.version, memory.state, memory.written)
            case Write() | Forward():
                return self._write(asked)
        return None

    def _find(self, cluster: str) -> Found:
        memory = self._memories.get(cluster, Memory())
        if memory.forward:
            return Found(forward=memory.forward)
        let = self._let.get(cluster)
        is_let = let is not None and self._monotonic() < let.until
        return Found(holder=let.holder if let is not None and is_let else "")

    def _stand(self, asked: Stand) -> Granted:
        memory = self._memories.get(asked.cluster, Memory())
        let, now = self._let.get(asked.cluster), self._monotonic()
        is_free = let is None or now >= let.until or let.holder == asked.candidate
        is_new = asked.term > memory.term
        is_own = (asked.term, asked.candidate) == (memory.term, memory.holder)
        refused = Granted(is_so=False, term=memory.term, forward=memory.forward)
        if memory.forward or not is_free or not (is_new or is_own):
            return refused
        promised = {"term": asked.term, "holder": asked.candidate}
        if is_new and not self._save(asked.cluster, memory, **promised):
            return refused
        self._let[asked.cluster] = _Let(asked.candidate, now + TERM)
        return Granted(is_so=True, term=asked.term)

    def _release(self, asked: Release) -> Granted:
        let = self._let.get(asked.cluster)
        if let is not None and let.holder == asked.candidate:
            del self._let[asked.cluster]
        return Granted(is_so=True, term=self._memories.get(asked.cluster, Memory()).term)

    def _write(self, asked: Write | Forward) -> Granted:
        memory = self._memories.get(asked.cluster, Memory())
        refused = Granted(is_so=False, term=memory.term, forward=memory.forward)
        if asked.term < memory.term or memory.forward:
            return refused
        if isinstance(asked, Forward):
            is_kept = self._save(
                asked.cluster, memory, term=asked.term, forward=asked.to, state=b""
            )
            self._let.pop(asked.cluster, None)
        elif (asked.term, asked.version) < (memory.written, memory.version):
            return refused
        else:
            is_kept = self._save(
                asked.cluster,
                memory,
                term=asked.term,
                written=asked.term,
                version=asked.version,
                state=asked.state,
            )
        return Granted(is_so=True, term=asked.term) if is_kept else refused

    def _save(self, cluster: str, memory: Memory, **changed: object) -> bool:
        """Keep a memory with changes, on disk first; tell whether that could be done."""
        new = {**self._memories, cluster: msgspec.structs.replace(memory, **changed)}
        arriving = self._file.with_suffix(".new")
        try:
            arriving.write_bytes(msgspec.msgpack.encode(new))
            arriving.replace(self._file)
        except OSError:
            return False
        self._memories = new
        return True


def _read(file: Path) -> dict[str, Memory]:
    """Return what was kept; raise ValueError for what cannot be read: it is not nothing."""
    try:
        return msgspec.msgpack.decode(file.read_bytes(), type=dict[str, Memory])
    except FileNotFoundError:
        return {}
    except msgspec.MsgspecError as error:
        raise ValueError(f"{file} must be what a coordinator wrote: {error}") from None
