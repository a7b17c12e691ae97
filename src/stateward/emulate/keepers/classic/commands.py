"""What a section of the configuration asks for: the words of a process, and how it is kept. Pure.

A process has the values of its own section, of the section of its kind (what stands before the last
dot) and of ``general``, in this order. All of them become arguments, sorted by name, each as two
words; but for those that say how the process is to be kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from stateward.emulate.keepers.classic.conf import Conf, Value, plain

GENERAL, MONITOR = "general", "fdbmonitor"

#: Seconds between restarts when nothing is said.
RESTART_DELAY = 60.0

#: Values that say how a process is kept; no program is told them.
_KEEPING = frozenset(
    {
        "command",
        "restart_delay",
        "initial_restart_delay",
        "restart_backoff",
        "restart_delay_reset_interval",
        "disable_lifecycle_logging",
        "delete_envvars",
        "envvars",
        "kill_on_configuration_change",
    }
)


@dataclass(frozen=True, slots=True)
class Delays:
    """Seconds to wait before a process that failed is started again, and how they grow."""

    longest: float = RESTART_DELAY
    first: float = 0.0
    factor: float = RESTART_DELAY
    #: After so many seconds of life, the next failure counts as the first.
    forgotten_after: float = RESTART_DELAY


@dataclass(frozen=True, slots=True)
class Command:
    """A process that is configured."""

    name: str
    argv: tuple[str, ...]
    delays: Delays = Delays()
    #: End it when its arguments change; else they wait for its next start.
    kills: bool = True
    quiet: bool = False
    removed: tuple[str, ...] = ()
    added: tuple[tuple[str, str], ...] = ()
    #: Why it cannot be started; empty when it can.
    problem: str = ""


class _Unusable(ValueError):
    """A section asks for something that cannot be."""


def command_of(conf: Conf, name: str, pid: int) -> Command:
    """Return what a section asks for; ``pid`` is the keeper's own, which ``$PID`` stands for."""
    kind, _, number = name.rpartition(".")
    sections = (name, kind, GENERAL)
    try:
        program = _program(conf, name, sections)
        argv = [*program, *_arguments(conf.merged(*sections), number, pid)]
        delays = _delays(conf, name, (*sections, MONITOR))
    except _Unusable as error:
        return Command(name, (), problem=str(error))
    return Command(
        name,
        tuple(argv),
        delays,
        kills=(conf.find("kill-on-configuration-change", *sections) or "true") == "true",
        quiet=conf.find("disable-lifecycle-logging", *sections) == "true",
        removed=tuple((conf.find("delete-envvars", *sections) or "").split()),
        added=_variables(conf.find("envvars", *sections) or ""),
    )


def _program(conf: Conf, name: str, sections: tuple[str, ...]) -> list[str]:
    words = (conf.find("command", *sections) or "").split()
    if not words:
        raise _Unusable(f"No command is given for {name}")
    return words


def _arguments(values: dict[str, Value], number: str, pid: int) -> list[str]:
    words: list[str] = []
    for value in sorted(values.values(), key=lambda it: it.name.lower()):
        if plain(value.name) in _KEEPING:
            continue
        text = value.text.replace("$ID", number).replace("$PID", str(pid))
        if flag := _flag(value.name):
            words += _flag_words(flag, text)
        else:
            words += [f"--{value.name}", text]
    return words


def _flag(name: str) -> str:
    """Return what is left of a name that begins as flags do, or nothing."""
    return name[5:] if plain(name).startswith("flag_") else ""


def _flag_words(flag: str, text: str) -> list[str]:
    if text not in {"true", "false"}:
        raise _Unusable(f"Flag {flag} must be true or false, got '{text}'")
    return [f"--{flag}"] if text == "true" else []


def _variables(text: str) -> tuple[tuple[str, str], ...]:
    pairs = (word.partition("=") for word in text.split())
    return tuple((name, value) for name, equals, value in pairs if name and equals)


def _delays(conf: Conf, name: str, sections: tuple[str, ...]) -> Delays:
    def number(key: str, otherwise: float, what: str) -> float:
        text = conf.find(key, *sections)
        try:
            found = otherwise if text is None else float(text)
        except ValueError:
            found = math.nan
        if not math.isfinite(found) or found < 0:
            raise _Unusable(f"The {what} of {name} must be a number of seconds, got '{text}'")
        return found

    longest = number("restart-delay", RESTART_DELAY, "restart delay")
    factor = number("restart-backoff", max(1.0, longest), "restart backoff")
    if factor < 1:
        raise _Unusable(f"The restart backoff of {name} must be at least 1, got {factor:g}")
    return Delays(
        longest,
        min(longest, number("initial-restart-delay", 0.0, "initial restart delay")),
        factor,
        number("restart-delay-reset-interval", longest, "restart delay reset interval"),
    )
