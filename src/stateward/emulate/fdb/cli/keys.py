"""The commands of fdbcli that read and write keys."""

from __future__ import annotations

from collections.abc import Generator
from typing import Protocol

from stateward.emulate.fdb.cli.tape import Failed, Tape, Waits
from stateward.emulate.fdb.cli.words import printed
from stateward.emulate.fdb.keys import LOCKED, FdbError, Transaction


class Options(Protocol):
    """What was turned on in this call."""

    may_write: bool
    system: bool
    lock_aware: bool


def getversion(tape: Tape, _words: list[str], options: Options) -> Waits:
    """Print the version at which a transaction would read."""
    yield from tape.serve()
    database = tape.database
    if database.store.locked_by and not options.lock_aware:
        raise _refused(tape, FdbError(LOCKED))
    tape.say(str(database.store.at(database.now)))


def writemode(tape: Tape, words: list[str], options: Options) -> Waits:
    """Allow to write, or forbid it."""
    yield from ()
    if words not in (["on"], ["off"]):
        raise tape.misused("writemode <on|off>")
    options.may_write = words == ["on"]


def option(tape: Tape, words: list[str], options: Options) -> Waits:
    """Turn an option on for all transactions of this call."""
    yield from ()
    match words:
        case ["on", "ACCESS_SYSTEM_KEYS"]:
            options.system = True
        case ["on", "LOCK_AWARE"]:
            options.lock_aware = True
        case _:
            raise tape.misused("option <STATE> <OPTION> <ARG>")
    tape.say("Option enabled for all transactions")


def get(tape: Tape, words: list[str], options: Options) -> Waits:
    """Print a value."""
    (key,) = _raw(tape, words, "get <KEY>")
    transaction = yield from _begun(tape, options)
    try:
        found = transaction.get(key)
    except FdbError as error:
        raise _refused(tape, error) from None
    if found is None:
        tape.say(f"`{printed(key)}': not found")
    else:
        tape.say(f"`{printed(key)}' is `{printed(found)}'")


def put(tape: Tape, words: list[str], options: Options) -> Waits:
    """Write a value."""
    key, value = _raw(tape, words, "set <KEY> <VALUE>")
    yield from _write(tape, options, key, value)


def clear(tape: Tape, words: list[str], options: Options) -> Waits:
    """Take a key away."""
    (key,) = _raw(tape, words, "clear <KEY>")
    yield from _write(tape, options, key, None)


def _raw(tape: Tape, words: list[str], usage: str) -> list[bytes]:
    """Return words as bytes, if there are as many as the command wants.

    A word has a letter for each byte, unless somebody typed what is none.
    """
    if len(words) != usage.count("<"):
        raise tape.misused(usage)
    return [it.encode("latin-1") if max(it, default="") <= "\xff" else it.encode() for it in words]


def _write(tape: Tape, options: Options, key: bytes, value: bytes | None) -> Waits:
    if not options.may_write:
        raise tape.fail("ERROR: writemode must be enabled to set or clear keys in the database.")
    transaction = yield from _begun(tape, options)
    try:
        if value is None:
            transaction.clear(key)
        else:
            transaction.set(key, value)
        version = transaction.commit(tape.database.now)
    except FdbError as error:
        raise _refused(tape, error) from None
    tape.say(f"Committed ({version})")


def _begun(tape: Tape, options: Options) -> Generator[float, None, Transaction]:
    yield from tape.serve()
    database = tape.database
    return Transaction(
        database.store, database.now, system=options.system, aware=options.lock_aware
    )


def _refused(tape: Tape, error: FdbError) -> Failed:
    return tape.fail(f"ERROR: {error.words} ({error.code})")
