"""Plans of faults are texts: what is written can be read, and nonsense is refused."""

from __future__ import annotations

import pytest

from stateward.core.errors import UsageError
from stateward.sim.faults import Fault, Hit, Kind, Plan

TEXTS = """
    calm
    3=crash-before  3=crash-after:16  3=crash-answered:0  3=sigterm
    1=409  1=429  1=500  1=503  1=504  1=401  1=403:30  1=malformed  1=slow  1=lost-request
    1=lost-answer
    7=twice  7=two-passes
    40=stale:12:15  40=stale:-8:60  40=stale-kinds:Pod+StatefulSet:12:15
    40=stall:Pod:20  40=stall:Pod:20:on  40=unseen:Pod  40=unseen:Pod:3
    40=reorder:Pod:5  40=reorder:Pod:5:60
    40=server:15:60
    40=zombie  40=zombie:30  40=zombie:7.5:1  40=two-leaders:60
    40=act:kill-pod:1  40=act:kill-all  40=act:edit:replicas=5:20  40=upgrade:older
    40=crash-after:4,41=act:lose-node:1:60,90=zombie:30
"""


@pytest.mark.parametrize("text", TEXTS.split())
def test_what_is_written_is_read(text):
    assert str(Plan.parse(text)) == text


def test_every_kind_is_in_the_table_above():
    written = {hit.fault.kind for text in TEXTS.split() for hit in Plan.parse(text).hits}

    assert written == set(Kind)


def test_a_plan_is_made_of_hits():
    assert Plan.parse("40=crash-after:4").hits == (Hit(40, Fault(Kind.CRASH_AFTER, ("4",))),)


NONSENSE = """
    crash-after  x=crash-after  4=meteor  4=crash-after:soon
    4=stale  4=stale:12  4=stale:Pod:12  4=stale-kinds:Pod:12  4=stale-kinds:12
    4=stall  4=stall:Pod  4=stall:20:Pod  4=unseen  4=reorder:Pod  4=zombie:long
    4=two-leaders  4=act  4=act:  4=upgrade
"""


@pytest.mark.parametrize("text", NONSENSE.split())
def test_nonsense_is_refused(text):
    with pytest.raises(UsageError):
        Plan.parse(text)
