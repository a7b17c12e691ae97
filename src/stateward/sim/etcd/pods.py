"""Pods of etcd: from what Kubernetes says of a pod to a process of the stand-in."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from stateward.core.version import Version
from stateward.emulate.etcd.servers import Exit, Server, Start
from stateward.emulate.etcd.state import Disk, History
from stateward.emulate.etcd.universe import Universe
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, PODS, VOLUME_CLAIMS
from stateward.local.api import Api
from stateward.sim.kube.lodgers import Launch
from stateward.sim.kube.volumes import Volumes, claims_of
from stateward.sim.loop import SimLoop

#: Seconds until an etcd has found that it cannot read its data, and what it says then.
_READING = 0.3
_DAMAGED = Exit(1, "discovery failed: walpb: crc mismatch")

#: The tag of an image that somebody published: nothing but a version.
_TAG: Final = re.compile(r":v?[0-9]+\.[0-9]+\.[0-9]+$")


@dataclass(slots=True)
class EtcdProgram:
    """An etcd that runs in a pod."""

    universe: Universe
    server: Server

    @property
    def ready(self) -> bool:
        """Whether its readiness probe succeeds."""
        return self.server.ready

    def stop(self, *, gently: bool) -> None:
        """End it."""
        self.universe.stop(self.server, gently=gently)


@dataclass(slots=True)
class Doomed:
    """An etcd that is about to find that it cannot read its data."""

    on_exit: Callable[[int, str], None]
    stopped: bool = False
    ready: bool = False

    def stop(self, *, gently: bool) -> None:  # noqa: ARG002 - it has nothing to end
        """End it."""
        self.stopped = True

    def fail(self) -> None:
        """End by itself."""
        if not self.stopped:
            self.on_exit(_DAMAGED.code, _DAMAGED.words)


class EtcdPods:
    """Starts etcd in pods."""

    def __init__(self, loop: SimLoop, api: Api, universe: Universe, volumes: Volumes[Disk]) -> None:
        self._loop = loop
        self._api = api
        self._universe = universe
        self._volumes = volumes
        #: What pods without a claim have, by their UIDs.
        self._scratch: dict[str, Disk] = {}
        #: Disks that no etcd can read any more, and disks whose data is wrong.
        self.damaged: list[Disk] = []
        self.corrupt: list[Disk] = []
        #: Told of every etcd that starts: the name of its pod and its address.
        self.on_launch: Callable[[str, str], None] = lambda _name, _address: None

    def run(self, launch: Launch) -> EtcdProgram | Doomed | str:
        """Start the etcd of a pod, or say why it must wait."""
        if _TAG.search(_etcd(launch.pod)["image"]) is None:
            return "ErrImagePull"
        variables = self._variables(launch)
        if variables is None:
            return "CreateContainerConfigError"
        disk = self.disk(launch.pod)
        # A volume is given to one node at a time: who has it may be on one that nobody hears of.
        if disk is None or any(it.disk is disk for it in self._universe.servers):
            return "ContainerCreating"
        if any(it is disk for it in self.damaged):
            doomed = Doomed(launch.on_exit)
            self._loop.call_outside(_READING, doomed.fail)
            return doomed
        self.on_launch(launch.pod["metadata"]["name"], launch.address)

        def ended(ending: Exit) -> None:
            launch.on_exit(ending.code, ending.words)

        server = self._universe.launch(start_of(launch, variables), disk, ended, launch.on_change)
        return EtcdProgram(self._universe, server)

    def _variables(self, launch: Launch) -> dict[str, str] | None:
        found = {"POD_IP": launch.address, "POD_NAME": launch.pod["metadata"]["name"]}
        namespace = launch.pod["metadata"]["namespace"]
        for source in _etcd(launch.pod).get("envFrom") or ():
            name = source["configMapRef"]["name"]
            stored = self._api.store.get(CONFIG_MAPS.name, ObjectKey(namespace, name))
            if stored is None:
                return None
            found |= stored.document().get("data") or {}
        return found

    def sound_disks(self) -> list[Disk]:
        """Return all disks with good data that nobody has begun to delete."""
        claims = self._api.store.all(VOLUME_CLAIMS.name)
        kept = [it.uid for it in claims if b'"deletionTimestamp"' not in it.text]
        found = [self._volumes.content[uid] for uid in kept if uid in self._volumes.content]
        disks = [*found, *self._scratch.values()]
        bad = [*self.damaged, *self.corrupt]
        return [it for it in disks if not any(it is other for other in bad)]

    def lose_scratch(self, pod: str) -> History | None:
        """Forget what a pod without a claim has; return what it had part in."""
        disk = self._scratch.pop(pod, None)
        return disk.history if disk is not None else None

    def disk_of(self, pod: ObjectKey) -> Disk | None:
        """Return what the pod of a name keeps its data on, if both are there."""
        stored = self._api.store.get(PODS.name, pod)
        return self.disk(stored.document()) if stored is not None else None

    def disk(self, pod: Json) -> Disk | None:
        """Return what a pod keeps its data on, if it is there."""
        claims = claims_of(pod)
        if not claims:
            return self._scratch.setdefault(pod["metadata"]["uid"], Disk())
        return self._volumes.of(ObjectKey(pod["metadata"]["namespace"], claims[0]))


def start_of(launch: Launch, variables: dict[str, str]) -> Start:
    """Return how a pod tells its etcd to start."""
    container = _etcd(launch.pod)
    arguments = dict(
        _expanded(it, variables).removeprefix("--").partition("=")[::2]
        for it in container.get("args") or ()
    )
    listed = [it.partition("=") for it in variables["ETCD_INITIAL_CLUSTER"].split(",") if it]
    version = Version.parse(container["image"].rpartition(":")[2].removeprefix("v"))
    return Start(
        name=arguments["name"],
        address=launch.address,
        peer_url=arguments["initial-advertise-peer-urls"],
        client_url=arguments["advertise-client-urls"],
        initial=tuple((name, url) for name, _, url in listed),
        existing=variables["ETCD_INITIAL_CLUSTER_STATE"] == "existing",
        token=variables.get("ETCD_INITIAL_CLUSTER_TOKEN", ""),
        force=variables.get("ETCD_FORCE_NEW_CLUSTER") == "true",
        version=(version.major, version.minor, version.patch),
        quota=int(arguments.get("quota-backend-bytes") or 2 * 1024**3),
    )


def _etcd(pod: Json) -> Json:
    found: Json = next(it for it in pod["spec"]["containers"] if it["name"] == "etcd")
    return found


def _expanded(text: str, variables: dict[str, str]) -> str:
    for name, value in variables.items():
        text = text.replace(f"$({name})", value)
    return text
