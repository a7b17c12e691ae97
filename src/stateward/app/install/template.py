"""Helm's templates, as far as our chart uses them: a tree of pieces, and what they come to.

The chart is the one home of what we install. Helm renders it where there is Helm; this renders it
where there is none. Tests hold both to the same result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from stateward.app.install.words import Piece, Word, pieces
from stateward.core.errors import HouseError


class Functions(Protocol):
    """What a template may call."""

    def call(self, name: str, arguments: Sequence[Any]) -> Any:
        """Return the result, or raise HouseError when there is no such function."""


@dataclass(slots=True)
class Scope:
    """What names mean at one place: the dot, and the variables."""

    dot: Any
    names: dict[str, Any]

    def at(self, dot: Any) -> Scope:
        """Return the scope inside of a block, which sees what is outside."""
        return Scope(dot, dict(self.names))


# ------------------------------------------------------------------ expressions
@dataclass(frozen=True, slots=True)
class Value:
    """Something that is written out."""

    value: Any


@dataclass(frozen=True, slots=True)
class Place:
    """A path of fields from the dot or from a variable."""

    start: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A function and what it is given."""

    name: str
    arguments: tuple[Expression, ...]


Expression: TypeAlias = Value | Place | Call


# ------------------------------------------------------------------ pieces
@dataclass(frozen=True, slots=True)
class Text:
    """What stands there as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Print:
    """The value of an expression, or with a name its value under that name."""

    value: Expression
    name: str = ""


@dataclass(slots=True)
class Block:
    """An if, with or range: of its branches the first that holds; ``names`` are a range's own."""

    word: str
    branches: list[tuple[Expression | None, list[Node]]] = field(default_factory=list)
    names: tuple[str, ...] = ()


Node: TypeAlias = Text | Print | Block
Defined: TypeAlias = dict[str, list[Node]]


def read(source: str, defined: Defined) -> list[Node]:
    """Return the tree of a template; what it defines is added to the others' definitions."""
    nodes, end = _Reader(iter(pieces(source)), defined).body()
    if end:
        raise HouseError(f"a template must open what it closes, got {end[0].text!r}")
    return nodes


class _Reader:
    def __init__(self, source: Iterator[Piece], defined: Defined) -> None:
        self._source = source
        self._defined = defined

    def body(self) -> tuple[list[Node], tuple[Word, ...]]:
        """Read up to the ``end`` or ``else`` of the block around; return its words too."""
        nodes: list[Node] = []
        for piece in self._source:
            if not piece.words:
                nodes.append(Text(piece.text))
                continue
            word = piece.words[0].text
            if word in {"end", "else"}:
                return nodes, piece.words
            if word == "define":
                self._defined[_unquoted(piece.words[1].text)] = self._closed()
            elif word in {"if", "with", "range"}:
                nodes.append(self._block(piece.words))
            else:
                nodes.append(_print(piece.words))
        return nodes, ()

    def _closed(self) -> list[Node]:
        nodes, end = self.body()
        if [it.text for it in end] != ["end"]:
            raise HouseError("a template must close with end what it opens")
        return nodes

    def _block(self, words: tuple[Word, ...]) -> Block:
        names, words = _names_of(words)
        block = Block(words[0].text, names=names)
        condition: Expression | None = _expression(words[1:])
        while True:
            nodes, end = self.body()
            block.branches.append((condition, nodes))
            match [it.text for it in end]:
                case ["end"]:
                    return block
                case ["else"]:
                    condition = None
                case ["else", "if", *_]:
                    condition = _expression(end[2:])
                case _:
                    raise HouseError(
                        f"a template must close with end what it opens: {words[0].text}"
                    )


def _names_of(words: tuple[Word, ...]) -> tuple[tuple[str, ...], tuple[Word, ...]]:
    """Return the variables of ``range $key, $value := ...``, and the words without them."""
    texts = [it.text for it in words]
    if words[0].text != "range" or ":=" not in texts:
        return (), words
    place = texts.index(":=")
    names = tuple(it for it in texts[1:place] if it != ",")
    return names, (words[0], *words[place + 1 :])


def _print(words: tuple[Word, ...]) -> Print:
    if len(words) > 1 and words[1].text in {":=", "="}:
        return Print(_expression(words[2:]), words[0].text)
    return Print(_expression(words))


def _expression(words: Sequence[Word]) -> Expression:
    """Read calls that are joined by pipes: each gets what comes before it as its last argument."""
    rest = list(words)
    found = _piped(rest)
    if rest:
        raise HouseError(f"a template must be of what we know, got {rest[0].text!r}")
    return found


def _piped(words: list[Word]) -> Expression:
    found = _called(words, ())
    while words and words[0].text == "|":
        del words[0]
        found = _called(words, (found,))
    return found


def _called(words: list[Word], last: tuple[Expression, ...]) -> Expression:
    if not words:
        raise HouseError("a template must say what to print")
    if words[0].kind != "name" or words[0].text in _CONSTANTS:
        return _operand(words)
    name, arguments = words.pop(0).text, []
    while words and words[0].text not in {"|", ")"}:
        arguments.append(_operand(words))
    return Call(name, (*arguments, *last))


_CONSTANTS = {"true": True, "false": False, "nil": None}


def _operand(words: list[Word]) -> Expression:
    word = words.pop(0)
    if word.text == "(":
        inner = _piped(words)
        if not words or words.pop(0).text != ")":
            raise HouseError("a template must close its brackets")
        return inner
    match word.kind:
        case "text":
            return Value(_unquoted(word.text))
        case "number":
            return Value(float(word.text) if "." in word.text else int(word.text))
        case "place":
            start, *fields = word.text.split(".")
            return Place(start, tuple(filter(None, fields)))
        case "name" if word.text in _CONSTANTS:
            return Value(_CONSTANTS[word.text])
        case "name":
            return Call(word.text, ())
    raise HouseError(f"a template must be of what we know, got {word.text!r}")


def _unquoted(text: str) -> str:
    if text.startswith("`"):
        return text[1:-1]
    return text[1:-1].replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")


# ------------------------------------------------------------------ what they come to
class Renderer:
    """Prints trees."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions

    def text(self, nodes: Sequence[Node], dot: Any) -> str:
        """Return what a whole template prints."""
        return "".join(self._printed(nodes, Scope(dot, {"$": dot})))

    def _printed(self, nodes: Sequence[Node], scope: Scope) -> Iterator[str]:
        for node in nodes:
            match node:
                case Text(text):
                    yield text
                case Print(value, ""):
                    yield shown(self._value(value, scope))
                case Print(value, name):
                    scope.names[name] = self._value(value, scope)
                case Block():
                    yield from self._block(node, scope)

    def _block(self, block: Block, scope: Scope) -> Iterator[str]:
        for condition, nodes in block.branches:
            value = None if condition is None else self._value(condition, scope)
            if condition is not None and not value:
                continue
            if block.word == "range" and condition is not None:
                yield from self._each(block, nodes, value, scope)
            else:
                inside = scope.dot if block.word == "if" or condition is None else value
                yield from self._printed(nodes, scope.at(inside))
            return

    def _each(self, block: Block, nodes: Sequence[Node], value: Any, scope: Scope) -> Iterator[str]:
        pairs = sorted(value.items()) if isinstance(value, Mapping) else enumerate(value)
        for key, item in pairs:
            inside = scope.at(item)
            given = (item,) if len(block.names) == 1 else (key, item)
            inside.names |= dict(zip(block.names, given, strict=False))
            yield from self._printed(nodes, inside)

    def _value(self, expression: Expression, scope: Scope) -> Any:
        match expression:
            case Value(value):
                return value
            case Place(start, fields):
                return _found(scope.names[start] if start else scope.dot, fields)
            case Call(name, arguments):
                return self._functions.call(name, [self._value(it, scope) for it in arguments])


def _found(value: Any, fields: Sequence[str]) -> Any:
    for name in fields:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def shown(value: Any) -> str:
    """Return a value as Go prints it."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case _:
            return str(value)
