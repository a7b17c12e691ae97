"""``backup_agent``, emulated: does the work of backups and restores, until it is told to end.

It keeps nothing: what it had taken when it ends is given to another after a while.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from stateward.core.clock import SystemClock
from stateward.emulate.fdb.backups import urls
from stateward.emulate.fdb.backups.agent import carry_out
from stateward.emulate.fdb.backups.files import DiskFiles
from stateward.emulate.fdb.backups.pieces import Piece
from stateward.emulate.fdb.programs import called, flags
from stateward.emulate.fdb.programs.backups import typed
from stateward.emulate.fdb.programs.flags import Known, Misunderstood
from stateward.emulate.fdb.programs.pace import Pace
from stateward.emulate.fdb.talk import clusterfile
from stateward.emulate.fdb.talk.messages import Agent, Given, Reported
from stateward.emulate.fdb.talk.seeker import Seeker
from stateward.emulate.fdb.talk.wire import Lost, Wire

_VALUED: Final = (
    *("cluster_file", "logdir", "log_dir", "loggroup", "log_group", "trace_format", "memory"),
    *("blob_credentials", "proxy", "encryption_key_file", "tls_certificate_file", "tls_key_file"),
    *("tls_ca_file", "tls_verify_peers", "tls_password"),
)
_KNOWN: Final = Known(
    valued={
        **{it: it for it in _VALUED},
        "C": "cluster_file",
        "m": "memory",
        "loggroup": "log_group",
    },
    bare=frozenset({"log", "version", "v", "help", "h", "debug_tls", "build_flags", "q", "quiet"}),
)
_PAUSE: Final = 0.1
#: Seconds of the model after which one who had nothing to do asks again, and seconds for which an
#: answer is waited for: what was done is kept by a majority first.
_REST, _PATIENCE = 1.0, 20.0


@dataclass(frozen=True, slots=True)
class Working:
    """One agent: whom it asks, what it says of itself, and how fast its database lives."""

    seeker: Seeker
    about: Agent
    pace: Pace
    blobs: str

    async def work(self) -> None:
        """Work for ever, for whoever controls the cluster."""
        while True:
            wire = await self.seeker.controller()
            try:
                await wire.send(self.about)
                await self._work(wire)
            except Lost:
                await asyncio.sleep(_PAUSE)
            finally:
                wire.close()

    async def _work(self, wire: Wire) -> None:
        files = DiskFiles()
        while True:
            given = await wire.hear(_PATIENCE)
            if not isinstance(given, Given):
                raise Lost(f"{type(given).__name__} where work was expected")
            outcome = b""
            if given.piece:
                piece = msgspec.msgpack.decode(given.piece, type=Piece)
                outcome = msgspec.msgpack.encode(carry_out(piece, files, self.blobs))
            else:
                await asyncio.sleep(max(_PAUSE, self.pace.wall(_REST)))
            await wire.send(Reported(outcome))


def main(argv: Sequence[str] | None = None) -> int:
    """Run until it is told to end; return a code only where it cannot begin."""
    name = called.name("backup_agent")
    try:
        told = flags.read(list(sys.argv[1:] if argv is None else argv), _KNOWN)
    except Misunderstood as error:
        text = str(error).replace("option: ", "option ")
        called.warn(f"{text}\nTry `{name} --help' for more information.")
        return 1
    if told.bare & {"version", "v", "build_flags", "help", "h"}:
        is_help = bool(told.bare & {"help", "h"})
        usage = f"\nusage: {name} [-C FILE] [OPTIONS]" if is_help else ""
        called.say(f"{called.version_text('FoundationDB')}{usage}")
        return 0
    try:
        looking = typed.found_by(told.values)
        pace = Pace.told(SystemClock(), os.environ)
    except (clusterfile.Unusable, ValueError) as error:
        called.warn(f"ERROR: {error}")
        return 1
    called.say(called.BANNER)
    log_group = told.values.get("log_group", "default")
    about = Agent(os.urandom(16).hex(), str(called.version()), log_group)
    working = Working(looking, about, pace, os.environ.get(urls.VARIABLE, ""))
    asyncio.run(_until_told(working))
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTERM)
    return 1


async def _until_told(working: Working) -> None:
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
    work = asyncio.create_task(working.work())
    ending = asyncio.create_task(told.wait())
    await asyncio.wait((work, ending), return_when=asyncio.FIRST_COMPLETED)
    if work.done():
        work.result()  # it ended by an error: say which
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)


if __name__ == "__main__":
    sys.exit(main())
