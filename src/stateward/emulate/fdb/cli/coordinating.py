"""``coordinators``: list them, or have others coordinate."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Final

from stateward.emulate.fdb.cli.tape import Tape, Waits
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.connection import ConnectionString

_NO_CHANGE: Final = "No change (existing configuration satisfies request)"


def coordinators(tape: Tape, words: Sequence[str], string: ConnectionString) -> Waits:
    """List coordinators, or have others coordinate."""
    if not words:
        listed = ",".join(map(str, string.coordinators))
        tape.say(
            f"Cluster description: {string.description}",
            f"Cluster coordinators ({len(string.coordinators)}): {listed}",
            "Type `help coordinators' to learn how to change this information.",
        )
        return
    description = _description(tape, words)
    rest = [it for it in words if not it.startswith("description=")]
    addresses = yield from _addresses(tape, rest)
    if addresses is None:
        return
    yield from _change(tape, addresses, description)


def _description(tape: Tape, words: Sequence[str]) -> str:
    found = [it.partition("=")[2] for it in words if it.startswith("description=")]
    if found and not found[0].replace("_", "").isalnum():
        raise tape.fail("ERROR: Cluster description must match [A-Za-z0-9_]+")
    return found[0] if found else ""


def _addresses(tape: Tape, words: Sequence[str]) -> Generator[float, None, list[Address] | None]:
    """Return who is meant; None: nothing is done, and that is no failure."""
    if words == ["auto"]:
        return (yield from _chosen(tape))
    found: list[Address] = []
    for it in words:
        try:
            address = Address.parse(it)
        except ValueError:
            tape.warn(f"ERROR: '{it}' is not a valid network endpoint address")
            return None
        if address in found:
            tape.warn(f"ERROR: passed redundant coordinators: `{it}'")
            return None
        found.append(address)
    return found or list(tape.database.string.coordinators)


def _chosen(tape: Tape) -> Generator[float, None, list[Address]]:
    """Return whom FoundationDB itself would choose: those there are, if nothing is wrong."""
    database = tape.database
    yield from tape.serve()
    config = database.settings
    many = 2 * (config.copies if config else 1) - 1
    now = list(database.string.coordinators)
    if len(now) >= many and len(now) % 2 and all(map(database.reachable, now)):
        return now
    zones: dict[str, Address] = {}
    for it in sorted(database.usable(), key=lambda one: one.address):
        zones.setdefault(it.zone, it.address)
    if len(zones) < many:
        raise tape.fail(
            "ERROR: Too few fdbserver machines to provide coordination at the current redundancy"
            " level"
        )
    return list(zones.values())[:many]


def _change(tape: Tape, addresses: Sequence[Address], description: str) -> Waits:
    database = tape.database
    if not all(map(database.reachable, addresses)):
        yield 5.0
        raise tape.fail("ERROR: One of the specified coordinators is unreachable")
    same = set(addresses) == set(database.string.coordinators)
    if same and description in ("", database.string.description):
        yield from tape.serve()
        tape.say(_NO_CHANGE)
        return
    if not database.has_quorum:
        database.recover("coordinators were to be changed without a majority of them")
    yield from tape.wait(lambda: database.has_quorum and database.recovery.serves)
    database.move_coordinators(addresses, description)
    yield from tape.serve()
    tape.say("Coordination state changed")
