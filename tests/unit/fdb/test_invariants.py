"""Every invariant of the operator is a law of simulated lives, or somebody else is said to hold it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/foundationdb/simulation.md").read_text()
LAWS = ROOT / "src/stateward/sim/fdb/laws"
#: How many there are of each kind.
MANY = {"F-S": 29, "F-L": 8, "P-S": 5, "P-L": 2}
KINDS = (ast.FunctionDef, ast.AsyncFunctionDef)


def named() -> set[str]:
    """Return all that the page names in the first column of a table; ``A to B`` are all between."""
    found: set[str] = set()
    for line in PAGE.splitlines():
        cell = line.split("|")[1] if line.startswith("| `") else ""
        found |= {*re.findall(r"[FP]-[SL]\d+", cell)}
        for kind, first, last in re.findall(r"`([FP]-[SL])(\d+)` to `[FP]-[SL](\d+)`", cell):
            found |= {f"{kind}{it}" for it in range(int(first), int(last) + 1)}
    return found


@pytest.mark.parametrize("kind", MANY)
def test_every_invariant_is_held_by_somebody(kind: str) -> None:
    assert {f"{kind}{it + 1}" for it in range(MANY[kind])} - named() == set()


def test_laws_that_the_page_names_are_reported_by_those_it_names() -> None:
    rows = re.findall(r"^\| (`[FP]-S.*?) \|.*\| (`[a-z]+\.py`.*) \|$", PAGE, re.MULTILINE)
    assert len(rows) > 10
    for laws, files in rows:
        texts = "".join((LAWS / it).read_text() for it in re.findall(r"`([a-z]+\.py)`", files))
        for law in re.findall(r"`([FP]-S\d+)`", laws):
            assert f'"{law}"' in texts, law


def test_tests_that_the_page_names_are_there() -> None:
    wanted = {*re.findall(r"`(test_\w+)`", PAGE)}
    there = {
        it.name
        for path in (ROOT / "tests/unit/fdb").rglob("test_*.py")
        for it in ast.parse(path.read_text()).body
        if isinstance(it, KINDS)
    }
    assert len(wanted) > 20
    assert wanted - there == set()
