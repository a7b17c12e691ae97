"""What is not ours and has the name or the address of something that is, or was."""

from __future__ import annotations

from typing import Final

from stateward.emulate.etcd.servers import Start
from stateward.emulate.etcd.state import Disk
from stateward.kube.errors import ApiError, NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS, VOLUME_CLAIMS
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.sim.etcd.acts import Act, Scene, count_scratch
from stateward.sim.kube.volumes import claims_of
from stateward.sim.past import Veil

_USER = Author("user")
_CLAIM: Final = {
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "1Gi"}},
}


def _foreign_claim(at: Scene) -> None:
    """Have a claim without any labels, of the name that a member would need, for a while."""
    key = ObjectKey(at.pod_key.namespace, f"data-{at.pod_key.name}")
    body = {"metadata": {"name": key.name}, "spec": _CLAIM}
    try:
        made = at.api.create(VOLUME_CLAIMS, key.namespace, body, _USER)
    except ApiError:
        return  # there is one of ours already, or a quota does not allow it
    at.it.foreign_claims[key] = at.it.world.loop.time()

    def take_away() -> None:
        at.it.foreign_claims.pop(key, None)
        pods = at.api.store.all(PODS.name, key.namespace)
        if any(key.name in claims_of(it.document()) for it in pods):
            at.it.hopeless = True  # it came just when a member started, which is on it now
        try:
            at.api.delete(VOLUME_CLAIMS, key, DeleteOptions(uid=made.uid))
        except NotFound:
            return

    at.for_a_while(take_away)


def _stranger(at: Scene) -> None:
    """Give the address of a pod to another one's etcd, of which the operator hears late.

    The pod is deleted by force, and its address goes at once to the only member of a cluster that
    nobody asked our operators to look after. The operator's watch of pods says nothing for a while.
    """
    lodger, universe = at.lodger, at.it.universe
    server = universe.at(lodger.address) if lodger is not None else None
    if lodger is None or lodger.node.lost or server is None:
        return
    address, name = lodger.address, f"stranger-{len(universe.histories)}"
    veil = Veil(at.api.store.revision)
    sights = [at.slot.eyes.on(PODS.kind)] if at.slot is not None else []
    for sight in sights:
        sight.draw(veil)
    at.api.delete(PODS, lodger.key, DeleteOptions(uid=lodger.uid, grace_seconds=0))
    count_scratch(at, lodger.uid)
    url = f"https://{name}.elsewhere.svc:2380"
    start = Start(
        name=name,
        address=address,
        peer_url=url,
        client_url=server.start.client_url,
        initial=((name, url),),
        existing=False,
        token=name,
    )
    stranger = universe.launch(start, Disk(), lambda _: None, lambda: None)
    at.it.strangers[address] = stranger.began

    def end() -> None:
        universe.stop(stranger)
        del at.it.strangers[address]
        for sight in sights:
            sight.lift(veil)

    at.for_a_while(end)


def _reuse(at: Scene) -> None:
    """Give addresses of pods that are gone to other pods, from now on."""
    at.it.nodes.reuses = True


STRANGERS: Final[dict[str, Act]] = {
    "foreign-claim": Act(_foreign_claim, seconds=60),
    "stranger": Act(_stranger, seconds=30),
    "reuse": Act(_reuse, targeted=False),
}
