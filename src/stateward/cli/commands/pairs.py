"""`stateward simulate --pairs`: from every spec to every other, each as if it was the first."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path

import click

from stateward.cli.main import INTERRUPTED
from stateward.core.errors import HouseError
from stateward.sim.etcd.pairs.bases import BASES
from stateward.sim.etcd.pairs.running import Report, replay, run
from stateward.sim.etcd.pairs.samples import cases_of

#: Seconds between two lines that say how far it is.
_EVERY = 10.0
#: A turn meets every state and goes on to one in so many others.
_STRIDE = 16
#: Every how many calls of an edit's work another edit comes in the middle.
_CALLS = 16


def tell(name: str) -> int:
    """Live one pair and say what came of it."""
    told = replay(name)
    for it in told["broken"]:
        click.echo(f"{name}: {it}")
    answers = " and ".join(told["answers"])
    verdict = f"{len(told['broken'])} broken" if told["broken"] else "none broken"
    click.echo(f"simulate: {name}: answered {answers}; laws: {verdict}; {told['seconds']:.0f} s")
    return 1 if told["broken"] else 0


def walk(minutes: float, jobs: int, report: Path | None) -> int:
    """Live all pairs, or an even sample of them if there are not minutes enough for all."""
    watch = _Watch(minutes * 60)
    interrupted, fell = False, ""
    try:
        run(jobs=jobs, stride=_STRIDE, turns=_STRIDE, calls=_CALLS, heard=watch.heard)
    except KeyboardInterrupt:
        interrupted = True
    except HouseError as error:  # a branch was killed, for one: what was found stands
        fell = error.message
    found = watch.report
    if report is not None:  # first: nobody may be there to be told
        whole = {"interrupted": interrupted, "fell": fell, **_as_json(found, jobs)}
        report.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    for it in found.broken:
        click.echo(f"{it}\n   stateward simulate --pair {it.name}")
    for name in found.idle:
        click.echo(f"{name}: nothing depends on it, and it is not declared to be inert")
    if interrupted or fell:
        click.echo(f"simulate: {fell or 'interrupted'}; until then:")
    click.echo(_last_line(found))
    if interrupted:
        return INTERRUPTED
    return 1 if found.broken or found.idle or fell else 0


@dataclass(slots=True)
class _Watch:
    """Says how far it is, and when a base had its share of the time."""

    #: Seconds for all; 0: as long as it takes.
    seconds: float
    report: Report = field(default_factory=Report)
    _began: float = field(default_factory=time.monotonic)
    _said: float = field(default_factory=time.monotonic)

    def heard(self, base: str, report: Report, left: int) -> bool:
        """Say so now and then."""
        self.report, now = report, time.monotonic()
        if now - self._said > _EVERY:
            self._said = now
            words = f"{report.lived:,} pairs, {left:,} of {base} to go, {len(report.broken)} bad"
            click.echo(f"simulate: {words}", err=True)
        return bool(self.seconds) and now - self._began > self.seconds * _share(base)


def _share(base: str) -> float:
    """Return which share of the time is over when a base ends: by how many pairs there are."""
    sizes = {it: len(cases_of(it)) ** 2 for it in BASES}
    names = list(BASES)
    until = sum(sizes[it] for it in names[: names.index(base) + 1])
    return until / sum(sizes.values())


def _last_line(found: Report) -> str:
    verdict = f"{len(found.broken)} broken" if found.broken else "none broken"
    return (
        f"simulate: {found.cases} cases, {found.lived:,} pairs of {found.states} states lived,"
        f" and {found.midway:,} edits in the middle of others;"
        f" {found.vacuous:,} of all {found.pairs:,} begin with what is refused at once;"
        f" {found.seconds / 3600:.1f} virtual hours; laws: {verdict}"
    )


def _as_json(found: Report, jobs: int) -> dict[str, object]:
    numbers = ("bases", "cases", "states", "pairs", "lived", "midway", "vacuous", "seconds", "idle")
    whole: dict[str, object] = {name: getattr(found, name) for name in numbers}
    return {"jobs": jobs, **whole, "broken": [str(it) for it in found.broken]}
