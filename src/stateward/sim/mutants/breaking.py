"""Ways to break a piece of code a little, as a careless hand might: where, how, and the result.

Every place is found by walking the syntax tree in order, so the same source has the same places.
What only tells (log lines, metrics, sentences) is left alone: breaking it breaks nothing.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain
from typing import Final


class Way(Enum):
    """How code is broken."""

    NEGATE = "negate"
    DROP_GUARD = "drop-guard"
    SWAP_AWAITS = "swap-awaits"
    OFF_BY_ONE = "off-by-one"
    DROP_PRECONDITION = "drop-precondition"
    DROP_NOT = "drop-not"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a function can be broken in a way; ``nth`` counts the places of that way in it."""

    function: str
    way: Way
    nth: int
    line: int = 0
    #: The first line of the statement that it is in.
    statement: int = 0

    def __str__(self) -> str:
        return f"{self.function}:{self.way.value}.{self.nth}"


@dataclass(frozen=True, slots=True)
class _Found:
    """A way to break a tree, not gone yet."""

    way: Way
    line: int
    #: Goes it: the tree is another one then.
    apply: Callable[[], None]
    statement: int = 0


#: Whoever is called by these only tells.
_TELLING: Final = frozenset({"_log", "_meter", "logs", "_voices", "metrics"})
#: Functions that only tell.
_SPOKEN: Final = frozenset({"__str__", "__repr__", "message", "sentence", "problems", "_complain"})

_NEIGHBOURS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
#: What tells an object or a version of it from another of its name.
_PRECONDITIONS: Final = frozenset({"uid", "resource_version", "resourceVersion"})

_JUMPS: Final = (ast.Return, ast.Continue, ast.Raise, ast.Break)
#: Names of moments and durations: at which side of an instant one falls is no bug.
_MOMENTS: Final = frozenset(
    (
        *("now", "monotonic", "since", "created", "due", "left", "at", "patience", "looked"),
        *("grace", "duration", "renew_deadline", "margin", "silence_left", "delay", "read"),
    )
)

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def places(source: str) -> list[Place]:
    """Return every place of a module where a function can be broken."""
    return [place for place, _ in _enumerated(ast.parse(source))]


def broken(source: str, wanted: Place, filename: str) -> ast.Module:
    """Return the tree of a module that is broken in one place."""
    tree = ast.parse(source, filename)
    for place, found in _enumerated(tree):
        if str(place) == str(wanted):
            found.apply()
            return ast.fix_missing_locations(tree)
    raise LookupError(f"{filename} has no place {wanted}")


def _enumerated(tree: ast.Module) -> Iterator[tuple[Place, _Found]]:
    for name, function in _functions(tree, ""):
        if name.rpartition(".")[2] in _SPOKEN:
            continue
        counts: Counter[Way] = Counter()
        for found in _in_block(function.body):
            counts[found.way] += 1
            nth = counts[found.way]
            yield Place(name, found.way, nth, found.line, found.statement), found


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, _Function]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Function):
            yield prefix + child.name, child
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")


# -------------------------------------------------------------------------- statements


def _in_block(block: list[ast.stmt]) -> Iterator[_Found]:
    for number, statement in enumerate(block):
        if not _only_tells(statement):
            for found in chain(_of_neighbours(block, number), _in_node(statement)):
                yield replace(found, statement=found.statement or statement.lineno)


def _of_neighbours(block: list[ast.stmt], number: int) -> Iterator[_Found]:
    statement = block[number]
    if isinstance(statement, ast.If) and _is_guard(statement):

        def drop() -> None:
            block[number] = ast.copy_location(ast.Pass(), statement)

        yield _Found(Way.DROP_GUARD, statement.lineno, drop)
    if number + 1 < len(block) and _may_swap(statement, block[number + 1]):

        def swap() -> None:
            block[number], block[number + 1] = block[number + 1], block[number]

        yield _Found(Way.SWAP_AWAITS, statement.lineno, swap)


def _is_guard(statement: ast.If) -> bool:
    return not statement.orelse and isinstance(statement.body[-1], _JUMPS)


def _may_swap(one: ast.stmt, other: ast.stmt) -> bool:
    """Tell whether two neighbours wait for somebody, and could as well wait the other way round."""
    for it in (one, other):
        leaves = any(isinstance(node, _JUMPS) for node in ast.walk(it))
        if leaves or not _awaits(it):
            return False
    return not _names(one, bound=True) & _names(other, bound=False)


def _names(node: ast.AST, *, bound: bool) -> set[str]:
    names = (it for it in ast.walk(node) if isinstance(it, ast.Name))
    return {it.id for it in names if isinstance(it.ctx, ast.Store) is bound}


def _awaits(node: ast.AST) -> bool:
    return any(isinstance(it, ast.Await) for it in ast.walk(node))


def _only_tells(node: ast.AST) -> bool:
    """Tell whether a node is a sentence, or a call of somebody who only tells."""
    if isinstance(node, ast.Expr):
        node = node.value
    if isinstance(node, ast.Await):
        node = node.value
    if isinstance(node, ast.JoinedStr):
        return True
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    while isinstance(called, ast.Attribute):
        called = called.value
        if isinstance(called, ast.Attribute) and called.attr in _TELLING:
            return True
    return isinstance(called, ast.Name) and called.id in _TELLING


# -------------------------------------------------------------------------- expressions


def _in_node(node: ast.AST) -> Iterator[_Found]:
    """Yield the places of a node and below it, in the order of its fields."""
    for breaks in _BREAKERS:
        yield from breaks(node)
    for name, value in ast.iter_fields(node):
        if name in {"decorator_list", "annotation", "returns", "pattern"}:
            continue
        items = value if isinstance(value, list) else [value]
        if items and isinstance(items[0], ast.stmt):
            yield from _in_block(items)
        else:
            below = (it for it in items if isinstance(it, ast.AST) and not _only_tells(it))
            for item in below:
                yield from _in_node(item)


def _negations(node: ast.AST) -> Iterator[_Found]:
    """Turn around what decides. What says ``not`` itself loses that word instead."""
    if isinstance(node, ast.If | ast.While | ast.IfExp) and not _says_not(node.test):
        yield _Found(Way.NEGATE, node.test.lineno, lambda: setattr(node, "test", _not(node.test)))
    if isinstance(node, ast.comprehension):
        for number, test in enumerate(node.ifs):
            if not _says_not(test):
                yield _Found(Way.NEGATE, test.lineno, _negate_one(node.ifs, number))
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Compare):
        value = node.value
        yield _Found(Way.NEGATE, node.lineno, lambda: setattr(node, "value", _not(value)))


def _negate_one(tests: list[ast.expr], number: int) -> Callable[[], None]:
    def negate() -> None:
        tests[number] = _not(tests[number])

    return negate


def _not(test: ast.expr) -> ast.expr:
    return ast.copy_location(ast.UnaryOp(ast.Not(), test), test)


def _says_not(test: ast.expr) -> bool:
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _words(node: ast.AST) -> Iterator[_Found]:
    """Take a ``not`` away, wherever it stands."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        operand = node.operand
        yield _Found(Way.DROP_NOT, node.lineno, lambda: setattr(node, "operand", _not(operand)))


def _offsets(node: ast.AST) -> Iterator[_Found]:
    """Compare with one more or less, add one more or none."""
    if isinstance(node, ast.Compare) and not _compares_moments(node):
        for number, operator in enumerate(node.ops):
            if type(operator) in _NEIGHBOURS:
                other = _NEIGHBOURS[type(operator)]()
                yield _Found(Way.OFF_BY_ONE, node.lineno, _put(node.ops, number, other))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        step = node.right
        if isinstance(step, ast.Constant) and step.value == 1:
            yield _Found(Way.OFF_BY_ONE, node.lineno, lambda: setattr(step, "value", 0))


def _compares_moments(node: ast.Compare) -> bool:
    said = {it.id for it in ast.walk(node) if isinstance(it, ast.Name)}
    said |= {it.attr for it in ast.walk(node) if isinstance(it, ast.Attribute)}
    return any(it.strip("_") in _MOMENTS for it in said)


def _put(operators: list[ast.cmpop], number: int, other: ast.cmpop) -> Callable[[], None]:
    def put() -> None:
        operators[number] = other

    return put


def _preconditions(node: ast.AST) -> Iterator[_Found]:
    """Ask without saying which object, or which version of it, is meant."""
    if isinstance(node, ast.Call) and _asks(node):
        for keyword in node.keywords:
            if keyword.arg in _PRECONDITIONS:
                yield _Found(Way.DROP_PRECONDITION, node.lineno, _drop_keyword(node, keyword))
    if isinstance(node, ast.Dict):
        for number, key in enumerate(node.keys):
            if isinstance(key, ast.Constant) and key.value in _PRECONDITIONS:
                yield _Found(Way.DROP_PRECONDITION, key.lineno, _drop_entry(node, number))


def _asks(call: ast.Call) -> bool:
    """Tell whether a call is one to a client: values are built with a UID, too."""
    return isinstance(call.func, ast.Attribute)


def _drop_keyword(call: ast.Call, keyword: ast.keyword) -> Callable[[], None]:
    return lambda: call.keywords.remove(keyword)


def _drop_entry(entries: ast.Dict, number: int) -> Callable[[], None]:
    def drop() -> None:
        del entries.keys[number], entries.values[number]

    return drop


_BREAKERS: Final = (_negations, _words, _offsets, _preconditions)
