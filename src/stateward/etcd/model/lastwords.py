"""What an etcd said before it ended, made readable. Pure."""

from __future__ import annotations

from typing import Any, Final

from stateward.core.errors import PeerConfused
from stateward.kube.codec import decode_json

#: How much of it people are shown.
_MOST: Final = 160
_BAD: Final = frozenset({"fatal", "panic", "dpanic", "error"})
#: How an etcd speaks that found its disk emptied or damaged, or another's data on it. It gives no
#: other sign, and who believes a wrong one only waits for grace time and quorum, as with any
#: member.
_OF_THE_DISK: Final = (
    "couldn't find local name",
    "is out of range [lastindex",
    "has been permanently removed",
    "member count is unequal",
    "crc mismatch",
    "invalid database",
    "file size too small",
    "cannot use none as id",
    "failed to get all reachable pages",
)


def last_words(said: str) -> str:
    """Return the last bad news of a log, or its last line, in a few words.

    >>> last_words('{"level":"fatal","msg":"failed","error":"no disk"}\\n{"level":"info"}')
    'failed: no disk'
    >>> last_words("Error: unknown flag: --x\\n")
    'Error: unknown flag: --x'
    >>> last_words("panic: cannot use none as id\\ngoroutine 1 [running]:\\nmain.go:31 +0x28")
    'panic: cannot use none as id'
    """
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    news = [entry for line in lines if (entry := _entry(line)).get("level") in _BAD]
    if news:
        parts = (str(news[-1].get(name, "")) for name in ("msg", "error"))
        return _short(": ".join(part for part in parts if part))
    # Below a panic stands where in its code that was, which tells nobody anything.
    panics = [line for line in lines if line.startswith("panic:")]
    return _short((panics or lines)[-1]) if lines else ""


def speaks_of_its_disk(words: str) -> bool:
    """Tell whether an etcd ended because of what is on its disk, or is not."""
    return any(it in words for it in _OF_THE_DISK)


def _entry(line: str) -> dict[str, Any]:
    try:
        found = decode_json(line) if line.startswith("{") else {}
    except PeerConfused:
        return {}
    return found if isinstance(found, dict) else {}


def _short(text: str) -> str:
    return text if len(text) <= _MOST else text[: _MOST - 1] + "…"
