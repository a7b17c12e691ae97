"""fdbbackup and fdbrestore as programs: files are looked at here, and the rest is asked for.

A command whose answer was lost is asked for again, by the name of what it begins: so that begins
once. Nobody has a time limit: who finds no database waits for one, as the real programs do.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from stateward.emulate.fdb.backups import urls
from stateward.emulate.fdb.backups.cli.asked import Asked, Said
from stateward.emulate.fdb.backups.cli.preparing import Place, Ready, Typed, prepare
from stateward.emulate.fdb.backups.files import DiskFiles
from stateward.emulate.fdb.programs import called
from stateward.emulate.fdb.programs.typist import Shown
from stateward.emulate.fdb.talk import clusterfile, seeker, tls
from stateward.emulate.fdb.talk.council import Speaker
from stateward.emulate.fdb.talk.messages import Ended, Perform, Printed
from stateward.emulate.fdb.talk.seeker import Seeker
from stateward.emulate.fdb.talk.tls import Security
from stateward.emulate.fdb.talk.wire import Lost, Wire
from stateward.fdb.model.connection import ConnectionString

_PAUSE: Final = 0.1
_LOG_GROUP: Final = "FDB_NETWORK_OPTION_TRACE_LOG_GROUP"


def main(program: str, argv: Sequence[str] | None = None) -> int:
    """Run one of them to its end; return its code."""
    words = list(sys.argv[1:] if argv is None else argv)
    name = called.name(program)
    if words[:1] in (["--version"], ["--build_flags"]):
        called.say(called.version_text("FoundationDB"))
        return 0
    if not words or words[0] in ("--help", "-h", "-?"):
        called.say(f"{called.version_text('FoundationDB')}\nusage: {name} ACTION [OPTIONS]")
        return 0 if words else 1
    place = Place(DiskFiles(), os.environ.get(urls.VARIABLE, ""))
    ready = prepare(Typed(program, words, name, os.urandom(16).hex()), place)
    called.say(ready.out, end="")
    if isinstance(ready, Said):
        called.warn(ready.err, end="")
        return ready.code
    try:
        return asyncio.run(ask(found_by(ready.options), ready))
    except (clusterfile.Unusable, ValueError) as error:
        called.warn(f"ERROR: {error}")
        return 1


def found_by(options: Mapping[str, str]) -> Seeker:
    """Return who looks for the database that a command line, or the environment, names."""
    named = options.get("cluster_file", "")
    security = Security.told(options, os.environ)
    tls.check(security)
    speaker = Speaker(called.protocol(), security)
    return seeker.of_file(clusterfile.located(named, os.environ), speaker, named)


async def ask(looking: Seeker, ready: Ready) -> int:
    """Have a command carried out by who controls the cluster, however long that takes."""
    shown = Shown()
    while True:
        wire = await looking.controller()
        try:
            await wire.send(_perform(ready.asked))
            return await _heard(wire, looking, shown)
        except Lost:
            shown.again()
            await asyncio.sleep(_PAUSE)
        finally:
            wire.close()


def _perform(asked: Asked) -> Perform:
    log_group = os.environ.get(_LOG_GROUP, "default")
    return Perform(msgspec.msgpack.encode(asked), str(called.version()), log_group)


async def _heard(wire: Wire, looking: Seeker, shown: Shown) -> int:
    while True:
        match await wire.hear():
            case Printed(out, err):
                shown.show(out, err)
            case Ended(code, string):
                looking.learn(ConnectionString.parse(string))
                return code
            case other:
                raise Lost(type(other).__name__)
