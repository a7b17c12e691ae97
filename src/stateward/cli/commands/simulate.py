"""`stateward simulate`: the operator in a world where things go wrong, life after life."""

from __future__ import annotations

import difflib
import json
import os
import platform
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from stateward.app.simulate.alarm import Alarm, TookTooLong
from stateward.app.simulate.campaign import Campaign, Wish, swarm_ask
from stateward.app.simulate.crew import Crew
from stateward.app.simulate.workers import PATIENCE, be_quiet
from stateward.cli.commands import mutants, pairs
from stateward.cli.main import INTERRUPTED
from stateward.cli.render import simulate as render
from stateward.cli.render.console import Output
from stateward.cli.signals import end_as_by_ctrl_c
from stateward.core.errors import UsageError
from stateward.sim.explore.judging import broken
from stateward.sim.explore.plans import read_letters
from stateward.sim.explore.results import Results, as_json
from stateward.sim.explore.scenes import Scene
from stateward.sim.explore.timeline import tell
from stateward.sim.faults import Plan
from stateward.sim.lives import Ask
from stateward.sim.products import SCENARIOS, live

#: Minutes of a campaign, unless asked otherwise.
_MINUTES = 5.0

#: Seconds between two pictures of the bar, and between two lines where there is no terminal.
_REFRESH, _EVERY = 0.25, 10.0

_SEEDS = 2**31 - 1
#: A year of minutes.
_LONGEST = 525_600.0


@click.command()
@click.option("--scenario", "scenarios", multiple=True, metavar="NAME", help="Only this; repeat.")
@click.option("--family", metavar="LETTERS", help="Only these families, as in ABI.")
@click.option("--step", type=click.IntRange(1), help="Only at calls of this step of a scenario.")
@click.option("--covering", is_flag=True, help="Each fault at each place in the code once.")
@click.option("--seed", type=click.IntRange(0, _SEEDS), help="Order and chance of all lives.")
@click.option("--minutes", type=click.FloatRange(0), help="End after; 0: when all is lived.")
@click.option("--jobs", type=click.IntRange(1, 256), help="Processes; one a core otherwise.")
@click.option("--plan", help="Live one plan and tell it: CALL=FAULT,... or calm.")
@click.option("--operators", type=click.IntRange(1, 9), help="With --plan: how many.")
@click.option("--swarm", is_flag=True, help="Seeds without end; with --seed alone, tell that one.")
@click.option("--mutants", is_flag=True, help="Plant bugs; the simulation must find them.")
@click.option("--mutant", "chosen", multiple=True, metavar="ID", help="Only this bug; repeat.")
@click.option("--pairs", "all_pairs", is_flag=True, help="Go from every spec to every other.")
@click.option("--pair", metavar="NAME", help="Only this pair: BASE:CASE:CASE.")
@click.option("--report", metavar="FILE", help="Write what was found as JSON.")
@click.option("--list", "only_list", is_flag=True, help="Show scenarios and families.")
def simulate(**options: Any) -> int:
    """Let the operators live in a simulated world, and let things go wrong at every call.

    The operator's code is that of production; time, Kubernetes, databases and chance are simulated.
    Without --plan it takes plan after plan, five minutes long unless --minutes says otherwise.
    Exit code 1: a law was broken; what is printed then shows it again, step by step. With
    --mutants: a bug with a number lives, or too many others, or one of them for no known reason.
    With --pairs specs are edited instead: every case of the schema after every other. Exit code 2:
    what was asked for cannot be honoured; 130: Ctrl-C. docs/reliability.md has the faults of plans.
    """
    given = _Given(**options)
    if given.only_list:
        click.echo("\n".join(render.listing()))
        return 0
    names = _known(given.scenarios)
    _check_ways(given)
    _check_words(given)
    _check_step(given.step, names)
    be_quiet()
    end_as_by_ctrl_c()
    if given.plan is not None:
        return _tell(_asked(given))
    if given.is_one_of_a_swarm:
        broke = _tell(swarm_ask(given.seed or 0, names)) == 1
        return 1 if broke else 0  # what is drawn may come too late, and that is nobody's mistake
    jobs = given.jobs or len(os.sched_getaffinity(0))
    if given.pair is not None:
        return pairs.tell(given.pair)
    if given.all_pairs:
        minutes = _MINUTES if given.minutes is None else given.minutes
        return pairs.walk(minutes, jobs, _writable(given.report))
    if given.mutants or given.chosen:
        return mutants.hunt(given.chosen, jobs, _writable(given.report))
    return _Show(_wish(given, names), jobs, _writable(given.report)).run()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """The options."""

    scenarios: tuple[str, ...]
    family: str | None
    step: int | None
    covering: bool
    seed: int | None
    minutes: float | None
    jobs: int | None
    plan: str | None
    operators: int | None
    swarm: bool
    report: str | None
    only_list: bool
    mutants: bool
    all_pairs: bool
    pair: str | None
    chosen: tuple[str, ...]

    @property
    def is_one_of_a_swarm(self) -> bool:
        """True when one seed is to be told, and not many lived."""
        return self.swarm and self.seed is not None and self.minutes is None


# -------------------------------------------------------------------------- what is asked for


#: What each way of living goes by, beside its own option.
_GOES_BY: Final[Mapping[str, Collection[str]]] = {
    "a campaign": (
        *("--scenario", "--family", "--step", "--covering", "--seed", "--minutes", "--jobs"),
        "--report",
    ),
    "--plan": ("--scenario", "--seed", "--operators"),
    "--swarm": ("--scenario", "--seed", "--minutes", "--jobs", "--report"),
    "--swarm with --seed alone": ("--scenario", "--seed"),
    "--pairs": ("--minutes", "--jobs", "--report"),
    "--pair": (),
    "--mutants": ("--mutant", "--jobs", "--report"),
    "--mutant": ("--jobs", "--report"),
}


def _check_ways(given: _Given) -> None:
    """Refuse options that cannot be honoured together, rather than leave one of them out."""
    chosen = {
        "--plan": given.plan is not None,
        "--swarm": given.swarm,
        "--pairs": given.all_pairs,
        "--pair": given.pair is not None,
        "--mutants" if given.mutants else "--mutant": given.mutants or given.chosen,
    }
    ways = [name for name, value in chosen.items() if value]
    if len(ways) > 1:
        raise UsageError(f"one of {' and '.join(ways)} must be chosen: each is a way of its own")
    way = "--swarm with --seed alone" if given.is_one_of_a_swarm else next(iter(ways), "a campaign")
    if idle := [it for it in _typed(given) if it != way and it not in _GOES_BY[way]]:
        raise UsageError(f"{idle[0]} must be left out with {way}, which does not go by it")
    if given.minutes is not None and not given.minutes <= _LONGEST:
        raise UsageError(f"--minutes must be 0 to {_LONGEST:g}, 0 for no end; got {given.minutes}")


def _check_step(step: int | None, names: tuple[str, ...]) -> None:
    """Refuse a step that a scenario has not: nothing would be lived of it."""
    if short := [it for it in names if len(SCENARIOS[it]) < (step or 0)]:
        few = len(SCENARIOS[short[0]])
        raise UsageError(f"--step must be 1 to {few}, the steps of {short[0]}; got {step}")


def _check_words(given: _Given) -> None:
    """Refuse options that say nothing: nobody knows what is meant."""
    words = {"--plan": given.plan, "--family": given.family, "--report": given.report}
    if blank := [name for name, it in words.items() if it is not None and not it.strip()]:
        raise UsageError(f"{blank[0]} must not be empty")


def _typed(given: _Given) -> list[str]:
    """Return the options with a value that were given."""
    values = {
        "--scenario": given.scenarios or None,
        "--family": given.family,
        "--step": given.step,
        "--covering": given.covering or None,
        "--seed": given.seed,
        "--minutes": given.minutes,
        "--jobs": given.jobs,
        "--operators": given.operators,
        "--report": given.report,
        "--mutant": given.chosen or None,
    }
    return [name for name, value in values.items() if value is not None]


def _known(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the scenarios that are meant: those that were named, or all."""
    if unknown := [it for it in names if it not in SCENARIOS]:
        known = ", ".join(SCENARIOS)
        close = difflib.get_close_matches(unknown[0], SCENARIOS, 1)
        meant = f"; did you mean {close[0]}?" if close else ""
        raise UsageError(f"--scenario must be one of {known}; got {', '.join(unknown)}{meant}")
    return tuple(dict.fromkeys(names)) or tuple(SCENARIOS)


def _asked(given: _Given) -> Ask:
    if len(given.scenarios) != 1:
        raise UsageError("--plan must come with one --scenario, the one that it is for")
    seed = 1 if given.seed is None else given.seed
    return Ask(given.scenarios[0], Plan.parse(given.plan or ""), seed, given.operators or 1)


def _wish(given: _Given, names: tuple[str, ...]) -> Wish:
    minutes = given.minutes
    if minutes is None:
        minutes = 0.0 if given.swarm or given.covering else _MINUTES
    return Wish(
        names,
        read_letters(given.family or ""),
        seed=1 if given.seed is None else given.seed,
        seconds=minutes * 60 if minutes else None,
        swarm=given.swarm,
        step=given.step or 0,
        covering=given.covering,
    )


def _writable(report: str | None) -> Path | None:
    """Return where the report goes; that it cannot go there is better known before the lives."""
    if report is None:
        return None
    try:
        with Path(report).open("a", encoding="utf-8"):
            return Path(report)
    except OSError as error:
        raise UsageError(f"{report}: must be a file to write to: {error.strerror}") from None


# -------------------------------------------------------------------------- one life


def _tell(ask: Ask) -> int:
    """Live one plan and tell it, or say that it comes to no end."""
    try:
        with Alarm(PATIENCE):
            return _told(ask)
    except TookTooLong:
        why = f"no end after {PATIENCE:g} s of this machine"
    except SystemExit as error:
        why = f"the operator ended the process with code {error.code}"
    click.echo(render.command(ask))
    click.echo(f"{'':10} !!! {why}")
    return 1


def _told(ask: Ask) -> int:
    """Live one plan and tell it; say last which laws it broke."""
    life, lines = tell(ask)
    calm = Ask(ask.scenario, seed=ask.seed, operators=ask.operators)
    violations = broken(life, Scene(live(calm)))
    click.echo(render.command(ask))
    click.echo("\n".join(lines))
    for it in violations:
        click.echo(f"{'':10} !!! {it}")
    told = f"{len(violations)} broken" if violations else "none broken"
    click.echo(f"simulate: laws: {told}; {life.seconds:.0f} s, {len(life.calls)} calls")
    missed = [str(hit) for hit in ask.plan.hits if not 0 < hit.call <= len(life.calls)]
    if missed:
        click.echo(f"simulate: never came, for want of such a call: {', '.join(missed)}")
    return 1 if violations else 2 if missed else 0


# -------------------------------------------------------------------------- many lives


class _Meter:
    """How far it is: a bar on a terminal, elsewhere a line now and then."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._said = time.monotonic()
        columns = (BarColumn(30), TimeElapsedColumn(), TextColumn("{task.description}"))
        self._bar = Progress(*columns, console=console, transient=True)
        self._task = self._bar.add_task("", total=1.0)

    def __enter__(self) -> _Meter:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._bar.stop()

    def show(self, share: float | None, text: Callable[[], str]) -> None:
        """Say how far it is; of what has no end there is no share."""
        now = time.monotonic()
        every = _REFRESH if self._console.is_terminal else _EVERY
        if now - self._said < every:
            return
        self._said = now
        if self._console.is_terminal:
            done, total = (0.0, None) if share is None else (share, 1.0)
            self._bar.update(self._task, completed=done, total=total, description=text())
        else:
            self._console.print(f"simulate: {text()}", markup=False, soft_wrap=True)


class _Show:
    """A campaign and what is seen of it."""

    def __init__(self, wish: Wish, jobs: int, report: Path | None) -> None:
        self._wish = wish
        self._jobs = jobs
        self._report = report
        self._out, self._err = Output(highlight=False), Output(stderr=True, highlight=False)
        self._began = time.monotonic()
        #: Seconds that lives took, without the shrinking after them.
        self._seconds = 0.0

    def run(self) -> int:
        """Run it and return the exit code; Ctrl-C ends it, and what was found is told."""
        interrupted = False
        meter = _Meter(self._err)
        with Crew(self._jobs) as crew:
            campaign = Campaign(crew, self._wish, lambda: self._tick(meter, campaign))
            try:
                with meter:
                    self._work(campaign)
            except KeyboardInterrupt:
                interrupted = True
        self._seconds = self._seconds or time.monotonic() - self._began
        self._sum_up(campaign.results, interrupted=interrupted)
        if interrupted:
            return INTERRUPTED
        return 1 if campaign.results.findings else 0

    def _work(self, campaign: Campaign) -> None:
        self._say(f"simulate: {render.many(len(self._wish.scenarios), 'scenario')} in calm first")
        campaign.prepare()
        if not self._wish.swarm:
            self._say(*render.sizes(campaign.spaces))
        campaign.run()
        self._seconds = time.monotonic() - self._began
        if campaign.results.findings:
            self._say("simulate: looking for smaller plans that fail alike")
            campaign.shrink()

    def _say(self, *lines: str) -> None:
        for line in lines:
            self._err.print(line, markup=False, soft_wrap=True)

    def _tick(self, meter: _Meter, campaign: Campaign) -> None:
        seconds = time.monotonic() - self._began
        meter.show(
            campaign.share(), lambda: render.progress(campaign.results, campaign.planned, seconds)
        )

    def _sum_up(self, found: Results, *, interrupted: bool) -> None:
        self._write(found, interrupted=interrupted)  # first: nobody may be there to be told
        self._out.print(render.table(found))
        for line in render.findings(found.ways()):
            self._out.print(line, markup=False, soft_wrap=True)
        last = render.verdict(found, self._seconds, interrupted=interrupted)
        self._out.print(last, markup=False, soft_wrap=True)

    def _write(self, found: Results, *, interrupted: bool) -> None:
        if self._report is not None:
            machine = {"cores": os.cpu_count(), "python": platform.python_version()}
            whole = {
                "asked": asdict(self._wish) | {"jobs": self._jobs},
                "interrupted": interrupted,
                "seconds": round(self._seconds, 1),
                "machine": machine,
                **as_json(found),
            }
            self._report.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
