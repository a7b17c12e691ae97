"""Builds one program with Go, from its module proxy, and does not believe it before it has spoken."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stateward.local.real import programs
from tools.real.signals import SIGNALS
from tools.real.sources import Source

#: Seconds for one program, cold on a slow machine; and for Go to end when it is told to.
LIMIT: Final = 3600.0
_ENDING: Final = 10.0
_BEAT: Final = 1.0
#: Seconds for Go and for what it built to say their versions, however busy the machine is.
_ANSWER: Final = 20.0
#: Lines of Go's output that are shown of a failure.
_SHOWN: Final = 8

#: The environment in which Go fetches no other Go and minds no workspace around us.
_OURS: Final = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off"}
_VERSION: Final = re.compile(r"go(\d+(?:\.\d+)+)")
_UNREACHABLE: Final = re.compile(
    r"dial tcp|no such host|i/o timeout|connection refused|network is unreachable"
    r"|handshake timeout|proxyconnect|Client\.Timeout|module lookup disabled"
)


class BuildFailed(Exception):
    """Go did not make a program; the text says why, in one line or in its own last ones."""


class Unreachable(BuildFailed):
    """There is no way to the sources, of this program or of any other."""


@dataclass(frozen=True, slots=True)
class Go:
    """A Go compiler; its version is empty when it does not say one that we can read."""

    path: str
    version: str
    environment: Mapping[str, str]


def find_go(environment: Mapping[str, str]) -> Go | None:
    """Return the Go on PATH, if there is one."""
    found = shutil.which("go", path=environment.get("PATH", ""))
    if not found:
        return None
    path = str(Path(found).absolute())  # it is run in other folders
    env = {**environment, **_OURS}
    try:
        ended = subprocess.run(
            [path, "env", "GOVERSION"],
            env=env,
            cwd="/",
            capture_output=True,
            timeout=_ANSWER,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return Go(path, "", env)
    said = _VERSION.search(ended.stdout.decode(errors="replace"))
    return Go(path, said.group(1) if said else "", env)


def build(
    go: Go,
    source: Source,
    folder: Path,
    beat: Callable[[float], None],
    limit: float = LIMIT,
) -> Path:
    """Build a program into a folder and return it; raise BuildFailed."""
    built, log = folder / source.program, folder / "go.log"
    linked = " ".join(["-s -w", *(f"-X {name}={it}" for name, it in source.stamps.items())])
    words = ["build", "-mod=readonly", "-trimpath", f"-tags={','.join(source.tags)}"]
    words += ["-ldflags", linked, "-o", str(built)]
    with log.open("wb") as said:
        code = _run(
            lambda: subprocess.Popen(
                [go.path, *words, source.package],
                cwd=source.folder,
                env=go.environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                preexec_fn=_end_with_us,  # noqa: PLW1509 - we have no threads
                start_new_session=True,  # so that all of it can be ended, and we decide when
            ),
            beat,
            limit,
        )
    if code != 0:
        raise _failure(log.read_text(errors="replace"), code)
    return _checked(built, source)


_LIBC: Final = ctypes.CDLL(None)
#: What prctl calls the signal that a process gets when its parent is no more.
_PARENT_DEATH_SIGNAL: Final = 1


def _end_with_us() -> None:
    """Have Go interrupted when we are killed and can no longer do it; where the system can."""
    if hasattr(_LIBC, "prctl"):
        _LIBC.prctl(_PARENT_DEATH_SIGNAL, signal.SIGINT)


def _checked(built: Path, source: Source) -> Path:
    version = programs.version_of(built, source.program, _ANSWER)
    if version != source.version:
        said = f"says it is {version}" if version else "does not say its version"
        raise BuildFailed(f"Go ended well, but what it built {said}")
    return built


def _run(
    start: Callable[[], subprocess.Popen[bytes]], beat: Callable[[float], None], limit: float
) -> int:
    process = None
    try:
        with _unsignalled():
            process = start()
        return _wait(process, beat, limit)
    finally:
        if process is not None and process.poll() is None:
            _end(process)


def _wait(process: subprocess.Popen[bytes], beat: Callable[[float], None], limit: float) -> int:
    started = time.monotonic()
    while (took := time.monotonic() - started) < limit:
        try:
            return process.wait(min(_BEAT, limit))
        except subprocess.TimeoutExpired:
            beat(took)
    raise BuildFailed(f"Go did not end within {limit:g} s")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End Go and what it started; asked kindly it removes its own scratch folder."""
    with _unsignalled():
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def _unsignalled() -> Iterator[None]:
    """Hold signals back while a process is started or ended: it would be forgotten and run on."""
    came: list[int] = []
    known = {it: signal.signal(it, lambda number, _: came.append(number)) for it in SIGNALS}
    try:
        yield
    finally:
        for number, handler in known.items():
            signal.signal(number, handler)
    if came:
        signal.raise_signal(came[0])


def _failure(said: str, code: int) -> BuildFailed:
    lines = [it for it in said.splitlines() if it.strip() and "go: downloading" not in it]
    if cut := [it for it in lines if _UNREACHABLE.search(it)]:
        return Unreachable(
            "Go's module proxy cannot be reached: connect this machine, or name one that can be"
            f" in GOPROXY\n    {cut[-1].strip()}"
        )
    shown = "".join(f"\n    {it}" for it in lines[-_SHOWN:])
    return BuildFailed(f"go build ended with {code}{shown or ' and said nothing'}")
