"""Operators that die at a call: a story is lived once in calm, and copied at every such call.

Until it dies an operator lives as the calm one does. So the process is copied at the call; the copy
dies there, another operator takes over, and the story goes on to its end. The calm one waits for it.

With ``STATEWARD_CRASHES=all`` in the environment there is a copy at every call of every story, twice
at one that writes: before it is sent, and after it was carried out.
"""

from __future__ import annotations

import gc
import os
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, NoReturn, TypeVar

from fakes.fdb_stories import LONG, Story, played, single
from stateward.fdb.api.kind import CLUSTERS
from stateward.kube.codec import Json
from stateward.kube.interception import Call
from stateward.kube.resources import EVENTS, LEASES
from stateward.sim.faults import Kind, fault
from stateward.sim.loop import SimLoop
from stateward.sim.network import Asked, Weather

#: Says how often a story dies; "all": at every call.
VARIABLE: Final = "STATEWARD_CRASHES"
#: The smallest cluster there is, in which nothing waits longer than it must.
PLAIN: Final = single(routing={"useDNSInClusterFile": True})


S = TypeVar("S", bound=Story)


def _all() -> bool:
    return os.environ.get(VARIABLE) == "all"


@dataclass
class Crashes:
    """Where copies are made, and what became of each."""

    #: Of calls that only ask, one in so many; of those that write, all.
    reads: int = 9
    #: Of calls that write, one in so many dies before it is sent, beside all that die after it.
    befores: int = 3
    writes_too: int = 1
    #: Whether calls count by which an operator leads, or tells: who dies there has done the same.
    asides: bool = False
    failures: list[str] = field(default_factory=list)
    branches: int = 0
    is_branch: bool = False
    #: Whether something can be left half done: who dies with a question has done nothing.
    may_leave: bool = True
    #: Whether the story is told: nobody dies while it is seen what it left.
    is_over: bool = False
    _weather: Weather | None = None
    _loop: SimLoop | None = None
    _asked: int = 0
    _written: int = 0
    _pipe: int = -1

    def __post_init__(self) -> None:
        if _all():
            self.reads = self.befores = self.writes_too = 1
            self.asides = True

    def begin(self, it: Story) -> None:
        """Copy from now on."""
        self._weather, self._loop = it.it.world.weather, it.it.world.loop
        self._weather.listeners.append(self._call)

    def _call(self, _who: str, call: Asked) -> None:
        if self.is_branch or self.is_over or not (self.asides or _matters(call)):
            return
        for kind in self._kinds(call):
            if self._copy(kind, call):
                return

    def _kinds(self, call: Asked) -> list[Kind]:
        if not call.writes:
            self._asked += 1
            return [Kind.CRASH_AFTER] if self._asked % self.reads == 0 else []
        self._written += 1
        if self._written % self.writes_too:
            return []
        before = self._written % self.befores == 0
        return [Kind.CRASH_BEFORE, Kind.CRASH_AFTER] if before else [Kind.CRASH_AFTER]

    def _copy(self, kind: Kind, call: Asked) -> bool:
        """Copy the process and wait for the copy; tell whether this is it."""
        weather, loop = self._weather, self._loop
        assert weather is not None
        assert loop is not None
        self.branches += 1
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            gc.disable()  # nothing is used again in a process that ends
            os.close(ours)
            self.is_branch, self._pipe = True, theirs
            self.may_leave = call.writes and _matters(call)
            loop.go_on()
            weather.planned[weather.calls] = [fault(kind, "1")]
            return True
        os.close(theirs)
        with os.fdopen(ours, "rb") as told:
            words = told.read().decode()
        _, status = os.waitpid(pid, 0)
        if status or words:
            self.failures.append(f"{kind.text} at call {weather.calls}, {call}:\n{words}")
        return False

    def told(self) -> str:
        """Return where it went wrong, and of the first what."""
        heads = (it.partition(":\n")[0] for it in self.failures)
        some = f"{len(self.failures)} of {self.branches} crashes went wrong"
        return "\n".join([some, *heads, self.failures[0]])

    def end(self, error: BaseException | None) -> NoReturn:
        """End a copy, and tell what it came to."""
        if error is not None:
            text = "".join(traceback.format_exception(error))
            os.write(self._pipe, text[-6000:].encode())
        os._exit(0)


def _matters(call: Asked) -> bool:
    return not isinstance(call, Call) or call.resource not in (LEASES, EVENTS)


def crashed(
    story: Callable[[S, Crashes], Awaitable[None]],
    crashes: Crashes,
    lived: Callable[..., object] = played,
) -> int:
    """Live a story with a crash at each call; return how many there were.

    ``lived`` runs it in a world of its kind.
    """

    async def told(it: S) -> None:
        await story(it, crashes)
        crashes.is_over = True
        assert it.watcher.wrong == []
        if crashes.may_leave:
            await _left(it)
        if crashes.is_branch:
            crashes.end(None)  # at once: to bury a world takes as long as to live some of it

    error: BaseException | None = None
    try:
        lived(told, whole=False)
    except BaseException as found:  # a copy must end here, and not where it was made
        if not crashes.is_branch:
            raise
        error = found
    if crashes.is_branch:
        crashes.end(error)
    print(f"{crashes.branches} crashes")  # noqa: T201 - says how many were tried
    assert crashes.failures == [], crashes.told()
    return crashes.branches


async def _left(it: Story) -> None:
    """See that a story left nothing half done: who shall go is gone, and nobody is excluded."""
    if not it.it.world.api.list(CLUSTERS).items:
        return
    for _ in range(int(LONG / 20)):
        if it.none_leaves():
            break
        await it.rest(20)  # to look all the time takes longer than to live
    assert it.none_leaves(), it.told()
    it.is_whole()
    assert it.watcher.wrong == []


async def made(it: Story, body: Json) -> None:
    """Make a cluster whose database holds something."""
    it.apply(body)
    await it.until("reconciled", lambda: it.is_reconciled)
    it.write()


async def ended(it: Story) -> None:
    """Wait until all is as asked; nothing may have been lost."""
    await it.until("reconciled", lambda: it.is_reconciled)
    database, settings = it.database, it.database.settings
    assert settings is not None
    assert it.watcher.wrong == []
    assert database.recovery.serves
    assert database.shards.fewest_copies(database.servers) >= settings.copies
    version = database.store.at(it.it.world.clock.now())
    assert dict(database.store.span(b"order/", b"order0", version)) == it.keys
    made = [line for line in it.watcher.commands if line.startswith("configure new")]
    assert len(made) <= 2, "once, or once more where nobody knew"
