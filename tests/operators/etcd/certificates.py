"""Certificates of a story, as secrets: an authority each for peers, for servers and for clients."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import trustme

from fakes.six_secrets import TLS
from operators.etcd.worlds import World
from stateward.etcd.members.port import Trust
from stateward.kube.client import MergePatch
from stateward.kube.resources import SECRETS

#: How many members a certificate is good for.
_MEMBERS = 5


@dataclass(slots=True)
class Papers:
    """The six secrets of one cluster."""

    world: World
    cluster: str
    peer: trustme.CA = field(default_factory=trustme.CA)
    server: trustme.CA = field(default_factory=trustme.CA)
    client: trustme.CA = field(default_factory=trustme.CA)

    @property
    def tls(self) -> dict[str, str]:
        """What the spec says of them."""
        return dict(TLS)

    def hosts(self) -> list[str]:
        """Return every address under which members are asked."""
        agent = self.world.cluster.agent
        pods = [self.world.key(f"{self.cluster}-{it}") for it in range(_MEMBERS)]
        return [*(agent.address_of(it) for it in pods), "127.0.0.1"]

    def contents(self) -> dict[str, dict[str, bytes]]:
        """Return what is in each secret."""
        return {
            "peer": pair(self.peer.issue_cert(*self.hosts())),
            "peer-ca": {"ca.crt": self.peer.cert_pem.bytes()},
            "server": pair(self.server.issue_cert(*self.hosts())),
            "server-ca": {"ca.crt": self.server.cert_pem.bytes()},
            "root": pair(self.client.issue_cert("root.test", common_name="root")),
            "client-ca": {"ca.crt": self.client.cert_pem.bytes()},
        }

    async def hand_in(self, *without: str) -> None:
        """Make the secrets, but for some."""
        for name, files in self.contents().items():
            if name not in without:
                await create_secret(self.world, name, files)

    def trust(self, user: str = "root") -> Trust:
        """Return what a client shows and believes."""
        shown = pair(self.client.issue_cert(f"{user}.test", common_name=user))
        return Trust(self.server.cert_pem.bytes(), shown["tls.crt"], shown["tls.key"])


def pair(leaf: trustme.LeafCert) -> dict[str, bytes]:
    """Return a certificate and its key."""
    chain = b"".join(it.bytes() for it in leaf.cert_chain_pems)
    return {"tls.crt": chain, "tls.key": leaf.private_key_pem.bytes()}


def _data(files: Mapping[str, bytes]) -> dict[str, Any]:
    return {"data": {name: base64.b64encode(it).decode() for name, it in files.items()}}


async def create_secret(world: World, name: str, files: Mapping[str, bytes]) -> None:
    """Make a secret."""
    metadata = {"name": name, "namespace": world.namespace}
    await world.client.create(SECRETS, {"metadata": metadata} | _data(files))


async def change_secret(world: World, name: str, files: Mapping[str, bytes]) -> None:
    """Put something else into a secret."""
    await world.client.patch(SECRETS, world.key(name), MergePatch(_data(files)))


async def delete_secret(world: World, name: str) -> None:
    """Take a secret away."""
    found = await world.client.get(SECRETS, world.key(name))
    await world.client.delete(SECRETS, world.key(name), uid=found.metadata.uid)
