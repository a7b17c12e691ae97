"""Types in, schemas out: one line a type."""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Annotated, Any, ClassVar, Literal, NewType

import msgspec
import pytest
from msgspec import UNSET, Meta, UnsetType

from stateward.kube.codec import Part
from stateward.kube.crd.fields import Field, Rule, definition, shaped
from stateward.kube.crd.problems import SchemaInvalid
from stateward.kube.crd.schema import schema_of
from stateward.kube.meta import Object

INTEGER = {"type": "integer", "format": "int64"}
TEXT = {"type": "string"}
EITHER = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "x-kubernetes-int-or-string": True,
}
OPEN = {"x-kubernetes-preserve-unknown-fields": True}

Address = NewType("Address", str)


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Leaf(Part):
    """A leaf.

    Only readers of the code see this.
    """

    pod_ip: str
    count: int = 0


class Ship(Object):
    spec: Leaf | None = None


LEAF = {
    "description": "A leaf.",
    "type": "object",
    "properties": {"podIP": TEXT, "count": INTEGER},
    "required": ["podIP"],
}


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (bool, {"type": "boolean"}),
        (int, INTEGER),
        (float, {"type": "number"}),
        (str, TEXT),
        (Address, TEXT),
        (int | str, EITHER),
        (Annotated[int, Meta(ge=0)] | str, EITHER | {"minimum": 0}),
        (Literal["a", "b"], TEXT | {"enum": ["a", "b"]}),
        (Literal[1, 2], INTEGER | {"enum": [1, 2]}),
        (Colour, TEXT | {"enum": ["red", "blue"]}),
        (Level, INTEGER | {"enum": [1, 2]}),
        (list[int], {"type": "array", "items": INTEGER}),
        (tuple[str, ...], {"type": "array", "items": TEXT}),
        (list[list[bool]], {"type": "array", "items": {"type": "array", "items": {"type": "boolean"}}}),
        (dict[str, int], {"type": "object", "additionalProperties": INTEGER}),
        (Leaf, LEAF),
        (list[Leaf], {"type": "array", "items": LEAF}),
        (Annotated[dict[str, Any], shaped(Leaf)], LEAF),
        (Annotated[dict[str, Any], shaped(Leaf), Field(description="So.")], LEAF | {"description": "So."}),
        (Annotated[Any, Field(preserve_unknown=True)], OPEN),
        (Annotated[dict[str, Any], Field(preserve_unknown=True)], {"type": "object"} | OPEN),
        (dict[str, Annotated[Any, Field(preserve_unknown=True)]], {"type": "object", "additionalProperties": OPEN}),
    ],
)  # fmt: skip
def test_a_type_has_a_schema(hint: Any, schema: dict[str, Any]) -> None:
    assert schema_of(hint) == schema


@pytest.mark.parametrize(
    ("hint", "added"),
    [
        (Annotated[int, Meta(ge=1, le=9)], {"minimum": 1, "maximum": 9}),
        (Annotated[int, Meta(gt=1, lt=9)], {"minimum": 1, "exclusiveMinimum": True, "maximum": 9, "exclusiveMaximum": True}),
        (Annotated[int, Meta(multiple_of=2)], {"multipleOf": 2}),
        (Annotated[str, Meta(min_length=1, max_length=9)], {"minLength": 1, "maxLength": 9}),
        (Annotated[str, Meta(pattern="^a$")], {"pattern": "^a$"}),
        (Annotated[list[str], Meta(min_length=1, max_length=9)], {"minItems": 1, "maxItems": 9}),
        (Annotated[dict[str, str], Meta(min_length=1, max_length=9)], {"minProperties": 1, "maxProperties": 9}),
        (Annotated[list[str], Field(min_items=1, max_items=9)], {"minItems": 1, "maxItems": 9}),
        (Annotated[dict[str, str], Field(min_properties=0, max_properties=9)], {"minProperties": 0, "maxProperties": 9}),
        (Annotated[int, Field(format="int32")], {"format": "int32"}),
        (Annotated[str, Field(format="date-time")], {"format": "date-time"}),
        (Annotated[int, Field(description="How many.")], {"description": "How many."}),
        (Annotated[Leaf, Field(description="This leaf.")], {"description": "This leaf."}),
        (Annotated[int, Field(default=0)], {"default": 0}),
        (Annotated[Colour, Field(default=Colour.RED)], {"default": "red"}),
        (Annotated[list[str], Field(default=("a",))], {"default": ["a"]}),
        (Annotated[list[str], Field(list_type="set")], {"x-kubernetes-list-type": "set"}),
        (Annotated[list[Leaf], Field(list_type="map", keys=("podIP",))], {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["podIP"]}),
        (Annotated[Leaf, Field(map_type="atomic")], {"x-kubernetes-map-type": "atomic"}),
        (Annotated[Leaf, Field(preserve_unknown=True)], OPEN),
        (Annotated[dict[str, Any], Field(embedded_resource=True)], OPEN | {"x-kubernetes-embedded-resource": True}),
        (Annotated[int, "somebody else's mark"], {}),
    ],
)  # fmt: skip
def test_a_mark_adds_to_the_schema(hint: Any, added: dict[str, Any]) -> None:
    plain = {} if hint.__origin__ == dict[str, Any] else schema_of(hint.__origin__)

    assert schema_of(hint).items() >= (plain | added).items()


def test_a_rule_says_only_what_it_was_told() -> None:
    rules = (
        Rule("self > 0", "must be positive"),
        Rule(
            "self >= oldSelf.orValue(0)",
            message_expression="'not ' + string(self)",
            reason="FieldValueForbidden",
            field_path=".count",
            optional_old_self=True,
        ),
    )

    assert schema_of(Annotated[int, Field(rules=rules)])["x-kubernetes-validations"] == [
        {"rule": "self > 0", "message": "must be positive"},
        {
            "rule": "self >= oldSelf.orValue(0)",
            "messageExpression": "'not ' + string(self)",
            "reason": "FieldValueForbidden",
            "fieldPath": ".count",
            "optionalOldSelf": True,
        },
    ]


def test_rules_of_the_class_come_before_those_of_the_field() -> None:
    class Ruled(Part):
        RULES: ClassVar[tuple[Rule, ...]] = (Rule("true", "class"),)

    schema = schema_of(Annotated[Ruled, Field(rules=(Rule("true", "field"),))])

    assert [rule["message"] for rule in schema["x-kubernetes-validations"]] == ["class", "field"]


def test_the_outermost_mark_wins() -> None:
    small = Annotated[int, Meta(le=9), Field(format="int32", description="Small.")]

    assert schema_of(Annotated[small, Meta(le=5), Field(description="Smaller.")]) == {
        "description": "Smaller.",
        "type": "integer",
        "format": "int32",
        "maximum": 5,
    }


def test_what_may_be_missing_is_not_required_and_never_null() -> None:
    class Optional(Part):
        must: int
        may: int = 7
        none: int | None = None
        unset: Annotated[str | UnsetType, Meta(max_length=3)] = UNSET
        marked: Annotated[int, Meta(ge=1)] | None = None
        both: int | str | None = None
        many: list[str] = []

    schema = schema_of(Optional)

    assert schema["required"] == ["must"]
    assert schema["properties"] == {
        "must": INTEGER,
        "may": INTEGER,
        "none": INTEGER,
        "unset": TEXT | {"maxLength": 3},
        "marked": INTEGER | {"minimum": 1},
        "both": EITHER,
        "many": {"type": "array", "items": TEXT},
    }


def test_a_python_default_is_no_promise() -> None:
    class Defaults(Part):
        filled: Annotated[int, Field(default=3)]
        ours: int = 3
        promised: Annotated[int, Field(default=3)] = 3

    properties = schema_of(Defaults)["properties"]

    assert [name for name, part in properties.items() if "default" in part] == [
        "filled",
        "promised",
    ]


def test_an_object_has_what_every_object_has() -> None:
    assert schema_of(Ship) == {
        "type": "object",
        "properties": {
            "apiVersion": TEXT,
            "kind": TEXT,
            "metadata": {"type": "object"},
            "spec": LEAF,
        },
    }


def test_an_object_inside_another_is_an_embedded_resource() -> None:
    class Outer(Part):
        inner: Ship | None = None

    inner = schema_of(Outer)["properties"]["inner"]

    assert inner["x-kubernetes-embedded-resource"] is True
    assert inner["properties"]["metadata"] == {"type": "object"}


class Tree(Part):
    children: list[Tree] = []


class Chain(Part):
    links: dict[str, Link] = {}


class Link(Part):
    chain: Chain | None = None


class Mixed(Part):
    wrong: int | list[str] = 0


class Open(Part):
    anything: dict[str, Any] = {}


class Missing(Part):
    maybe: int | None


class Liar(Part):
    size: Annotated[int, Field(default=3)] = 1


class Vague(Part):
    size: Annotated[int | None, Field(default=3)] = None


class Unset(Part):
    size: Annotated[int | UnsetType, Field(default=3)] = UNSET


class Arrayed(Part, array_like=True):
    one: int = 1


class Tagged(Part, tag="tagged"):
    one: int = 1


@pytest.mark.parametrize(
    ("hint", "path", "message"),
    [
        (Tree, "children[]", "must not contain Tree again, because a schema is finite"),
        (Chain, "links{}.chain", "must not contain Chain again, because a schema is finite"),
        (Mixed, "wrong", "must be of one type, not int | list[str]"),
        (int | bool, "", "must be of one type, not bool | int"),
        (Open, "anything", "must say what it holds, and dict[str, typing.Any] holds anything"),
        (Any, "", "must say what it holds, and Any holds anything"),
        (dict, "", "must say what it holds, and dict holds anything"),
        (list[Any], "[]", "must say what it holds, and Any holds anything"),
        (Missing, "maybe", "must have a default, because it may be missing"),
        (list[int | None], "[]", "must not be None"),
        (dict[str, str | None], "{}", "must not be None"),
        (Liar, "size", "must promise the default that Python has, 1, not 3"),
        (Vague, "size", "must promise the default that Python has, None, not 3"),
        (Unset, "size", "must promise the default that Python has, UNSET, not 3"),
        (Literal["a", 1], "", "must list texts only or whole numbers only, not ['a', 1]"),
        (Literal[True], "", "must list texts only or whole numbers only, not [True]"),
        (dict[int, str], "", "must be of a type that a schema can say, not dict[int, str]"),
        (tuple[int, str], "", "must be of a type that a schema can say, not tuple[int, str]"),
        (set[int], "", "must be of a type that a schema can say, not set[int]"),
        (bytes, "", "must be of a type that a schema can say, not bytes"),
        (msgspec.Raw, "", "must be of a type that a schema can say, not Raw"),
        (Arrayed, "", "must be a plain object; Arrayed is an array or has a tag"),
        (Tagged, "", "must be a plain object; Tagged is an array or has a tag"),
        (Annotated[str, shaped(Leaf)], "", "must be of type dict[str, Any] to have a shape; it is str"),
        (Annotated[int, Meta(title="Size")], "", "must not use Meta(title=...): it does not reach the schema"),
        (
            Annotated[str, definition("io.k8s.api.core.v1.PodSpec")],
            "",
            "must be of type dict[str, typing.Any], because io.k8s.api.core.v1.PodSpec is; it is str",
        ),
    ],
)  # fmt: skip
def test_what_a_schema_cannot_say_is_refused(hint: Any, path: str, message: str) -> None:
    with pytest.raises(SchemaInvalid) as caught:
        schema_of(hint)

    (problem,) = caught.value.problems
    assert (problem.path, problem.message) == (path, message)


def test_a_refusal_says_what_to_write_instead() -> None:
    with pytest.raises(SchemaInvalid) as caught:
        schema_of(Open)

    assert "Field(preserve_unknown=True)" in caught.value.sentence()
    assert "definition(name)" in caught.value.sentence()
