"""What is done with containers alone, by whoever types it: no database is asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from stateward.emulate.fdb.backups import containers, urls
from stateward.emulate.fdb.backups.cli.asked import Asked, Said
from stateward.emulate.fdb.backups.containers import Contents
from stateward.emulate.fdb.backups.files import Files, Unusable
from stateward.emulate.fdb.keys import A_SECOND

_DAY: Final = 86_400 * A_SECOND
_UNSAFE: Final = (
    "Requested expiration would be unsafe.  Backup would not meet minimum restorability.  Use"
    " --force to delete data anyway."
)
_CANNOT: Final = "Cannot expire requested data from backup without violating minimum restorability"


def answer(asked: Asked, files: Files, blobs: str = "") -> Said:
    """Return what is said of a container, or of those below a folder, or what was done to it."""
    try:
        return Said(0, _ACTIONS[asked.action](asked, files, urls.folder(asked.url, blobs)))
    except (Unusable, urls.Invalid) as error:
        return Said(1, "", f"ERROR: {error}\nFatal Error: {error}\n")
    except _Unsafe:
        return Said(1, "", f"ERROR: {_UNSAFE}\nFatal Error: {_CANNOT}\n")


class _Unsafe(Exception):
    """Nothing that is asked for could be restored afterwards."""


def _describe(asked: Asked, files: Files, folder: str) -> str:
    there = containers.contents(files, folder)
    return f"{_as_json(asked.url, there) if asked.as_json else text(asked.url, there)}\n"


def _list(asked: Asked, files: Files, folder: str) -> str:
    base, sign, query = asked.url.partition("?")
    every = containers.listed(files, folder)
    return "".join(f"{base.rstrip('/')}/{it}{sign}{query}\n" for it in every)


def _delete(asked: Asked, files: Files, folder: str) -> str:
    containers.contents(files, folder)
    files.delete(folder)
    return f"Deleting {asked.url}...\nThe entire backup has been deleted.\n"


def _expire(asked: Asked, files: Files, folder: str) -> str:
    there = containers.contents(files, folder)
    if not there.logs:
        return "No data was deleted: there are no logs.\n"
    end = there.log_end
    before = asked.before or int(asked.before_time * A_SECOND)
    before = before or end - int(asked.before_days * _DAY)
    least = asked.least or int(asked.least_time * A_SECOND)
    least = least or (end - int(asked.least_days * _DAY) if asked.least_days else 0)
    left = containers.expired(there, before).restorable
    if not asked.is_forced and (left is None or (least and left[0] > least)):
        raise _Unsafe
    containers.expire(files, folder, before)
    return f"All data before version {before} is deleted.\n"


_ACTIONS: Final[dict[str, Callable[[Asked, Files, str], str]]] = {
    "describe": _describe,
    "list": _list,
    "delete": _delete,
    "expire": _expire,
}


# -------------------------------------------------------------------------- a description


def rounded(number: float) -> float | int:
    """Return a number as it is written in their JSON: with six digits that count.

    >>> rounded(66.04951), rounded(100.0)
    (66.0495, 100)
    """
    found = float(f"{number:.6g}")
    return int(found) if found == int(found) else found


def text(url: str, there: Contents) -> str:
    """Return what a container has, for people."""
    lines = [
        f"URL: {url}",
        f"Restorable: {'false' if there.restorable is None else 'true'}",
        "Partitioned logs: false",
        "File-level encryption: false",
        "Encryption block size: 0",
    ]
    for it in there.snapshots:
        is_restorable = "false" if there.reach(it) is None else "true"
        lines.append(
            f"Snapshot:  startVersion={it.begin} ({_ago(there, it.begin)})"
            f"  endVersion={it.end} ({_ago(there, it.end)})"
            f"  totalBytes={it.size}  restorable={is_restorable}  expiredPct=0.00"
        )
    lines.append(f"SnapshotBytes: {sum(it.size for it in there.snapshots)}")
    lines += [f"{name + ':':24} {it} ({_ago(there, it)})" for name, it in _versions(there)]
    return "".join(f"{it}\n" for it in lines)


def _versions(there: Contents) -> list[tuple[str, int]]:
    if not there.logs:
        return []
    found = [
        ("MinLogBeginVersion", there.logs[0][0]),
        ("ContiguousLogEndVersion", there.contiguous),
        ("MaxLogEndVersion", there.log_end),
    ]
    if there.restorable is not None:
        found += [
            ("MinRestorableVersion", there.restorable[0]),
            ("MaxRestorableVersion", there.restorable[1]),
        ]
    return found


def _days(there: Contents, version: int) -> float:
    end = there.log_end if there.logs else version
    return -((end - version) / _DAY)


def _ago(there: Contents, version: int) -> str:
    return f"maxLogEnd {_days(there, version):.2f} days"


_NAMES: Final = {
    "MinLogBeginVersion": "MinLogBegin",
    "ContiguousLogEndVersion": "ContiguousLogEnd",
    "MaxLogEndVersion": "MaxLogEnd",
    "MinRestorableVersion": "MinRestorablePoint",
    "MaxRestorableVersion": "MaxRestorablePoint",
}


def _as_json(url: str, there: Contents) -> str:
    found: dict[str, Any] = {
        "SchemaVersion": "1.0.0",
        "URL": url,
        "Restorable": there.restorable is not None,
        "Partitioned": False,
        "FileLevelEncryption": False,
        "EncryptionBlockSize": 0,
        "Snapshots": [
            {
                "Start": _point(there, it.begin),
                "End": _point(there, it.end),
                "Restorable": there.reach(it) is not None,
                "TotalBytes": it.size,
                "PercentageExpired": 0,
            }
            for it in there.snapshots
        ],
        "TotalSnapshotBytes": sum(it.size for it in there.snapshots),
    }
    found |= {_NAMES[name]: _point(there, it) for name, it in _versions(there)}
    return json.dumps(found, separators=(",", ":"))


def _point(there: Contents, version: int) -> dict[str, Any]:
    return {"Version": version, "RelativeDays": rounded(_days(there, version))}
