"""Where the data of a survivor is saved before a cluster goes on from it alone."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO

from stateward.core.errors import UsageError


class RescueImpossible(UsageError):
    """The data of a survivor cannot be saved, so nothing else is done."""

    reason = "RescueImpossible"


class Rescue:
    """A folder for snapshots, each written whole or not at all."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    async def save(self, name: str, pieces: AsyncIterator[bytes]) -> Path:
        """Write a snapshot and return where it is; raise RescueImpossible when that cannot be."""
        if self._folder is None:
            raise RescueImpossible(
                "a folder for the survivor's data must be named before a recovery",
                hint="start the operator with --rescue-folder FOLDER, on a volume that lasts",
            )
        path = self._folder / f"{name}.db"
        try:
            return await self._write(path, pieces)
        except OSError as error:
            raise RescueImpossible(
                f"the survivor's data must fit into {path}: {error.strerror}",
                hint="make room, or name another folder with --rescue-folder",
            ) from error

    async def _write(self, path: Path, pieces: AsyncIterator[bytes]) -> Path:
        unfinished = path.with_suffix(".unfinished")
        file = await asyncio.to_thread(_open, unfinished)
        try:
            async for piece in pieces:
                await asyncio.to_thread(file.write, piece)
            await asyncio.to_thread(_finish, file)
        finally:
            await asyncio.to_thread(file.close)
        await asyncio.to_thread(_keep, unfinished, path)
        return path


def _open(path: Path) -> BinaryIO:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    return os.fdopen(descriptor, "wb")


def _finish(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _keep(unfinished: Path, path: Path) -> None:
    """Give a file its name, for good: the folder must remember it after a power cut, too."""
    unfinished.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
