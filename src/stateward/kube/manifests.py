"""Manifests as people write them: YAML documents, and what is wrong with them, said with line and
place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import yaml

from stateward.core.errors import UsageError
from stateward.kube.codec import Json
from stateward.kube.structure import Shape, Structure


@dataclass(frozen=True, slots=True)
class Manifest:
    """One document and where it begins."""

    body: Json
    source: str
    line: int

    def __str__(self) -> str:
        metadata = self.body.get("metadata")
        name = metadata.get("name", "?") if isinstance(metadata, dict) else "?"
        return f"{self.source}:{self.line} {self.body.get('kind', '?')} {name}"


def read(text: str, source: str) -> list[Manifest]:
    """Return the documents of a YAML text.

    Raise UsageError, with line and column, when it is not one.
    """
    loader = yaml.CSafeLoader(text)
    found: list[Manifest] = []
    try:
        while (node := loader.get_node() if loader.check_node() else None) is not None:
            _refuse_repeats(node, source)
            body = loader.construct_document(node)
            if body is None:
                continue  # nothing between two separators
            found.append(Manifest(_an_object(body, source, node), source, node.start_mark.line + 1))
    except yaml.YAMLError as error:
        raise UsageError(f"{source}{_place(error)}: {_complaint(error)}", hint=_YAML_HINT) from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{source}: the YAML cannot be read: {error}", hint=_YAML_HINT) from None
    finally:
        loader.dispose()
    return found


def unknown_fields(value: Any, structure: Structure, path: str = "") -> Iterator[str]:
    """Yield a sentence for every field that the schema does not know, with the name that was
    probably meant.
    """
    match structure.shape, value:
        case ((Shape.STRUCT | Shape.ATOMIC_MAP | Shape.MAP), dict()):
            for name, inner in value.items():
                below = structure.child(name)
                where = f"{path}.{name}" if path else name
                if below is None:
                    yield _unknown(where, name, structure)
                else:
                    yield from unknown_fields(inner, below, where)
        case ((Shape.LIST_ATOMIC | Shape.LIST_MAP | Shape.LIST_SET), list()):
            for number, inner in enumerate(value):
                if structure.items is not None:
                    yield from unknown_fields(inner, structure.items, f"{path}[{number}]")
        case _:
            return


_YAML_HINT = "mend the file; `kubectl create --dry-run=client -o yaml ...` writes a correct one"


def _an_object(body: Any, source: str, node: yaml.Node) -> Json:
    if not isinstance(body, dict):
        raise UsageError(
            f"{source}:{node.start_mark.line + 1}: a manifest must be an object with apiVersion"
            f" and kind, got {type(body).__name__}",
            hint=_YAML_HINT,
        )
    return body


def _refuse_repeats(root: yaml.Node, source: str) -> None:
    """Raise UsageError for a key that is there twice: YAML takes the last and says nothing."""
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue  # an alias may lead back to where it is
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            _refuse_repeat(node, source)
            waiting += [it for pair in node.value for it in pair]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value


def _refuse_repeat(mapping: yaml.MappingNode, source: str) -> None:
    keys: set[tuple[str, str]] = set()
    for key, _ in mapping.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        if (key.tag, key.value) in keys:
            mark = key.start_mark
            raise UsageError(
                f"{source}:{mark.line + 1}:{mark.column + 1}: {key.value} must be given once,"
                " and is there twice",
                hint="take one of them out",
            )
        keys.add((key.tag, key.value))


def _place(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""


def _complaint(error: yaml.YAMLError) -> str:
    problem = getattr(error, "problem", None) or str(error)
    return f"the YAML is broken: {' '.join(str(problem).split())}"


def _unknown(where: str, name: str, structure: Structure) -> str:
    close = get_close_matches(name, structure.names, n=1)
    suggestion = f"; did you mean {close[0]}?" if close else ""
    return f"{where}: there is no such field{suggestion}"
