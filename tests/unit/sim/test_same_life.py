"""The same plan gives the same life in every process, whatever goes wrong in it."""

from __future__ import annotations

import os
import subprocess
import sys

from stateward.sim.faults import Kind, Plan

#: Every kind of fault, some to a life.
PLANS = """
30=crash-before:0,80=crash-after:4,120=crash-answered:16,150=sigterm
20=409,40=429,60=500,80=503,100=504,110=401,120=malformed,130=slow,140=lost-request,150=lost-answer
50=twice,60=two-passes,90=stale:30:15,140=stale-kinds:Pod+StatefulSet:-20:10
40=stall:Pod:20,60=unseen:EtcdCluster,70=reorder:StatefulSet:5,100=zombie:30:1,110=upgrade:older
50=two-leaders:30,80=act:delete-pod:1,100=act:lose-node:1:60,150=upgrade:newer
40=403:20,70=server:15:30,90=act:stranger:1:30,130=act:oom-pod:leader:30,150=act:reuse
60=act:kill-all,90=act:wipe:1,130=act:split:leader:20,170=act:recreate-cr
"""

LIVES = f"""
import structlog
structlog.configure(processors=[], logger_factory=structlog.ReturnLoggerFactory())
from stateward.sim.etcd.life import Ask, live
from stateward.sim.faults import Plan
for text in {PLANS.split()}:
    life = live(Ask("bootstrap", Plan.parse(text)))
    print(life.digest, life.steps, f"{{life.seconds:.6f}}")
"""


def lives_with(hash_seed: str) -> list[str]:
    """Live every plan in a process of its own."""
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    ended = subprocess.run(
        [sys.executable, "-c", LIVES], env=environment, capture_output=True, text=True, check=True
    )
    return ended.stdout.splitlines()


def test_every_kind_of_fault_gives_the_same_life_in_every_process():
    first, second = lives_with("1"), lives_with("4711")

    assert first == second
    assert len(set(first)) == len(PLANS.split()), "different plans must give different lives"


def test_every_kind_is_tried():
    tried = {hit.fault.kind for text in PLANS.split() for hit in Plan.parse(text).hits}

    assert tried == set(Kind)
