"""Pods of FoundationDB: from what Kubernetes says of a pod to processes of the stand-in.

A pod sees a config map as its node showed it last: some time after it has changed, or soon when an
annotation of the pod is touched. A node that is lost shows nothing new.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from stateward.core.chance import Chance
from stateward.core.errors import UsageError
from stateward.emulate.keepers.unified.pod import MANAGER, is_true
from stateward.fdb.model import names
from stateward.kube.client import Apply, Change
from stateward.kube.codec import Json
from stateward.kube.errors import ApiError
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, PODS, SECRETS
from stateward.local.agent.environment import ConfigMissing
from stateward.local.api import Api
from stateward.local.rules.writes import Author
from stateward.local.store import StoreEvent
from stateward.sim.fdb.keepers import Split
from stateward.sim.fdb.programs import FdbProgram, Ground
from stateward.sim.fdb.reading import (
    StoreLookup,
    is_split,
    keeper_of,
    mounted,
    mounted_by,
    seen_by,
    version_of,
)
from stateward.sim.fdb.realm import Realm, Volume
from stateward.sim.kube.lodgers import Launch, Node, both
from stateward.sim.kube.spreading import ZONE, spread
from stateward.sim.kube.volumes import Volumes, claims_of
from stateward.sim.loop import SimLoop

#: Seconds until a pod sees that a config map has changed: by itself, and when its pod is touched.
_SHOWN: Final = (2.0, 45.0)
_SHOWN_SOON: Final = (0.3, 2.0)
#: Seconds until a monitor has written on its pod, until a container has its new image, and until
#: who cannot do something on a lost node tries it again.
_WRITING: Final = (0.05, 0.5)
_RESTARTING: Final = (1.0, 4.0)
_AGAIN: Final = (4.0, 6.0)
_NEEDED: Final = (names.MAIN_CONTAINER, names.SIDECAR_CONTAINER)


@dataclass(slots=True, eq=False)
class Tenant:
    """A pod in which something runs."""

    key: ObjectKey
    uid: str
    launch: Launch
    program: FdbProgram
    #: As its containers are: what is written in the pod may be newer.
    main: str
    sidecar: str
    annotations: dict[str, str]

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.program.stopped


class FdbPods:
    """Starts what runs in pods."""

    def __init__(
        self, loop: SimLoop, api: Api, realm: Realm, volumes: Volumes[Volume], chance: Chance
    ) -> None:
        self._ground = Ground(loop, realm)
        self._api = api
        self._lookup = StoreLookup(api)
        self._volumes = volumes
        self._chance = chance
        #: What pods without a claim have, by their UIDs.
        self._scratch: dict[str, Volume] = {}
        self._tenants: dict[str, Tenant] = {}
        #: Tells whether a pod is on a node that hears nothing of Kubernetes.
        self.is_lost: Callable[[str], bool] = lambda _uid: False
        api.store.listen(self._on_pod, PODS.name)
        for kind in (CONFIG_MAPS, SECRETS):
            api.store.listen(self._on_mounted, kind.name)

    def run(self, launch: Launch) -> FdbProgram | str:
        """Start what runs in a pod, or say why it must wait."""
        pod = launch.pod
        there = [it["name"] for it in pod["spec"]["containers"]]
        if any(it in there and not version_of(pod, it) for it in _NEEDED):
            return "ErrImagePull"
        uid, key = pod["metadata"]["uid"], _key(pod)
        volume = self.volume(pod)
        if volume is None or self._is_taken(volume):
            return "ContainerCreating"
        volume.zone = volume.zone or self._lookup.node_labels(pod).get(ZONE, "")
        # By the name, and not by the UID: what befalls it does not depend on what befell others.
        chance = self._chance.stream(f"{key} {launch.address}")
        view = seen_by(pod, launch.address)
        try:
            keeper = keeper_of(pod, view, self._lookup, chance)
            keeper.look(self._mounted(pod, launch.address), version_of(pod, _NEEDED[1]))
        except ConfigMissing:
            return "CreateContainerConfigError"
        except UsageError:
            return "CrashLoopBackOff"
        if isinstance(keeper, Split):
            keeper.begin()
        program = FdbProgram(self._ground, keeper, volume, chance, launch.address)
        tenant = self._tenants[uid] = Tenant(
            key,
            uid,
            launch,
            program,
            version_of(pod, _NEEDED[0]),
            version_of(pod, _NEEDED[1]),
            dict(pod["metadata"].get("annotations") or {}),
        )
        program.isolated = is_true(tenant.annotations.get(names.ISOLATED, ""))
        self._publish(tenant)
        program.adopt()
        return program

    def volume(self, pod: Json) -> Volume | None:
        """Return what a pod keeps its data on, if it is there."""
        claims = claims_of(pod)
        if not claims:
            return self._scratch.setdefault(pod["metadata"]["uid"], Volume())
        return self._volumes.of(ObjectKey(pod["metadata"]["namespace"], claims[0]))

    def program(self, key: ObjectKey) -> FdbProgram | None:
        """Return what runs in the pod of a name."""
        stored = self._api.store.get(PODS.name, key)
        tenant = self._tenants.get(stored.uid) if stored is not None else None
        return tenant.program if tenant is not None and not tenant.is_over else None

    def at(self, address: str) -> FdbProgram | None:
        """Return what runs at an address."""
        found = (it.program for it in self._tenants.values() if address in both(it.program.address))
        return next((it for it in found if not it.stopped), None)

    def _is_taken(self, volume: Volume) -> bool:
        """Tell whether a pod has a volume, perhaps on a node that nobody hears of."""
        every = self._tenants.values()
        return any(it.program.volume is volume and not it.is_over for it in every)

    def _mounted(self, pod: Json, address: str) -> dict[str, bytes]:
        whose = names.SIDECAR_CONTAINER if is_split(pod) else names.MAIN_CONTAINER
        return mounted(pod, whose, seen_by(pod, address), self._lookup)

    # ------------------------------------------------------------------ what changes

    def _on_mounted(self, event: StoreEvent) -> None:
        key = event.now.key
        for it in self._tenants.values():
            if it.key.namespace == key.namespace and key.name in mounted_by(it.launch.pod):
                self._later(it, _SHOWN, self._show)

    def _on_pod(self, event: StoreEvent) -> None:
        tenant = self._tenants.get(event.now.uid)
        if event.change is Change.DELETED:
            self._scratch.pop(event.now.uid, None)
            if tenant is not None and tenant.is_over:
                del self._tenants[event.now.uid]
        elif tenant is not None and not tenant.is_over:
            self._heed(tenant, event.now.document())

    def _heed(self, tenant: Tenant, pod: Json) -> None:
        before, now = tenant.annotations, dict(pod["metadata"].get("annotations") or {})
        tenant.annotations = now
        if before.get(names.OUTDATED) != now.get(names.OUTDATED):
            self._later(tenant, _SHOWN_SOON, self._show)
        if is_true(before.get(names.ISOLATED, "")) != is_true(now.get(names.ISOLATED, "")):
            self._later(tenant, _WRITING, self._isolate)
        if version_of(pod, _NEEDED[0]) not in ("", tenant.main):
            self._later(tenant, _RESTARTING, self._restart)
        if version_of(pod, _NEEDED[1]) not in ("", tenant.sidecar):
            self._later(tenant, _RESTARTING, self._restart_sidecar)

    def _show(self, tenant: Tenant) -> None:
        """Let a pod see its config map as it is now."""
        pod = self._pod(tenant)
        if pod is None:
            return
        keeper = tenant.program.keeper
        try:
            keeper.look(self._mounted(pod, tenant.launch.address), tenant.sidecar)
        except ConfigMissing:
            return  # the node goes on showing what there was
        self._publish(tenant)
        tenant.program.adopt()

    def _isolate(self, tenant: Tenant) -> None:
        wanted = is_true(tenant.annotations.get(names.ISOLATED, ""))
        if wanted != tenant.program.isolated:
            tenant.program.isolate(isolated=wanted)

    def _restart(self, tenant: Tenant) -> None:
        """Start the main container again, by its new image."""
        pod = self._pod(tenant)
        if pod is not None and version_of(pod, _NEEDED[0]) not in ("", tenant.main):
            tenant.program.stop(gently=True)
            tenant.launch.on_exit(0, "")

    def _restart_sidecar(self, tenant: Tenant) -> None:
        """Start the sidecar again, by its new image: it copies its programs as it begins."""
        pod = self._pod(tenant)
        if pod is None or version_of(pod, _NEEDED[1]) in ("", tenant.sidecar):
            return
        keeper = tenant.program.keeper
        try:
            fresh = keeper_of(pod, seen_by(pod, tenant.launch.address), self._lookup, self._chance)
            files = self._mounted(pod, tenant.launch.address)
        except ConfigMissing:  # no container of a pod starts while one of its volumes is not there
            keeper.sidecar_away = True
            self._later(tenant, _AGAIN, self._restart_sidecar)
            return
        tenant.sidecar = version_of(pod, _NEEDED[1])
        keeper.sidecar_away = False
        if isinstance(keeper, Split) and isinstance(fresh, Split):
            keeper.errands = fresh.errands
            keeper.look(files, tenant.sidecar)
            keeper.begin()
        self._show(tenant)

    # ------------------------------------------------------------------ what it says of itself

    def _publish(self, tenant: Tenant) -> None:
        if tenant.program.keeper.annotations():
            self._later(tenant, _WRITING, self._write)

    def _write(self, tenant: Tenant) -> None:
        """Write on its own pod what was accepted, unless it is there."""
        wanted = tenant.program.keeper.annotations()
        if all(tenant.annotations.get(name) == it for name, it in wanted.items()):
            return
        try:
            self._api.patch(PODS, tenant.key, _annotated(tenant, wanted), Author(MANAGER))
        except ApiError:
            return  # the pod is gone, and with it whoever would read this

    # ------------------------------------------------------------------ when

    def _pod(self, tenant: Tenant) -> Json | None:
        stored = self._api.store.get(PODS.name, tenant.key)
        return stored.document() if stored is not None and stored.uid == tenant.uid else None

    def _later(
        self, tenant: Tenant, within: tuple[float, float], act: Callable[[Tenant], None]
    ) -> None:
        """Do something in a pod after a while, once its node hears of Kubernetes."""

        def do() -> None:
            if tenant.is_over:
                return
            if self.is_lost(tenant.uid):
                self._later(tenant, _AGAIN, act)
            else:
                act(tenant)

        self._ground.loop.call_outside(tenant.program.chance.between(*within), do)


def fits(volume: Volume | None, pod: Json, node: Node) -> bool:
    """Tell whether a pod may be on a node: where pods are spread over zones, volumes stay."""
    is_spread = any(it["topologyKey"] == ZONE for it in spread(pod))
    return not is_spread or volume is None or volume.zone in ("", node.zone)


def _key(pod: Json) -> ObjectKey:
    return ObjectKey(pod["metadata"]["namespace"], pod["metadata"]["name"])


def _annotated(tenant: Tenant, wanted: dict[str, str]) -> Apply:
    metadata = {
        "name": tenant.key.name,
        "namespace": tenant.key.namespace,
        "uid": tenant.uid,
        "annotations": wanted,
    }
    return Apply({"apiVersion": "v1", "kind": "Pod", "metadata": metadata}, MANAGER, force=True)
