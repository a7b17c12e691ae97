"""Reads ``fdbrestore status``, which is text: how the restore of a tag is.

All tags are told, each by its fields; that there is none is an empty line, and nothing else.
Whatever cannot be read leaves us not knowing: taken for "nothing there" it would begin a restore
twice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

from stateward.core.facts import Unknown


class RestoreStage(StrEnum):
    """How far a restore is, in the words of the database."""

    NEVER = "uninitialized"
    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    COMPLETED = "completed"
    ABORTED = "aborted"

    @property
    def is_active(self) -> bool:
        """Whether it goes on, or would if somebody did the work: the database is locked for it."""
        return self in _ACTIVE


_ACTIVE: Final = frozenset({RestoreStage.QUEUED, RestoreStage.STARTING, RestoreStage.RUNNING})


@dataclass(frozen=True, slots=True)
class RestoreState:
    """The restore of a tag."""

    tag: str
    stage: RestoreStage
    uid: str = ""
    url: str = ""
    #: To which version; None: it is not told.
    version: int | None = None
    blocks: int = 0
    blocks_done: int = 0
    written: int = 0
    #: What went wrong last, if anything.
    error: str = ""
    #: How many versions were read and are yet to be applied.
    lag: int = 0


#: Of the word that the database has for it a letter is missing.
_STAGES: Final = {
    **{str(it): it for it in RestoreStage},
    "unitialized": RestoreStage.NEVER,
}
_BEGIN: Final = re.compile(r"^Tag: ", re.MULTILINE)
_HEAD: Final = re.compile(
    r"Tag: (?P<tag>\S*)  UID: (?P<uid>[0-9a-f]+)  State: (?P<stage>\w+)"
    r"  Blocks: (?P<done>\d+)/(?P<blocks>\d+)  BlocksInProgress: \d+  Files: \d+"
    r"  BytesWritten: (?P<written>\d+)"
)
_URL: Final = re.compile(r"  URL: (?P<url>\S*)")
_VERSION: Final = re.compile(r"  Version: (?P<version>\d+)\s*\Z")
_ERROR: Final = re.compile(r"  LastError: (?P<error>.*?)(?=\s+URL: |\s*\Z)", re.DOTALL)
_LAG: Final = re.compile(r"  ApplyVersionLag: (?P<lag>\d+)")
_NO_ERROR: Final = "None"


def read(text: str, tag: str) -> RestoreState | Unknown:
    """Return how the restore of a tag is, by what was printed of all; this never raises."""
    if not text or (text.strip() and not text.lstrip().startswith("Tag: ")):
        return Unknown(f"fdbrestore must tell of all restores, and says {text[:80]!r}")
    found: RestoreState | None = None
    for part in _parts(text):
        state = _state(part)
        if isinstance(state, Unknown):
            return state
        if state.tag == tag:
            if found is not None:
                return Unknown(f"fdbrestore tells of restore {tag} twice")
            found = state
    return found or RestoreState(tag, RestoreStage.NEVER)


def _parts(text: str) -> list[str]:
    starts = [it.start() for it in _BEGIN.finditer(text)]
    return [text[begin:end] for begin, end in pairwise([*starts, len(text)])]


def _state(part: str) -> RestoreState | Unknown:
    head = _HEAD.match(part)
    if head is None:
        return Unknown(f"fdbrestore must tell how far a restore is, and says {part[:120]!r}")
    stage = stage_of(head["stage"])
    if isinstance(stage, Unknown):
        return stage
    url, version, error = _URL.search(part), _VERSION.search(part), _ERROR.search(part)
    lag = _LAG.search(part)
    said = error["error"].strip() if error else _NO_ERROR
    return RestoreState(
        head["tag"],
        stage,
        head["uid"],
        url["url"] if url else "",
        int(version["version"]) if version else None,
        int(head["blocks"]),
        int(head["done"]),
        int(head["written"]),
        "" if said == _NO_ERROR else said,
        int(lag["lag"]) if lag else 0,
    )


def stage_of(word: str) -> RestoreStage | Unknown:
    """Return what a word for how far a restore is means."""
    found = _STAGES.get(word)
    return Unknown(f"a restore is {word!r}: unheard of") if found is None else found
