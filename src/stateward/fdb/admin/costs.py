"""Who counts what talking to databases costs: seconds, processors, waiting, and how calls ended."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from stateward.fdb.admin.answers import Answer


class End(StrEnum):
    """How a call ended."""

    OK = "ok"
    #: It ended by itself, and said that it had failed.
    FAILED = "failed"
    #: It was killed when its time was over.
    TIMEOUT = "timeout"
    #: It could not be run, or printed without end.
    UNUSABLE = "unusable"
    #: Who asked did not want to know any more.
    GIVEN_UP = "given_up"


class Meter(Protocol):
    """Who counts."""

    def ended(self, program: str, command: str, end: str, wall: float, cpu: float) -> None:
        """Count a call: what ran, what it was asked for, how it ended, and what that took."""

    def waited(self, seconds: float) -> None:
        """Count how long somebody waited for a turn."""


class Uncounted(Meter):
    """Nobody counts."""

    def ended(self, program: str, command: str, end: str, wall: float, cpu: float) -> None:
        """Count nothing."""

    def waited(self, seconds: float) -> None:
        """Count nothing."""


def command_of(words: Sequence[str]) -> str:
    """Return what a program is asked for, in one word and with no name of anybody in it.

    >>> command_of(["-C", "/x/fdb.cluster", "--exec", "kill; kill 10.0.0.1:4500", "--timeout", "9"])
    'kill'
    >>> command_of(["--version"])
    '--version'
    >>> command_of(["-P", "-m", "keys", "-C", "/x/fdb.cluster"])
    'transaction'
    >>> command_of(["status", "-C", "/x/fdb.cluster"])
    'status'
    """
    if "--exec" not in words and "-C" in words and words[0].startswith("-"):
        return "transaction"
    said = words[words.index("--exec") + 1] if "--exec" in words else " ".join(words[:1])
    return said.replace(";", " ").partition(" ")[0]


def end_of(answer: Answer) -> End:
    """Return how a program ended."""
    if not answer.in_time:
        return End.TIMEOUT
    return End.FAILED if answer.code else End.OK
