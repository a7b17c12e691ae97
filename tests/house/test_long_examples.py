"""What is left to `make test-long` is there."""

from __future__ import annotations

from pathlib import Path

import pytest

import long_examples

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("path", long_examples.EXAMPLES)
def test_what_is_left_to_the_long_run_is_there(path: str) -> None:
    """That its examples are, and others beside them, is seen when a whole run is collected."""
    text = (ROOT / path).read_text()
    assert [it for it in long_examples.EXAMPLES[path] if f"def {it}(" not in text] == []
