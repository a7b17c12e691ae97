"""``fdbserver``, emulated: a process that belongs to its cluster, coordinates, lives and dies."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from stateward.core.chance import Chance
from stateward.core.clock import SystemClock
from stateward.emulate.fdb.programs import called, flags
from stateward.emulate.fdb.programs.coordinator import Coordinator
from stateward.emulate.fdb.programs.flags import Known, Misunderstood, Told
from stateward.emulate.fdb.programs.pace import Pace
from stateward.emulate.fdb.programs.worker import Worker
from stateward.emulate.fdb.talk import clusterfile, seeker, tls, wire
from stateward.emulate.fdb.talk.council import Speaker
from stateward.emulate.fdb.talk.messages import Join
from stateward.emulate.fdb.talk.tls import Security
from stateward.fdb.model import locality
from stateward.fdb.model.addresses import Address, parse_all
from stateward.fdb.model.classes import ProcessClass

#: Codes of the end: of one whose command line is wrong, and of one without a cluster file.
_WRONG, _NO_FILE = 1, 10
_NAMES: Final = (
    *("public_address", "listen_address", "cluster_file", "seed_cluster_file"),
    *("seed_connection_string", "datadir", "logdir", "loggroup", "logsize", "maxlogs"),
    *("maxlogssize", "trace_format", "class", "machine_id", "datacenter_id", "memory"),
    *("storage_memory", "cache_memory", "memory_vsize", "io_trust_seconds"),
    *("tls_certificate_file", "tls_key_file", "tls_ca_file", "tls_verify_peers"),
    *("tls_password", "tracer", "config_path", "parentpid"),
)
_SHORT: Final = {
    "p": "public_address",
    "l": "listen_address",
    "C": "cluster_file",
    "d": "datadir",
    "L": "logdir",
    "c": "class",
    "i": "machine_id",
    "a": "datacenter_id",
    "m": "memory",
    "M": "storage_memory",
}
#: What it understands.
KNOWN: Final = Known(
    valued={**{it: it for it in _NAMES}, **_SHORT},
    bare=frozenset({"version", "v", "help", "h", "no_config_db", "build_flags"}),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a server was told, with everything that was left open chosen."""

    addresses: tuple[Address, ...]
    listening: tuple[Address, ...]
    file: Path
    folder: Path
    process_class: ProcessClass
    localities: dict[str, str] = field(default_factory=dict)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a server to its end; return its code."""
    words = list(sys.argv[1:] if argv is None else argv)
    program = called.name("fdbserver")
    try:
        told = flags.read(words, KNOWN)
    except Misunderstood as error:
        called.warn(f"{error}\nTry `{program} --help' for more information.")
        return _WRONG
    if told.bare & {"version", "v"}:
        called.say(called.version_text("FoundationDB"))
        return 0
    if told.bare & {"help", "h"}:
        called.say(f"{called.BANNER}\nUsage: {program} -p ADDRESS -C FILE -d FOLDER [OPTIONS]")
        return 0
    # Whoever started it may have written paths otherwise than it was told: what it was told counts.
    command_line = os.environ.get("STATEWARD_COMMAND_LINE") or " ".join([program, *words])
    return _begun(told, command_line)


def _begun(told: Told, command_line: str) -> int:
    security = Security.told(told.values, os.environ)
    file = clusterfile.located(told.values.get("cluster_file", ""), os.environ)
    try:
        clusterfile.seed(file, told.values)
        clusterfile.read(file, told.values.get("cluster_file", ""))
    except (clusterfile.Unusable, ValueError) as error:
        called.warn(f"{error}\nError: {str(error).partition(': ')[2][5:]}")
        return _NO_FILE
    try:
        tls.check(security)
        asked = asked_of(told, file)
        pace = Pace.told(SystemClock(), os.environ)
        asked.folder.mkdir(parents=True, exist_ok=True)
        held = _taken(asked.folder)
    except (ValueError, OSError) as error:
        called.warn(f"ERROR: {error}")
        return _WRONG
    called.say(called.BANNER)
    with held:
        return asyncio.run(_served(asked, command_line, security, pace))


def _taken(folder: Path) -> IO[str]:
    """Return a hold on a data folder; raise ValueError when another process has it."""
    held = (folder / "lock").open("w")
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        held.close()
        raise ValueError(f"{folder} is the data folder of a process that runs") from None
    return held


def asked_of(told: Told, file: Path) -> Asked:
    """Return what a command line asks for; raise ValueError when that cannot be."""
    values = told.values
    if "public_address" not in values:
        raise ValueError("The -p or --public-address option is required")
    addresses = parse_all(values["public_address"])
    listen = values.get("listen_address", "public")
    listening = addresses if listen == "public" else parse_all(listen)
    if [it.tls for it in listening] != [it.tls for it in addresses]:
        raise ValueError("listen addresses must be as many as public ones, each with the same TLS")
    found = {
        locality.MACHINE: values.get("machine_id", ""),
        locality.ZONE: values.get("machine_id", ""),
        locality.DATA_CENTER: values.get("datacenter_id", ""),
        **told.starting_with("locality_"),
    }
    kind = values.get("class", "unset")
    if kind not in list(ProcessClass):
        raise ValueError(f"Unknown machine class: `{kind}'")
    return Asked(
        addresses,
        listening,
        file,
        Path(values.get("datadir", "fdb")),
        ProcessClass(kind),
        {name: it for name, it in found.items() if it},
    )


async def _served(asked: Asked, command_line: str, security: Security, pace: Pace) -> int:
    speaker = Speaker(called.protocol(), security)
    over: asyncio.Future[float] = asyncio.get_running_loop().create_future()
    try:
        worker = _worker(asked, command_line, speaker, pace, over)
        servers = [
            await wire.listen(it, security, speaker.protocol, worker.serve, worker.met)
            for it in asked.listening
        ]
    except OSError as error:
        called.warn(f"ERROR: Could not listen at {asked.listening[0]}: {error}")
        return _WRONG
    except ValueError as error:
        called.warn(f"ERROR: {error}")
        return _WRONG
    return await _lived(worker, over, servers)


def _worker(
    asked: Asked, command_line: str, speaker: Speaker, pace: Pace, over: asyncio.Future[float]
) -> Worker:
    looking = seeker.of_file(asked.file, speaker)
    looking.asker = str(asked.addresses[0])
    return Worker(
        about=Join(
            process_id=_process_id(asked.folder),
            addresses=",".join(map(str, asked.addresses)),
            process_class=str(asked.process_class),
            localities=asked.localities,
            version=str(called.version()),
            command_line=command_line,
            started=pace.clock.now(),
        ),
        address=asked.addresses[0],
        seeker=looking,
        coordinator=Coordinator(asked.folder, asyncio.get_running_loop().time),
        pace=pace,
        chance=Chance.from_system(),
        joined=_Once("FDBD joined cluster."),
        ended=lambda seconds: None if over.done() else over.set_result(seconds),
    )


async def _lived(
    worker: Worker, over: asyncio.Future[float], servers: Sequence[asyncio.Server]
) -> int:
    life = asyncio.create_task(worker.live())
    told_to_end = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told_to_end.set)
    term = asyncio.create_task(told_to_end.wait())
    await asyncio.wait((life, over, term), return_when=asyncio.FIRST_COMPLETED)
    for it in servers:
        it.close()
    if term.done():
        await worker.resign()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)
    if over.done():
        _stand_still(worker.pace.wall(over.result()))
        os._exit(0)
    await life  # it ended by an error: say which
    return _WRONG


def _stand_still(seconds: float) -> None:
    """Do nothing at all, so that nobody hears anything of this process."""
    threading.Event().wait(seconds)


class _Once:
    """Says something the first time."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __call__(self) -> None:
        if self._text:
            called.say(self._text)
        self._text = ""


def _process_id(folder: Path) -> str:
    """Return the name of a data folder; one that has none gets one for as long as it lives."""
    file = folder / "processId"
    if not file.exists():
        arriving = folder / "processId.new"
        arriving.write_text(os.urandom(16).hex(), encoding="ascii")
        arriving.replace(file)
    return file.read_text(encoding="ascii").strip()


if __name__ == "__main__":
    sys.exit(main())
