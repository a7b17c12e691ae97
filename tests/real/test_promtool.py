"""What the operator tells about itself is read by the tool of those who will read it."""

from __future__ import annotations

import subprocess

from stateward.core.ports import Ports
from stateward.local.real import programs
from stateward.runtime.telling.metrics import Metrics


def _told() -> bytes:
    """Return the metrics of an operator that has done one of everything."""
    metrics = Metrics(Ports.of_this_machine().clock)
    metrics.queue("team").added()
    metrics.controller("team").finished("success", 0.1)
    metrics.informer("teams").objects(3)
    metrics.leader("lease").leads(leads=True)
    metrics.events().told("Normal", "Grown")
    text, _ = metrics.render()
    return text.encode() if isinstance(text, str) else text


def test_our_metrics_are_well_formed(real_programs: None) -> None:
    found = programs.find(programs.PROMTOOL, "promtool")
    assert found is not None, "`make real` obtains promtool"

    ended = subprocess.run(
        [found.path, "check", "metrics"], input=_told(), capture_output=True, check=False
    )

    complaints = (ended.stdout + ended.stderr).decode()
    assert (ended.returncode, complaints) == (0, "")


def test_it_would_complain(real_programs: None) -> None:
    found = programs.find(programs.PROMTOOL, "promtool")
    assert found is not None

    ended = subprocess.run(
        [found.path, "check", "metrics"],
        input=b"# TYPE jobs_done counter\njobs_done 1\n",
        capture_output=True,
        check=False,
    )

    assert ended.returncode != 0
