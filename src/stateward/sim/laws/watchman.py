"""The watchman of a world: hears of every call and of every change, and knows who acts.

Laws are judged when the world carries an act out, not when an operator asked for it; so the one who
asked is remembered with the call (see ``Weather.acting``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from stateward.kube.client import Change
from stateward.kube.interception import Call
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import LEASES
from stateward.local.store import Stored, StoreEvent
from stateward.runtime.own_writes import PASS
from stateward.sim.faults import Family, Fault
from stateward.sim.laws.violations import Book
from stateward.sim.network import Asked
from stateward.sim.process import SimProcess
from stateward.sim.world import World

KUBERNETES = "kubernetes"
USER = "user"
_LEAVING = b'"deletionTimestamp"'


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: an operator's process with the call that is carried out, or somebody else."""

    name: str
    call: Asked | None = None
    #: The object that an operator works for.
    about: ObjectKey | None = None

    @property
    def operates(self) -> bool:
        """True for an operator."""
        return self.call is not None


@dataclass(frozen=True, slots=True)
class Sent:
    """A call that an operator just sent."""

    who: str
    call: Asked
    #: The object that it works for; None: for itself, as with leases.
    about: ObjectKey | None
    at: float
    #: The controller whose pass sent it; empty: none's.
    controller: str = ""

    @property
    def kube(self) -> Call | None:
        """The call, when it is one to Kubernetes."""
        return self.call if isinstance(self.call, Call) else None


class Watchman:
    """Tells laws what happens, and who did it."""

    def __init__(self, world: World, book: Book | None = None) -> None:
        self.world = world
        self.book = book or Book(world.loop.time)
        self._who = KUBERNETES
        self._abouts: dict[int, ObjectKey | None] = {}
        self._ears: list[Callable[[Sent], None]] = []
        world.weather.listeners.append(self._hear)

    @property
    def last_fault(self) -> float:
        """When something last went wrong with the world itself."""
        return self.book.last_fault

    @last_fault.setter
    def last_fault(self, at: float) -> None:
        self.book.last_fault = at

    @property
    def actor(self) -> Actor:
        """Who acts at this very moment."""
        acting = self.world.weather.acting
        if acting is None:
            return Actor(self._who)
        name, call = acting
        return Actor(name, call, self._abouts.get(id(call)))

    def actor_of(self, name: str, call: Asked) -> Actor:
        """Return who sent a call, also when it takes long to be carried out."""
        return Actor(name, call, self._abouts.get(id(call)))

    @contextmanager
    def in_the_name_of(self, who: str) -> Iterator[None]:
        """Say that what is done meanwhile is somebody's doing."""
        before, self._who = self._who, who
        try:
            yield
        finally:
            self._who = before

    def on_sent(self, ear: Callable[[Sent], None]) -> None:
        """Have every call of operators told, as it is sent, but for those about leases."""
        self._ears.append(ear)

    def on_change(self, resource: str, ear: Callable[[Actor, StoreEvent], None]) -> None:
        """Have every change of a resource told, with who made it."""
        self.world.api.store.listen(lambda event: ear(self.actor, event), resource)

    def follow_faults(self) -> None:
        """Know what befalls the world from now on as what it is; asked for when all is set up."""
        befall = self.world.weather.befall

        def told(fault: Fault, process: SimProcess) -> None:
            if fault.family is Family.WORLD:
                self.last_fault = self.world.loop.time()
            with self.in_the_name_of(f"fault {fault}"):
                befall(fault, process)

        self.world.weather.befall = told

    def _hear(self, who: str, call: Asked) -> None:
        if isinstance(call, Call) and call.resource.name == LEASES.name:
            return  # every few seconds, and no law is about them
        about = about_now()
        self._abouts[id(call)] = about
        sent = Sent(who, call, about, self.world.loop.time(), controller_now())
        for ear in self._ears:
            ear(sent)


def about_now() -> ObjectKey | None:
    """Return the object that the running pass of a controller works for."""
    found = PASS.get()
    key = found[-1] if isinstance(found, tuple) else None
    return key if isinstance(key, ObjectKey) else None


def controller_now() -> str:
    """Return the name of the controller whose pass runs."""
    found = PASS.get()
    return found[0] if isinstance(found, tuple) and isinstance(found[0], str) else ""


def leaves(stored: Stored | None) -> bool:
    """Tell whether an object was asked to go."""
    return stored is not None and _LEAVING in stored.text


def begins_to_go(event: StoreEvent) -> bool:
    """Tell whether a change is the moment at which somebody asked for the end of an object."""
    if leaves(event.before):
        return False
    return event.change is Change.DELETED or leaves(event.now)
