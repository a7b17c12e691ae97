"""The smaller commands: maintenance, the lock of a database, classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stateward.emulate.fdb.cli.tape import Failed, Tape, Waits
from stateward.fdb.model.classes import ProcessClass


def maintenance(tape: Tape, words: Sequence[str]) -> Waits:
    """Let a zone be away, or tell which may."""
    database = tape.database
    match list(words):
        case []:
            yield from tape.serve()
            found = database.maintained()
            tape.say(
                f"Maintenance for zone {found.zone} will continue for {int(found.seconds)} seconds."
                if found
                else "No ongoing maintenance."
            )
        case ["off"]:
            yield from tape.serve()
            database.maintenance = None
        case ["on", zone, seconds] if seconds.lstrip("-").isdigit():
            yield from tape.serve()
            if int(seconds) < 0:
                raise tape.fail(
                    "ERROR: Api call through special keys failed. For more information, call get on"
                    " special key 0xff0xff/error_message to get a json string of the error message."
                    " (2117)"
                )
            database.begin_maintenance(zone, int(seconds))
        case _:
            raise tape.misused("maintenance [on|off] [ZONEID] [SECONDS]")


def lock(tape: Tape) -> Waits:
    """Let only those write who know of the lock."""
    database = tape.database
    name = "".join(database.chance.choice("0123456789abcdef") for _ in range(32))
    tape.say(f"Locking database with lockUID: {name}")
    yield from tape.serve()
    if database.store.locked_by:
        raise tape.fail("ERROR: Database is locked (1038)")
    database.store.locked_by = name
    tape.say("Database locked.")


def unlock(tape: Tape, _words: Sequence[str]) -> Waits:
    """Ask for a word that is shown and must be typed: a program cannot."""
    yield from ()
    word = "".join(tape.database.chance.choice(_LETTERS) for _ in range(10))
    tape.say("Unlocking the database is a potentially dangerous operation.", word)
    raise tape.fail("ERROR: Incorrect passphrase entered.")


def datadistribution(tape: Tape, words: Sequence[str]) -> Waits:
    """Have data stay where it is, or move again."""
    if list(words) not in (["on"], ["off"]):
        raise tape.misused("datadistribution <on|off>")
    yield from tape.serve()
    tape.database.stays = words[0] == "off"
    tape.say(f"data distribution: {words[0]}")


def consistencycheck(tape: Tape, words: Sequence[str]) -> Waits:
    """Tell whether copies are compared with each other, or have that stop, or go on."""
    if list(words) not in ([], ["on"], ["off"]):
        raise tape.misused("consistencycheck [on|off]")
    yield from tape.serve()
    if words:
        tape.database.unchecked = words[0] == "off"
    else:
        tape.say(f"consistency check: {'off' if tape.database.unchecked else 'on'}")


def waitconnected(tape: Tape, _words: Sequence[str]) -> Waits:
    """Wait until somebody answers."""
    coordinators = tape.string.coordinators
    answers = tape.view.answers
    return tape.wait(lambda: any(answers(tape.database, it) for it in coordinators))


def waitopen(tape: Tape, _words: Sequence[str]) -> Waits:
    """Wait until transactions are served."""
    return tape.serve()


_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def setclass(tape: Tape, words: Sequence[str]) -> Waits:
    """List classes, or give a process another."""
    database = tape.database
    if not words:
        # It reads as everybody does, so it waits for as long as the database is locked.
        yield from tape.wait(lambda: database.recovery.serves and not database.store.locked_by)
        servers = sorted(database.servers.values(), key=lambda it: it.address)
        tape.say(f"There are currently {len(servers)} processes in the database:")
        for it in servers:
            tape.say(f"  {it.address.plain}: {it.process_class} ({it.class_source})")
        return
    if len(words) != 2:
        raise tape.misused("setclass [<ADDRESS> <CLASS>]")
    yield from _set_class(tape, *words)


def _set_class(tape: Tape, address: str, name: str) -> Waits:
    if name != "default" and name not in list(ProcessClass):
        raise tape.fail(f"ERROR: '{name}' is not a valid process class")
    found = tape.database.server_at(address)
    if found is None:
        tape.say("No matching addresses found")
        raise Failed
    yield from tape.serve()
    found.disk.chosen_class = None if name == "default" else ProcessClass(name)
