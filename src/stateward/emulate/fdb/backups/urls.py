"""Where the files of a URL are: below a folder of this machine, also those of a blob store.

A blob store is emulated by a folder, which ``STATEWARD_FDB_BLOBSTORE`` names: what is at
``blobstore://KEY@HOST:PORT/NAME?bucket=B`` is in ``FOLDER/HOST:PORT/B/NAME``. Who has none is told.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qs, urlsplit

VARIABLE: Final = "STATEWARD_FDB_BLOBSTORE"
FILE, BLOBS = "file://", "blobstore://"


class Invalid(Exception):
    """It is no URL of a backup: which, and why, in the words of the real one."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(f"'Backup Container URL invalid' on URL '{url}': {why}")


def folder(url: str, blobs: str = "") -> str:
    """Return the folder of a URL; ``blobs`` is the one that stands for all blob stores.

    >>> folder("file:///var/backups/a/")
    '/var/backups/a'
    >>> folder("blobstore://key@store:443/nightly?bucket=b&sc=1", "/blobs")
    '/blobs/store:443/b/nightly'
    """
    if url.startswith(FILE):
        return _of_file(url)
    if url.startswith(BLOBS):
        return _of_blobs(url, blobs)
    raise Invalid(url, "invalid URL prefix")


def _of_file(url: str) -> str:
    path = url.removeprefix(FILE).rstrip("/")
    if not path.startswith("/"):
        raise Invalid(url, "absolute path required")
    if "//" in path or ".." in path.split("/"):
        raise Invalid(url, "path must be simple")
    return path


def _of_blobs(url: str, blobs: str) -> str:
    parts = urlsplit(url)
    bucket = parse_qs(parts.query).get("bucket", ["FDB_BACKUP_V2"])[0]
    host, name = parts.netloc.rpartition("@")[2], parts.path.strip("/")
    if not host:
        raise Invalid(url, "a host must be named")
    if not blobs:
        raise Invalid(url, f"blob stores are EMULATED by a folder, which {VARIABLE} must name")
    if not {bucket, *name.split("/")}.isdisjoint({".", ".."}):
        raise Invalid(url, "names must be simple")
    return "/".join(it for it in (blobs.rstrip("/"), host, bucket, name) if it)


def begun(url: str, moment: str) -> str:
    """Return the container of a backup that begins now: of files, one below what was asked for."""
    return f"{url.rstrip('/')}/backup-{moment}" if url.startswith(FILE) else url
