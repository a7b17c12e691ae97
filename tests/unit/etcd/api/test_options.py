"""Flags of etcd: which may be set; tests/real holds what we know of them to the programs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.core.version import Version
from stateward.etcd.api import options

LINES = [(3, 5), (3, 6)]


@pytest.mark.parametrize("line", LINES, ids=str)
def test_what_is_owned_is_not_to_be_set(line: tuple[int, int]) -> None:
    known = options.known_flags(Version(*line, 0))

    assert known
    assert not [it for it in known if options.owned(it)]


@given(st.text(max_size=20))
def test_a_name_of_an_unknown_version_need_only_look_like_a_flag(name: str) -> None:
    plain = bool(name) and set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    flag = plain and name[0] != "-" and name[-1] != "-" and not options.owned(name)

    assert (options.flag_problem(name, None) is None) == flag
