"""What an operator is shown of Kubernetes: mostly all of it at once, and sometimes the past.

Watches, and the lists that they begin with, pass through here. Single reads and writes reach the
newest, as do the lists that a pass asks for: real servers answer them as of now. A watch that is
late shows what happened in order, later; one that missed something is told so (410 Gone), and its
reader lists again.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Any, cast

from stateward.core.clock import Clock
from stateward.core.errors import PeerUnreachable
from stateward.kube.client import EVERYTHING, Selection
from stateward.kube.errors import Gone
from stateward.kube.resources import Resource
from stateward.local.api import Api, Selected
from stateward.local.store import Store, Stored, StoreEvent
from stateward.local.watching import Filter, Pace, Sighting, follow


@dataclass(slots=True, eq=False)
class Veil:
    """Hides what is newer than a revision, from watches and perhaps from lists."""

    until: int
    hides_lists: bool = False


@dataclass(slots=True)
class Sight:
    """How one kind is seen by one operator."""

    veils: list[Veil] = field(default_factory=list)
    #: How often its watches were ended with 410 Gone.
    breaks: int = 0
    #: How often they were cut: their readers go on from where they were.
    cuts: int = 0
    bells: dict[int, Callable[[], None]] = field(default_factory=dict)
    _bells_ever: int = 0

    @property
    def watched(self) -> int | None:
        """The newest revision that watches show; None: all."""
        return min((it.until for it in self.veils), default=None)

    @property
    def listed(self) -> int | None:
        """The revision that lists show; None: the newest."""
        return min((it.until for it in self.veils if it.hides_lists), default=None)

    def draw(self, veil: Veil) -> None:
        """Hide something."""
        self.veils.append(veil)

    def cut(self) -> None:
        """End all watches without a word."""
        self.cuts += 1
        self.ring()

    def lift(self, veil: Veil, *, gone: bool = False) -> None:
        """Show it again; ``gone``: watches end, and their readers list again."""
        if veil not in self.veils:
            return
        self.veils.remove(veil)
        self.breaks += gone
        self.ring()

    def ring(self) -> None:
        """Have all watches look again."""
        for bell in tuple(self.bells.values()):
            bell()

    def hang_up(self, bell: Callable[[], None]) -> Callable[[], None]:
        """Have a watch woken when more is shown; call the result to end it."""
        self._bells_ever += 1
        number = self._bells_ever
        self.bells[number] = bell
        return lambda: cast("None", self.bells.pop(number, None))


class Eyes:
    """How one operator sees Kubernetes, kind by kind; it outlives the operator's processes."""

    def __init__(self) -> None:
        self._sights: dict[str, Sight] = {}

    def on(self, kind: str) -> Sight:
        """Return how a kind is seen."""
        return self._sights.setdefault(kind, Sight())


class SeenApi:
    """Kubernetes as somebody sees it."""

    def __init__(self, api: Api, eyes: Eyes, clock: Clock) -> None:
        self._api = api
        self._eyes = eyes
        self._pace = Pace(clock)

    def __getattr__(self, name: str) -> Any:
        """Return what nobody's eyes change."""
        return getattr(self._api, name)

    def list(self, resource: Resource[Any], selection: Selection = EVERYTHING) -> Selected:
        """Return the selected objects as they are shown."""
        revision = self._eyes.on(resource.kind).listed
        # Whoever watches does so in all namespaces; one is asked for when it matters what is now.
        if revision is None or selection.namespace:
            return self._api.list(resource, selection)
        wanted = Filter.of(selection, self._api.kinds.of(resource))
        found = self._api.store.all_at(resource.name, revision, selection.namespace)
        return Selected(tuple(it for it in found if wanted.matches(it)), revision)

    def watch(
        self, resource: Resource[Any], selection: Selection, since: int, pace: Pace | None = None
    ) -> AsyncGenerator[Sighting | int, None]:
        """Yield what changes, as far as it is shown."""
        window = _Window(self._api.store, self._eyes.on(resource.kind))
        wanted = Filter.of(selection, self._api.kinds.of(resource))
        return follow(cast("Store", window), resource, wanted, since, pace or self._pace)


class _Window:
    """The store as one watch sees it: what :func:`follow` asks of a store."""

    def __init__(self, store: Store, sight: Sight) -> None:
        self._store = store
        self._sight = sight
        self._breaks = sight.breaks
        self._cuts = sight.cuts

    @property
    def revision(self) -> int:
        """The newest revision that is shown."""
        shown = self._sight.watched
        return self._store.revision if shown is None else min(shown, self._store.revision)

    def all(self, resource: str, namespace: str) -> list[Stored]:
        """Return what is there, as far as it is shown."""
        return self._store.all_at(resource, self.revision, namespace)

    def events_since(self, resource: str, revision: int) -> list[StoreEvent]:
        """Return what happened after a revision, as far as it is shown."""
        if self._breaks != self._sight.breaks:
            raise Gone("too old resource version; list again")
        if self._cuts != self._sight.cuts:
            raise PeerUnreachable("the watch was cut")
        found = self._store.events_since(resource, revision)
        shown = self._sight.watched
        return found if shown is None else [it for it in found if it.revision <= shown]

    def listen(self, listener: Callable[[StoreEvent], None], resource: str) -> Callable[[], None]:
        """Have a watch woken by what happens, and when more is shown."""
        leave = self._store.listen(listener, resource)
        hang_down = self._sight.hang_up(lambda: listener(cast("StoreEvent", None)))

        def end() -> None:
            leave()
            hang_down()

        return end
