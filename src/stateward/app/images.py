"""All images that a local cluster knows: etcd, FoundationDB, and a few for trying things."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from stateward.app.etcd import available as etcd
from stateward.app.etcd.programs import StandIn, images_with_etcd
from stateward.app.fdb import available as fdb
from stateward.app.fdb.programs import add_fdb
from stateward.local.agent.images import Images


async def known(
    stand_in: StandIn = StandIn.SAME_MINOR, environment: Mapping[str, str] = os.environ
) -> Callable[[Path], Images]:
    """Return the images of this machine, for a cluster in a folder.

    Raise UsageError when STATEWARD_FDB_BIN names programs that cannot be used.
    """
    databases = await fdb.available(environment)

    def images(root: Path) -> Images:
        return add_fdb(images_with_etcd(etcd.available(), stand_in), databases, root)

    return images
