"""fdbcli's own tokenizer: spaces part words, semicolons part commands, backslashes escape."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

#: A letter that is escaped, as a byte or as itself; a quote; what parts words; anything else.
_PIECE: Final = re.compile(
    r"\\x(?P<byte>[0-9a-fA-F]{2})|\\(?P<letter>.)|(?P<quote>\")|(?P<part>[ ;])|(?P<plain>.)",
    re.DOTALL,
)
#: What fdbcli says when its time is over.
TIMED_OUT: Final = "Specified timeout reached -- exiting...\n"
_PRINTABLE: Final = range(32, 127)


class Unterminated(Exception):
    """A quote was opened and not closed."""


@dataclass(slots=True)
class Command:
    """One command: how it was typed, but for its quotes, and its words."""

    text: str = ""
    words: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Reader:
    commands: list[Command] = field(default_factory=lambda: [Command()])
    word: str | None = None
    is_open: bool = False

    def take(self, piece: re.Match[str]) -> None:
        """Take one more piece in."""
        kind, text = piece.lastgroup, piece[0]
        if kind == "part" and not self.is_open:
            self.close()
            if text == ";":
                self.commands.append(Command())
                return
        elif kind == "quote":
            self.is_open, self.word = not self.is_open, self.word or ""
            return
        else:
            self.word = (self.word or "") + _meant(piece)
        self.commands[-1].text += text

    def close(self) -> None:
        """End a word, if there is one."""
        if self.word is not None:
            self.commands[-1].words.append(self.word)
        self.word = None


def _meant(piece: re.Match[str]) -> str:
    if piece.lastgroup == "byte":
        return chr(int(piece["byte"], 16))
    return piece["letter"] or piece[0]


def split(line: str) -> list[Command]:
    """Return the commands of a line; quotes are eaten unless they are escaped.

    >>> [it.words for it in split('kill; kill 1.2.3.4:5 "a b"')]
    [['kill'], ['kill', '1.2.3.4:5', 'a b']]
    """
    reader = _Reader()
    for piece in _PIECE.finditer(line):
        reader.take(piece)
    if reader.is_open:
        raise Unterminated(" ".join([*reader.commands[-1].words, reader.word or ""]))
    reader.close()
    return [Command(it.text.strip(), it.words) for it in reader.commands if it.words]


def printed(raw: bytes) -> str:
    """Return bytes as fdbcli prints them.

    >>> printed(b"\\xff\\x02/a")
    '\\\\xff\\\\x02/a'
    """
    return "".join(chr(it) if it in _PRINTABLE and it != ord("\\") else _coded(it) for it in raw)


def _coded(byte: int) -> str:
    return "\\\\" if byte == ord("\\") else f"\\x{byte:02x}"
