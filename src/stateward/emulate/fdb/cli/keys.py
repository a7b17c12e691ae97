"""The commands of fdbcli that read and write keys."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Final, Protocol

from stateward.emulate.fdb import keyspace
from stateward.emulate.fdb.cli.tape import Failed, Tape, Waits
from stateward.emulate.fdb.cli.words import printed
from stateward.emulate.fdb.keys import LOCKED, OUTSIDE, SYSTEM, FdbError, Transaction
from stateward.emulate.fdb.telling import specials

#: How many keys are printed where nobody says how many.
_LIMIT: Final = 25


class Options(Protocol):
    """What was turned on in this call."""

    may_write: bool
    system: bool
    lock_aware: bool
    may_manage: bool


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
        case ["on", "ACCESS_SYSTEM_KEYS" | "READ_SYSTEM_KEYS"]:
            options.system = True
        case ["on", "LOCK_AWARE" | "READ_LOCK_AWARE"]:
            options.lock_aware = True
        case ["on", "SPECIAL_KEY_SPACE_ENABLE_WRITES"]:
            options.may_manage = True
        case _:
            raise tape.misused("option <STATE> <OPTION> <ARG>")
    tape.say("Option enabled for all transactions")


def get(tape: Tape, words: list[str], options: Options) -> Waits:
    """Print a value."""
    (key,) = _raw(tape, words, "get <KEY>")
    transaction = yield from _begun(tape, options)
    try:
        is_special = key.startswith(specials.SPECIAL)
        found = specials.value(tape.database, key) if is_special else transaction.get(key)
    except FdbError as error:
        raise _refused(tape, error) from None
    if found is None:
        tape.say(f"`{printed(key)}': not found")
    else:
        tape.say(f"`{printed(key)}' is `{printed(found)}'")


def getrange(tape: Tape, words: list[str], options: Options) -> Waits:
    """Print keys and values."""
    found = yield from _found(tape, words, options, "getrange <BEGINKEY> [ENDKEY] [LIMIT]")
    tape.say(*(f"`{printed(key)}' is `{printed(value)}'" for key, value in found), "")


def getrangekeys(tape: Tape, words: list[str], options: Options) -> Waits:
    """Print keys."""
    found = yield from _found(tape, words, options, "getrangekeys <BEGINKEY> [ENDKEY] [LIMIT]")
    tape.say(*(f"`{printed(key)}'" for key, _ in found), "")


def _found(
    tape: Tape, words: list[str], options: Options, usage: str
) -> Generator[float, None, list[tuple[bytes, bytes]]]:
    """Return the first keys of a range, and say how many there are at most."""
    keys = [it for it in words[:3] if not it.isdigit() or it is words[0]]
    limit = words[len(keys) :] or [str(_LIMIT)]
    if not words or len(words) > 3 or len(limit) > 1 or not limit[0].isdigit():
        raise tape.misused(usage)
    begin, *rest = map(_bytes, keys)
    end = rest[0] if rest else SYSTEM
    transaction = yield from _begun(tape, options)
    tape.say("", f"Range limited to {limit[0]} keys")
    if begin.startswith(specials.SPECIAL):
        return specials.span(tape.database, begin, end)[: int(limit[0])]
    try:
        return transaction.get_range(begin, end)[: int(limit[0])]
    except FdbError as error:
        raise _refused(tape, error) from None


def put(tape: Tape, words: list[str], options: Options) -> Waits:
    """Write a value."""
    key, value = _raw(tape, words, "set <KEY> <VALUE>")
    yield from _write(tape, options, key, value)


def clear(tape: Tape, words: list[str], options: Options) -> Waits:
    """Take a key away."""
    (key,) = _raw(tape, words, "clear <KEY>")
    yield from _write(tape, options, key, None)


def clearrange(tape: Tape, words: list[str], options: Options) -> Waits:
    """Take all keys away from one on and below another."""
    begin, end = _raw(tape, words, "clearrange <BEGINKEY> <ENDKEY>")
    yield from _change(tape, options, lambda it: it.clear_range(begin, end))


def _raw(tape: Tape, words: list[str], usage: str) -> list[bytes]:
    """Return words as bytes, if there are as many as the command wants.

    A word has a letter for each byte, unless somebody typed what is none.
    """
    if len(words) != usage.count("<"):
        raise tape.misused(usage)
    return list(map(_bytes, words))


def _bytes(word: str) -> bytes:
    return word.encode("latin-1") if max(word, default="") <= "\xff" else word.encode()


def _write(tape: Tape, options: Options, key: bytes, value: bytes | None) -> Waits:
    if key.startswith(specials.SPECIAL):
        yield from _manage(tape, options, key, value)
    elif value is None:
        yield from _change(tape, options, lambda it: it.clear(key))
    else:
        yield from _change(tape, options, lambda it: it.set(key, value))


def _change(tape: Tape, options: Options, work: Callable[[Transaction], None]) -> Waits:
    if not options.may_write:
        raise tape.fail("ERROR: writemode must be enabled to set or clear keys in the database.")
    transaction = yield from _begun(tape, options)
    try:
        work(transaction)
        version = transaction.commit(tape.database.now)
    except FdbError as error:
        raise _refused(tape, error) from None
    tape.say(f"Committed ({version})")


def _manage(tape: Tape, options: Options, key: bytes, value: bytes | None) -> Waits:
    """Do what somebody asks for by a key that is no data, if that was turned on."""
    if not options.may_manage:
        raise _refused(tape, FdbError(OUTSIDE))
    database = tape.database
    yield from _change(tape, options, lambda _it: keyspace.manage(database, key, value))


def _begun(tape: Tape, options: Options) -> Generator[float, None, Transaction]:
    yield from tape.serve()
    database = tape.database
    return Transaction(
        database.store, database.now, system=options.system, aware=options.lock_aware
    )


def _refused(tape: Tape, error: FdbError) -> Failed:
    return tape.fail(f"ERROR: {error.words} ({error.code})")
