"""Where local clusters live, and how one that runs is found again.

A cluster has a folder: the one that the user named, or one below the temporary folder that goes
with it. For each that runs there is an entry in a private folder of the user, so that other
commands find it without being told.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stateward.core.errors import UsageError
from stateward.local.agent import orphans
from stateward.local.disk.errors import FolderBusy, FolderUnusable
from stateward.local.disk.folder import Layout, owner_of

#: What a cluster of ours keeps in its folder, and so all that a reset removes.
_OURS = (
    *("journal", "journal.new", "kubeconfig", "identity", "nodes", "plane", "fdb"),
    "stateward.lock",
)


def entries() -> Path:
    """Return the private folder with an entry for every cluster of this user, made if needed."""
    place = Path(tempfile.gettempdir()) / f"stateward-{os.getuid()}"
    try:
        place.mkdir(mode=0o700, exist_ok=True)
        found = place.lstat()
    except OSError as error:
        raise FolderUnusable(f"{place} must be a folder of yours: {error.strerror}") from None
    if found.st_uid != os.getuid() or not place.is_dir() or place.is_symlink():
        raise FolderUnusable(
            f"{place} must be a folder of yours, and belongs to somebody else",
            hint="remove it, or set TMPDIR to a folder of your own",
        )
    place.chmod(0o700)
    return place


@contextmanager
def a_home(data: Path | None) -> Iterator[Path]:
    """Provide the folder of a cluster, known to other commands while it is used.

    Without one of the user's own it is a temporary one, gone afterwards.
    """
    if data is None:
        root = Path(tempfile.mkdtemp(prefix="cluster-", dir=entries()))
        try:
            yield root
        finally:
            shutil.rmtree(root, ignore_errors=True)
        return
    root = data.absolute()
    _forget_the_dead()
    entry = entries() / f"link-{os.getpid()}"
    entry.unlink(missing_ok=True)
    entry.symlink_to(root)
    try:
        yield root
    finally:
        entry.unlink(missing_ok=True)


def _forget_the_dead() -> None:
    """Remove the entries of clusters that were killed and of which nothing runs any more."""
    for entry in entries().glob("link-*"):
        if owner_of(entry) is None and not _remains(entry):
            entry.unlink(missing_ok=True)


def running() -> list[Path]:
    """Return the folders of all clusters that run, oldest first."""
    _forget_the_dead()
    found = {it.resolve() for it in entries().iterdir() if owner_of(it) is not None}
    return sorted(found, key=lambda it: Layout(it).lock.stat().st_mtime)


def abandoned() -> list[Path]:
    """Return temporary folders whose cluster was killed and could not remove them."""
    ours = [it for it in entries().glob("cluster-*") if not it.is_symlink()]
    return [it for it in ours if Layout(it).lock.exists() and owner_of(it) is None]


def the_one(data: Path | None) -> Path:
    """Return the folder of the cluster that the user means; raise UsageError when it is unclear."""
    if data is not None:
        if owner_of(data) is None:
            raise _killed(data) or UsageError(
                f"no cluster runs on {data}", hint=f"start it: stateward local up --data {data}"
            )
        return data
    found = running()
    if not found:
        killed = (_killed(it.resolve()) for it in sorted(entries().iterdir()))
        raise next(filter(None, killed), None) or UsageError(
            "no local cluster runs", hint="start one: stateward local up"
        )
    if len(found) > 1:
        raise UsageError(
            f"{len(found)} local clusters run: {', '.join(map(str, found))}",
            hint="say which one with --data FOLDER",
        )
    return found[0]


def _killed(root: Path) -> UsageError | None:
    """Say of a cluster that does not run what does still run of it, if anything does."""
    if not (count := _remains(root)):
        return None
    if root.parent == entries():
        hint = "`stateward local up` ends them"
    else:
        hint = f"`stateward local up --data {root}` and `stateward local reset` end them"
    return UsageError(
        f"the cluster in {root} was killed, and {count} of its processes run on", hint=hint
    )


def _remains(root: Path) -> int:
    layout = Layout(root)
    return sum(len(orphans.left_in(it)) for it in (layout.nodes, layout.plane))


def check_resettable(root: Path) -> None:
    """Raise UsageError when a folder is in use, or is no cluster's."""
    if (owner := owner_of(root)) is not None:
        raise FolderBusy(f"{root} is in use by another cluster (process {owner})")
    if not Layout(root).lock.is_file():
        raise UsageError(
            f"{root} must be the folder of a local cluster, and has no {Layout(root).lock.name}",
            hint="nothing was removed; name the folder that `local up --data` was given",
        )


def reset(root: Path) -> list[str]:
    """Remove what a cluster kept in a folder, and nothing else; return what was removed."""
    check_resettable(root)
    mine = [it for it in sorted(root.iterdir()) if it.name in _OURS or _is_damaged(it)]
    for it in mine:
        if it.is_dir() and not it.is_symlink():
            shutil.rmtree(it)
        else:
            it.unlink()
    return [it.name for it in mine]


def _is_damaged(path: Path) -> bool:
    return path.name.startswith("journal.damaged.")
