"""Many plans of one scene for the price of their ends: what they have in common is lived once.

Until its first fault a life goes as the calm one. So the calm life is lived once, in a copy of this
process, the trunk. At every call at which a plan begins it is copied again, and that branch lives
the plan to its end; the trunk waits for it and goes on. A branch is what would have been lived from
the beginning, to the last step: one plan in twenty is lived both ways, and held against itself.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import NoReturn

from stateward.app.simulate.alarm import GAVE_UP, Alarm, TookTooLong
from stateward.sim.explore.judging import Outcome, endless, fell, weighed
from stateward.sim.explore.scenes import Scene
from stateward.sim.lives import Ask
from stateward.sim.products import live_and_turn


def branched(asks: Sequence[Ask], scene: Scene, patience: float) -> Iterator[Outcome | None]:
    """Yield what came of each plan, in the order of their first calls; None: nobody could say."""
    ours, theirs = Pipe(duplex=False)
    worker = os.getpid()
    pid = os.fork()
    if pid == 0:
        ours.close()
        _Trunk(asks, scene, theirs, patience, worker).live()
    theirs.close()
    try:
        for number in range(len(asks)):
            yield _said(ours, number)
    finally:
        ours.close()
        os.waitpid(pid, 0)


def _said(pipe: Connection, number: int) -> Outcome | None:
    """Return what the branch of a number said last."""
    try:
        said, outcome = pipe.recv()
    except (EOFError, OSError):
        return None
    return outcome if said == number else None


class _Trunk:
    """The copy that lives in calm, and each of its branches."""

    def __init__(
        self, asks: Sequence[Ask], scene: Scene, pipe: Connection, patience: float, worker: int
    ) -> None:
        self._asks = asks
        self._scene = scene
        self._pipe = pipe
        self._alarm = Alarm(patience)
        self._worker = worker
        self._next = 0
        #: The number of the plan that is lived here, in a branch.
        self._mine: int | None = None

    def live(self) -> NoReturn:
        """Live in calm, or as a branch to its end; either way this process ends here."""
        gc.disable()  # nothing is used again in a process that ends
        with suppress(OSError):  # nobody listens any more
            try:
                outcome = self._lived()
            except BaseException:  # noqa: BLE001 - it must end here, and not where it was copied
                os._exit(1)
            if self._mine is not None:
                self._pipe.send((self._mine, outcome))
        os._exit(0)

    def _lived(self) -> Outcome:
        try:
            life = live_and_turn(self._scene.ask, self._turn)
            return weighed(life, self._scene)
        except TookTooLong:
            return endless(self._ask, self._scene, self._alarm.seconds)
        except Exception as error:  # noqa: BLE001 - whatever breaks a life is what we look for
            return fell(self._ask, self._scene, error)

    @property
    def _ask(self) -> Ask:
        return self._scene.ask if self._mine is None else self._asks[self._mine]

    def _turn(self, call: int) -> Ask | None:
        """Make a branch for every plan that begins at this call; return the plan in a branch."""
        while self._mine is None and self._next < len(self._asks):
            ask = self._asks[self._next]
            if ask.plan.hits[0].call != call:
                return None
            self._next += 1
            if self._branches_off(self._next - 1):
                return ask
        if self._mine is None:
            os._exit(0)  # the rest of the calm life is known
        return None

    def _branches_off(self, number: int) -> bool:
        """Copy this process; return whether this is the copy. The other waits for its end."""
        if os.getppid() != self._worker:
            os._exit(1)  # nobody waits for this any more
        pid = os.fork()
        if pid == 0:
            self._mine = number
            self._alarm.set()
            return True
        _, status = os.waitpid(pid, 0)
        if status:
            self._pipe.send((number, self._of_one_that_fell(number, status)))
        return False

    def _of_one_that_fell(self, number: int, status: int) -> Outcome | None:
        """Return what can be said of a branch that said nothing itself."""
        if os.waitstatus_to_exitcode(status) != GAVE_UP:
            return None
        return endless(self._asks[number], self._scene, self._alarm.seconds)
