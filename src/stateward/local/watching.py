"""Watches: from the history of the store to the events that one watcher gets.

A watcher with a selector sees objects come and go as they begin and cease to match, whatever
happened to them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from stateward.core.clock import Clock
from stateward.kube.client import Change, Selection
from stateward.kube.errors import BadRequest
from stateward.kube.resources import JOBS, Resource
from stateward.kube.selector import FieldSelector, LabelSelector
from stateward.local.kinds import SELECTABLE, Kind
from stateward.local.store import Store, Stored, StoreEvent, stamped


@dataclass(frozen=True, slots=True)
class Filter:
    """A selection, ready to be asked."""

    namespace: str
    labels: LabelSelector
    fields: FieldSelector

    @classmethod
    def of(cls, selection: Selection, kind: Kind) -> Filter:
        """Read the selectors; raise BadRequest when they cannot be asked."""
        try:
            labels = LabelSelector.parse(selection.labels)
            fields = FieldSelector.parse(selection.fields)
        except ValueError as error:
            raise BadRequest(f"unable to parse the selector: {error}") from error
        for requirement in fields.requirements:
            if requirement.path not in kind.selectable:
                raise BadRequest(_not_selectable(requirement.path, kind))
        return cls(selection.namespace, labels, fields)

    def matches(self, stored: Stored) -> bool:
        """Tell whether a version of an object is selected."""
        if self.namespace and stored.key.namespace != self.namespace:
            return False
        if not self.labels.matches(stored.labels):
            return False
        return not self.fields.requirements or self.fields.matches(stored.document())


def _not_selectable(path: str, kind: Kind) -> str:
    if kind.built_in and kind.selectable == SELECTABLE:
        known = ", ".join(f'"{it}"' for it in sorted(SELECTABLE))
        return f'"{path}" is not a known field selector: only {known}'
    if kind.resource.name == JOBS.name:
        return f'field label "{path}" not supported for Job'
    return f"field label not supported: {path}"


@dataclass(frozen=True, slots=True)
class Sighting:
    """What a watcher is told."""

    change: Change
    stored: Stored
    revision: int


def sighting(event: StoreEvent, wanted: Filter) -> Sighting | None:
    """Return what an event means to a watcher, or None when it is none of its business."""
    was = event.before is not None and wanted.matches(event.before)
    now = event.change is not Change.DELETED and wanted.matches(event.now)
    if now:
        return Sighting(Change.MODIFIED if was else Change.ADDED, event.now, event.revision)
    if was and event.change is Change.DELETED:
        return Sighting(Change.DELETED, event.now, event.revision)
    if was and event.before is not None:
        # The watcher is shown what it knew, with the revision at which it ceased to be selected.
        last = stamped(event.before.document(), event.revision)
        return Sighting(Change.DELETED, last, event.revision)
    return None


@dataclass(frozen=True, slots=True)
class Pace:
    """How a stream of events behaves in time."""

    clock: Clock
    #: A quiet watcher is told this often up to where nothing happened.
    bookmark_every: float = 60.0
    #: The stream ends after so many seconds; whoever wants more comes back.
    lifetime: float = 600.0


async def follow(
    store: Store, resource: Resource[Any], wanted: Filter, since: int, pace: Pace
) -> AsyncGenerator[Sighting | int, None]:
    """Yield what changes after a revision, one by one (see :func:`batches`)."""
    async with aclosing(batches(store, resource, wanted, since, pace)) as groups:
        async for group in groups:
            if isinstance(group, int):
                yield group
                continue
            for seen in group:
                yield seen


async def batches(
    store: Store, resource: Resource[Any], wanted: Filter, since: int, pace: Pace
) -> AsyncGenerator[list[Sighting] | int, None]:
    """Yield what changes after a revision; a number is one up to which nothing else happened.

    Since 0 it begins with what is there, if only an empty list; a revision of the future is waited
    for. Whoever is slow sees everything later, in order; whoever is too slow gets Gone.
    """
    awake = asyncio.Event()
    end = store.listen(lambda _: awake.set(), resource.name)
    until = pace.clock.monotonic() + pace.lifetime
    try:
        if not since:
            since = store.revision
            yield _there(store, resource, wanted)
        while pace.clock.monotonic() < until:
            awake.clear()
            events = store.events_since(resource.name, since)
            since = max(since, store.revision)
            if seen := [it for event in events if (it := sighting(event, wanted)) is not None]:
                yield seen
            if not awake.is_set() and (quiet := await _quiet(awake, store, pace, until)):
                since = max(since, quiet)
                yield since
    finally:
        end()


def _there(store: Store, resource: Resource[Any], wanted: Filter) -> list[Sighting]:
    """Return what a watcher is told who asks for what is there."""
    found = store.all(resource.name, wanted.namespace)
    return [Sighting(Change.ADDED, it, it.revision) for it in found if wanted.matches(it)]


async def _quiet(awake: asyncio.Event, store: Store, pace: Pace, until: float) -> int:
    """Wait for the next event, but not for ever; return a revision when a bookmark is due first.

    It is the revision of the moment at which the bookmark fell due: when the watcher gets to run,
    there may be an event after all.
    """
    quiet = 0
    left = until - pace.clock.monotonic()

    def ring() -> None:
        nonlocal quiet
        if not awake.is_set() and left > pace.bookmark_every:
            quiet = store.revision
        awake.set()

    timer = pace.clock.call_later(min(pace.bookmark_every, left), ring)
    try:
        await awake.wait()
    finally:
        timer.cancel()
    return quiet
