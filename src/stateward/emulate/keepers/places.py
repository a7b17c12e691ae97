"""Where the paths of a container are on this machine, for texts that stand in files.

Words and variables of a container reach a program with its mount paths already translated; what a
ConfigMap says about paths does not. The table is in ``STATEWARD_MOUNTS``, as JSON; without it this
is a container with a file system of its own, and every path means itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from stateward.core.errors import UsageError

VARIABLE = "STATEWARD_MOUNTS"

#: A path begins after none of these, and ends before none of those: it would be a part of another.
_BEFORE = r"(?<![\w.\-/~}\])])"
_AFTER = r"(?![\w\-]|\.[\w.])"


class Places:
    """The mount paths of one container, each with its place.

    >>> Places({"/var/fdb/data": "/pods/1/data"}).translated("--datadir=/var/fdb/data/1")
    '--datadir=/pods/1/data/1'
    """

    def __init__(self, table: Mapping[str, str]) -> None:
        self._table = dict(table)
        words = "|".join(re.escape(it) for it in sorted(self._table, key=len, reverse=True))
        self._pattern = re.compile(rf"{_BEFORE}(?:{words}){_AFTER}") if words else None

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Self:
        """Return what the environment says; raise UsageError when that is no table."""
        try:
            table = json.loads(environment.get(VARIABLE) or "{}")
            return cls({str(path): str(place) for path, place in table.items()})
        except (ValueError, AttributeError) as error:
            raise UsageError(f"{VARIABLE} must be a JSON object of paths: {error}") from error

    def translated(self, text: str) -> str:
        """Return the text with every mount path in it written as its place."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._table[found[0]], text)

    def path(self, text: str) -> Path:
        """Return where a path of the container is."""
        return Path(self.translated(text))
