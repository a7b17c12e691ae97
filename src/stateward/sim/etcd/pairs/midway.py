"""An edit in the middle of another one's work: at every call of the operator, or at every k-th.

The world is stopped as a call sets out, and branched: in the branch the spec is edited again, and
must end where that edit alone ends. Then the world goes on to the next call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from stateward.kube.codec import Json
from stateward.sim.etcd.pairs.bases import BASES
from stateward.sim.etcd.pairs.ends import end_of
from stateward.sim.etcd.pairs.pairs import Book, Known, alike, answered, kept_by
from stateward.sim.etcd.pairs.stage import Stage, lived
from stateward.sim.etcd.pairs.tables import MADE
from stateward.sim.loop import SimLoop
from stateward.sim.network import Asked

#: Calls of one edit's work that are looked at, at most.
_MOST = 400


def midway(
    book: Book, first: str, second: str, *, stride: int = 1, only: int = 0
) -> Iterator[Json]:
    """Ask for one state, and at its calls for another; tell of each such way as it ends."""
    stage = book.stage
    if stage.ask(book.cases[first].spec(BASES[book.base].spec)):
        return
    over = stage.loop.time() + book.known[first].step.seconds
    for call in range(1, _MOST):
        if not _next_call(stage, over):
            return
        if call == only or (not only and call % stride == 0):
            yield lived(lambda call=call: _interrupted(book, first, second, call))  # type: ignore[misc]
        if call == only:
            return


def _interrupted(book: Book, first: str, second: str, call: int) -> Json:
    step = book.ask(second, book.stage)
    now = Known(step, book.stage.spec(), end_of(book.stage.it))
    broken = [*step.broken, *answered(book, first, second, step)]
    if step.verdict in MADE and not kept_by(book, first, second) and _is_known(book, second):
        broken += alike(book.known[second], now)
    return {
        "pair": f"{book.base}:{first}@{call}:{second}",
        "broken": broken,
        "answers": [step.verdict],
        "seconds": step.seconds,
    }


def _is_known(book: Book, name: str) -> bool:
    return book.known[name].step.verdict in MADE


def _next_call(stage: Stage, over: float) -> bool:
    """Let time pass until the operator sends a call; return False when the work was over before."""
    return stage.do(_until_call(stage, stage.loop, over))


async def _until_call(stage: Stage, loop: SimLoop, over: float) -> bool:
    called: asyncio.Future[bool] = loop.create_future()

    def tell(it: bool) -> None:  # noqa: FBT001 - it is what is told
        if not called.done():
            called.set_result(it)

    def listen(_: str, __: Asked) -> None:
        tell(True)  # noqa: FBT003 - as above

    end = loop.call_at(over, tell, False)  # noqa: FBT003 - as above
    listeners = stage.it.world.weather.listeners
    listeners.append(listen)
    try:
        return await called
    finally:
        listeners.remove(listen)
        end.cancel()
