r"""Which backup or restore is wanted: where it is kept, and which keys it is about.

What is secret is never part of it: programs read credentials from files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

#: What a tag is where nobody says one.
TAG: Final = "default"
_SCHEMES: Final = ("file:///", "blobstore://")
_TAG: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_SECRET: Final = re.compile(r"blobstore://[^/@]*:[^/@]*@")
_ESCAPED: Final = re.compile(r"\\x(?P<byte>[0-9a-fA-F]{2})|\\(?P<letter>.?)", re.DOTALL)
#: How much of a key is shown in a sentence.
_SHOWN: Final = 60
_PLAIN: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/-.")


@dataclass(frozen=True, slots=True)
class KeyRange:
    """Keys from one on and below another."""

    begin: bytes
    end: bytes

    @classmethod
    def parse(cls, begin: str, end: str) -> KeyRange:
        r"""Read keys as people write them; raise ValueError.

        >>> KeyRange.parse(r"a\x00", "b")
        KeyRange(begin=b'a\x00', end=b'b')
        """
        found = cls(_key(begin), _key(end))
        if found.begin >= found.end:
            got = f"{_shown(begin)} to {_shown(end)}"
            raise ValueError(f"a range of keys must end behind its begin, got {got}")
        return found

    def __str__(self) -> str:
        r"""Write it as one word of a command line.

        >>> str(KeyRange(b"", b"\xff"))
        '"" \\xff'
        """
        return f"{_written(self.begin)} {_written(self.end)}"


#: All keys of users.
USER_KEYS: Final = KeyRange(b"", b"\xff")


def _key(text: str) -> bytes:
    """Read a key; what a backslash could mean besides is nowhere the same, and refused."""

    def meant(found: re.Match[str]) -> str:
        if not found["byte"] and found["letter"] != "\\":
            words = r"a backslash in a key must be written as \\, or begin a byte as \xNN"
            raise ValueError(f"{words}, got {_shown(text)}")
        return chr(int(found["byte"], 16)) if found["byte"] else found["letter"]

    try:
        return _ESCAPED.sub(meant, text).encode("latin-1")
    except UnicodeEncodeError:
        words = r"a key must be of bytes, others as \xNN"
        raise ValueError(f"{words}, got {_shown(text)}") from None


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


def _written(key: bytes) -> str:
    return "".join(chr(it) if it in _PLAIN else f"\\x{it:02x}" for it in key) or '""'


def written(key: bytes) -> str:
    r"""Return a key, which may be empty, as it is written for programs.

    >>> written(b"a b\xff"), written(b"")
    ('a\\x20b\\xff', '')
    """
    return _written(key) if key else ""


def check_tag(tag: str) -> str:
    """Return a tag; raise ValueError for one that cannot be one."""
    if not _TAG.fullmatch(tag):
        raise ValueError(f"a tag must have up to 64 letters, digits and _.-, got {tag!r}")
    return tag


def check_url(url: str) -> str:
    """Return where a backup is; raise ValueError for what is no place for one, or has a secret.

    >>> check_url("file:///var/backups")
    'file:///var/backups'
    """
    if _SECRET.match(url):
        raise ValueError("a URL must have no secret in it: name a file with credentials instead")
    if not url.startswith(_SCHEMES) or any(it.isspace() or not it.isprintable() for it in url):
        raise ValueError(f"a backup must be at file:///... or blobstore://..., got {url!r}")
    return url


@dataclass(frozen=True, slots=True)
class BackupOrder:
    """A backup that is to begin."""

    tag: str
    #: Of files: the folder in which it gets one of its own.
    url: str
    snapshot_seconds: int
    #: Whether it goes on when it can be restored.
    continuous: bool = True
    #: None: all keys.
    ranges: tuple[KeyRange, ...] = ()
    #: More words of the command line.
    parameters: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Be possible."""
        check_tag(self.tag)
        check_url(self.url)
        if self.snapshot_seconds < 1:
            raise ValueError(f"snapshots must be a second apart, got {self.snapshot_seconds}")


@dataclass(frozen=True, slots=True)
class RestoreOrder:
    """A restore that is to begin; into a database that has none of these keys."""

    tag: str
    #: The container itself: of files, the folder of that backup.
    url: str
    #: None: the latest that is possible.
    version: int | None = None
    ranges: tuple[KeyRange, ...] = ()
    add_prefix: bytes = b""
    remove_prefix: bytes = b""
    parameters: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Be possible."""
        check_tag(self.tag)
        check_url(self.url)
        if self.version is not None and self.version < 0:
            raise ValueError(f"a version must not be negative, got {self.version}")
