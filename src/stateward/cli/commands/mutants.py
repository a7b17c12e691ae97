"""`stateward simulate --mutants`: bugs are planted, and the simulation must find them."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click

from stateward.cli.main import INTERRUPTED
from stateward.core.errors import HouseError, UsageError
from stateward.sim.mutants.hunt import Verdict
from stateward.sim.mutants.scores import Score, run

#: Seconds between two lines that say how far it is.
_EVERY = 10.0


def hunt(mutants: tuple[str, ...], jobs: int, report: Path | None) -> int:
    """Hunt some mutants, or all; return the exit code. Ctrl-C ends it, and the score is told."""
    score, interrupted, fell = Score(), False, ""
    began = said = time.monotonic()

    def tell(verdict: Verdict) -> None:
        nonlocal said
        click.echo(score.line(verdict))
        now = time.monotonic()
        if now - said > _EVERY:
            said = now
            _say(_progress(score, now - began))

    try:
        run(score, tell, say=_say, mutants=mutants, jobs=jobs)
    except KeyboardInterrupt:
        interrupted = True
    except UsageError:
        raise
    except HouseError as error:  # a hunt was killed, for one: what was found stands
        fell = error.message
    if report is not None:
        ended = {"jobs": jobs, "interrupted": interrupted, "fell": fell}
        text = json.dumps(ended | score.as_json(), indent=2)
        report.write_text(text + "\n", encoding="utf-8")
    if interrupted or fell:
        click.echo(f"simulate: {fell or 'interrupted'}; until then:")
        click.echo(score.last_line())
        return INTERRUPTED if interrupted else 1
    return _summed_up(score)


def _summed_up(score: Score) -> int:
    complaints = list(score.complaints())
    for it in complaints:
        click.echo(f"simulate: {it}")
    click.echo(score.last_line())
    return 1 if complaints else 0


def _say(words: str) -> None:
    click.echo(f"simulate: {words}", err=True)


def _progress(score: Score, passed: float) -> str:
    """Say how far it is. Who is not found at once takes longer, and comes last."""
    done, alive = len(score.verdicts), len(score.survivors)
    left = passed / done * (score.wanted - done) / 60
    return f"{done} of {score.wanted} mutants, {alive} alive, about {left:.0f} min left"
