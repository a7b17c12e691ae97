"""How many mutants died, who did not, and whether that is good enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from stateward.sim.mutants import known
from stateward.sim.mutants.crew import Chase, chase, every, find
from stateward.sim.mutants.hunt import Verdict
from stateward.sim.mutants.named import NAMED

#: How many of a hundred generated ones must die.
ENOUGH: Final = 90.0


@dataclass(slots=True)
class Score:
    """What became of all that were hunted so far."""

    #: How many there are to hunt, and whether these are all there are.
    wanted: int = 0
    whole: bool = True
    #: Why some live: those that are no bugs, and the others.
    equivalent: Mapping[str, str] = field(default_factory=lambda: known.EQUIVALENT)
    alive: Mapping[str, str] = field(default_factory=lambda: known.ALIVE)
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def named(self) -> list[Verdict]:
        """Those that have a number."""
        return [it for it in self.verdicts if it.id in NAMED]

    @property
    def generated(self) -> list[Verdict]:
        """Those that a machine thought of."""
        return [it for it in self.verdicts if it.id not in NAMED]

    @property
    def survivors(self) -> list[Verdict]:
        """Those that live."""
        return [it for it in self.verdicts if not it.law]

    def line(self, verdict: Verdict) -> str:
        """Say in a line what became of one."""
        if verdict.law:
            return str(verdict)
        return (
            f"{verdict.id} alive ({verdict.sentence}): {self._why(verdict) or 'nobody knows why'}"
        )

    def last_line(self) -> str:
        """Say how many died."""
        named, generated = self.named, self.generated
        share = f" = {_share(generated):.1f} %" if generated else ""
        same = sum(it.id in self.equivalent for it in self.survivors)
        return (
            f"simulate: mutants: named {_killed(named)}/{len(named)},"
            f" generated {_killed(generated)}/{len(generated)}{share};"
            f" {same} of the survivors are no bugs"
        )

    def complaints(self) -> Iterator[str]:
        """Yield what is not good enough."""
        if alive := [it.id for it in self.named if not it.law]:
            yield f"all named mutants must die, and {', '.join(alive)} live"
        if self.whole and self.generated and _share(self.generated) < ENOUGH:
            yield f"{ENOUGH:g} % of the generated mutants must die"
        for it in self.survivors:
            if it.id not in NAMED and not self._why(it):
                yield f"{it.id} lives, and sim/mutants/known.py must say why"

    def _why(self, verdict: Verdict) -> str:
        return self.alive.get(verdict.id) or self.equivalent.get(verdict.id, "")

    def as_json(self) -> dict[str, Any]:
        """Return everything in a form that programs read."""
        return {
            "mutants": [asdict(it) for it in self.verdicts],
            "alive": {it.id: self._why(it) for it in self.survivors},
            "summary": self.last_line(),
            "complaints": list(self.complaints()),
        }


def _killed(verdicts: Sequence[Verdict]) -> int:
    return sum(bool(it.law) for it in verdicts)


def _share(verdicts: Sequence[Verdict]) -> float:
    return 100 * _killed(verdicts) / len(verdicts)


def run(
    score: Score,
    tell: Callable[[Verdict], None],
    *,
    say: Callable[[str], None] = lambda _: None,
    mutants: Sequence[str] = (),
    jobs: int = 1,
    budget: int = 60,
) -> None:
    """Hunt some mutants, or all; tell of each as soon as it is known."""
    wanted = [find(it) for it in dict.fromkeys(mutants)] or every()
    score.wanted, score.whole = len(wanted), not mutants
    explained = {*score.alive, *score.equivalent}
    for verdict in chase(wanted, Chase(budget, jobs, known.clues(), explained, say)):
        score.verdicts.append(verdict)
        tell(verdict)
