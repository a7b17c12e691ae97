"""Errors are sentences for people."""

from __future__ import annotations

import pytest

from stateward.core.errors import PeerUnreachable, SpecInvalid, UsageError


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (UsageError("a name must be given"), "a name must be given"),
        (UsageError("no", hint="say yes"), "no; say yes"),
        (SpecInvalid("spec.size", "must be at most 9"), "spec.size: must be at most 9"),
        (PeerUnreachable("no route"), "no route"),
    ],
)
def test_an_error_is_one_sentence(error, sentence):
    assert error.sentence() == sentence
    assert str(error) == error.message


def test_a_hint_of_one_error_is_not_the_hint_of_the_next():
    UsageError("first", hint="only here")

    assert UsageError("second").hint == ""
