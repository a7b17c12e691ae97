"""``fdbkeys``: keys of the database that a cluster file names, by libfdb_c; one order, one reply.

``python -m stateward.fdb.admin.native.fdbkeys -C FILE --library LIBFDB_C`` reads an order, does it
in one transaction and ends: so one operator can have databases of several releases, and a library
that falls takes nobody with it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from stateward.core.clock import SystemClock
from stateward.fdb.admin.clusterfile import ClusterFile
from stateward.fdb.admin.errors import ProgramUnusable
from stateward.fdb.admin.keyed import optimistic
from stateward.fdb.admin.native import library
from stateward.fdb.admin.native.binding import BindingKeys
from stateward.fdb.admin.session import Tls


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out the order that is typed; print the reply."""
    parser = argparse.ArgumentParser(prog=optimistic.PROGRAM)
    parser.add_argument("-C", dest="file", required=True)
    parser.add_argument("--library", required=True)
    told = parser.parse_args(argv)
    try:
        client = library.load(Path(told.library), Tls.told(os.environ))
    except ProgramUnusable as error:
        sys.stderr.write(f"{error}\n")
        return 1

    def keys(seconds: float) -> BindingKeys:
        # The very file: coordinators that moved are written there, and nothing is left behind.
        return BindingKeys(
            client, SystemClock(), seconds=seconds, kept=ClusterFile(Path(told.file))
        )

    return asyncio.run(optimistic.serve(sys.stdin.buffer.read(), keys))


if __name__ == "__main__":
    sys.exit(main())
