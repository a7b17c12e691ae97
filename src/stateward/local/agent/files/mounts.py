"""Where a container's mount paths are on this machine, and how its words are made to mean that.

A process has no file system of its own here: the folder of a volume is somewhere else than the
mount path says. So every mount path that stands in the command, the arguments or the environment is
written as the folder, and the whole table is in ``STATEWARD_MOUNTS`` as JSON. Texts inside of files
are left as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

#: The variable in which a program finds its mount paths and folders.
VARIABLE = "STATEWARD_MOUNTS"

#: A path begins after none of these: they would make it the middle of another one.
_BEFORE = r"(?<![\w.\-/~}\])])"
#: ... and ends before these, or it is a longer name.
_AFTER = r"(?![\w\-]|\.[\w.])"


class Mounts:
    """The mount paths of one container, each with its folder or file.

    >>> mounts = Mounts({"/data": Path("/pods/1/data"), "/data/wal": Path("/pods/1/wal")})
    >>> mounts.translated("--dir=/data/a --wal=/data/wal --not=/database,/x/data")
    '--dir=/pods/1/data/a --wal=/pods/1/wal --not=/database,/x/data'
    """

    def __init__(self, places: Mapping[str, Path]) -> None:
        tidy = {str(PurePosixPath("/", path)): place for path, place in places.items()}
        #: Mount path to place; the root itself cannot be moved.
        self.places: dict[str, Path] = {path: it for path, it in tidy.items() if path != "/"}
        longest_first = sorted(self.places, key=len, reverse=True)
        words = "|".join(re.escape(path) for path in longest_first)
        self._pattern = (
            re.compile(rf"(?:(?<=file://)|{_BEFORE})(?:{words}){_AFTER}") if words else None
        )

    def translated(self, text: str) -> str:
        """Return the text with every mount path in it written as its place."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: str(self.places[found[0]]), text)

    def place_of(self, path: str) -> Path | None:
        """Return where a path below a mount is, or None when it is below none."""
        for mount in sorted(self.places, key=len, reverse=True):
            if PurePosixPath(path).is_relative_to(mount):
                return self.places[mount] / PurePosixPath(path).relative_to(mount)
        return None

    def as_json(self) -> str:
        """Return the table as a program reads it."""
        return json.dumps({path: str(place) for path, place in sorted(self.places.items())})
