"""``fdbkeys``, emulated: keys of the database that a cluster file names, one order and one reply.

The real one (``stateward.fdb.admin.native.fdbkeys``) takes the same orders.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from typing import Final

from stateward.emulate.fdb.programs import called, flags
from stateward.emulate.fdb.programs.flags import Known, Misunderstood
from stateward.emulate.fdb.programs.keyed.serving import WireKeys
from stateward.emulate.fdb.talk import clusterfile, seeker, tls
from stateward.emulate.fdb.talk.council import Speaker
from stateward.emulate.fdb.talk.tls import Security
from stateward.fdb.admin.keyed import optimistic

_KNOWN: Final = Known(
    valued={"C": "cluster_file", "cluster_file": "cluster_file"}, bare=frozenset({"version", "v"})
)


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out the order that is typed; print the reply."""
    try:
        told = flags.read(list(sys.argv[1:] if argv is None else argv), _KNOWN)
    except Misunderstood as error:
        called.warn(str(error))
        return 1
    if told.bare:
        called.say(called.version_text("FoundationDB keys"))
        return 0
    named = told.values.get("cluster_file", "")
    security = Security.told({}, os.environ)
    try:
        tls.check(security)
        speaker = Speaker(called.protocol(future=False), security)
        file = clusterfile.located(named, os.environ)
        looking = seeker.of_file(file, speaker, named)
    except (clusterfile.Unusable, ValueError) as error:
        called.warn(str(error))
        return 1
    return asyncio.run(optimistic.serve(sys.stdin.buffer.read(), lambda it: WireKeys(looking, it)))


if __name__ == "__main__":
    sys.exit(main())
