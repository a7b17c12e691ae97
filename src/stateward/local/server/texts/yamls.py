"""YAML that says no more than JSON can, read in one pass.

YAML can be small and stand for something huge, or take its reader ages: what is nested deep, refers
to itself or has too many parts is refused before it is built.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final

import yaml

#: How deep lists and objects may lie in each other; the reader needs ages for more.
DEEPEST: Final = 100
#: Values, names, beginnings and ends; a body of so many takes a moment to read.
_MOST_EVENTS: Final = 60_000
#: Bytes of text, as many as an object can have when it is stored.
LIMIT: Final = 1536 * 1024

_TAG: Final = "tag:yaml.org,2002:"
_SCALARS: Final = frozenset({"str", "null", "bool", "int", "float", "timestamp", "value"})
_COLLECTIONS: Final = frozenset({"seq", "map"})
#: A number to everybody who reads Kubernetes' YAML, and a text to this library.
_NUMBER: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)[eE][-+]?[0-9]+")


#: Yes and no, to Kubernetes and not to this library.
_SHORT: Final = {"y": True, "Y": True, "n": False, "N": False}


class YamlError(ValueError):
    """A text that is no YAML, or more than JSON can say: why."""


def value_of(text: str) -> tuple[Any, list[str]]:
    """Return the value of a text, and the names that an object has twice in it."""
    reader = _Reader(text)
    try:
        return reader.whole(), reader.doubles
    except yaml.YAMLError as error:
        raise YamlError(" ".join(str(error).split())) from None
    finally:
        reader.close()


class _Reader:
    """Builds a value from the events of the parser."""

    def __init__(self, text: str) -> None:
        self._loader: Any = yaml.CSafeLoader(text)
        self._left = _MOST_EVENTS
        self.doubles: list[str] = []

    def close(self) -> None:
        """Let the parser go."""
        self._loader.dispose()

    def whole(self) -> Any:
        """Return the one document that there is."""
        self._next()  # the beginning of the stream
        if isinstance(self._next(), yaml.StreamEndEvent):
            return None
        found = self._value(self._next(), "", 0)
        self._next()  # the end of the document
        if not isinstance(event := self._next(), yaml.StreamEndEvent):
            raise YamlError(f"there must be one document only{_at(event)}")
        return found

    def _next(self) -> Any:
        self._left -= 1
        if self._left < 0:
            raise YamlError(f"it must have fewer than {_MOST_EVENTS} parts: send JSON")
        return self._loader.get_event()

    def _value(self, event: Any, path: str, depth: int) -> Any:
        if depth > DEEPEST:
            raise YamlError(f"it must not be nested deeper than {DEEPEST}{_at(event)}")
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if isinstance(event, yaml.AliasEvent):
            # A few of them can stand for more text than any machine has memory.
            raise YamlError(f"it may not use aliases (*name){_at(event)}")
        _check_tag(event, _COLLECTIONS)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(path, depth)
        return self._object(path, depth)

    def _list(self, path: str, depth: int) -> list[Any]:
        found: list[Any] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            found.append(self._value(event, f"{path}[{len(found)}]", depth + 1))
        return found

    def _object(self, path: str, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            name = self._name(event)
            where = f"{path}.{name}" if path else name
            if name in found:
                self.doubles.append(where)
            found[name] = self._value(self._next(), where, depth + 1)
        return found

    def _name(self, event: Any) -> str:
        name = self._scalar(event) if isinstance(event, yaml.ScalarEvent) else None
        if name is None:
            raise YamlError(f"the names in an object must be texts{_at(event)}")
        if isinstance(name, bool):
            return "true" if name else "false"
        return str(name)

    def _scalar(self, event: Any) -> Any:
        tag = event.tag
        if tag is None or tag == "!":
            tag = self._loader.resolve(yaml.ScalarNode, event.value, event.implicit)
        else:
            _check_tag(event, _SCALARS)
        kind = tag.removeprefix(_TAG)
        if kind not in _SCALARS:
            raise YamlError(f"it must say no more than JSON can, and {kind} is more{_at(event)}")
        try:
            return self._read(kind, event)
        except YamlError:
            raise
        except (ValueError, ArithmeticError, yaml.YAMLError):
            raise YamlError(f"{event.value[:40]!r} must be of type {kind}{_at(event)}") from None

    def _read(self, kind: str, event: Any) -> Any:
        text: str = event.value
        node = yaml.ScalarNode(f"{_TAG}{kind}", text)
        match kind:
            case "null":
                return None
            case "bool":
                return self._loader.construct_yaml_bool(node)
            case "int" | "float" if ":" in text:
                return text  # not minutes and seconds: nobody else reads it so
            case "int":
                return _whole(self._loader.construct_yaml_int(node))
            case "float":
                return _finite(self._loader.construct_yaml_float(node))
            case "str" if event.implicit[0] and _NUMBER.fullmatch(text):
                return _finite(float(text))
            case "str" if event.implicit[0] and text in _SHORT:
                return _SHORT[text]
            case _:
                return text


def _whole(number: int) -> int | float:
    """Return a number as JSON would be read: not exactly, when it is too large for that."""
    return number if -(2**63) <= number < 2**64 else float(number)


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise YamlError("numbers must be finite: JSON has no other")
    return number


def _check_tag(event: Any, known: frozenset[str]) -> None:
    tag = event.tag
    if tag not in {None, "!"} and tag.removeprefix(_TAG) not in known:
        raise YamlError(f"it must say no more than JSON can, got the tag {tag[:40]!r}{_at(event)}")


def _at(event: Any) -> str:
    return f", in line {event.start_mark.line + 1}"
