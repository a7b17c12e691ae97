"""All images that a local cluster knows: etcd, FoundationDB, our own, and a few to try things."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import stateward
from stateward.app.etcd import available as etcd
from stateward.app.etcd.programs import StandIn, images_with_etcd
from stateward.app.fdb import available as fdb
from stateward.app.fdb.programs import add_fdb
from stateward.local.agent.images import Answer, Asked, Images, shell
from stateward.local.disk.folder import Layout

#: The repository of our own image.
OURS: Final = "stateward"


@dataclass(frozen=True, slots=True)
class Ourselves:
    """Stands for our own image: the command line of this very program, for jobs of operators."""

    #: By which it reaches the cluster that its pod is of.
    kubeconfig: Path

    def __call__(self, asked: Asked) -> Answer:
        """Return what to run; a command of the container's own is one of this machine."""
        if asked.command:
            return shell(asked)
        path = str(Path(stateward.__file__).parents[1])
        env = {"KUBECONFIG": str(self.kubeconfig), "PYTHONPATH": path}
        return Answer((sys.executable, "-P", "-m", "stateward", *asked.args), env)


async def known(
    stand_in: StandIn = StandIn.SAME_MINOR, environment: Mapping[str, str] = os.environ
) -> Callable[[Path], Images]:
    """Return the images of this machine, for a cluster in a folder.

    Raise UsageError when STATEWARD_FDB_BIN names programs that cannot be used.
    """
    databases = await fdb.available(environment)

    def images(root: Path) -> Images:
        found = add_fdb(images_with_etcd(etcd.available(), stand_in), databases, root)
        found.add(OURS, Ourselves(Layout(root).kubeconfig))
        return found

    return images
