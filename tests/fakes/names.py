"""Names of test cases that are the same in every process."""

from __future__ import annotations


def named(value: object) -> str:
    """Return a function's name instead of its address, and the text of anything else."""
    return getattr(value, "__qualname__", "") or str(value)
