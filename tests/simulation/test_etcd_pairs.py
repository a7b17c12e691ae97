"""Every case that the schema of a cluster makes, and a slice of all pairs of them.

Each test has a process of its own: what is lived is copied with it, and copies want no threads.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

QUIET = """
import json, structlog
structlog.configure(processors=[], logger_factory=structlog.ReturnLoggerFactory())
"""
RUN = f"""{QUIET}
from stateward.sim.etcd.pairs.running import run
report = run({{}})
print(json.dumps({{{{
    "broken": [str(it) for it in report.broken], "idle": report.idle, "lived": report.lived,
    "cases": report.cases, "midway": report.midway,
}}}}))
"""
#: One world branched, another one lived from its beginning: the same diary.
TWICE = f"""{QUIET}
from stateward.sim.etcd.pairs.bases import BASES
from stateward.sim.etcd.pairs.samples import cases_of
from stateward.sim.etcd.pairs.stage import lived, staged
from stateward.sim.etcd.pairs.steps import settle, take
WAY = [cases_of("S0")[it].spec(BASES["S0"].spec) for it in ("replicas.1", "options.change")]

def live(branched):
    with staged(BASES["S0"]) as stage:
        settle(stage)
        def first():
            take(stage, WAY[0])
            return lived(second) if branched else second()
        def second():
            take(stage, WAY[1])
            return {{"digest": stage.it.world.trace.digest}}
        return lived(first) if branched else first()

print(json.dumps([live(True), live(False), live(True)]))
"""

#: Small and large, restarted and not, held and refused, with a way back and without.
SOME = (
    *("replicas.min", "replicas.1", "replicas.4", "options.change", "version.change1"),
    *("paused.on", "options.unknown", "service.kind-bad", "image.typo", "service.node-port"),
)


def told(program: str) -> dict:
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.mark.long
@pytest.mark.patient(600)
def test_every_case_is_answered_as_declared_and_every_property_matters():
    """Without the pairs, but for one of each base."""
    report = told(RUN.format("jobs=2, stride=100_000"))
    assert report["broken"] == []
    assert report["idle"] == []
    assert report["cases"] > 400


@pytest.mark.patient(600)
def test_a_slice_of_pairs():
    report = told(RUN.format(f"bases=('S0',), only={SOME}, jobs=2, stride=4, matters=False"))
    assert report["broken"] == []
    assert report["lived"] > 25


@pytest.mark.long
@pytest.mark.patient(600)
def test_edits_in_the_middle():
    some = ("replicas.change", "options.change", "replicas.1")
    report = told(RUN.format(f"bases=('S0',), only={some}, jobs=2, calls=30, matters=False"))
    assert report["broken"] == []
    assert report["midway"] > 10


@pytest.mark.patient(120)
def test_a_branch_lives_what_would_have_been_lived():
    branched, straight, again = told(TWICE)
    assert branched == straight == again
