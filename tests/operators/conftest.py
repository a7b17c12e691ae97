"""In which order stories of operators are told."""

from __future__ import annotations

from pathlib import Path

import pytest

_BUSY = Path(__file__).with_name("fdb")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread what computes, FoundationDB, among what waits, etcd."""
    busy = [it for it in items if it.path.is_relative_to(_BUSY)]
    others = [it for it in items if not it.path.is_relative_to(_BUSY)]
    # They take longest: what comes last is short, so that nobody waits for one of them.
    places = [(number + 0.5) / len(busy) * 0.8 for number in range(len(busy))]
    places += [(number + 0.5) / len(others) for number in range(len(others))]
    order = sorted(zip(places, range(len(items)), strict=True))
    items[:] = [(busy + others)[number] for _, number in order]
