"""What befalls operators and their view of Kubernetes, and when it is over."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, cast

from stateward.core.errors import UsageError
from stateward.kube.interception import Call
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import LEASES
from stateward.local.store import StoreEvent
from stateward.runtime.own_writes import PASS
from stateward.runtime.supervisor import Supervisor
from stateward.sim.faults import Fault, Kind
from stateward.sim.network import Asked
from stateward.sim.past import Sight, Veil
from stateward.sim.process import Fate

if TYPE_CHECKING:
    from stateward.sim.world import Slot, World

#: Seconds that an operator with a view of the past has to begin to act: it must be elected first.
_ELECTED = 60.0
#: Seconds in which the next event must come, and the one after it.
_NEXT_EVENT = 60.0
#: Seconds for which events are late, when nobody says for how long.
_LATE_FOR = 30.0


def befall(world: World, fault: Fault, slot: Slot) -> None:
    """Let a fault begin; it ends by itself."""
    _BY_KIND[fault.kind](world, fault, slot)


def stop(_: World, __: Fault, slot: Slot) -> None:
    """Ask the process to end."""
    if slot.process is not None:
        slot.process.stop.set()


def two_passes(_: World, __: Fault, slot: Slot) -> None:
    """Begin a second pass over the key whose pass sends this call."""
    running, process = PASS.get(), slot.process
    if running is None or process is None or process.fate is not Fate.ALIVE:
        return
    name, key = cast("tuple[str, ObjectKey]", running)
    if isinstance(slot.operator, Supervisor):
        for controller in slot.operator._parts.controllers:  # noqa: SLF001 - its queue would not allow it
            if controller.name == name:
                process.spawn_beside(controller._pass(key))  # noqa: SLF001


def stale(world: World, fault: Fault, slot: Slot) -> None:
    """Start the operator again with a view of the past."""
    revision, seconds = int(fault.detail(0)), float(fault.detail(1))
    _set_back(world, slot, world.kinds, revision, seconds)


def stale_kinds(world: World, fault: Fault, slot: Slot) -> None:
    """Start the operator again with a view of the past of some kinds."""
    kinds = fault.detail(0).split("+")
    for kind in kinds:
        _known(world, kind)
    _set_back(world, slot, kinds, int(fault.detail(1)), float(fault.detail(2)))


def _set_back(
    world: World, slot: Slot, kinds: Iterable[str], revision: int, seconds: float
) -> None:
    newest = world.api.store.revision
    until = min(revision if revision > 0 else max(newest + revision, 1), newest)
    drawn = [(slot.eyes.on(kind), Veil(until, hides_lists=True)) for kind in kinds]
    for sight, veil in drawn:
        sight.draw(veil)
    over = world.weather.trouble()

    def catch_up() -> None:
        for sight, veil in drawn:
            sight.lift(veil)
        over()

    if slot.process is not None:
        slot.process.crash(rest=0.0)
    _once_it_acts(world, slot, lambda: world.later(seconds, catch_up))


def _once_it_acts(world: World, slot: Slot, do: Callable[[], None]) -> None:
    """Do something when the next process of a slot first does more than to look around."""
    begun = False

    def begin() -> None:
        nonlocal begun
        if not begun:
            begun = True
            # Another list, because somebody is just going through this one.
            world.weather.listeners = [it for it in world.weather.listeners if it is not listen]
            do()

    def listen(who: str, call: Asked) -> None:
        looks = isinstance(call, Call) and (
            call.verb in {"list", "watch"} or call.resource.kind == LEASES.kind
        )
        if slot.process is not None and slot.process.name == who and not looks:
            begin()

    world.weather.listeners = [*world.weather.listeners, listen]
    world.later(_ELECTED, begin)


def stall(world: World, fault: Fault, slot: Slot) -> None:
    """Let the watch of a kind be silent for a while."""
    sight, seconds = _sight(world, fault, slot), float(fault.detail(1))
    veil, over = Veil(world.api.store.revision), world.weather.trouble()
    sight.draw(veil)

    def end() -> None:
        sight.lift(veil, gone=fault.detail(2, "gone") == "gone")
        over()

    world.later(seconds, end)


def unseen(world: World, fault: Fault, slot: Slot) -> None:
    """Hide the next event of a kind and the next ones of the same object after it."""
    sight, over = _sight(world, fault, slot), world.weather.trouble()
    veil, more = Veil(world.api.store.revision), int(fault.detail(1, "1"))
    sight.draw(veil)
    hidden: list[ObjectKey] = []

    def end() -> None:
        leave()
        sight.lift(veil, gone=bool(hidden))
        over()

    def look(event: StoreEvent) -> None:
        if not hidden:
            hidden.append(event.now.key)
            world.later(_NEXT_EVENT, end)
        elif event.now.key == hidden[0]:
            hidden.append(event.now.key)
            if len(hidden) > more:
                end()

    leave = world.api.store.listen(look, world.kinds[fault.detail(0)].name)
    world.later(_NEXT_EVENT, lambda: None if hidden else end())


def reorder(world: World, fault: Fault, slot: Slot) -> None:
    """Let events of a kind be late for a while, one by one and in order."""
    sight, late = _sight(world, fault, slot), float(fault.detail(1))
    veil, over = Veil(world.api.store.revision), world.weather.trouble()
    sight.draw(veil)

    def show(revision: int) -> None:
        veil.until = max(veil.until, revision)
        sight.ring()

    def look(event: StoreEvent) -> None:
        world.later(late, lambda: show(event.revision))

    leave = world.api.store.listen(look, world.kinds[fault.detail(0)].name)

    def end() -> None:
        leave()
        sight.lift(veil)
        over()

    world.later(float(fault.detail(2, str(_LATE_FOR))) + late, end)


def another_server(world: World, fault: Fault, slot: Slot) -> None:
    """Let an operator watch for a while through a server whose memory is behind that of others.

    Its watches are cut, and go on from where they were: so until that server is as far, they say
    nothing. What it lists is asked of a quorum, by whatever server.
    """
    lag, over = float(fault.detail(0)), world.weather.trouble()
    sights = [slot.eyes.on(kind) for kind in world.kinds]
    veil = Veil(world.api.store.revision)

    def look(event: StoreEvent) -> None:
        world.later(lag, lambda: show(event.revision))

    def show(revision: int) -> None:
        veil.until = max(veil.until, revision)
        for sight in sights:
            sight.ring()

    def end() -> None:
        leave()
        for sight in sights:
            sight.lift(veil)
            sight.cut()
        over()

    for sight in sights:
        sight.draw(veil)
        sight.cut()
    leave = world.api.store.listen(look)
    world.later(float(fault.detail(1)), end)


def _sight(world: World, fault: Fault, slot: Slot) -> Sight:
    return slot.eyes.on(_known(world, fault.detail(0)))


def _known(world: World, kind: str) -> str:
    if kind not in world.kinds:
        known = ", ".join(sorted(world.kinds))
        raise UsageError(f"a kind must be one of {known}; got {kind!r}")
    return kind


_BY_KIND: Final[dict[Kind, Callable[[World, Fault, Slot], None]]] = {
    Kind.SIGTERM: stop,
    Kind.TWO_PASSES: two_passes,
    Kind.STALE: stale,
    Kind.STALE_KINDS: stale_kinds,
    Kind.STALL: stall,
    Kind.UNSEEN: unseen,
    Kind.REORDER: reorder,
    Kind.SERVER: another_server,
}
