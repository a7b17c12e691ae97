"""A life that is found again when calls have other numbers: by the kind of call of a fault."""

from __future__ import annotations

from dataclasses import dataclass, replace

from stateward.core.errors import UsageError
from stateward.sim.faults import Fault, Hit, Plan
from stateward.sim.lives import Ask, Life

_BETWEEN = " | "
#: Between faults that come at the same call.
_TOGETHER = " + "


@dataclass(frozen=True, slots=True)
class Clue:
    """A scenario in calm, or with faults at the nth call of a kind; below 0: from the end."""

    scenario: str
    call: str = ""
    fault: str = ""
    nth: int = 1
    operators: int = 1

    @property
    def calm(self) -> Ask:
        """The same without the fault."""
        return Ask(self.scenario, operators=self.operators)

    def __str__(self) -> str:
        """Write it as :meth:`parse` reads it: ``grow x2 | patch pods | 3 | crash-after:0``."""
        scenario = f"{self.scenario} x{self.operators}" if self.operators > 1 else self.scenario
        fault = (self.call, str(self.nth), self.fault) if self.fault else ()
        return _BETWEEN.join((scenario, *fault))

    @classmethod
    def parse(cls, text: str) -> Clue:
        """Read a clue.

        >>> Clue.parse("two | patch pods | -2 | 409")
        Clue(scenario='two', call='patch pods', fault='409', nth=-2, operators=1)
        """
        first, *rest = text.split(_BETWEEN)
        scenario, _, operators = first.partition(" x")
        calm = cls(scenario, operators=int(operators or 1))
        if not rest:
            return calm
        call, nth, fault = rest
        return replace(calm, call=call, nth=int(nth), fault=fault)

    @classmethod
    def to(cls, ask: Ask, calm: Life) -> Clue | None:
        """Return a clue to a life with faults, by its calm one; None: nothing short leads there."""
        if len(ask.plan.hits) > 1 or ask.plan.hits[0].call > len(calm.calls):
            return None
        hit = ask.plan.hits[0]
        # Without the address: it is by chance that somebody has it.
        call = calm.calls[hit.call - 1].text.partition(" at ")[0]
        nth = sum(call in it.text for it in calm.calls[: hit.call])
        return cls(ask.scenario, call, str(hit.fault), nth, ask.operators)

    def ask(self, calm: Life) -> Ask:
        """Return the life; ``calm`` tells the calls and their numbers, as far as the fault."""
        if not self.fault:
            return self.calm
        numbers = [it.number for it in calm.calls if self.call in it.text]
        place = self.nth - (self.nth > 0)
        if not -len(numbers) <= place < len(numbers):
            raise UsageError(f"{self.calm} must have {abs(self.nth)} calls of {self.call}")
        call = numbers[place]
        hits = tuple(Hit(call, Fault.parse(it)) for it in self.fault.split(_TOGETHER))
        return Ask(self.scenario, Plan(hits), operators=self.operators)
