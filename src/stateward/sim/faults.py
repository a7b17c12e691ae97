"""What can go wrong, by families, each with a short text by which a run is repeated.

A text is a kind, and what it needs after colons:

    crash-before:S crash-after:S crash-answered:S
                            the process dies before the call is sent, after it was carried out, or
                            after its answer came; the next one starts after S seconds
    sigterm                 the process is asked to end, and another one starts
    409 429 500 503 504 401 malformed slow lost-request lost-answer twice
                            what becomes of the call or of its answer
    403:S                   the call is not allowed, nor any like it for S seconds, whoever sends it
    two-passes              a second pass over the same key begins beside the first
    stale:R:S               the process is started again and sees the store as of revision R (or,
                            from 0 down, as of so many revisions ago) until S seconds after it began
                            to act; single reads and writes reach the newest
    stale-kinds:K+K:R:S     the same for some kinds alone
    stall:K:S[:on]          the watch of a kind is silent for S seconds and ends with 410 Gone
                            (on: goes on)
    unseen:K[:N]            the next event of a kind and the N (1) after it of that object are never
                            shown: all is listed again after them
    reorder:K:S[:T]         events of a kind are S seconds late, those of the next T seconds (30)
    server:L:S              for S seconds the process watches through another server of Kubernetes,
                            which is L seconds behind in everything
    zombie:S[:X]            the process stands still for S seconds; the call is carried out when X
                            of that have passed, from 0 to 1 (by chance)
    two-leaders:S           a second operator acts without asking for the lease, for S seconds
    act:NAME[:TARGET[:S]]   something happens to the world: see sim/etcd/happenings.py
    upgrade:older|newer     the process is started again, and the status is as another version of
                            the operator writes it
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import isfinite
from typing import Final

from stateward.core.errors import UsageError


class Family(Enum):
    """Kinds of faults that are explored together; the letters are those of docs/reliability.md."""

    CRASH = "A"
    ANSWER = "B"
    TWICE = "C"
    PAST = "D"
    PAST_OF_SOME = "E"
    STALL = "F"
    UNSEEN = "G"
    REORDER = "H"
    ZOMBIE = "I"
    TWO_LEADERS = "J"
    WORLD = "K"
    UPGRADE = "L"


class Kind(Enum):
    """What exactly goes wrong: its text, its family, and whether it happens to the call itself."""

    CRASH_BEFORE = ("crash-before", Family.CRASH, True)
    CRASH_AFTER = ("crash-after", Family.CRASH, True)
    CRASH_ANSWERED = ("crash-answered", Family.CRASH, True)
    SIGTERM = ("sigterm", Family.CRASH, False)
    LOST_REQUEST = ("lost-request", Family.ANSWER, True)
    LOST_ANSWER = ("lost-answer", Family.ANSWER, True)
    SLOW = ("slow", Family.ANSWER, True)
    CONFLICT = ("409", Family.ANSWER, True)
    OVERLOADED = ("429", Family.ANSWER, True)
    FAILED = ("500", Family.ANSWER, True)
    UNAVAILABLE = ("503", Family.ANSWER, True)
    TIMED_OUT = ("504", Family.ANSWER, True)
    UNAUTHORIZED = ("401", Family.ANSWER, True)
    FORBIDDEN = ("403", Family.ANSWER, True)
    CONFUSED = ("malformed", Family.ANSWER, True)
    TWICE = ("twice", Family.TWICE, True)
    TWO_PASSES = ("two-passes", Family.TWICE, False)
    STALE = ("stale", Family.PAST, False)
    STALE_KINDS = ("stale-kinds", Family.PAST_OF_SOME, False)
    STALL = ("stall", Family.STALL, False)
    UNSEEN = ("unseen", Family.UNSEEN, False)
    REORDER = ("reorder", Family.REORDER, False)
    SERVER = ("server", Family.REORDER, False)
    ZOMBIE = ("zombie", Family.ZOMBIE, True)
    TWO_LEADERS = ("two-leaders", Family.TWO_LEADERS, False)
    ACT = ("act", Family.WORLD, False)
    UPGRADE = ("upgrade", Family.UPGRADE, False)

    def __init__(self, text: str, family: Family, of_call: bool) -> None:  # noqa: FBT001 - a table
        self.text = text
        self.family = family
        self.of_call = of_call


_BY_TEXT: Final = {it.text: it for it in Kind}

#: The details that kinds need; with a question mark, may have. Others may have seconds.
_SHAPES: Final = {
    Kind.STALE: ("number", "seconds"),
    Kind.STALE_KINDS: ("kind", "number", "seconds"),
    Kind.STALL: ("kind", "seconds", "word?"),
    Kind.UNSEEN: ("kind", "number?"),
    Kind.REORDER: ("kind", "seconds", "seconds?"),
    Kind.SERVER: ("seconds", "seconds"),
    Kind.ZOMBIE: ("seconds?", "share?"),
    Kind.TWO_LEADERS: ("seconds",),
    Kind.ACT: ("name",),
    Kind.UPGRADE: ("word",),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong, with what it needs to be exact."""

    kind: Kind
    details: tuple[str, ...] = ()

    @property
    def family(self) -> Family:
        """The family that it is explored with."""
        return self.kind.family

    @property
    def seconds(self) -> float:
        """The first detail, where that is a duration."""
        return float(self.details[0]) if self.details else 0.0

    def check(self) -> None:
        """Raise UsageError when it lacks what makes it exact, or says what is no number."""
        shapes = _SHAPES.get(self.kind, ("seconds?",))
        if len(self.details) > len(shapes) and self.kind is not Kind.ACT:  # acts know their own
            raise UsageError(f"{self.kind.text} must have at most {len(shapes)} details: {self}")
        for place, shape in enumerate(shapes):
            given, what = self.detail(place, ""), shape.rstrip("?")
            if not given and shape.endswith("?"):
                continue
            if not given or not _fits(what, given):
                must = _MUST.get(what, f"a {what}")
                raise UsageError(f"{self.kind.text} must have {must} at place {place + 1}: {self}")

    def detail(self, place: int, default: str = "0") -> str:
        """Return one detail, if it was given."""
        return self.details[place] if place < len(self.details) else default

    def __str__(self) -> str:
        return ":".join((self.kind.text, *self.details))

    @classmethod
    def parse(cls, text: str) -> Fault:
        """Read what str() wrote."""
        kind, *details = text.split(":")
        if kind not in _BY_TEXT:
            known = ", ".join(_BY_TEXT)
            raise UsageError(f"a fault must be one of {known}; got {text!r}")
        found = cls(_BY_TEXT[kind], tuple(details))
        found.check()
        return found


#: Seconds that a fault may last: a life is judged soon after its last one.
LONGEST: Final = 3600.0
_MUST: Final = {
    "seconds": f"seconds, from 0 to {LONGEST:g},",
    "share": "a share, from 0 to 1,",
    "number": "a whole number",
}


def _fits(what: str, given: str) -> bool:
    if what == "share":
        return is_number(given) and 0 <= float(given) <= 1
    if what == "seconds":
        return is_number(given) and 0 <= float(given) <= LONGEST
    return what != "number" or is_whole(given)


def is_number(text: str) -> bool:
    """Tell whether a detail of a fault is a number, with an end.

    >>> [is_number(it) for it in ("20", "-20", "inf", "nan", "soon")]
    [True, True, False, False, False]
    """
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def is_whole(text: str) -> bool:
    """Tell whether a detail of a fault counts something.

    >>> [is_whole(it) for it in ("20", "-20", "1.5", "soon")]
    [True, True, False, False]
    """
    return is_number(text) and float(text).is_integer() and "." not in text


def fault(kind: Kind, *details: object) -> Fault:
    """Return a fault."""
    return Fault(kind, tuple(str(it) for it in details))


@dataclass(frozen=True, slots=True)
class Hit:
    """A fault at a call: the number counts the calls of all operators from 1 on."""

    call: int
    fault: Fault

    def __str__(self) -> str:
        return f"{self.call}={self.fault}"


@dataclass(frozen=True, slots=True)
class Plan:
    """All that goes wrong in one run."""

    hits: tuple[Hit, ...] = ()

    def __str__(self) -> str:
        return ",".join(map(str, self.hits)) or "calm"

    @classmethod
    def parse(cls, text: str) -> Plan:
        """Read what str() wrote."""
        if text in {"", "calm"}:
            return cls()
        return cls(tuple(_hit(it) for it in text.split(",")))

    @classmethod
    def one(cls, call: int, fault: Fault) -> Plan:
        """Return a plan with one fault."""
        return cls((Hit(call, fault),))


CALM: Final = Plan()


def _hit(text: str) -> Hit:
    call, equals, rest = text.partition("=")
    if not equals or not call.isdecimal() or int(call) < 1:
        raise UsageError(f"a plan must be CALL=FAULT,... and calls count from 1; got {text!r}")
    return Hit(int(call), Fault.parse(rest))
