"""fdbmonitor: keeps the processes of a configuration file running, as the real one does.

``python -m stateward.emulate.keepers.fdbmonitor --conffile F --lockfile F``. What it writes on its
error output, after a first line that says what it is, is what a recorded one wrote.
"""

from __future__ import annotations

import argparse
import asyncio
import grp
import os
import pwd
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from stateward.core.errors import UsageError
from stateward.core.ports import Ports
from stateward.emulate.keepers import children
from stateward.emulate.keepers.classic import conf as confs
from stateward.emulate.keepers.classic import lock
from stateward.emulate.keepers.classic.commands import MONITOR, command_of
from stateward.emulate.keepers.classic.conf import Conf
from stateward.emulate.keepers.classic.lines import Log, Severity
from stateward.emulate.keepers.classic.supervisor import Identity, Means, Supervisor
from stateward.emulate.keepers.files import Watched, absolute, is_there
from stateward.emulate.keepers.image import Image

#: Seconds between two looks at the configuration file.
_LOOK = 0.15
#: A larger file is not taken for a configuration.
_LARGEST = 4 * 1024 * 1024

_USAGE = """\
FoundationDB Process Monitor {line} (v{version})
Usage: {program} [OPTIONS]

  --conffile CONFFILE   the configuration file (/etc/foundationdb/foundationdb.conf)
  --lockfile LOCKFILE   the file that only one fdbmonitor holds (/var/run/fdbmonitor.pid)
  --loggroup LOGGROUP   the LogGroup of all lines (default)
  --daemonize           refused: this one stays where it was started
  -v, --version         print the version and exit
  -h, --help            print this and exit
"""


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for on the command line."""

    conffile: Path
    lockfile: Path
    loggroup: str


class _Misused(Exception):
    """The command line has something that nobody knows."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _Misused(message)


def main(argv: Sequence[str] | None = None) -> int:
    """Run until a signal ends it; return the exit code."""
    try:
        image = Image.of(os.environ)
    except UsageError as error:
        return _refused(error.sentence())
    usage = _USAGE.format(line=image.line, version=image.version, program="fdbmonitor")
    try:
        given = _parser().parse_args(argv)
    except _Misused:
        print(f"{image.banner('fdbmonitor')}\n{usage}", end="")  # noqa: T201 - as the real one does
        return 1
    if given.help or given.version:
        text = usage if given.help else usage.partition("\n")[0] + "\n"
        print(f"{image.banner('fdbmonitor')}\n{text}", end="")  # noqa: T201
        return 0
    _tell(image.banner("fdbmonitor"))
    if given.daemonize:
        return _refused("--daemonize must not be given: this one stays where it was started")
    if '"' in given.loggroup:
        return _refused(f"--loggroup must have no quotation mark in it, got {given.loggroup}")
    options = Options(
        absolute(image.places.path(given.conffile)),
        absolute(image.places.path(given.lockfile)),
        given.loggroup,
    )
    return asyncio.run(_run(image, options))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="fdbmonitor", add_help=False, allow_abbrev=False)
    parser.add_argument("--conffile", default="/etc/foundationdb/foundationdb.conf")
    parser.add_argument("--lockfile", default="/var/run/fdbmonitor.pid")
    parser.add_argument("--loggroup", default="default")
    parser.add_argument("--daemonize", action="store_true")
    parser.add_argument("-v", "--version", action="store_true")
    parser.add_argument("-h", "-?", "--help", action="store_true")
    return parser


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - a program speaks


def _refused(sentence: str) -> int:
    _tell(f"fdbmonitor: {sentence}")
    return 1


async def _run(image: Image, options: Options) -> int:
    ports = Ports.of_this_machine()
    log = Log(sys.stderr, ports.clock, options.loggroup)
    log.say(f"Started FoundationDB Process Monitor {image.line} (v{image.version})")
    path = options.conffile
    if not is_there(path):
        log.say(f"No configuration file at {path}", Severity.ERROR)
        return 1

    def waiting() -> None:
        text = f"Waiting for another fdbmonitor to let go of {options.lockfile}"
        log.say(text, Severity.WARNING)

    try:
        held = await lock.hold(options.lockfile, ports.clock, waiting)
    except OSError as error:
        why = error.strerror or str(error)
        log.say(f"Unable to open lockfile {options.lockfile}: {why}", Severity.ERROR)
        return 1
    try:
        means = Means(image, log, ports, os.environ, children.patience_of(os.environ))
        await Monitor(path, means).run()
    finally:
        held.release()
    return 0


class Monitor:
    """Follows one configuration file, until it is told to end."""

    def __init__(self, path: Path, means: Means) -> None:
        self._path = path
        self._means = means
        self._supervisor = Supervisor(means)
        self._signals: asyncio.Queue[int] = asyncio.Queue()
        self._looks = 0

    async def run(self) -> None:
        """Keep processes running until SIGTERM or SIGINT; SIGHUP reads the file again."""
        loop = asyncio.get_running_loop()
        for it in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(it, self._signals.put_nowait, it)
        watched = Watched(self._path)
        await self._load()
        while (number := await self._next_signal()) in {0, signal.SIGHUP}:
            if number:
                self._announce(number, "resetting timeouts and reloading configuration")
                self._supervisor.forget_failures()
            if watched.changed() or number:
                await self._load()
        self._announce(number, "shutting down", Severity.WARNING)
        await self._supervisor.close()

    async def _next_signal(self) -> int:
        """Return a signal that came, or 0 when it is time to look at the file."""
        try:
            async with asyncio.timeout(_LOOK):
                return await self._signals.get()
        except TimeoutError:
            return 0

    def _announce(self, number: int, what: str, severity: Severity = Severity.INFO) -> None:
        text = f"Received signal {number} ({signal.strsignal(number)}), {what}"
        self._means.log.say(text, severity)

    async def _load(self) -> None:
        conf = self._read()
        if conf is None:
            return
        try:
            identity = _identity(conf)
        except KeyError as error:
            self._means.log.say(str(error.args[0]), Severity.ERROR)
            return
        pid = os.getpid()
        wanted = {name: command_of(conf, name, pid) for name in conf.processes()}
        await self._supervisor.adopt(wanted, identity)

    def _read(self) -> Conf | None:
        """Return what the file says; one that is not there says nothing, and that is an answer.

        Return None for one that is too large to be meant.
        """
        say = self._means.log.say
        self._looks += 1
        real = Path(os.path.realpath(self._path))
        there = "Watching conf file" if real.exists() else "Conf file has been deleted"
        say(f"{there} {real}")
        # Two watches for each look, as the kernel numbers them for the real one.
        say(f"Watching conf dir {real.parent}/ ({2 * self._looks})")
        say(f"Loading configuration {real}")
        try:
            with real.open("rb") as file:
                data = file.read(_LARGEST + 1)
            if len(data) > _LARGEST:
                say(f"{real} is too large for a configuration: nothing changes", Severity.ERROR)
                return None
            return confs.parse(data.decode())
        except (OSError, UnicodeDecodeError) as error:
            say(f"Unable to load configuration file {real} ({error})", Severity.ERROR)
            return Conf()


def _identity(conf: Conf) -> Identity:
    """Return whom the file wants processes to run as; raise KeyError when there is nobody such."""
    user, group = conf.find("user", MONITOR), conf.find("group", MONITOR)
    try:
        return Identity(
            pwd.getpwnam(user).pw_uid if user else None,
            grp.getgrnam(group).gr_gid if group else None,
        )
    except KeyError:
        raise KeyError(f"Unable to lookup user {user} or group {group}") from None


if __name__ == "__main__":
    sys.exit(main())
