"""What a container can restore: told by the names of its files, as the real ones do it.

A snapshot can be restored to any version from its end on, as far as logs follow each other without
a gap from its begin.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from stateward.emulate.fdb.backups import format as form
from stateward.emulate.fdb.backups.files import Files, Unusable
from stateward.emulate.fdb.backups.format import Manifest
from stateward.emulate.fdb.backups.state import Block

MISSING: Final = "Backup does not exist"


@dataclass(frozen=True, slots=True, order=True)
class Taken:
    """A snapshot: from which version on it was taken, when it was whole, and its bytes."""

    begin: int
    end: int
    size: int


@dataclass(frozen=True, slots=True)
class Contents:
    """What the names of files tell of a container."""

    snapshots: list[Taken] = field(default_factory=list)
    #: From one version on and below another, in their order.
    logs: list[tuple[int, int]] = field(default_factory=list)

    @property
    def contiguous(self) -> int:
        """Below which version there is no gap from the first log on."""
        return max((until for _, until in self.chain(self.logs[0][0])), default=0)

    @property
    def log_end(self) -> int:
        """Below which version any log is."""
        return max(end for _, end in self.logs)

    def chain(self, begin: int) -> list[tuple[int, int]]:
        """Return logs that follow each other from a version on, each the longest there is.

        One look at each of them: a backup of some hours has thousands.
        """
        found, reach, longest = list[tuple[int, int]](), begin, (begin, begin)
        for log in self.logs:
            if log[0] > reach and longest[1] > reach:
                found.append(longest)
                reach = longest[1]
            if log[0] > reach:
                break
            longest = max(longest, log, key=lambda it: it[1])
        if longest[1] > reach:
            found.append(longest)
        return found

    def reach(self, snapshot: Taken) -> int | None:
        """Return the latest version that a snapshot can be restored to; None: to none."""
        chain = self.chain(snapshot.begin)
        end = chain[-1][1] if chain else 0
        return end - 1 if end > snapshot.end else None

    @property
    def restorable(self) -> tuple[int, int] | None:
        """The first and the last version that it can be restored to; None: there is none."""
        found = [(it.end, last) for it in self.snapshots if (last := self.reach(it)) is not None]
        if not found:
            return None
        return min(it[0] for it in found), max(it[1] for it in found)

    def best(self, version: int) -> Taken | None:
        """Return the snapshot from which a version is restored."""
        fitting = (
            it
            for it in self.snapshots
            if it.end <= version and (last := self.reach(it)) is not None and version <= last
        )
        return max(fitting, default=None)


def contents(files: Files, folder: str) -> Contents:
    """Return what there is; raise Unusable where there is nothing at all."""
    found = Contents()
    every = [it.removeprefix(f"{folder}/") for it in files.list(folder)]
    for it in every:
        if log := form.LOG.fullmatch(it):
            found.logs.append((int(log["begin"]), int(log["end"])))
        elif taken := form.SNAPSHOT.fullmatch(it):
            found.snapshots.append(Taken(*map(int, taken.groups())))
    if not every:
        raise Unusable(MISSING)
    found.logs.sort()
    found.snapshots.sort()
    return found


def plan(files: Files, folder: str, version: int) -> tuple[list[Block], Taken]:
    """Return what is to be brought back for a version, in that order; raise Unusable."""
    there = contents(files, folder)
    chosen = there.best(version)
    if chosen is None:
        raise Unusable(f"Missing backup data (version {version} of {folder})")
    manifest = read_manifest(files, folder, chosen)
    blocks = [Block(it.path, it.version, keys=(it.begin, it.end)) for it in manifest.files]
    reach = chosen.begin
    for begin, end in there.chain(chosen.begin):
        if reach <= version:
            blocks.append(Block(form.log_path(begin, end), reach, until=min(end, version + 1)))
        reach = end
    return blocks, chosen


def read_manifest(files: Files, folder: str, taken: Taken) -> Manifest:
    """Return what a snapshot is made of; raise Unusable."""
    path = f"snapshots/snapshot,{taken.begin},{taken.end},{taken.size}"
    return form.decoded(files.read(f"{folder}/{path}"), Manifest, path)


# -------------------------------------------------------------------------- taking away


def expired(there: Contents, before: int) -> Contents:
    """Return what is left when all data before a version is gone."""
    return Contents(
        [it for it in there.snapshots if it.begin >= before],
        [it for it in there.logs if it[1] > before],
    )


def expire(files: Files, folder: str, before: int) -> int:
    """Delete data before a version; return how many files that were; raise Unusable.

    First goes what says that a snapshot can be restored, then what it is made of.
    """
    there = contents(files, folder)
    gone = [it for it in there.snapshots if it.begin < before]
    paths = [f"snapshots/snapshot,{it.begin},{it.end},{it.size}" for it in gone]
    for it in gone:
        paths += [one.path for one in read_manifest(files, folder, it).files]
    paths += [form.log_path(*it) for it in there.logs if it[1] <= before]
    return _delete(files, (f"{folder}/{it}" for it in paths))


def _delete(files: Files, paths: Iterable[str]) -> int:
    many = 0
    for it in paths:
        files.delete(it)
        many += 1
    return many


def listed(files: Files, folder: str) -> list[str]:
    """Return the names of folders below one: whatever is there may be a container."""
    every = (it.removeprefix(f"{folder}/").split("/") for it in files.list(folder))
    return sorted({parts[0] for parts in every if len(parts) > 1})
