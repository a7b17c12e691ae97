"""``help``: which commands there are, in our own words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from stateward.emulate.fdb.cli.tape import Tape, Waits

#: By command: what it is for.
SUMMARIES: Final[Mapping[str, str]] = {
    "clear": "take a key away",
    "clearrange": "take all keys away from one to another",
    "configure": "make a database, or change its configuration",
    "consistencycheck": "compare copies with each other, or not",
    "coordinators": "list or change coordinators",
    "datadistribution": "let data move, or have it stay",
    "exclude": "have data leave processes",
    "fileconfigure": "change the configuration to that of a file",
    "get": "read a key",
    "getrange": "read keys from one to another",
    "getrangekeys": "the same without their values",
    "getversion": "tell at which version is read",
    "help": "this list",
    "include": "let processes have data again",
    "kill": "end processes",
    "lock": "let only those write who know of it",
    "maintenance": "let a zone be away",
    "option": "turn an option of transactions on",
    "set": "write a key",
    "setclass": "list classes of processes, or change one",
    "sleep": "wait for seconds",
    "status": "tell how the database is: minimal, details, json",
    "suspend": "have processes stand still for seconds, then end",
    "unlock": "let everybody write again",
    "waitconnected": "wait until a coordinator answers",
    "waitopen": "wait until transactions are served",
    "writemode": "allow to write keys",
}


def help_(tape: Tape, words: Sequence[str]) -> Waits:
    """Print what there is, or what one command is for."""
    yield from ()
    if not words:
        tape.say("", "EMULATED: these are the commands of the stand-in.", "")
        tape.say(*(f" {name:<17} {text}" for name, text in SUMMARIES.items()), "")
    elif words[0] in SUMMARIES:
        tape.say("", f"{words[0]}: {SUMMARIES[words[0]]}", "")
    else:
        tape.say(f"No help available for `{words[0]}'")
