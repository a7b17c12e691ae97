"""What the bench calls kept, and which etcds set the pace of growing."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.bench.etcd.steps import Line, Target, _has_window

from stateward.app.etcd.available import Found
from stateward.core.version import Version


@pytest.mark.parametrize(
    ("took", "reference", "target", "ok"),
    [
        (4.0, 0.5, Target(seconds=4), True),
        (4.1, 9.0, Target(seconds=4), False),
        (12.0, 10.0, Target(times=1.2), True),
        (12.1, 10.0, Target(times=1.2), False),
    ],
)
def test_a_target_is_seconds_or_times_the_reference(took, reference, target, ok):
    assert Line("a step", took, reference, target).ok is ok


@pytest.mark.parametrize(
    ("version", "waits"),
    [
        ("3.5.1", True),
        ("3.5.29", True),
        ("3.5.30", False),
        ("3.6.10", True),
        ("3.6.11", False),
        ("3.6.16", False),
        ("3.7.0", False),
    ],
)
def test_older_releases_refuse_a_change_soon_after_the_last(version, waits):
    assert _has_window(Found(Version.parse(version), Path("etcd"), "here")) is waits
