"""Sentences that are too long for a column end between words, and lists say how many more."""

from __future__ import annotations

import pytest

from stateward.fdb.model.listing import cut

#: A sentence, and what stands in a column of 40.
#: 1234567890123456789012345678901234567890
CUT = {
    "nothing to do": "nothing to do",
    "these have no pod yet: log-1, storage-12": "these have no pod yet: log-1, storage-12",
    # a list that is too long has fewer names
    "no pod yet: log-1, log-2, log-3, log-4, log-5": "no pod yet: log-1, log-2 and 3 more",
    "no pod yet: log-1, log-2, log-3, log-4 and 9 more": "no pod yet: log-1, log-2 and 11 more",
    "data leaves shop-storage-9483, shop-storage-8550": "data leaves shop-storage-9483 and 1 more",
    "wait: dc1-log-1 (PodFailing), dc1-log-2 (PodPending, MissingPVC)": (
        "wait: dc1-log-1 (PodFailing) and 1 more"
    ),
    # and what comes after it is left out
    "no files: log-1, log-2, log-3, log-4, log-5; see": "no files: log-1, log-2 and 3 more…",
    "no files: log-1, log-2, log-3 and 9 more; see": "no files: log-1, log-2 and 10 more…",
    "pods of log-1, log-2, storage-3 in a zone of some name go": (
        "pods of log-1, log-2, storage-3 in a…"
    ),
    # of one name nothing is left out, and it is never cut itself
    "processes do not report: shop-storage-94836": "processes do not report…",
    "processes do not report: shop-storage-94836 and 7 more": "processes do not report…",
    # a word that just fits is there, without what ends a clause
    "the pod is not as the spec asks for it; and so on": "the pod is not as the spec asks for it…",
    "the pod is not as the spec asks of it, so it": "the pod is not as the spec asks of it…",
    # what has no words is cut somewhere
    "x" * 50: "x" * 39 + "…",
}


@pytest.mark.parametrize("sentence", CUT)
def test_what_is_cut(sentence: str) -> None:
    assert cut(sentence, 40) == CUT[sentence]


@pytest.mark.parametrize("sentence", CUT)
@pytest.mark.parametrize("most", range(5, 60))
def test_it_is_never_longer_than_it_may_be(sentence: str, most: int) -> None:
    assert len(cut(sentence, most)) <= most
