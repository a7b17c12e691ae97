"""Which members are killed, and when: all of it follows from a number. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from stateward.app.demo.picture import Holds
from stateward.core.chance import Chance

#: How many kills a chapter can have, each as likely as the others.
_COUNTS = (0, 1, 1, 2)
#: Seconds from one kill to the next at least: the first one is to be felt.
_APART = 1.0
_SOONEST = 0.2


@dataclass(frozen=True, slots=True)
class Kill:
    """One process of etcd that is killed, as a crash would."""

    #: Seconds after the act of the chapter.
    after: float
    #: Which of the pods that run then: in the order of names, counted around.
    pick: int


@dataclass(frozen=True, slots=True)
class Strike:
    """Who was killed, and what holds once it is back."""

    #: Empty when nobody was there.
    pod: str
    healed: Holds


NOBODY = Strike("", lambda _: True)


def plan(seed: int | None, spans: Mapping[str, float]) -> dict[str, tuple[Kill, ...]]:
    """Return the kills of each chapter; of the same number always the same ones, of None none.

    ``spans`` says in how many seconds from the act of a chapter its kills are. Each chapter
    draws from a stream of its own: another chapter changes nothing for the others.

    >>> plan(3, {"roll": 8.0})["roll"] == plan(3, {"sleep": 0.0, "roll": 8.0})["roll"]
    True
    """
    if seed is None:
        return dict.fromkeys(spans, ())
    chance = Chance(seed, "kills")
    return {name: _kills(chance.stream(name), span) for name, span in spans.items()}


def _kills(chance: Chance, span: float) -> tuple[Kill, ...]:
    if span <= 0:
        return ()
    moments = sorted(chance.between(_SOONEST, span) for _ in range(chance.choice(_COUNTS)))
    return tuple(Kill(round(it, 2), chance.below(60)) for it in _spread(moments))


def _spread(moments: Iterable[float]) -> list[float]:
    """Move moments that are too near to one another apart."""
    found: list[float] = []
    for it in moments:
        found.append(max(it, found[-1] + _APART) if found else it)
    return found
