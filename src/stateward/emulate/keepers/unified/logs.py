"""Log lines as JSON documents, on standard output and, if wanted, in a file beside it."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from stateward.core.clock import Clock

#: A log file that has so many bytes is put aside, and another begun; one such is kept.
_LARGEST = 100 * 1024 * 1024


class Log:
    """Where a program's lines go."""

    def __init__(self, stream: TextIO, clock: Clock, path: Path | None = None) -> None:
        self._stream = stream
        self._clock = clock
        self._path = path
        self._file: TextIO | None = None
        if path is not None:
            try:
                self._file = _opened(path)
            except OSError as error:
                self.trouble("the log file cannot be written", error, path=str(path))

    def info(self, message: str, **fields: Any) -> None:
        """Say what happens."""
        self._say("info", message, fields)

    def trouble(self, message: str, error: object = None, **fields: Any) -> None:
        """Say what went wrong."""
        told = {"error": str(error)} if error is not None else {}
        self._say("error", message, told | fields)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _say(self, level: str, message: str, fields: dict[str, Any]) -> None:
        document = {"level": level, "ts": round(self._clock.now(), 6), "msg": message, **fields}
        line = json.dumps(document, default=str, ensure_ascii=False) + "\n"
        for stream in (self._stream, self._current()):
            with suppress(OSError, ValueError):
                if stream is not None:
                    stream.write(line)
                    stream.flush()

    def _current(self) -> TextIO | None:
        if self._file is not None and self._path is not None and self._file.tell() > _LARGEST:
            with suppress(OSError):
                self._file.close()
                self._path.replace(self._path.with_name(self._path.name + ".1"))
                self._file = _opened(self._path)
        return self._file


def _opened(path: Path) -> TextIO:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("a", encoding="utf-8", errors="replace")
