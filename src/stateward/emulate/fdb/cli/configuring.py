"""``configure``: make a database, or make it another."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Final

from stateward.emulate.fdb import data
from stateward.emulate.fdb.cli.tape import Failed, Tape, Waits
from stateward.emulate.fdb.configuration import refusals, tokens
from stateward.emulate.fdb.configuration.tokens import Asked

CONFIGURE_USAGE: Final = (
    "Usage: configure [new|tss]<single|double|triple|three_data_hall|three_datacenter|ssd|memory|"
    "memory-radixtree-beta|proxies=<PROXIES>|commit_proxies=<COMMIT_PROXIES>|"
    "grv_proxies=<GRV_PROXIES>|logs=<LOGS>|resolvers=<RESOLVERS>>*|count=<TSS_COUNT>|"
    "perpetual_storage_wiggle=<WIGGLE_SPEED>|perpetual_storage_wiggle_locality="
    "<<LOCALITY_KEY>:<LOCALITY_VALUE>|0>|storage_migration_type={disabled|gradual|aggressive}|"
    "tenant_mode={disabled|optional_experimental|required_experimental}|"
    "blob_granules_enabled={0|1}|encryption_at_rest_mode={disabled|domain_aware|cluster_aware}|"
    "exclude=<ADDRESS...>"
)
#: Seconds for which a plain configure waits for a database that does not serve.
_PATIENCE: Final = 60.0


def configure(tape: Tape, words: Sequence[str]) -> Waits:
    """Make a database, or make it another."""
    try:
        asked = tokens.read(words)
    except tokens.Misunderstood as error:
        tape.say(*error.notes, CONFIGURE_USAGE)
        raise Failed from None
    tape.say(*asked.notes)
    yield from _change(tape, asked)


def fileconfigure(tape: Tape, words: Sequence[str], files: Callable[[str], str | None]) -> Waits:
    """Do the same by a file, which has what a status has as the configuration."""
    *how, path = words or [""]
    text = files(path) if how in ([], ["new"], ["FORCE"]) else None
    if text is None:
        raise tape.misused("fileconfigure [new] <FILENAME>")
    try:
        values = tokens.of_document(json.loads(text))
    except (ValueError, tokens.Misunderstood):
        raise tape.fail(refusals.INVALID) from None
    yield from _change(tape, Asked(new=how == ["new"], force=how == ["FORCE"], values=values))


def _change(tape: Tape, asked: Asked) -> Waits:
    database = tape.database
    if not asked.new and not asked.force and "locked" not in asked.values:
        yield from _await_service(tape)
    if wrong := refusals.objection(database.settings, asked, data.seen(database)):
        raise tape.fail(wrong)
    database.configure(asked)
    yield from tape.serve()
    gradual = asked.values.get("storage_migration_type") == "gradual"
    config = database.settings
    if gradual and config is not None and not config.value("perpetual_storage_wiggle", 0):
        tape.warn(refusals.WIGGLE_NEEDED)
        tape.say("Configuration changed, with warnings")
        return
    tape.say("Database created" if asked.new else "Configuration changed")


def _await_service(tape: Tape) -> Waits:
    until = tape.database.now + _PATIENCE
    yield from tape.wait(lambda: _is_served(tape) or tape.database.now >= until)
    if not _is_served(tape):
        raise tape.fail(
            "ERROR: The database is unavailable",
            "Type `configure FORCE <TOKEN...>' to configure without this check",
        )


def _is_served(tape: Tape) -> bool:
    return tape.is_served and tape.sees_quorum
