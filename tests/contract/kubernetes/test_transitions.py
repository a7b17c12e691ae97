"""Rules that look back, and what is let pass because it was so before."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.custom import (
    NUMBER,
    TEXT,
    Json,
    as_set,
    defined,
    definition,
    fields,
    keyed,
    listed,
    mapped,
    own_group,
    ruled,
    things,
    version,
    whole,
)
from contract.kubernetes.wire import Wire

FROZEN = ruled(NUMBER, "self == oldSelf", message="not so")
RISING = ruled(NUMBER, "self >= oldSelf", message="not so")
ITEM = ruled(
    fields(k=TEXT, n=NUMBER) | {"required": ["k"]}, "self.n >= oldSelf.n", message="not so"
)
ITEMS = keyed("k", k=TEXT, n=NUMBER) | {"items": ITEM, "maxItems": 5}
FEWER = ruled(as_set(TEXT | {"maxLength": 5}), "self.all(x, x in oldSelf)", message="not so")
ONCE = ruled(fields(a=NUMBER, b=NUMBER), "!has(oldSelf.a) || has(self.a)", message="not so")
STEPS = ruled(NUMBER, "self == oldSelf.orValue(0) + 1", message="not so", optionalOldSelf=True)
NOTHING: Any = object()


@pytest.mark.parametrize(
    ("schema", "before", "after", "refused_at"),
    [
        (FROZEN, 1, 2, "spec.v"),
        (FROZEN, 1, 1, None),
        (FROZEN, NOTHING, 2, None),
        (FROZEN, 1, NOTHING, None),
        (ONCE, {"a": 1}, {"b": 1}, "spec.v"),
        (ONCE, {"a": 1}, {"a": 2}, None),
        (mapped(RISING, maxProperties=5), {"a": 2}, {"a": 1}, "spec.v[a]"),
        (mapped(RISING, maxProperties=5), {"a": 2}, {"b": 0}, None),
        (ITEMS, [{"k": "a", "n": 2}], [{"k": "b", "n": 0}, {"k": "a", "n": 1}], "spec.v[1]"),
        (ITEMS, [{"k": "a", "n": 2}], [{"k": "b", "n": 0}, {"k": "a", "n": 3}], None),
        (FEWER, ["a", "b"], ["b"], None),
        (FEWER, ["a", "b"], ["c"], "spec.v"),
        (STEPS, 1, 2, None),
        (STEPS, 1, 3, "spec.v"),
        (STEPS, NOTHING, 2, "spec.v"),
        (STEPS, NOTHING, 1, None),
    ],
    ids=[
        *("frozen", "same", "set first", "taken away", "lost", "kept", "value of a map"),
        *("other key", "item by key", "new item", "smaller set", "other set"),
        *("step", "two steps", "odd beginning", "beginning"),
    ],
)
async def test_a_rule_looks_back(
    wire: Wire, schema: Json, before: Any, after: Any, refused_at: str | None
) -> None:
    async with things(wire, fields(v=schema)) as kind:
        await kind.made({} if before is NOTHING else {"v": before})
        spec = {} if after is NOTHING else {"v": after}

        answer = await wire.patch(
            kind.at("a"), [{"op": "replace", "path": "/spec", "value": spec}], "json"
        )

        if refused_at is None:
            answer.ok()
        else:
            answer.refused(422, "Invalid", f"FieldValueInvalid {refused_at}", says="not so")


async def test_a_rule_that_looks_back_is_not_asked_of_what_is_new(wire: Wire) -> None:
    async with things(wire, fields(v=ruled(NUMBER, "self > oldSelf"))) as kind:
        await kind.made({"v": 1})


async def test_a_rule_may_be_asked_of_what_is_new(wire: Wire) -> None:
    async with things(wire, fields(v=STEPS)) as kind:
        (await kind.post({"v": 2})).refused(422, "Invalid", "FieldValueInvalid spec.v")
        await kind.made({"v": 1})


@pytest.mark.parametrize(
    "schema", [listed(FROZEN, maxItems=5), listed(fields(n=FROZEN), maxItems=5)]
)
async def test_items_without_keys_have_no_past(wire: Wire, schema: Json) -> None:
    document = definition(own_group(), version(whole(fields(v=schema))))

    answer = await wire.post("customresourcedefinitions", document, dryRun="All")

    answer.refused(422, "Invalid", says="oldSelf cannot be used on the uncorrelatable portion")


async def test_rules_of_a_status_are_asked_when_it_is_written(wire: Wire) -> None:
    status = ruled(fields(n=NUMBER), "self.n > 1", message="not so")
    terms = {"subresources": {"status": {}}}
    async with defined(wire, version(whole(fields(a=NUMBER), status), **terms)) as kind:
        made = await wire.post(kind.at(), kind.body(spec={"a": 1}, status={"n": 0}))
        place = f"{kind.at('a')}/status"

        low = await wire.patch(place, {"status": {"n": 1}})
        high = (await wire.patch(place, {"status": {"n": 2}, "spec": {"a": 9}})).ok()

        assert made.made()["status"] is None
        low.refused(422, "Invalid", "FieldValueInvalid status", says="not so")
        assert (high["status"], high["spec"]) == ({"n": 2}, {"a": 1})


# ------------------------------------------------------------------ what was so before
LONG = TEXT | {"maxLength": 50}
SHORT = TEXT | {"maxLength": 2}
LOOSE = fields(
    a=LONG, b=LONG, l=listed(LONG, maxItems=5), k=keyed("k", k=TEXT, n=LONG), o=fields(x=LONG)
)
TIGHT = fields(
    a=SHORT,
    b=LONG,
    l=listed(SHORT, maxItems=5),
    k=keyed("k", k=TEXT, n=SHORT),
    o=ruled(fields(x=LONG), "self.x == 'no'", message="not so"),
)


@pytest.mark.parametrize(
    ("change", "refused_at"),
    [
        ({"b": "anything"}, None),
        ({"a": "ok"}, None),
        ({"a": "other"}, "FieldValueTooLong spec.a"),
        ({"l": ["long", "x"]}, None),
        ({"l": ["long", "y"]}, "FieldValueTooLong spec.l[0]"),
        ({"k": [{"k": "b"}, {"k": "a", "n": "long"}]}, None),
        ({"k": [{"k": "a", "n": "longer"}]}, "FieldValueTooLong spec.k[0].n"),
        ({"o": {"x": "other"}}, "FieldValueInvalid spec.o"),
    ],
    ids=str,
)
async def test_what_was_so_before_is_let_pass(
    wire: Wire, change: Json, refused_at: str | None
) -> None:
    async with things(wire, LOOSE) as kind:
        k = [{"k": "a", "n": "long"}]
        await kind.made({"a": "long", "l": ["long", "x"], "k": k, "o": {"x": "long"}})
        (await kind.redefine(version(whole(TIGHT)))).ok()
        await kind.refuses({"a": "long"})

        answer = await kind.change(change)

        if refused_at is None:
            answer.ok()
        else:
            assert refused_at in answer.refused(422, "Invalid").causes
