"""The configuration file of fdbmonitor, read as the real one reads it. Pure.

Sections in brackets, ``name = value`` in them, comments after ``;`` or ``#`` at the beginning of a
line. Names know neither case nor a difference between ``-`` and ``_``; the last of two that are the
same wins. A line that is none of this is passed over, so a file of garbage is one without sections.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Value:
    """A value, and its name as it was written."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Conf:
    """Sections by name, in the order of the file; their values by their plain names."""

    sections: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)

    def processes(self) -> Iterator[str]:
        """Yield the names of all sections that stand for a process: they have a dot."""
        return (name for name in self.sections if "." in name)

    def find(self, name: str, *sections: str) -> str | None:
        """Return a value from the first of some sections that has it."""
        for section in sections:
            found = self.sections.get(section.lower(), {}).get(plain(name))
            if found is not None:
                return found.text
        return None

    def merged(self, *sections: str) -> dict[str, Value]:
        """Return all values of some sections; where they disagree, those of the first."""
        values: dict[str, Value] = {}
        for section in reversed(sections):
            values |= self.sections.get(section.lower(), {})
        return values


def parse(text: str) -> Conf:
    """Read a file; nothing in it is an error.

    >>> parse("; a comment\\n[fdbserver.4500]\\nlogdir=/var/log").find("LogDir", "fdbserver.4500")
    '/var/log'
    """
    sections: dict[str, dict[str, Value]] = {}
    here: dict[str, Value] = {}
    for line in map(str.strip, text.removeprefix("\ufeff").splitlines()):
        if line.startswith((";", "#")):
            continue
        if line.startswith("["):
            name, closed, _ = line[1:].partition("]")
            if closed:
                here = sections.setdefault(name.strip().lower(), {})
            continue
        name, equals, value = line.partition("=")
        if equals and name.strip():
            here[plain(name)] = Value(name.strip(), value.strip())
    return Conf(sections)


def plain(name: str) -> str:
    """Return the one way to write a name.

    >>> plain("Restart-Delay ")
    'restart_delay'
    """
    return name.strip().lower().replace("-", "_")
