"""Label and field selectors: which objects somebody means, in kubectl's notation or as a document.

The cache, the embedded API server and our own controllers must agree about who is selected, so all
of them ask here. A selector is checked when it is made: one that can be held can be matched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Self

from stateward.core import naming

# A comma inside parentheses belongs to its term, so terms are scanned and never split.
_LABEL_TERM = re.compile(
    r"\s*(?:!\s*(?P<absent>[^\s=!,()]+)|(?P<key>[^\s=!,()]+)"
    r"(?:\s*(?P<sign>==?|!=)\s*(?P<value>[^\s=!,()]*)"
    r"|\s+(?P<word>in|notin)\s*\((?P<values>[^()]*)\))?)\s*"
)
_FIELD_PATH = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
_FIELD_TERM = re.compile(
    rf"\s*(?P<path>{_FIELD_PATH.pattern})\s*(?P<sign>==?|!=)(?P<value>(?:[^\\,=]|\\[\\,=])*)"
)
_SPECIAL = re.compile(r"[\\,=]")
_ESCAPED = re.compile(r"\\(.)")


class Operator(Enum):
    """What a requirement asks of a label. ``a=b`` is IN with one value, ``a!=b`` is NOT_IN."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    ABSENT = "DoesNotExist"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing that must be true of the labels. An object without the label passes NOT_IN."""

    key: str
    operator: Operator
    values: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if (problem := naming.label_key_problem(self.key)) is not None:
            raise ValueError(f"the key of a selector {problem}")
        for value in sorted(self.values):
            if (problem := naming.label_value_problem(value)) is not None:
                raise ValueError(f"the value of {self.key} in a selector {problem}")
        takes_values = self.operator in {Operator.IN, Operator.NOT_IN}
        if takes_values != bool(self.values):
            amount = "at least one value" if takes_values else "no values"
            raise ValueError(f"{self.operator.value} must have {amount}, for {self.key}")

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether the labels meet the requirement."""
        match self.operator:
            case Operator.IN:
                return labels.get(self.key) in self.values
            case Operator.NOT_IN:
                return labels.get(self.key) not in self.values
            case Operator.EXISTS:
                return self.key in labels
            case Operator.ABSENT:
                return self.key not in labels

    def __str__(self) -> str:
        match self.operator:
            case Operator.EXISTS:
                return self.key
            case Operator.ABSENT:
                return f"!{self.key}"
            case Operator.IN | Operator.NOT_IN:
                among = self.operator is Operator.IN
        if len(self.values) == 1:
            return f"{self.key}{'=' if among else '!='}{next(iter(self.values))}"
        return f"{self.key} {'in' if among else 'notin'} ({','.join(sorted(self.values))})"


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """Requirements that must all be met; none of them means every object.

    >>> selector = LabelSelector.parse("app=shop, tier in (web,cache), !canary")
    >>> selector.matches({"app": "shop", "tier": "web"}), str(selector)
    (True, 'app=shop,tier in (cache,web),!canary')
    """

    requirements: tuple[Requirement, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read kubectl's notation; empty text selects everything, broken text is a ValueError."""
        shape = "a label selector must look like 'a=b,c!=d,e in (x,y),f notin (z),g,!h'"
        return cls(tuple(map(_label_requirement, _terms(text, _LABEL_TERM, shape))))

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """Read ``{matchLabels, matchExpressions}``: an empty one selects everything, None nothing.

        A member of another name raises ValueError: to skip it would select more than was meant.
        """
        if document is None:
            return cls(_IMPOSSIBLE)
        if not isinstance(document, Mapping):
            what = type(document).__name__
            raise ValueError(f"a label selector must be an object, got {what}")  # noqa: TRY004
        if unknown := set(document) - {"matchLabels", "matchExpressions"}:
            raise ValueError(
                f"a label selector must have matchLabels or matchExpressions, got {sorted(unknown)}"
            )
        equal = _from_labels(document.get("matchLabels"))
        expressed = _from_expressions(document.get("matchExpressions"))
        return cls((*equal, *expressed))

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether an object with these labels is selected."""
        return all(requirement.matches(labels) for requirement in self.requirements)

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


#: Selects every object.
EVERYTHING = LabelSelector()

# A contradiction selects nothing, and unlike a flag it still does after a trip as text.
_IMPOSSIBLE = (Requirement("nothing", Operator.EXISTS), Requirement("nothing", Operator.ABSENT))


@dataclass(frozen=True, slots=True)
class FieldRequirement:
    """A field, named by its dotted path, that must be equal to a text, or must not be."""

    path: str
    value: str
    equal: bool = True

    def __post_init__(self) -> None:
        if not _FIELD_PATH.fullmatch(self.path):
            raise ValueError(f"a field path must look like 'metadata.name', got {self.path!r}")

    def matches(self, document: Mapping[str, Any]) -> bool:
        """Tell whether the document meets the requirement."""
        return (_field_text(document, self.path) == self.value) is self.equal

    def __str__(self) -> str:
        value = _SPECIAL.sub(r"\\\g<0>", self.value)
        return f"{self.path}{'=' if self.equal else '!='}{value}"


@dataclass(frozen=True, slots=True)
class FieldSelector:
    r"""Fields of the whole document that must all be as said; none of them means every object.

    A field that is missing is the empty text. In a value, ``,`` ``=`` and ``\`` follow a backslash.

    >>> FieldSelector.parse("metadata.name=a,spec.nodeName!=").matches({"metadata": {"name": "a"}})
    False
    """

    requirements: tuple[FieldRequirement, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read kubectl's notation; empty text selects everything, broken text is a ValueError."""
        shape = "a field selector must look like 'metadata.name=a,spec.nodeName!=b'"
        return cls(tuple(map(_field_requirement, _terms(text, _FIELD_TERM, shape))))

    def matches(self, document: Mapping[str, Any]) -> bool:
        """Tell whether the document is selected."""
        return all(requirement.matches(document) for requirement in self.requirements)

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


def _terms(text: str, term: re.Pattern[str], shape: str) -> Iterator[re.Match[str]]:
    position = 0 if text.strip() else len(text) + 1
    while position <= len(text):
        found = term.match(text, position)
        if found is None or text[found.end() : found.end() + 1] not in {"", ","}:
            raise ValueError(f"{shape}, got {text!r}")
        yield found
        position = found.end() + 1


def _label_requirement(term: re.Match[str]) -> Requirement:
    if term["absent"]:
        return Requirement(term["absent"], Operator.ABSENT)
    if term["sign"]:
        operator = Operator.NOT_IN if term["sign"] == "!=" else Operator.IN
        return Requirement(term["key"], operator, frozenset({term["value"]}))
    if term["word"]:
        operator = Operator.IN if term["word"] == "in" else Operator.NOT_IN
        values = frozenset(value.strip() for value in term["values"].split(","))
        return Requirement(term["key"], operator, values)
    return Requirement(term["key"], Operator.EXISTS)


def _from_labels(labels: Any) -> Iterator[Requirement]:
    match labels:
        case None:
            return
        case Mapping() if _all_text(labels) and _all_text(labels.values()):
            # Sorted, because the order of an object's members must not make another selector.
            for key in sorted(labels):
                yield Requirement(key, Operator.IN, frozenset({labels[key]}))
        case _:
            raise ValueError(f"matchLabels must map names to text, got {labels!r}")


def _from_expressions(expressions: Any) -> Iterator[Requirement]:
    match expressions:
        case None:
            return
        case list() | tuple():
            yield from map(_expressed, expressions)
        case _:
            raise ValueError(f"matchExpressions must be a list, got {expressions!r}")


def _expressed(expression: Any) -> Requirement:
    match expression:
        case {"key": str(key), "operator": str(name), **rest}:
            return Requirement(key, _operator(name), _values(rest.get("values")))
        case _:
            raise ValueError(f"an expression must have a key and an operator, got {expression!r}")


def _operator(name: str) -> Operator:
    names = [operator.value for operator in Operator]
    if name not in names:
        raise ValueError(f"operator must be one of {', '.join(names)}, got {name!r}")
    return Operator(name)


def _values(values: Any) -> frozenset[str]:
    match values:
        case None:
            return frozenset()
        case list() | tuple() if _all_text(values):
            return frozenset(values)
        case _:
            raise ValueError(f"values must be a list of text, got {values!r}")


def _all_text(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _field_requirement(term: re.Match[str]) -> FieldRequirement:
    value = _ESCAPED.sub(r"\1", term["value"])
    return FieldRequirement(term["path"], value, equal=term["sign"] != "!=")


def _field_text(document: Any, path: str) -> str:
    for name in path.split("."):
        document = document.get(name) if isinstance(document, Mapping) else None
    match document:
        case bool():
            return str(document).lower()
        case str() | int():
            return str(document)
        case _:
            return ""
