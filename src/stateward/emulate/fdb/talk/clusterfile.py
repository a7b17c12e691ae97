"""Cluster files: where they are looked for, what is wrong with them, and how they are kept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from stateward.fdb.model.connection import ConnectionString

_DEFAULT: Final = Path("/etc/foundationdb/fdb.cluster")
_MISSING: Final = "No cluster file found in current directory or default location"
_NOTE: Final = "# DO NOT EDIT!\n# This file is auto-generated, it is not to be edited by hand\n"


class Unusable(Exception):
    """A cluster file cannot be used; the words are those of the real programs."""


def located(told: str, environment: Mapping[str, str]) -> Path:
    """Return where the cluster file is: told, or by the environment, or where it is looked for."""
    named = told or environment.get("FDB_CLUSTER_FILE", "")
    if named:
        return Path(named)
    here = Path("fdb.cluster")
    return here if here.exists() or not _DEFAULT.exists() else _DEFAULT


def read(path: Path, told: str) -> ConnectionString:
    """Return what a cluster file holds; raise Unusable."""
    try:
        text = path.read_text(encoding="ascii", errors="replace")
    except OSError:
        where = (
            f"`{path}'" if told else f"`./fdb.cluster' or `{_DEFAULT}' and FDB_CLUSTER_FILE unset"
        )
        raise Unusable(f"Unable to read cluster file {where}: 1515 {_MISSING}") from None
    try:
        return ConnectionString.parse(text)
    except ValueError:
        raise Unusable(f"Invalid cluster file `{path}': 2104 Connection string invalid") from None


def write(path: Path, string: ConnectionString) -> bool:
    """Keep how a cluster is found; tell whether that could be written."""
    arriving = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        arriving.write_text(f"{_NOTE}{string}\n", encoding="ascii")
        arriving.replace(path)
    except OSError:
        with suppress(OSError):
            arriving.unlink()
        return False
    return True


def is_writable(path: Path) -> bool:
    """Tell whether a cluster file can be written anew: that makes another beside it first."""
    return os.access(path.parent, os.W_OK)


def seed(path: Path, seeds: Mapping[str, str]) -> None:
    """Make a cluster file that is not there from what a server was given for that."""
    if path.exists():
        return
    text = seeds.get("seed_connection_string", "")
    if not text and (other := seeds.get("seed_cluster_file")):
        text = str(read(Path(other), other))
    if text:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, ConnectionString.parse(text))
