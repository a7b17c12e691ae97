"""What was true when a process last looked: what happened after that it could not know.

A deletion cannot be fenced by what etcd says. So an act is judged by what is, but for what the
world (and no operator) took away since the process asked the members.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS
from stateward.local.store import StoreEvent
from stateward.sim.etcd.laws.truth import NOTHING, Standing, Truth
from stateward.sim.etcd.wire import EtcdCall
from stateward.sim.laws.watchman import Actor, Sent, Watchman, begins_to_go


@dataclass(frozen=True, slots=True)
class Look:
    """How a cluster stood, and when that was."""

    at: float = -1.0
    standing: Standing = NOTHING


NEVER = Look()
#: Seconds until what somebody did to a pod is in every cache, and judged by.
_LAG = 1.0


class Looks:
    """Remembers the last look of every process at every cluster."""

    def __init__(self, watchman: Watchman, truth: Truth) -> None:
        self._watchman = watchman
        self._truth = truth
        self._looks: dict[tuple[str, ObjectKey], Look] = {}
        #: When members were last seen alive by anybody.
        self._alive: dict[int, float] = {}
        #: When somebody else asked pods to go, by where they run.
        self._left: dict[str, float] = {}
        #: Where pods ran that operators let go.
        self._let_go: set[str] = set()
        watchman.on_sent(self._sent)
        watchman.on_change(PODS.name, self._pod)

    def last(self, actor: Actor, cluster: ObjectKey) -> Look:
        """Return the last look of who acts at a cluster."""
        return self._looks.get((actor.name, cluster), NEVER)

    def known(self, actor: Actor, cluster: ObjectKey) -> Standing:
        """Return how a cluster stands, as far as who acts can know."""
        look = self.last(actor, cluster)
        now, then = self._truth.standing(cluster), look.standing
        if now.history is not None and then.history is not None and now.history is not then.history:
            return now
        lost = {it for it in then.lasting - now.lasting if then.address(it) not in self._let_go}
        unseen = {
            it
            for it, address in now.addresses
            if it in now.alive and self._left.get(address, -_LAG) > look.at - _LAG
        }
        lost |= unseen - now.lasting
        if not lost:
            return now
        kept = then if now.history is None else now
        return replace(
            kept,
            alive=now.alive | lost,
            lasting=now.lasting | lost,
            heard=now.heard | (then.heard & lost),
        )

    def let_go(self, address: str) -> None:
        """Note that an operator ends what runs somewhere."""
        self._let_go.add(address)

    def moved_in(self, address: str) -> None:
        """Note that an address is another pod's from now on."""
        self._let_go.discard(address)
        self._left.pop(address, None)

    def alive_at(self, member_id: int) -> float:
        """Return when a member was last alive, and heard of, while somebody looked."""
        return self._alive.get(member_id, -1.0)

    def _sent(self, sent: Sent) -> None:
        call = sent.call
        if not isinstance(call, EtcdCall) or call.verb != "status" or sent.about is None:
            return
        key = (sent.who, sent.about)
        if self._looks.get(key, NEVER).at != sent.at:  # it asks all members at once
            look = self._looks[key] = Look(sent.at, self._truth.standing(sent.about))
            self._alive.update(dict.fromkeys(look.standing.heard, sent.at))

    def _pod(self, actor: Actor, event: StoreEvent) -> None:
        if not begins_to_go(event):
            return
        address = (event.now.document().get("status") or {}).get("podIP", "")
        if actor.operates:
            self.let_go(address)
        else:
            self._left[address] = self._watchman.world.loop.time()
