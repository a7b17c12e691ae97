"""Find or build every real program that our tests ask, and say where each is."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from stateward.core.errors import UsageError
from stateward.local.real import programs
from stateward.local.real.programs import Found, Part
from tools.cluster import machine
from tools.real import store
from tools.real.building import BuildFailed, Go, Unreachable, build, find_go
from tools.real.sources import Source, source_of

#: Seconds between signs of life where there is no terminal.
_SIGN: Final = 60
_WIDTH: Final = 32


def main(
    environment: Mapping[str, str] = os.environ, parts: Sequence[Part] = programs.PARTS
) -> int:
    """Obtain everything; return 1 when something is missing at the end."""
    try:
        root = programs.cache(environment)
    except UsageError as error:
        _tell(error.sentence())
        return 1
    try:
        return _obtain(root, environment, parts)
    except OSError as error:
        _tell(f"{root} must be writable: {error}; or name another folder in XDG_CACHE_HOME")
        return 1
    except KeyboardInterrupt:
        _tell("interrupted; what was built before is kept")
        return 130


def obtain(words: Sequence[str]) -> int:
    """Obtain what tests ask that share a control plane, or what a ``cluster`` of nodes takes."""
    parts = {(): programs.PARTS, ("cluster",): programs.CLUSTER_PARTS}.get(tuple(words))
    if parts is None:
        _tell(f"the only word that may follow is cluster, got {' '.join(words)}")
        return 2
    if words and (why := machine.missing()):
        _tell(f"no programs of nodes are needed here: {why}")
        return 0
    return main(parts=parts)


def _obtain(root: Path, environment: Mapping[str, str], parts: Sequence[Part]) -> int:
    for variable, path in programs.named_in_vain(environment):
        _tell(f"{variable} names {path}, which is not there")
    sources = [source_of(part, program) for part in parts for program in part.programs]
    wanted = [it for it in sources if not _is_there(it, environment)]
    failed: list[Source] = []
    if wanted:
        go = find_go(environment)
        if go is None or _is_too_old(go, wanted):
            _tell(_no_go(go, wanted))
            return 1
        with store.locked(root, _tell):
            failed = _all_made(wanted, go, root, environment)
            _tidy(root)
    _verdict(root, failed)
    return 1 if failed else 0


def _all_made(
    wanted: list[Source], go: Go, root: Path, environment: Mapping[str, str]
) -> list[Source]:
    """Build what is wanted; return what is missing then."""
    failed: list[Source] = []
    for number, source in enumerate(wanted):
        try:
            if not _is_made(source, go, root, environment):
                failed.append(source)
        except Unreachable:  # and so it would be for the rest
            return [*failed, *wanted[number:]]
    return failed


def _is_there(source: Source, environment: Mapping[str, str]) -> bool:
    """Look for a program, as good as the one that we would build, and say where it is."""
    found = programs.find(source.part, source.program, environment)
    if found is None or not _is_good(found, source):
        return False
    place = "in the cache" if found.origin == "cache" else f"of {found.origin}"
    _tell(f"{_row(source.program, found.version)} is there, {place}")
    return True


def _is_good(found: Found, source: Source) -> bool:
    if found.origin != "cache":
        return True
    is_new = programs.order(found.version) >= programs.order(source.version)
    return is_new and store.is_sound(found.path)


def _is_made(source: Source, go: Go, root: Path, environment: Mapping[str, str]) -> bool:
    """Build a program unless another process has just done it."""
    for folder in programs.versions(root / source.part.folder):
        path = folder / source.program
        if path.exists() and not store.is_sound(path):
            _tell(f"{_row(source.program, folder.name)} is not what was built: removed")
            store.remove(path)
    return _is_there(source, environment) or _build(go, source, root)


def _build(go: Go, source: Source, root: Path) -> bool:
    row = _row(source.program, source.version)
    started = time.monotonic()
    shown = _Progress(row)
    try:
        with store.workbench(root, source.part.folder) as folder:
            built = build(go, source, folder, shown.beat)
            store.keep(built, source.version)
    except (BuildFailed, OSError) as why:
        shown.end(f"{row} FAILED: {why}")
        if isinstance(why, Unreachable):
            raise
        return False
    shown.end(f"{row} built in {time.monotonic() - started:.0f} s")
    return True


class _Progress:
    """Shows that a build goes on: a ticking line on a terminal, a line a minute elsewhere."""

    def __init__(self, row: str) -> None:
        self._row = row
        self._live = sys.stdout.isatty()
        self._next = _SIGN
        if self._live:
            self.beat(0)
        else:
            _tell(f"{row} building ...")

    def beat(self, seconds: float) -> None:
        if self._live:
            print(f"\rreal: {self._row} building ... {seconds:.0f} s", end="", flush=True)
        elif seconds >= self._next:
            _tell(f"{self._row} building ... {seconds:.0f} s")
            self._next += _SIGN

    def end(self, line: str) -> None:
        if self._live:
            print("\r\033[K", end="")
        _tell(line)


def _tidy(root: Path) -> None:
    for part in programs.PARTS:
        for gone in store.drop_older(root / part.folder):
            _tell(f"{_row(part.name, gone.name)} is old: removed from the cache")


def _verdict(root: Path, failed: list[Source]) -> None:
    room = f"{root} takes {store.size(root) / 1e6:.0f} MB"
    if failed:
        _tell(f"MISSING {', '.join(map(str, failed))}; {room}")
    else:
        _tell(f"everything is there; {room}")


def _needed(wanted: list[Source]) -> str:
    """Return the oldest Go that can build everything."""
    return max((it.go for it in wanted), key=programs.order)


def _is_too_old(go: Go, wanted: list[Source]) -> bool:
    return bool(go.version) and programs.order(go.version) < programs.order(_needed(wanted))


def _no_go(go: Go | None, wanted: list[Source]) -> str:
    parts = dict.fromkeys(f"{it.part.name} {it.part.release}" for it in wanted)
    had = f"{go.path} is {go.version}, too old" if go else "there is no Go"
    return (
        f"{had} to build {', '.join(parts)}, so what asks a real Kubernetes cannot run: install"
        f" Go {_needed(wanted)} or newer, or have built programs on PATH or named by"
        f" {programs.ASSETS} and {programs.ETCD_BIN}"
    )


def _row(program: str, version: str) -> str:
    return f"{program} {version}".ljust(_WIDTH)


def _tell(line: str) -> None:
    print(f"real: {line}", flush=True)
