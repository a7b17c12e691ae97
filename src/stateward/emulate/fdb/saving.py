"""A database as bytes, and back: what coordinators keep for whoever controls it next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final, get_type_hints

import msgspec

from stateward.core.chance import Chance
from stateward.emulate.fdb.asking.clients import Clients
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.state import State
from stateward.fdb.model import exclusions
from stateward.fdb.model.connection import ConnectionString

#: What is written as text, because there is more than one kind of it; and what is not kept: the
#: time goes on, so with it no two would ever be the same; how fast, and whether all are there that
#: it waits for, whoever controls it says; agents come to that one as well.
_AS_TEXT: Final = ("excluded", "failed")
_NOT_KEPT: Final = ("chance", "now", "times", "gathers", "agents")


def _shape() -> type[msgspec.Struct]:
    """Return a type with everything that a state has: what it learns to have is kept as well."""
    hints = get_type_hints(State)
    kept = [it.name for it in fields(State) if it.name not in _NOT_KEPT]
    return msgspec.defstruct(
        "Saved", [(it, list[str] if it in _AS_TEXT else hints[it]) for it in kept]
    )


_SAVED: Final = _shape()


def essence(state: State) -> bytes:
    """Return all of a database but who asks it: what a command may have changed."""
    return saved(state, clients=Clients())


def saved(state: State, **instead: object) -> bytes:
    """Return all of a database, perhaps with something in place of what it has."""
    found: dict[str, Any] = {it: getattr(state, it) for it in _SAVED.__struct_fields__} | instead
    for it in _AS_TEXT:
        found[it] = sorted(map(str, found[it]))
    return msgspec.msgpack.encode(_SAVED(**found))


def restored(raw: bytes, chance: Chance, now: Callable[[float], float]) -> Database:
    """Return a database as it was; raise ValueError for what is none.

    ``now`` says what time it is for one that was born at a moment.
    """
    try:
        found = msgspec.msgpack.decode(raw, type=_SAVED)
    except msgspec.MsgspecError as error:
        raise ValueError(f"what is kept of a database must be readable: {error}") from None
    values: dict[str, Any] = msgspec.structs.asdict(found)
    string: ConnectionString = values["string"]
    database = Database(string, chance, now(values["born"]))
    for name, it in values.items():
        is_text = name in _AS_TEXT
        setattr(database, name, set(map(exclusions.parse, it)) if is_text else it)
    return database
