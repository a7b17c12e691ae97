"""What docs/foundationdb says is what the code does: the steps, the guards, every reason."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import cast

from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.pipeline import steps
from stateward.fdb.guards import database
from stateward.fdb.tell import conditions

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs/foundationdb"
SOURCE = ROOT / "src/stateward/fdb"
OUTCOMES = {"Stop", "Retry", "Wait", "Blocked"}
WORD = re.compile(r"[A-Z][A-Za-z]+")


def words(name: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", (DOCS / name).read_text()))


def called(tree: ast.AST, names: set[str]) -> set[str]:
    """Return every reason that is given to one of some functions, as a text."""
    found = set()
    for it in ast.walk(tree):
        if isinstance(it, ast.Call) and isinstance(it.func, ast.Name) and it.func.id in names:
            texts = [one.value for one in it.args if isinstance(one, ast.Constant)]
            found |= {one for one in texts if isinstance(one, str) and WORD.fullmatch(one)}
    return found


def test_the_pipeline_lists_all_steps_in_their_order():
    made = [it.name for it in steps(cast("Tools", Tools(None, None, None, None)))]  # type: ignore[arg-type]
    text = (DOCS / "pipeline.md").read_text().partition("| step |")[2].partition("\nThen")[0]
    told = [word for row in text.splitlines() for word in re.findall(r"`(\w+)`", row[:40])]
    assert [it for it in told if it in made] == made


def test_every_guard_has_its_row():
    every = {
        it.name
        for it in ast.parse(Path(str(database.__file__)).read_text()).body
        if isinstance(it, ast.FunctionDef)
        and not it.name.startswith("_")
        and "Refusal" in ast.unparse(it.returns or ast.Constant(""))
    }
    assert every - words("pipeline.md") == set()


def test_every_reason_is_explained():
    said = set()
    for path in [*SOURCE.glob("cluster/**/*.py"), *SOURCE.glob("groups/**/*.py")]:
        said |= called(ast.parse(path.read_text()), OUTCOMES | {"waiting_for"})
    assert said - words("conditions.md") == set()


def test_every_condition_is_explained():
    told = words("conditions.md")
    assert set(conditions.TYPES) - told == set()
    later = {"NodeTaintDetected", "NodeTaintReplacing", "ProcessHasHighRunLoopBusy"}
    assert {str(it) for it in GroupConditionType} - told == later
