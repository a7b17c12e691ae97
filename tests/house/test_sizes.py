"""The house stays small: a module is a paragraph, a function a sentence. A robot measures, not a reviewer."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = sorted((ROOT / "src").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

#: Lines, but for the last three. Columns are ruff's business.
MODULE, TEST_MODULE, FUNCTION, CLASS = 450, 500, 50, 200
PUBLIC_METHODS, PACKAGE, NESTING = 12, 15, 3
VAGUE = {"util", "utils", "common", "helper", "helpers", "manager", "base", "misc"}
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def length(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))


def depth(node: ast.AST) -> int:
    """How deep blocks are nested; an ``elif`` is no deeper than its ``if``."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        here = 1 if isinstance(child, BLOCKS) and not is_elif else 0
        inside = 0 if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else depth(child)
        deepest = max(deepest, here + inside)
    return deepest


def too_large() -> Iterator[str]:
    for path in SOURCE + TESTS:
        yield from _large_module(path, MODULE if path in SOURCE else TEST_MODULE)
    for path in SOURCE:
        tree = parsed(path)
        for function in functions(tree):
            yield from _large_function(path, function)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                yield from _large_class(path, node)


def _large_module(path: Path, limit: int) -> Iterator[str]:
    lines = path.read_text().splitlines()
    if len(lines) > limit:
        yield f"{name_of(path)} has {len(lines)} lines, {limit} are allowed"


def _large_function(path: Path, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    where = f"{name_of(path)}:{node.lineno} {node.name}"
    if length(node) > FUNCTION:
        yield f"{where} has {length(node)} lines, {FUNCTION} are allowed"
    if depth(node) > NESTING:
        yield f"{where} is nested {depth(node)} deep, {NESTING} is allowed"


def _large_class(path: Path, node: ast.ClassDef) -> Iterator[str]:
    methods = [f for f in node.body if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef)]
    public = [f for f in methods if not f.name.startswith("_")]
    where = f"{name_of(path)}:{node.lineno} {node.name}"
    if length(node) > CLASS:
        yield f"{where} has {length(node)} lines, {CLASS} are allowed"
    if len(public) > PUBLIC_METHODS:
        yield f"{where} has {len(public)} public methods, {PUBLIC_METHODS} are allowed"


def test_nothing_is_too_large():
    assert list(too_large()) == []


def test_packages_hold_few_modules():
    crowded = {
        name_of(folder): count
        for folder in {path.parent for path in SOURCE}
        if (count := len([p for p in folder.glob("*.py") if p.name != "__init__.py"])) > PACKAGE
    }

    assert crowded == {}


def test_no_module_has_a_vague_name():
    assert [name_of(p) for p in SOURCE if p.stem in VAGUE] == []


@pytest.mark.parametrize("path", SOURCE, ids=name_of)
def test_every_module_says_why_it_exists(path):
    assert ast.get_docstring(parsed(path))


@pytest.mark.parametrize("path", SOURCE, ids=name_of)
def test_no_private_function_is_dead(path):
    text = path.read_text()
    named = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    private = [n.name for n in ast.parse(text).body if isinstance(n, named)]
    words = Counter(re.findall(r"\w+", text))

    assert [name for name in private if name.startswith("_") and words[name] < 2] == []
