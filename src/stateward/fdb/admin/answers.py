"""What fdbcli's answers mean. Pure; held to recordings of the real one.

The exit code decides nearly nothing: it is 0 for an exclusion that is not over, for one of nobody,
and for an address that is none. So a change counts as made only when the words say so, or, where it
is silent by nature, when nothing at all was said against it. And it counts as refused only when it
is known that nothing was done: for all else there is OutcomeUnknown, and somebody reads back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from stateward.core.errors import OutcomeUnknown, PeerConfused, StatewardError
from stateward.fdb.admin import codes
from stateward.fdb.admin.errors import DatabaseRefused, DatabaseSilent, Refusal
from stateward.fdb.model import exclusions
from stateward.fdb.model.addresses import Address, parse_all
from stateward.fdb.model.exclusions import Exclusion
from stateward.fdb.status.maintenance import Maintenance


@dataclass(frozen=True, slots=True)
class Answer:
    """How a program ended, and what it printed."""

    code: int
    out: str = ""
    err: str = ""
    #: False: it did not end by itself, and was killed.
    in_time: bool = True


_TIMED_OUT: Final = "Specified timeout reached"
_SAYS_NO: Final = re.compile(r"^(?:ERROR|Fatal Error): *(?P<words>.*)$", re.MULTILINE)
_NUMBERED: Final = re.compile(r"(?P<words>.*) \((?P<code>[0-9]{1,5})\)")
_USAGE: Final = re.compile(r"^Usage: ", re.MULTILINE)
_UNAVAILABLE: Final = "The database is unavailable"
#: Whatever fdbcli ends with by itself; with others it was killed, or broke.
_ENDS: Final = (0, 1)
#: What is said only after something was done, whatever is said against it later.
_DONE: Final = re.compile(
    r"^(?:Database created|Configuration changed|Coordination state changed|Attempted to kill"
    r"| +\S+  ---- )",
    re.MULTILINE,
)


def objection(answer: Answer, *, changes: bool) -> StatewardError | None:
    """Return what stands against that it did what it was asked for; None: nothing does.

    Whoever asked for a change is told OutcomeUnknown, unless it is known that nothing was done.
    """
    if not answer.in_time or _TIMED_OUT in answer.err:
        return _silence(changes=changes)
    wrong = _told(answer, changes=changes)
    if wrong is None or not changes or isinstance(wrong, OutcomeUnknown):
        return wrong
    if answer.code not in _ENDS:
        return _unknown(f"fdbcli broke with {answer.code} and said: {wrong.message}")
    if _DONE.search(answer.out) or _DONE.search(answer.err):
        return _unknown(f"fdbcli did something, and then said: {wrong.message}")
    return wrong


def _told(answer: Answer, *, changes: bool) -> StatewardError | None:
    """Return what is against it by its words, and by its code when it has none."""
    first: StatewardError | None = None
    for words in _noes(answer):
        found = _meaning(words, changes=changes)
        if isinstance(found, OutcomeUnknown):
            return found
        first = first or found
    if first is not None:
        return first
    if (refusal := codes.known_in(answer.err)) is not None:
        return DatabaseRefused(refusal, _first_line(answer.err))
    if not answer.code:
        return None
    if _USAGE.search(answer.out):
        return DatabaseRefused(Refusal.MISUNDERSTOOD, _first_line(answer.out))
    text = f"fdbcli ended with {answer.code} and said {_first_line(answer.err)!r}"
    return _unknown(text) if changes else PeerConfused(text)


def _noes(answer: Answer) -> Iterator[str]:
    """Yield the words of each "no"."""
    where = answer.err if _SAYS_NO.search(answer.err) else answer.out
    return (it["words"].strip() for it in _SAYS_NO.finditer(where))


def _meaning(words: str, *, changes: bool) -> StatewardError:
    """Return what one "no" means; its number decides, if it has one."""
    if words.startswith(_UNAVAILABLE):
        return DatabaseSilent("the database is not available, and was not changed")
    if numbered := _NUMBERED.fullmatch(words):
        said = _first_line(numbered["words"])
        return codes.meaning(int(numbered["code"]), said, committing=changes)
    refusal = codes.known_in(words)
    if refusal is None and changes:
        return _unknown(_first_line(words))
    return DatabaseRefused(refusal or Refusal.OTHER, _first_line(words))


def _unknown(text: str) -> OutcomeUnknown:
    return OutcomeUnknown(f"nobody knows whether it was done: {text}")


def _silence(*, changes: bool) -> StatewardError:
    if changes:
        return OutcomeUnknown("the database did not answer in time: it may have done it or not")
    return DatabaseSilent("the database did not answer in time")


def _first_line(text: str) -> str:
    found = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return found if len(found) <= 200 else f"{found[:197]}..."


def check_silent(answer: Answer) -> None:
    """Raise unless a command that says nothing when it works was carried out."""
    if (wrong := objection(answer, changes=True)) is not None:
        raise wrong
    said = answer.out.strip() or _without_warnings(answer.err)
    if said:
        raise OutcomeUnknown(f"fdbcli must say nothing here: {_first_line(said)!r}")


#: It takes long, or something is wrong that has nothing to do with what was asked for.
_WARNINGS: Final = (
    "WARNING: Long delay",
    "WARNING: The cluster file is not up to date.",
    "WARNING: One or more of the processes in the cluster is incompatible with this version",
)


def _without_warnings(text: str) -> str:
    """Return the first line that is no warning known to be harmless."""
    lines = (it.strip() for it in text.splitlines())
    return next((it for it in lines if it and not it.startswith(_WARNINGS)), "")


def check_said(answer: Answer, *words: str) -> str:
    """Return which of some words it said; raise unless it did, and nothing against them."""
    if (wrong := objection(answer, changes=True)) is not None:
        raise wrong
    for it in words:
        if it in answer.out:
            return it
    raise OutcomeUnknown(f"fdbcli must say {' or '.join(words)!r}: {_first_line(answer.out)!r}")


def check_read(answer: Answer) -> str:
    """Return what a question was answered with; raise when it was not."""
    if (wrong := objection(answer, changes=False)) is not None:
        raise wrong
    return answer.out


# -------------------------------------------------------------------------- configuration

CREATED: Final = "Database created"
CONFIGURED: Final = "Configuration changed"
MOVED: Final = "Coordination state changed"
UNMOVED: Final = "No change"
KILLED: Final = re.compile(r"^Attempted to kill (?P<many>\d+) processes$", re.MULTILINE)


def killed(answer: Answer) -> int:
    """Return how many processes were asked to end; whether they did nobody says."""
    if (wrong := objection(answer, changes=True)) is not None:
        raise wrong
    found = KILLED.search(answer.out)
    if found is None:
        raise OutcomeUnknown("fdbcli must say how many processes it attempted to kill")
    return int(found["many"])


_LISTED: Final = re.compile(r"^Cluster coordinators \(\d+\): (?P<all>\S+)$", re.MULTILINE)


def listed_coordinators(answer: Answer) -> tuple[Address, ...]:
    """Return the coordinators that fdbcli knows of."""
    found = _LISTED.search(check_read(answer))
    if found is None:
        raise PeerConfused("fdbcli must list the coordinators")
    try:
        return parse_all(found["all"])
    except ValueError as error:
        raise PeerConfused(f"fdbcli lists a coordinator that is none: {error}") from None


_CONTINUES: Final = re.compile(
    r"^Maintenance for zone (?P<zone>\S+) will continue for (?P<seconds>\d+) seconds\.$",
    re.MULTILINE,
)


def maintenance(answer: Answer) -> Maintenance | None:
    """Return the zone under maintenance, if there is one."""
    text = check_read(answer)
    if found := _CONTINUES.search(text):
        return Maintenance(found["zone"], float(found["seconds"]))
    if "No ongoing maintenance." in text:
        return None
    raise PeerConfused(f"fdbcli must say whether there is maintenance: {_first_line(text)!r}")


# -------------------------------------------------------------------------- exclusions


class Stage(Enum):
    """How far an exclusion is."""

    OVER = "nothing is left there"
    MOVING = "data is still there"
    MISSING = "no such process reports, so nobody knows what is on its disk"
    NOBODY = "no process has this locality"


_STAGES: Final[Mapping[str, Stage]] = {
    "Successfully excluded.": Stage.OVER,
    "WARNING: Exclusion in progress!": Stage.MOVING,
    "WARNING: Missing from cluster!": Stage.MISSING,
    "WARNING: Currently no servers found with this locality match!": Stage.NOBODY,
}
_ROW: Final = re.compile(
    r"^ +(?P<who>\S+?)(?:\(Whole machine\))?  ---- (?P<words>.*)$", re.MULTILINE
)


def excluding(answer: Answer) -> dict[Exclusion, Stage]:
    """Return how far each is; an exclusion by locality is told by the addresses that it means.

    What makes no sense is OutcomeUnknown: the exclusion was made before anything is said of it.
    """
    if (wrong := objection(answer, changes=True)) is not None:
        raise _of_excluding(answer, wrong)
    found: dict[Exclusion, Stage] = {}
    for row in _ROW.finditer(answer.out + "\n" + answer.err):
        stage = next((it for text, it in _STAGES.items() if row["words"].startswith(text)), None)
        if stage is None:
            said = _first_line(row["words"])
            raise OutcomeUnknown(f"fdbcli says of an exclusion what nobody knows: {said!r}")
        found[_excluded(row["who"])] = stage
    if not found:
        raise OutcomeUnknown("fdbcli must say how far an exclusion is, and says nothing")
    return found


def _of_excluding(answer: Answer, wrong: StatewardError) -> StatewardError:
    # fdbcli commits, and then reads how far it is: a number may be of what it could not read.
    if any(_NUMBERED.fullmatch(it) for it in _noes(answer)):
        return wrong if isinstance(wrong, OutcomeUnknown) else _unknown(wrong.message)
    return wrong


def _excluded(text: str) -> Exclusion:
    try:
        return _entry(text)
    except PeerConfused as error:
        raise OutcomeUnknown(error.message) from None


@dataclass(frozen=True, slots=True)
class ExclusionList:
    """Who is excluded, and of whom the data was given up."""

    excluded: frozenset[Exclusion] = field(default_factory=frozenset)
    failed: frozenset[Exclusion] = field(default_factory=frozenset)


_NONE: Final = "There are currently no servers or localities excluded"
_EXCLUDED: Final = re.compile(r"^There are currently (\d+) servers .* being excluded", re.MULTILINE)
_FAILED: Final = re.compile(r"^There are currently (\d+) servers .* marked as failed", re.MULTILINE)
_ITEM: Final = re.compile(r"^  (?P<who>\S+)$", re.MULTILINE)


def listed_exclusions(answer: Answer) -> ExclusionList:
    """Return the database's lists."""
    text = check_read(answer)
    if _NONE in text:
        return ExclusionList()
    first, second = _EXCLUDED.search(text), _FAILED.search(text)
    if first is None or second is None:
        raise PeerConfused("fdbcli must list exclusions, and those that failed")
    return ExclusionList(
        _entries(text[first.end() : second.start()], int(first[1])),
        _entries(text[second.end() :], int(second[1])),
    )


def _entries(text: str, many: int) -> frozenset[Exclusion]:
    found = frozenset(_entry(it["who"]) for it in _ITEM.finditer(text))
    if len(found) != many:
        raise PeerConfused(f"fdbcli says that there are {many} exclusions, and lists {len(found)}")
    return found


def _entry(text: str) -> Exclusion:
    try:
        return exclusions.parse(text)
    except ValueError as error:
        raise PeerConfused(f"fdbcli lists an exclusion that is none: {error}") from None
