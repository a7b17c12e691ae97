"""Laws about members, pods and volumes: pictures in which they are broken, or hold.

A picture is what happens to a cluster of three (or five) that runs (``hang``, ``kill``, ``lose``,
``want``) and what a hand does to it in an operator's name (``look``, ``stop``, ``remove``, ...).
"""

from __future__ import annotations

import pytest

from fakes.etcd_hand import played

BROKEN = [
    # A quorum is not taken away, whether by a restart, a scale or a vote.
    ("E-S1", "hang 1, look, stop 2"),
    ("E-S1", "look, stop 1, stop 2"),
    ("E-S1", "look, scale 1"),
    ("E-S1", "hang 1, lead 0, look, remove 2"),
    # One change at a time.
    ("E-S2", "hang 1, look, add 3"),
    ("E-S2", "look, add 3, look, add 4"),
    # Learners first, and votes only for those who have the data.
    ("E-S3", "look, add-voter 3"),
    ("E-S3", "look, add 3, look, promote 3"),
    # A volume goes when nobody has data on it, no pod needs it, and somebody can be asked.
    ("E-S4", "look, drop 2"),
    ("E-S4", "want 2, lead 0, look, remove 2, drop 2"),
    ("E-S4", "want 2, lead 0, look, remove 2, hang 0, hang 1, wait 1, look, drop 2"),
    # A new member starts on a new volume.
    ("E-S6", "want 2, lead 0, look, remove 2, scale 2, wait 5, want 3, look, add 2"),
    ("E-S6", "want 2, lead 0, look, remove 2, scale 2, want 3, look, add 2"),
    # Without a quorum nobody is touched.
    ("E-S10", "hang 0, hang 1, look, stop 2"),
    ("E-S10", "hang 0, hang 1, look, scale 2"),
    # Who is removed, and why.
    ("E-S11", "lead 0, look, remove 2"),
    ("E-S11", "want 2, lead 0, look, remove 1"),
    ("E-S11", "want 2, lead 2, look, remove 2"),
    ("E-S11", "look, scale 2"),
    # One restart at a time.
    ("E-S12", "5 look, stop 2, look, stop 1"),
    ("E-S12", "5 hang 3, look, stop 1"),
    # Patience with those who are away.
    ("E-S14", "lead 0, look, hang 2, wait 50, look, remove 2"),
    ("E-S14", "5 hang 4, hang 3, wait 70, lead 0, look, stop 2, remove 4"),
    # The user is asked, by the same process, since it looked.
    ("K2", "stop 2"),
    ("K2", "ask, wait 11, stop 2"),
]

HELD = [
    "look, stop 2",
    "look, stop 2, wait 20, look, stop 1",
    "lead 0, look, hang 1, stop 1",
    "look, add 3",
    "want 2, lead 0, look, remove 2",
    "want 2, lead 0, look, remove 2, scale 2, wait 5, look, drop 2",
    "lead 0, look, hang 2, wait 70, look, remove 2",
    # What happened after the look, nobody could know.
    "look, hang 1, stop 2",
    "look, lose 1, stop 2",
    "lose 1, look, stop 2",
]


@pytest.mark.parametrize(("law", "picture"), BROKEN, ids=[f"{a}: {b}" for a, b in BROKEN])
def test_what_breaks_a_law_is_seen(law: str, picture: str):
    assert law in played(picture)


@pytest.mark.parametrize("picture", HELD)
def test_what_is_right_breaks_none(picture: str):
    assert played(picture) == set()
