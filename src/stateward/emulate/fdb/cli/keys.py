"""The commands of fdbcli that read and write keys."""

from __future__ import annotations

from typing import Protocol

from stateward.emulate.fdb.cli.tape import Failed, Tape
from stateward.emulate.fdb.cli.words import printed
from stateward.emulate.fdb.keys import LOCKED, FdbError, Transaction


class Options(Protocol):
    """What was turned on in this call."""

    may_write: bool
    system: bool
    lock_aware: bool


def getversion(tape: Tape, _words: list[str], options: Options) -> None:
    """Print the version at which a transaction would read."""
    tape.serve()
    database = tape.database
    if database.store.locked_by and not options.lock_aware:
        raise _refused(tape, FdbError(LOCKED))
    tape.say(str(database.store.at(database.now)))


def writemode(tape: Tape, words: list[str], options: Options) -> None:
    """Allow to write, or forbid it."""
    if words not in (["on"], ["off"]):
        tape.say("Usage: writemode <on|off>")
        raise Failed
    options.may_write = words == ["on"]


def option(tape: Tape, words: list[str], options: Options) -> None:
    """Turn an option on for all transactions of this call."""
    match words:
        case ["on", "ACCESS_SYSTEM_KEYS"]:
            options.system = True
        case ["on", "LOCK_AWARE"]:
            options.lock_aware = True
        case _:
            tape.say("Usage: option <STATE> <OPTION> <ARG>")
            raise Failed
    tape.say("Option enabled for all transactions")


def get(tape: Tape, words: list[str], options: Options) -> None:
    """Print a value."""
    (key,) = (it.encode("latin-1") for it in words)
    transaction = _begun(tape, options)
    try:
        found = transaction.get(key)
    except FdbError as error:
        raise _refused(tape, error) from None
    if found is None:
        tape.say(f"`{printed(key)}': not found")
    else:
        tape.say(f"`{printed(key)}' is `{printed(found)}'")


def put(tape: Tape, words: list[str], options: Options) -> None:
    """Write a value."""
    key, value = (it.encode("latin-1") for it in words)
    _write(tape, options, key, value)


def clear(tape: Tape, words: list[str], options: Options) -> None:
    """Take a key away."""
    (key,) = (it.encode("latin-1") for it in words)
    _write(tape, options, key, None)


def _write(tape: Tape, options: Options, key: bytes, value: bytes | None) -> None:
    if not options.may_write:
        raise tape.fail("ERROR: writemode must be enabled to set or clear keys in the database.")
    transaction = _begun(tape, options)
    try:
        if value is None:
            transaction.clear(key)
        else:
            transaction.set(key, value)
        version = transaction.commit(tape.database.now)
    except FdbError as error:
        raise _refused(tape, error) from None
    tape.say(f"Committed ({version})")


def _begun(tape: Tape, options: Options) -> Transaction:
    tape.serve()
    database = tape.database
    return Transaction(
        database.store, database.now, system=options.system, aware=options.lock_aware
    )


def _refused(tape: Tape, error: FdbError) -> Failed:
    return tape.fail(f"ERROR: {error.words} ({error.code})")
