"""Every word that a condition of a cluster can give as its reason has a page that explains it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stateward.etcd.tell.conditions import _MEANING
from stateward.etcd.tell.reasons import Reason

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs/etcd/conditions"
ETCD = ROOT / "src/stateward/etcd"

#: What each page answers, in this order.
HEADINGS = ["What it means", "What the operator does", "What you can do"]
#: A step that is blocked gives its own word, and Ready passes it on.
BLOCKED = re.compile(r"\b(?:Blocked|Refuse)\(\s*\"(\w+)\"")


def blocked_reasons() -> set[str]:
    return {word for path in ETCD.rglob("*.py") for word in BLOCKED.findall(path.read_text())}


def pages() -> dict[str, Path]:
    return {page.stem: page for page in PAGES.glob("*.md") if page.stem != "README"}


@pytest.mark.parametrize("reason", sorted({*Reason} | blocked_reasons()))
def test_a_reason_has_a_page(reason):
    page = PAGES / f"{reason}.md"
    assert page.is_file(), f"write {page.relative_to(ROOT)}"

    text = page.read_text()
    assert text.startswith(f"# {reason}\n")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == HEADINGS


def test_the_list_of_pages_is_complete():
    listed = re.findall(r"\]\((\w+)\.md\)", (PAGES / "README.md").read_text())

    assert sorted(listed) == sorted(pages())


def test_every_word_is_used():
    """A word that nothing says any more is taken out, with its page."""
    text = "".join(path.read_text() for path in (ETCD / "tell").glob("*.py"))

    assert [it.name for it in Reason if f"Reason.{it.name}" not in text] == []


def test_every_situation_has_a_meaning():
    text = (ETCD / "tell/situation.py").read_text()

    assert {Reason[name] for name in re.findall(r"Situation\(Reason\.(\w+)", text)} == set(_MEANING)
