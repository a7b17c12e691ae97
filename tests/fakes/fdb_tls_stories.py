"""What stories of TLS share: a secret with certificates, a cluster that has them, who listens."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from fakes import fdb_tls
from fakes.fdb_stories import NAMESPACE, USER, Story, merged, spec
from fakes.fdb_tls import BEGIN, SECRET
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import SECRETS

SIGNER = fdb_tls.authority()
GOOD = fdb_tls.files(SIGNER)
EXPIRED = fdb_tls.files(SIGNER, BEGIN - timedelta(days=30), days=1)
CERTIFIED = {"processes": {"general": {"podTemplate": fdb_tls.template()}}}
SMALL = {"processCounts": {"log": 3, "stateless": 1}}
BOTH = {"tls": True, "nonTLS": True}


def keep(it: Story, held: dict[str, bytes] = GOOD) -> None:
    """Put certificates into the secret."""
    body = fdb_tls.secret(held)
    if it.it.world.api.store.get(SECRETS.name, ObjectKey(NAMESPACE, SECRET)) is None:
        it.it.world.api.create(SECRETS, NAMESPACE, body, USER)
    else:
        patch = MergePatch({"data": body["data"]})
        it.it.world.api.patch(SECRETS, ObjectKey(NAMESPACE, SECRET), patch, USER)


def certified(**over: Any) -> Json:
    """Return a small cluster whose pods have certificates."""
    return merged(spec(**SMALL), merged(CERTIFIED, over))


def listening(it: Story) -> set[bool]:
    """Return whether processes listen with TLS, and without."""
    return {one.tls for server in it.database.servers.values() for one in server.addresses}


def kills(it: Story) -> int:
    """Return how often processes were started anew."""
    return sum(line.startswith("kill") for line in it.watcher.commands)
