"""`stateward simulate --mutants`: bugs are planted, and the simulation must find them."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click

from stateward.cli.main import INTERRUPTED
from stateward.sim.mutants.hunt import Verdict
from stateward.sim.mutants.scores import Score, run

#: Seconds between two lines that say how far it is.
_EVERY = 10.0


def hunt(mutants: tuple[str, ...], jobs: int, report: Path | None) -> int:
    """Hunt some mutants, or all; return the exit code. Ctrl-C ends it, and the score is told."""
    score, interrupted = Score(), False
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
    if report is not None:
        whole = {"jobs": jobs, "interrupted": interrupted, **score.as_json()}
        text = json.dumps(whole, indent=2)
        report.write_text(text + "\n", encoding="utf-8")
    complaints = [] if interrupted else list(score.complaints())
    for it in complaints:
        click.echo(f"simulate: {it}")
    if interrupted:
        click.echo("simulate: interrupted; until then:")
    click.echo(score.last_line())
    if interrupted:
        return INTERRUPTED
    return 1 if complaints else 0


def _say(words: str) -> None:
    click.echo(f"simulate: {words}", err=True)


def _progress(score: Score, passed: float) -> str:
    """Say how far it is. Who is not found at once takes longer, and comes last."""
    done, alive = len(score.verdicts), len(score.survivors)
    left = passed / done * (score.wanted - done) / 60
    return f"{done} of {score.wanted} mutants, {alive} alive, about {left:.0f} min left"
