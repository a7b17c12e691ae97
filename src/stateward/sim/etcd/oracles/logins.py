"""Logins that come on too late: the one thing that nobody can tell from a person's doing.

Etcd does not know who leads. A leader that slept, or one beside the lease, may turn logins on after
another one turned them off and put that on record. A person may do the same, and then no operator
may turn them off: so they stay, and nobody is to blame.
"""

from __future__ import annotations

from stateward.emulate.etcd.state import History, State
from stateward.etcd.operator import LEASE
from stateward.kube.codec import decode
from stateward.kube.objects.policies import Lease
from stateward.kube.resources import LEASES
from stateward.sim.etcd.laws.scene import Scene
from stateward.sim.etcd.mistakes import STRAY_LOGINS


class StrayLogins:
    """Notes that logins came on by an operator without the lease, and no cluster asks for them."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def agreed(self, _: History, before: State, after: State) -> None:
        """Look at one entry that members agreed to."""
        actor = self._scene.watchman.actor
        if before.auth or not after.auth or actor.about is None:
            return
        cluster = self._scene.cluster(actor.about)
        wanted = cluster is not None and cluster.spec.security.enable_auth
        if not wanted and self._holder() != actor.name:
            self._scene.it.notes[STRAY_LOGINS] = actor.name

    def _holder(self) -> str | None:
        stored = self._scene.it.world.api.store.get(LEASES.name, LEASE)
        return decode(stored.text, Lease).spec.holder_identity if stored is not None else None
