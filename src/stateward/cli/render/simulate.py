"""What `stateward simulate` prints."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.table import Table

from stateward.sim.explore.plans import LETTERS, Space
from stateward.sim.explore.results import MEANING, NONE, SWARM, Finding, Results
from stateward.sim.lives import Ask
from stateward.sim.products import SCENARIOS


def listing() -> Iterator[str]:
    """Yield the scenarios with their steps, and the families."""
    yield "scenarios:"
    for name, script in SCENARIOS.items():
        yield f"  {name:<16} {', then '.join(it.text for it in script)}"
    yield ""
    yield "families of faults (docs/reliability.md):"
    for letter in LETTERS:
        yield f"  {letter}  {MEANING[letter]}"


def sizes(spaces: Sequence[Space]) -> Iterator[str]:
    """Yield how many plans there are, before any is lived."""
    for letter in LETTERS:
        those = [it for it in spaces if it.letter == letter]
        if those:
            offered, possible = (sum(it.size for it in those), sum(it.possible for it in those))
            share = "" if offered == possible else f", a sample of {possible:,}"
            yield f"  {letter}  {MEANING[letter]:<14} {offered:>10,} plans{share}"


def progress(found: Results, planned: int | None, seconds: float) -> str:
    """Return how far a campaign is."""
    if planned == 0:
        return f"{many(found.lives, 'life', 'lives')} in calm"
    plans = sum(row.plans for (letter, _), row in found.rows.items() if letter != NONE)
    of = f" of {planned:,}" if planned is not None else ""
    pace = 60 * found.lives / seconds if seconds else 0
    bad = many(sum(it.bad for it in found.rows.values()), "bad life", "bad lives")
    told = f"{plans:,}{of} plans, {found.hours:,.1f} virtual hours, {bad}"
    return f"{told}, {pace:,.0f} lives a minute"


def table(found: Results) -> Table:
    """Return the table that a campaign ends with."""
    made = Table(box=box.SIMPLE, pad_edge=False)
    made.add_column("family")
    for title in ("plans", "virtual hours", "violations", "call sites x faults"):
        made.add_column(title, justify="right")
    for letter, row in found.by_letter().items():
        covered = "" if letter in {NONE, SWARM} else _coverage(*found.covered(letter))
        cells = (f"{row.plans:,}", f"{row.seconds / 3600:,.1f}", f"{row.bad:,}", covered)
        made.add_row(f"{letter} {MEANING[letter]}", *cells)
    plans = sum(it.plans for it in found.rows.values())
    bad = sum(it.bad for it in found.rows.values())
    made.add_section()
    totals = (f"{plans:,}", f"{found.hours:,.1f}", f"{bad:,}", _coverage(*found.covered()))
    made.add_row("all", *totals)
    return made


def findings(ways: Iterable[Sequence[Finding]]) -> Iterator[str]:
    """Yield every way to fail, with the command that shows it; the report has every place."""
    for number, way in enumerate(ways, 1):
        it, times = way[0], many(sum(one.count for one in way), "time")
        where = f" at {it.place}" if it.place else ""
        more = f" and {many(len(way) - 1, 'more place')}" if len(way) > 1 else ""
        yield f"{number}. {it.law}, {times}: {it.what}{where}{more}"
        yield f"   {it.violation}"
        yield f"   {command(it.smallest or it.first.ask)}"


def command(ask: Ask) -> str:
    """Return the command line that lives a plan again and tells it."""
    several = f" --operators {ask.operators}" if ask.operators != 1 else ""
    plan = shlex.quote(str(ask.plan))
    return f"stateward simulate --scenario {ask.scenario} --plan {plan} --seed {ask.seed}{several}"


def verdict(found: Results, seconds: float, *, interrupted: bool = False) -> str:
    """Return the last line."""
    ways = len(found.ways())
    well = "nothing broken so far" if interrupted else "all well"
    bad = many(ways, "way to fail", "ways to fail") if ways else well
    bad = f"interrupted; {bad}" if interrupted else bad
    pace = 60 * found.lives / seconds if seconds else 0
    return (
        f"simulate: {bad}; {found.lives:,} lives in {seconds:,.0f} s ({pace:,.0f} a minute), "
        f"{found.lived_twice:,} of them second ones that had to be as the first"
    )


def _coverage(seen: int, feasible: int) -> str:
    return f"{seen:,} of {feasible:,} ({100 * seen / feasible:.0f} %)" if feasible else ""


def many(count: int, one: str, more: str = "") -> str:
    """Return a number of things."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"
