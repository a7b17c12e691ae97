"""The functions that our chart calls, as Helm has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import yaml

from stateward.app.install.template import Defined, Renderer, shown
from stateward.core.errors import HouseError, UsageError


class ChartFunctions:
    """All of them; ``include`` prints what any template of the chart defines."""

    def __init__(self, defined: Defined) -> None:
        self._defined = defined

    def call(self, name: str, arguments: Sequence[Any]) -> Any:
        """Return the result."""
        if name == "include":
            what, dot = arguments
            return Renderer(self).text(self._defined[what], dot)
        if (function := _FUNCTIONS.get(name)) is None:
            raise HouseError(f"a template must call what we know, got {name!r}")
        return function(*arguments)


def _fail(message: str) -> None:
    raise UsageError(message)


def _to_yaml(value: Any) -> str:
    return yaml.safe_dump(value, default_flow_style=False, width=2**16).rstrip("\n")


def _indented(spaces: int, text: str) -> str:
    return "\n".join(" " * spaces + line for line in text.split("\n"))


def _quoted(value: Any) -> str:
    text = shown(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'


def _printed(pattern: str, *values: Any) -> str:
    rest = iter(values)
    return re.sub(r"%[sdv]", lambda _: shown(next(rest)), pattern)


def _found(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found[0] if found else ""


def _index(value: Any, *keys: Any) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else value[key]
    return value


def _and(*values: Any) -> Any:
    return next((it for it in values if not it), values[-1])


_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "and": _and,
    "default": lambda usual, value=None: value or usual,
    "eq": lambda left, right: left == right,
    "fail": _fail,
    "gt": lambda left, right: left > right,
    "hasKey": lambda value, key: key in value,
    "index": _index,
    "int": int,
    "join": lambda between, items: between.join(map(shown, items)),
    "list": lambda *items: list(items),
    "nindent": lambda spaces, text: "\n" + _indented(spaces, text),
    "not": lambda value: not value,
    "or": lambda *values: next((it for it in values if it), values[-1]),
    "printf": _printed,
    "quote": _quoted,
    "regexFind": _found,
    "regexMatch": lambda pattern, text: re.search(pattern, text) is not None,
    "ternary": lambda yes, no, which: yes if which else no,
    "toYaml": _to_yaml,
}
