"""The folder of one cluster: one owner at a time, and where in it everything is.

lock         who works here: held while the cluster runs, let go by the kernel when it ends
journal      the objects (only when they are to outlive the cluster)
kubeconfig   how kubectl finds the cluster
identity/    certificates and the token
nodes/       what the pods have: volumes, logs, addresses
plane/       the real control plane: what etcd keeps, its logs, its certificates
"""

from __future__ import annotations

import errno
import fcntl
import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from stateward.core.errors import UsageError
from stateward.local.disk.errors import FolderBusy, FolderUnusable


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things are in a folder."""

    root: Path

    @property
    def lock(self) -> Path:
        """Held by whoever works here."""
        return self.root / "stateward.lock"

    @property
    def kubeconfig(self) -> Path:
        """How kubectl finds the cluster."""
        return self.root / "kubeconfig"

    @property
    def identity(self) -> Path:
        """Certificates and the token."""
        return self.root / "identity"

    @property
    def nodes(self) -> Path:
        """What the pods have."""
        return self.root / "nodes"

    @property
    def journal(self) -> Path:
        """The objects of an embedded control plane."""
        return self.root / "journal"

    @property
    def plane(self) -> Path:
        """Everything of a real control plane."""
        return self.root / "plane"


class Folder:
    """A folder that is ours while we are in it."""

    def __init__(self, root: Path) -> None:
        self.layout = Layout(root)
        self._lock = -1

    def __enter__(self) -> Self:
        root = self.layout.root
        try:
            root.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._check_ours()
            self._lock = os.open(self.layout.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._take()
            os.ftruncate(self._lock, 0)
            os.write(self._lock, f"{os.getpid()}\n".encode())
        except OSError as error:
            self._close()
            why = error.strerror or str(error)
            raise FolderUnusable(f"{root} must be a folder to write to: {why}") from None
        except UsageError:
            self._close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._close()

    def _check_ours(self) -> None:
        if not self.layout.lock.exists() and any(self.layout.root.iterdir()):
            raise FolderUnusable(
                f"{self.layout.root} must be empty or the folder of a cluster",
                hint="name a new folder with --data",
            )

    def _take(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in {errno.EWOULDBLOCK, errno.EACCES}:
                raise
            owner = os.read(self._lock, 32).decode(errors="replace").strip() or "unknown"
            raise FolderBusy(
                f"{self.layout.root} is in use by another cluster (process {owner})"
            ) from None

    def _close(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)  # which lets the lock go
            self._lock = -1


def owner_of(root: Path) -> int | None:
    """Return the process that works on a folder now, or None when nobody does."""
    layout = Layout(root)
    try:
        handle = os.open(layout.lock, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        text = os.read(handle, 32).decode(errors="replace").strip()
        return int(text) if text.isdecimal() else None
    finally:
        os.close(handle)
    return None
