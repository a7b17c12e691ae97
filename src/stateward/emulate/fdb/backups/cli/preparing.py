"""What whoever types a command does first, with files alone; only then the database is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from stateward.emulate.fdb.backups import containers, urls
from stateward.emulate.fdb.backups.cli import asked as asking
from stateward.emulate.fdb.backups.cli import describing
from stateward.emulate.fdb.backups.cli.asked import BACKUP, NO_URL, OF_FILES, Asked, Refused, Said
from stateward.emulate.fdb.backups.files import Files, Unusable

_NO_VERSION: Final = (
    "No restore target version given, will use maximum restorable version from backup"
    " description.\n"
)
_NOT_RESTORABLE: Final = "The specified backup is not restorable to any version."


@dataclass(frozen=True, slots=True)
class Place:
    """Where one is who types: which files there are, by which folder blob stores are emulated."""

    files: Files
    blobs: str = ""


@dataclass(frozen=True, slots=True)
class Typed:
    """A command line: the program and its words, how it is called, and a name for what begins."""

    program: str
    words: Sequence[str]
    called: str
    uid: str


@dataclass(frozen=True, slots=True)
class Ready:
    """What the database is to be asked, and what was said before."""

    asked: Asked
    out: str = ""
    #: What was told besides: where the database is found, and the files of TLS.
    options: Mapping[str, str] = field(default_factory=dict)


def prepare(typed: Typed, place: Place) -> Ready | Said:
    """Do what needs no database; return what is left, or how it ended."""
    try:
        asked, told = asking.read(typed.program, typed.words, typed.called, typed.uid)
        if typed.program != BACKUP:
            is_start = asked.action == "start"
            found = _prepare_restore(asked, place) if is_start else Ready(asked)
            return found if isinstance(found, Said) else replace(found, options=told.values)
        if asked.action in OF_FILES:
            return describing.answer(asked, place.files, place.blobs)
        if asked.url:
            asking.check_url(asked, typed.called, place.blobs)
    except Refused as error:
        return Said(error.code, "", f"{error.text}\n")
    return Ready(asked, options=told.values)


def _prepare_restore(asked: Asked, place: Place) -> Ready | Said:
    """Find out to which version a container can be restored, as whoever types it does."""
    if not asked.url:
        hint = f"{NO_URL}\nTry `fdbrestore --help' for more information."
        return Said(1, "", f"{hint}\nERROR: Backup error\nFatal Error: Backup error\n")
    out = _NO_VERSION if asked.version < 0 else ""
    try:
        there = containers.contents(place.files, urls.folder(asked.url, place.blobs))
    except (Unusable, urls.Invalid) as error:
        return _impossible(out, str(error))
    if asked.version < 0:
        if there.restorable is None:
            return _impossible(out, _NOT_RESTORABLE, "Restore error")
        asked = msgspec.structs.replace(asked, version=there.restorable[1])
        out += f"Ussing target restore version {asked.version}\n"
    if there.best(asked.version) is None:
        text = f"Restore version {asked.version} is not possible from {asked.url}"
        return _impossible(out, text, "Invalid restore version")
    if asked.is_dry:
        return Said(0, f"{out}Backup can be used to restore to version {asked.version}\n")
    out += f"Backup Description\n{describing.text(asked.url, there)}"
    return Ready(asked, f"{out}Restoring backup to version: {asked.version}\n")


def _impossible(out: str, text: str, fatal: str = "") -> Said:
    return Said(1, out, f"ERROR: {text}\nFatal Error: {fatal or text}\n")
