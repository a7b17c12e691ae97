"""A world that can be branched: one settled cluster, and as many futures of it as are asked for.

A branch is a copy of the whole process (``fork``): the same world, the same clock, the same chance,
so whatever is lived in it is what would have been lived from the beginning. Nothing here has a
thread or a socket that a copy could not have.

Everybody's writes are admitted as a real API server would: schemas, rules and defaults.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeVar

import msgspec

from stateward.core.chance import Chance
from stateward.core.errors import HouseError
from stateward.core.ports import Ports
from stateward.etcd.api.kind import ETCD_CLUSTER_KIND, ETCD_CLUSTERS
from stateward.etcd.operator import LEASE
from stateward.kube.codec import Json, plain
from stateward.kube.crd.kind import crd
from stateward.kube.errors import ApiError
from stateward.kube.resources import CUSTOM_RESOURCES, NAMESPACES, SECRETS
from stateward.local.api import Api
from stateward.local.catalog import STORAGE_CLASSES
from stateward.local.rules.writes import Author
from stateward.local.schema.served import served_api
from stateward.sim.etcd.laws.watch import EtcdWatch
from stateward.sim.etcd.pairs.bases import Base, secrets, storage_classes
from stateward.sim.etcd.scenarios import KEY
from stateward.sim.etcd.world import EtcdWorld
from stateward.sim.laws.watchman import USER
from stateward.sim.loop import SimLoop, running
from stateward.sim.world import World

T = TypeVar("T")

_USER: Final = Author("user")
#: The namespaces that the cluster, and the operator's lease, are in.
_NAMESPACES: Final = (KEY.namespace, LEASE.namespace)
_SEED: Final = 1
_PIECE: Final = 65_536


@dataclass(frozen=True, slots=True)
class Stage:
    """One world, and the loop that moves it."""

    loop: SimLoop
    it: EtcdWorld
    watch: EtcdWatch

    def do(self, what: Coroutine[Any, Any, T]) -> T:
        """Let time pass until something has been done."""
        return self.loop.run_until_complete(what)

    @property
    def violations(self) -> tuple[str, ...]:
        """The laws that were broken until now, however it came here."""
        return tuple(f"law: {it}" for it in self.watch.watchman.book.violations)

    def spec(self) -> Json:
        """Return what the cluster is asked to be now, defaults included."""
        return self._stored()["spec"]  # type: ignore[no-any-return]

    def ask(self, spec: Json, *, dry_run: bool = False) -> str:
        """Write another spec, as with kubectl replace; return why it was refused, or nothing."""
        document = self._stored() | {"spec": plain(spec)}
        author = Author("user", dry_run)
        try:
            with self.watch.watchman.in_the_name_of(USER):
                self.it.world.api.update(ETCD_CLUSTERS, KEY, document, author)
        except ApiError as error:
            return f"{error.reason}: {error.message}"
        return ""

    def _stored(self) -> Json:
        stored = self.it.world.api.store.get(ETCD_CLUSTERS.name, KEY)
        if stored is None:
            raise HouseError("the cluster is gone, and nobody asked for that")
        return stored.document()


@contextmanager
def staged(base: Base, seed: int = _SEED) -> Generator[Stage, None, None]:
    """Make a world in which somebody has just asked for the cluster of a base."""
    with running(SimLoop(Chance(seed, "order"))) as loop:
        world = World(loop, seed, (ETCD_CLUSTERS,), _served)
        it = EtcdWorld(world)
        stage = Stage(loop, it, EtcdWatch(it))
        try:
            stage.it.operate()
            document = {"metadata": {"name": KEY.name}, "spec": plain(base.spec)}
            world.api.create(ETCD_CLUSTERS, KEY.namespace, document, _USER)
            yield stage
        finally:
            stage.do(world.end())


def _served(ports: Ports) -> Api:
    api = served_api(ports)
    api.create(CUSTOM_RESOURCES, "", crd(ETCD_CLUSTER_KIND), _USER)
    for name in _NAMESPACES:
        api.create(NAMESPACES, "", {"metadata": {"name": name}}, _USER)
    for storage_class in storage_classes():
        api.create(STORAGE_CLASSES, "", storage_class, _USER)
    for secret in secrets():
        api.create(SECRETS, KEY.namespace, secret, _USER)
    return api


# -------------------------------------------------------------------------- branches


@dataclass(slots=True)
class Branch:
    """A future that is lived elsewhere; what it says comes through a pipe, a line at a time."""

    pid: int
    pipe: int
    _rest: bytes = b""

    def read(self) -> tuple[list[Json], bool]:
        """Return what was said since, waiting for some of it, and whether it is over."""
        piece = os.read(self.pipe, _PIECE)
        *lines, self._rest = (self._rest + piece).split(b"\n")
        if not piece:
            os.close(self.pipe)
            _, status = os.waitpid(self.pid, 0)
            if status or self._rest:
                raise HouseError(f"a branch ended with {status}, and left {self._rest[:200]!r}")
        return [msgspec.json.decode(it) for it in lines], not piece

    def end(self) -> None:
        """End it before it is over; its own branches end when they want to tell it something."""
        os.close(self.pipe)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def branch(live: Callable[[], Iterator[Json]]) -> Branch:
    """Copy this process and live something in the copy; every item is told as it is yielded."""
    ours, theirs = os.pipe()
    # Ctrl-C that comes while a process is copied would be lost in a hook of somebody else's.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the original hears it, and ends us
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            os.close(ours)
            _live(live, theirs)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    os.close(theirs)
    return Branch(pid, ours)


def _live(live: Callable[[], Iterator[Json]], pipe: int) -> NoReturn:
    """Live in the copy, and end it without a word to what the original has open."""
    code = 1
    with suppress(BrokenPipeError):
        try:
            for it in live():
                _write(pipe, msgspec.json.encode(it) + b"\n")
            code = 0
        except BaseException as error:  # noqa: BLE001 - the original must hear of it
            _write(pipe, msgspec.json.encode({"fell": f"{type(error).__name__}: {error}"}) + b"\n")
            code = 0
    os._exit(code)


def _write(pipe: int, text: bytes) -> None:
    while text:
        text = text[os.write(pipe, text) :]


def lived(live: Callable[[], Json]) -> Json:
    """Return what a branch comes to, once it has."""
    it = branch(lambda: iter((live(),)))
    found: list[Json] = []
    over = False
    while not over:
        said, over = it.read()
        found += said
    if "fell" in found[-1]:
        raise HouseError(found[-1]["fell"])
    return found[-1]
