"""CEL, the language of rules in schemas, with the functions that Kubernetes adds to it.

The library is loaded when the first rule is met: most custom kinds have none.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, Final

from stateward.core.errors import UsageError
from stateward.kube.codec import Json
from stateward.local.schema.custom.functions import declarations

#: Words that CEL keeps for itself: a field of that name is written ``__word__`` in a rule.
_RESERVED: Final = frozenset(
    {
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for"),
        *("function", "if", "import", "let", "loop", "package", "namespace", "return", "var"),
        *("void", "while"),
    }
)
_ESCAPES: Final = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
#: What the library adds to its messages: ``[INTERNAL]``.
_CODE: Final = re.compile(r" \[[A-Z_]+\]$")
_SPECIAL: Final = re.compile(r"__|[./-]")
#: What the library says of a rule without an answer, and what Kubernetes says.
_SAID: Final = (
    (re.compile(r'Key not found in map : "?(.*?)"?'), r"no such key: \1"),
    (re.compile(r"Index error: index=(-?\d+) size=\d+"), r"index out of bounds: \1"),
    (re.compile(r"divide by zero"), "division by zero"),
)
#: The text formats that are types of their own where a rule stands at the very value.
_TYPED: Final = {"date-time": "TIMESTAMP", "duration": "DURATION"}
_EXTENSIONS: Final = (
    ("ext_strings", "ExtStrings"),
    ("ext_optional", "ExtOptional"),
    ("ext_bindings", "ExtBindings"),
    ("ext_math", "ExtMath"),
)


class RuleError(ValueError):
    """A rule that cannot be compiled or evaluated: why."""


class Program:
    """One compiled expression."""

    def __init__(self, text: str, own_type: str = "DYN") -> None:
        try:
            self._program = _environment(own_type).compile(text)
        except RuntimeError as error:
            raise RuleError(_first_line(str(error))) from error

    @property
    def returns(self) -> str:
        """The name of the type of what it evaluates to."""
        name: str = self._program.return_type().name()
        return name

    def evaluate(self, variables: Json) -> Any:
        """Return the value of the expression; raise RuleError when it has none."""
        try:
            result = self._program.eval(data=variables)
        except RuntimeError as error:  # it has no end, or not before its budget is spent
            raise RuleError(_first_line(str(error))) from error
        if result.type().name() == "ERROR":
            raise RuleError(_as_kubernetes_says(_first_line(str(result))))
        return result.value()


def escaped(name: str) -> str:
    """Return how a rule names a field.

    >>> escaped("namespace"), escaped("max-size"), escaped("a.b")
    ('__namespace__', 'max__dash__size', 'a__dot__b')
    """
    if name in _RESERVED:
        return f"__{name}__"
    return _SPECIAL.sub(lambda found: _ESCAPES[found[0]], name)


@lru_cache(maxsize=4096)
def spellings(name: str) -> tuple[str, ...]:
    """Return how a rule may name a field: a reserved word may also stand for itself.

    >>> spellings("namespace"), spellings("size")
    (('namespace', '__namespace__'), ('size',))
    """
    return (name, escaped(name)) if name in _RESERVED else (escaped(name),)


def own_type(schema: Json) -> str:
    """Return the type under which a rule sees the value that it stands at."""
    return _TYPED.get(schema.get("format", ""), "DYN") if schema.get("type") == "string" else "DYN"


@cache
def _environment(own: str) -> Any:
    try:
        cel = import_module("cel_expr_python.cel")
        extensions = [
            getattr(import_module(f"cel_expr_python.ext.{module}"), name)()
            for module, name in _EXTENSIONS
        ]
    except ModuleNotFoundError as error:
        raise UsageError(
            "rules in the schemas of custom kinds need cel-expr-python: install stateward[local]"
        ) from error
    kind = getattr(cel.Type, own)
    return cel.NewEnv(
        variables={"self": kind, "oldSelf": kind, "before": cel.Type.DYN},
        extensions=extensions,
        functions=declarations(cel),
    )


def _as_kubernetes_says(text: str) -> str:
    for pattern, words in _SAID:
        if found := pattern.fullmatch(text):
            return found.expand(words)
    return text


def _first_line(text: str) -> str:
    """Keep what is wrong of a message, without the library's code and its drawing."""
    head = _CODE.sub("", text.splitlines()[0] if text else "")
    return head.partition(": ")[2].removeprefix("ERROR: ") or head
