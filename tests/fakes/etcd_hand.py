"""A hand in an operator's glove: it does to a simulated world what a test says, right or wrong."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from stateward.core.chance import Chance
from stateward.emulate.etcd.servers import Server
from stateward.emulate.etcd.state import State
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.etcd.model.members import Member
from stateward.etcd.operator import LEASE
from stateward.kube.client import Apply, MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import ApiError
from stateward.kube.interception import Call
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import LEASES, PODS, STATEFUL_SETS, VOLUME_CLAIMS, Resource
from stateward.local.catalog import CONTROLLER_REVISIONS
from stateward.local.client import MemoryClient
from stateward.runtime.own_writes import PASS
from stateward.sim.etcd.laws.watch import EtcdWatch
from stateward.sim.etcd.scenarios import KEY, create, is_ready
from stateward.sim.etcd.wire import EtcdCall
from stateward.sim.etcd.world import EtcdWorld
from stateward.sim.immediate import at_once
from stateward.sim.loop import SimLoop, running
from stateward.sim.network import Asked
from stateward.sim.world import World

NAME = "op9.1"


class Stage:
    """A cluster that runs, no operator any more, and the hand."""

    def __init__(self, it: EtcdWorld, watch: EtcdWatch) -> None:
        self.it = it
        self.watch = watch
        self.about = KEY
        self._client = MemoryClient(it.world.api, field_manager="stateward-etcd")

    # ------------------------------------------------------------------ looking

    @property
    def broken(self) -> set[str]:
        """The laws that were broken."""
        return {it.law for it in self.watch.watchman.book.violations}

    def server(self, ordinal: int) -> Server:
        """Return the etcd of a pod."""
        found = self.it.server(ObjectKey(KEY.namespace, f"shop-{ordinal}"))
        assert found is not None, f"shop-{ordinal} does not run"
        return found

    def leads(self, ordinal: int) -> None:
        """Have a member lead."""
        server = self.server(ordinal)
        assert server.history is not None
        self.it.universe.reign(server.history).crown(server)
        self.it.universe.settle()

    def member(self, ordinal: int) -> Member:
        """Return a member as it is listed."""
        server = self.server(ordinal)
        return server.state.members[server.member_id]

    def uid(self, resource: Resource[Any], name: str) -> str:
        """Return the UID of an object."""
        stored = self.it.world.api.store.get(resource.name, ObjectKey(KEY.namespace, name))
        assert stored is not None, f"{resource} {name} is not there"
        return stored.uid

    async def pass_time(self, seconds: float) -> None:
        """Let time pass."""
        await self.it.world.clock.sleep(seconds)

    def want(self, **spec: object) -> None:
        """Have the user change the spec."""
        at_once(self.it.world.client.patch(ETCD_CLUSTERS, KEY, MergePatch({"spec": spec})))

    def lose_pod(self, ordinal: int) -> None:
        """Have somebody else delete a pod."""
        key = ObjectKey(KEY.namespace, f"shop-{ordinal}")
        at_once(self.it.world.client.delete(PODS, key, uid=self.uid(PODS, key.name)))

    # ------------------------------------------------------------------ acting as an operator

    def look(self) -> None:
        """Ask all members how they are, and the user what is wanted."""
        for ordinal in range(3):
            self._send(EtcdCall("status", f"shop-{ordinal}"), lambda: None)
        self.ask()

    def ask(self) -> None:
        """Ask past the cache what is wanted."""
        self._send(Call("get", ETCD_CLUSTERS, self.about), lambda: None)

    def delete(self, resource: Resource[Any], name: str, *, uid: str | None = None) -> None:
        """Delete an object by its UID."""
        key = ObjectKey(KEY.namespace, name)
        uid = self.uid(resource, name) if uid is None else uid
        call = Call("delete", resource, key, uid=uid)
        self._send(call, lambda: at_once(self._client.delete(resource, key, uid=uid)))

    def delete_pod(self, ordinal: int) -> None:
        """Delete a pod."""
        self.delete(PODS, f"shop-{ordinal}")

    def delete_claim(self, ordinal: int) -> None:
        """Delete a claim."""
        self.delete(VOLUME_CLAIMS, f"data-shop-{ordinal}")

    def patch(
        self, resource: Resource[Any], name: str, body: Json, *, subresource: str = ""
    ) -> None:
        """Change part of an object: the very version that is there."""
        key = ObjectKey(KEY.namespace, name)
        patch = MergePatch(self._exactly(resource, key, body))
        call = Call("patch", resource, key, subresource, patch)
        client = self._client
        self._send(
            call, lambda: at_once(client.patch(resource, key, patch, subresource=subresource))
        )

    def apply(self, resource: Resource[Any], body: Json) -> None:
        """Make an object, or change it: the very version that is there."""
        key = ObjectKey(KEY.namespace, body["metadata"]["name"])
        patch = Apply(self._exactly(resource, key, body), "hand")
        call = Call("patch", resource, key, body=patch)
        self._send(call, lambda: at_once(self._client.patch(resource, key, patch)))

    def patch_blindly(self, resource: Resource[Any], name: str, body: Json) -> None:
        """Change part of an object, whichever and however it is."""
        key, patch = ObjectKey(KEY.namespace, name), MergePatch(body)
        call = Call("patch", resource, key, body=patch)
        self._send(call, lambda: at_once(self._client.patch(resource, key, patch)))

    def _exactly(self, resource: Resource[Any], key: ObjectKey, body: Json) -> Json:
        stored = self.it.world.api.store.get(resource.name, key)
        if stored is None:
            return body
        now = stored.document()["metadata"]
        version = {name: now[name] for name in ("uid", "resourceVersion")}
        return {**body, "metadata": {**version, **(body.get("metadata") or {})}}

    def say(self, status: Json) -> None:
        """Write part of the status."""
        self.patch(ETCD_CLUSTERS, KEY.name, {"status": status}, subresource="status")

    def agree(self, verb: str, change: Callable[[State], State]) -> None:
        """Have members agree to something, past what etcd itself would refuse."""
        leader = next(it for it in self.it.universe.servers if it.leader == it.member_id)
        call = EtcdCall(verb, leader.start.address, writes=True)
        self._send(call, lambda: self.it.universe.commit(leader, change))

    def remove(self, ordinal: int) -> None:
        """Remove a member."""
        id_ = self.member(ordinal).id
        self.agree("remove", lambda state: state.without(id_))

    def remove_listed(self, ordinal: int) -> None:
        """Remove a member that may not run."""
        name = f"shop-{ordinal}"

        def change(state: State) -> State:
            return state.without(next(it.id for it in state.members.values() if it.name == name))

        self.agree("remove", change)

    def add(self, ordinal: int, *, learner: bool = True) -> None:
        """Add a member."""
        url = f"https://shop-{ordinal}.shop-headless.ns.svc:2380"
        new = Member(1000 + ordinal, "", (url,), learner=learner)
        self.agree("add_learner", lambda state: state.with_member(new))

    def promote(self, ordinal: int) -> None:
        """Give a member that was added its vote."""

        def change(state: State) -> State:
            return state.with_member(replace(state.members[1000 + ordinal], learner=False))

        self.agree("promote", change)

    def send(self, call: Asked, who: str = NAME) -> None:
        """Send a call that does nothing."""
        self._send(call, lambda: None, who)

    def _send(self, call: Asked, perform: Callable[[], object], who: str = NAME) -> None:
        weather = self.it.world.weather
        before = PASS.set(("etcd", self.about))
        try:
            for listener in weather.listeners:
                listener(who, call)
        finally:
            PASS.reset(before)
        weather.acting = (who, call)
        try:
            perform()
        except ApiError:
            weather.failed(call)
        finally:
            weather.acting = None


#: What is done on a stage.
Play = Callable[[Stage], Any]


def _words(stage: Stage) -> dict[str, Callable[..., object]]:
    """Return what can be said in a play; the world's own doings come first."""
    it = stage.it
    return {
        "hang": lambda n: it.universe.hang(stage.server(int(n))),
        "kill": lambda n: it.universe.stop(stage.server(int(n)), gently=False),
        "lead": lambda n: stage.leads(int(n)),
        "lose": lambda n: stage.lose_pod(int(n)),
        "want": lambda n: stage.want(replicas=int(n)),
        "wait": lambda s: stage.pass_time(float(s)),
        # What the operator does.
        "look": stage.look,
        "ask": stage.ask,
        "stop": lambda n: stage.delete_pod(int(n)),
        "scale": lambda n: stage.patch(STATEFUL_SETS, "shop", {"spec": {"replicas": int(n)}}),
        "drop": lambda n: stage.delete_claim(int(n)),
        "add": lambda n: stage.add(int(n)),
        "add-voter": lambda n: stage.add(int(n), learner=False),
        "promote": lambda n: stage.promote(int(n)),
        "remove": lambda n: stage.remove(int(n)),
    }


def played(play: Play | str, *, replicas: int = 3, **spec: object) -> set[str]:
    """Return the laws that are broken by a play on a stage with a cluster that runs.

    A play is a function, or words: ``lead 0, look, stop 2``; a number before them is its size.
    """
    if isinstance(play, str) and play[0].isdecimal():
        size, _, play = play.partition(" ")
        replicas = int(size)
    with running(SimLoop(Chance(1, "order"))) as loop:
        return loop.run_until_complete(_play(loop, play, {"replicas": replicas} | spec))


async def _play(loop: SimLoop, play: Play | str, spec: dict[str, object]) -> set[str]:
    world = World(loop, 1, (ETCD_CLUSTERS, CONTROLLER_REVISIONS))
    it = EtcdWorld(world)
    watch = EtcdWatch(it)
    watch.watchman.follow_faults()
    stage = Stage(it, watch)
    try:
        it.operate()
        await create(KEY, **spec).do(it)
        await world.until("ready", lambda: is_ready(it), within=120)
        await stage.pass_time(15)
        for process in world.processes:
            process.crash(rest=1e9)
        taken = MergePatch({"spec": {"holderIdentity": NAME}})
        await world.client.patch(LEASES, LEASE, taken)
        assert not stage.broken, watch.watchman.book.violations
        await _act(stage, play)
        return stage.broken
    finally:
        await world.end()


async def _act(stage: Stage, play: Play | str) -> None:
    if not isinstance(play, str):
        found = play(stage)
        if inspect.isawaitable(found):
            await found
        return
    words = _words(stage)
    for line in play.split(", "):
        verb, *details = line.split()
        found = words[verb](*details)
        if inspect.isawaitable(found):
            await found
