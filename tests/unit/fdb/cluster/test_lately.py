"""Since when something is held back, over passes that did not come to ask for it again."""

from __future__ import annotations

import pytest

from fakes.hand_clock import HandClock
from stateward.core.moments import from_rfc3339
from stateward.core.outcome import DONE, Outcome, Retry, Stop, Wait
from stateward.fdb.cluster.lately import Lately
from stateward.fdb.guards.guard import Refusal
from stateward.fdb.tell.blockers import blockers
from stateward.fdb.tell.doing import UNWELL
from stateward.kube.crd.blockers import Blocker
from stateward.kube.meta import ObjectKey

KEY = ObjectKey("prod", "shop")
#: What a step says by its letter: ``A`` done, ``A?`` waits, ``A#`` its guard holds it, ``A!`` acts.
WORDS: dict[str, Outcome] = {
    "": DONE,
    "?": Wait("Waits", "for something"),
    "#": Retry(15.0, "Held", "somebody has the lock"),
    "!": Stop(0.0, "Acted", "done"),
}


def said(word: str) -> tuple[str, Outcome]:
    if word == "~":
        return "UpdateStatus", Wait(UNWELL, "waiting until these are well")
    return word[0], WORDS[word[1:]]


#: Passes, one each ten seconds, and in which of them what holds it back last began to.
STORIES = {
    "A B# ; A B#": 0,
    # A pass that ended before the step: it acted, or must wait.
    "A B# ; A! ; A B#": 0,
    "A B# ; A! ; A! ; A! ; A B#": 0,
    # The step has something else to wait for, before it comes to its guard.
    "A B# ; A? B? ; A B#": 0,
    "A B# ; A? B# ; A B#": 0,
    # It was over: another one begins.
    "A B# ; A B ; A B#": 2,
    "A B# ; A B! ; A B#": 2,
    "A B# ; A! ; A B ; A B#": 3,
    # Nobody has looked for long.
    "A B# ; A! ; A! ; A! ; A! ; A! ; A! ; A! ; A B#": 8,
    # What all of a cluster waits for is over when all is.
    "A B ~ ; A! ; A B ~": 0,
    "A B ~ ; A B ; A B ~": 2,
}


@pytest.mark.parametrize("story", STORIES)
def test_since_when(story: str) -> None:
    clock = HandClock(0)
    it, told = Lately(clock), tuple[Blocker, ...]()
    for one in story.split(";"):
        words = [said(word) for word in one.split()]
        held = [
            (step, Refusal("turn_is_ours", "waits")) for step, out in words if out == WORDS["#"]
        ]
        before, now = told, clock.now()
        told = blockers((*it.recall(KEY), *before), words, held, now)
        it.note(KEY, before, told, words)
        clock.advance(10)
    (last,) = told
    assert last.since is not None
    assert from_rfc3339(last.since) == 10 * STORIES[story]
