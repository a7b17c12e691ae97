"""A command of fdbbackup or fdbrestore, carried out on a database by whoever controls it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stateward.emulate.fdb.backups.cli.asked import BACKUP, Asked, Said
from stateward.emulate.fdb.backups.cli.backups import BackupCommand
from stateward.emulate.fdb.backups.cli.preparing import Place, Typed, prepare
from stateward.emulate.fdb.backups.cli.restores import RestoreCommand
from stateward.emulate.fdb.cli.program import Steps
from stateward.emulate.fdb.cli.tape import Failed, Tape

_DIGITS: Final = "0123456789abcdef"


def steps(asked: Asked, tape: Tape) -> Steps:
    """Carry out a command: yield for how long it waits, and return the code at its end."""
    command = (BackupCommand if asked.program == BACKUP else RestoreCommand)(asked, tape)
    try:
        yield from command.run()
    except Failed:
        return 1
    return 0


def typed(tape: Tape, place: Place, program: str, words: Sequence[str]) -> Steps:
    """Carry out a whole command line in memory, where nobody is asked over any wire."""
    uid = "".join(tape.database.chance.choice(_DIGITS) for _ in range(32))
    ready = prepare(Typed(program, words, program, uid), place)
    tape.out += ready.out
    if isinstance(ready, Said):
        tape.err += ready.err
        return ready.code
    return (yield from steps(ready.asked, tape))
