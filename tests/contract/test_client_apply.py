"""Server-side apply: who owns which field, what that protects, and what becomes of fields left out."""

from __future__ import annotations

from typing import Any

import pytest

from contract.backends import Kube
from contract.widgets import WIDGETS, Widget
from contract.words import config_map, key, names, shown, stateful_set, whole, widget
from stateward.kube.client import Apply, MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import BadRequest, Conflict, Invalid, NotFound
from stateward.kube.meta import is_newer
from stateward.kube.resources import CONFIG_MAPS, STATEFUL_SETS


async def applied(
    kube: Kube, spec: Json | None, by: str = "us", *, force: bool = False, **metadata: Any
) -> Widget:
    """Apply the widget ``a``."""
    body = widget(kube, "a", spec, **metadata)
    return await kube.client.patch(WIDGETS, key(kube, "a"), Apply(body, by, force))


async def owners(kube: Kube, resource: Any = WIDGETS) -> dict[tuple[str, str], Json]:
    """Return what everybody owns of ``a``."""
    found = await kube.client.get(whole(resource), key(kube, "a"))
    return {
        (it["manager"], it["operation"]): it["fieldsV1"] for it in found.metadata.managed_fields
    }


# ------------------------------------------------------------------ one applier
async def test_what_is_not_there_is_created(kube: Kube) -> None:
    made = await applied(kube, {"size": 1}, labels={"app": "shop"})

    assert (made.metadata.name, made.metadata.generation) == ("a", 1)
    assert made.metadata.uid
    assert made.spec == {"size": 1}
    assert await owners(kube) == {
        ("us", "Apply"): {"f:metadata": {"f:labels": {"f:app": {}}}, "f:spec": {"f:size": {}}}
    }


async def test_applied_again_it_writes_nothing(kube: Kube) -> None:
    spec = {
        "size": 1,
        "tags": ["x"],
        "parts": [{"name": "p"}],
        "words": ["w"],
        "limits": {"a": "b"},
    }
    made = await applied(kube, spec)

    assert await applied(kube, spec) == made


async def test_applied_otherwise_it_changes(kube: Kube) -> None:
    made = await applied(kube, {"size": 1})

    now = await applied(kube, {"size": 2})

    assert now.spec == {"size": 2}
    assert now.metadata.generation == 2
    assert is_newer(now.metadata.resource_version, than=made.metadata.resource_version)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"size": 1, "words": ["w"]}, {"size": 1}),
        ({"size": 1, "backup": {"store": "s"}}, {"size": 1}),
        ({"backup": {"store": "s", "keep": "k"}}, {"backup": {"keep": "k"}}),
        ({"limits": {"a": "1", "b": "2"}}, {"limits": {"b": "2"}}),
        ({"size": 1, "limits": {"a": "1"}}, {"size": 1}),
        ({"tags": ["a", "b"]}, {"tags": ["b"]}),
        ({"size": 1, "tags": ["a", "b"]}, {"size": 1}),
        ({"parts": [{"name": "a"}, {"name": "b"}]}, {"parts": [{"name": "b"}]}),
        ({"size": 1, "parts": [{"name": "a", "color": "red"}]}, {"size": 1}),
        ({"parts": [{"name": "a", "color": "red"}]}, {"parts": [{"name": "a"}]}),
        ({"size": 1, "origin": {"host": "h"}}, {"size": 1}),
        ({"origin": {"host": "h", "path": "p"}}, {"origin": {"host": "h"}}),
        ({"size": 1}, {"size": 2, "words": ["w"]}),
    ],
    ids=shown,
)
async def test_what_is_no_longer_applied_goes(kube: Kube, before: Json, after: Json) -> None:
    await applied(kube, before)

    now = await applied(kube, after)

    assert now.spec == after


async def test_when_nothing_is_left_of_it_a_whole_branch_goes(kube: Kube) -> None:
    await applied(kube, {"backup": {"store": "s"}}, labels={"app": "shop"})

    now = await kube.client.patch(whole(WIDGETS), key(kube, "a"), Apply(widget(kube, "a"), "us"))

    assert now.spec == {}
    assert now.metadata.labels == {}
    assert now.metadata.managed_fields == ()


async def test_an_empty_branch_is_something(kube: Kube) -> None:
    made = await applied(kube, {"backup": {}})

    assert made.spec == {"backup": {}}
    assert await owners(kube) == {("us", "Apply"): {"f:spec": {"f:backup": {}}}}


# ------------------------------------------------------------------ several of them
async def test_two_may_look_after_one_object(kube: Kube) -> None:
    await applied(kube, {"size": 1}, "us")

    both = await applied(kube, {"backup": {"store": "s"}}, "them")
    less = await applied(kube, None, "us")

    assert both.spec == {"size": 1, "backup": {"store": "s"}}
    assert less.spec == {"backup": {"store": "s"}}


async def test_another_value_is_a_conflict(kube: Kube) -> None:
    made = await applied(kube, {"size": 1, "limits": {"a": "1"}}, "us")

    with pytest.raises(Conflict) as refusal:
        await applied(kube, {"size": 2, "limits": {"a": "2", "b": "2"}}, "them")

    causes = sorted((c.reason, c.field, c.message) for c in refusal.value.causes)
    assert causes == [
        ("FieldManagerConflict", ".spec.limits.a", 'conflict with "us"'),
        ("FieldManagerConflict", ".spec.size", 'conflict with "us"'),
    ]
    assert str(refusal.value).startswith("Apply failed with 2 conflicts: ")
    assert await kube.client.get(WIDGETS, key(kube, "a")) == made


async def test_a_conflict_with_a_writer_who_does_not_apply(kube: Kube) -> None:
    await kube.rival.create(WIDGETS, widget(kube, "a", {"size": 1}))

    with pytest.raises(Conflict) as refusal:
        await applied(kube, {"size": 2}, "us")

    version = WIDGETS.api_version
    assert [c.message for c in refusal.value.causes] == [f'conflict with "rival" using {version}']
    assert str(refusal.value).startswith("Apply failed with 1 conflict: ")


async def test_whoever_updates_and_applies_is_two(kube: Kube) -> None:
    await kube.client.create(WIDGETS, widget(kube, "a", {"size": 1}))

    with pytest.raises(Conflict):
        await applied(kube, {"size": 2}, "stateward")


async def test_force_takes_the_field_away(kube: Kube) -> None:
    await applied(kube, {"size": 1, "words": ["w"]}, "us")

    now = await applied(kube, {"size": 2}, "them", force=True)

    assert now.spec == {"size": 2, "words": ["w"]}
    assert await owners(kube) == {
        ("us", "Apply"): {"f:spec": {"f:words": {}}},
        ("them", "Apply"): {"f:spec": {"f:size": {}}},
    }


async def test_whoever_lost_a_field_cannot_remove_it(kube: Kube) -> None:
    await applied(kube, {"size": 1, "words": ["w"]}, "us")
    await applied(kube, {"size": 2}, "them", force=True)

    now = await applied(kube, {"words": ["w"]}, "us")

    assert now.spec == {"size": 2, "words": ["w"]}


async def test_the_same_value_is_shared(kube: Kube) -> None:
    made = await applied(kube, {"size": 1}, "us")

    shared = await applied(kube, {"size": 1}, "them")

    assert shared.spec == {"size": 1}
    assert shared.metadata.generation == made.metadata.generation
    assert set(await owners(kube)) == {("us", "Apply"), ("them", "Apply")}


async def test_a_shared_field_stays_until_the_last_owner_lets_go(kube: Kube) -> None:
    await applied(kube, {"size": 1, "words": ["w"]}, "us")
    await applied(kube, {"size": 1}, "them")

    one = await applied(kube, {"words": ["w"]}, "us")
    none = await applied(kube, None, "them")

    assert one.spec == {"size": 1, "words": ["w"]}
    assert none.spec == {"words": ["w"]}


async def test_a_shared_field_is_changed_by_nobody_alone(kube: Kube) -> None:
    await applied(kube, {"size": 1}, "us")
    await applied(kube, {"size": 1}, "them")

    with pytest.raises(Conflict):
        await applied(kube, {"size": 2}, "us")


async def test_an_update_takes_what_it_changes(kube: Kube) -> None:
    await applied(kube, {"size": 1, "words": ["w"]}, "us")
    await kube.rival.patch(WIDGETS, key(kube, "a"), MergePatch({"spec": {"size": 2}}))

    assert await owners(kube) == {
        ("us", "Apply"): {"f:spec": {"f:words": {}}},
        ("rival", "Update"): {"f:spec": {"f:size": {}}},
    }
    with pytest.raises(Conflict):
        await applied(kube, {"size": 1, "words": ["w"]}, "us")


async def test_an_update_may_remove_what_others_applied(kube: Kube) -> None:
    await applied(kube, {"size": 1, "words": ["w"]}, "us")
    await kube.rival.patch(WIDGETS, key(kube, "a"), MergePatch({"spec": {"size": None}}))

    assert await owners(kube) == {("us", "Apply"): {"f:spec": {"f:words": {}}}}
    again = await applied(kube, {"size": 1, "words": ["w"]}, "us")
    assert again.spec == {"size": 1, "words": ["w"]}


async def test_what_an_update_made_is_not_removed_by_an_apply(kube: Kube) -> None:
    await kube.rival.create(WIDGETS, widget(kube, "a", {"backup": {"store": "s"}}))
    await applied(kube, {"backup": {"store": "s", "keep": "k"}}, "us")

    now = await applied(kube, None, "us")

    assert now.spec == {"backup": {"store": "s"}}


async def test_a_branch_stays_as_long_as_its_maker_wants_it(kube: Kube) -> None:
    await kube.rival.create(WIDGETS, widget(kube, "a", {"backup": {"store": "s"}}))
    remove = MergePatch({"spec": {"backup": {"store": None}}})

    now = await kube.client.patch(WIDGETS, key(kube, "a"), remove)

    assert now.spec == {"backup": {}}


async def test_what_nobody_owns_may_be_taken(kube: Kube) -> None:
    await applied(kube, {"size": 1}, "us")
    await applied(kube, {"words": ["w"]}, "us")

    now = await applied(kube, {"size": 7}, "them")

    assert now.spec == {"size": 7, "words": ["w"]}


async def test_taking_over_from_an_update_with_force(kube: Kube) -> None:
    await kube.client.create(WIDGETS, widget(kube, "a", {"size": 1, "words": ["w"]}))

    now = await applied(kube, {"size": 2}, "stateward", force=True)
    later = await applied(kube, {"size": 3}, "stateward")

    assert (now.spec, later.spec) == (
        {"size": 2, "words": ["w"]},
        {"size": 3, "words": ["w"]},
    )


async def test_what_was_created_can_be_called_applied(kube: Kube) -> None:
    """So whoever must not write over another's object creates its own, and applies from then on."""
    made = await kube.client.create(whole(WIDGETS), widget(kube, "a", {"size": 1, "color": "red"}))
    (entry,) = made.metadata.managed_fields
    revision = made.metadata.resource_version
    fields = [entry | {"operation": "Apply"}]
    told = {"metadata": {"resourceVersion": revision, "managedFields": fields}}
    await kube.client.patch(WIDGETS, key(kube, "a"), MergePatch(told))

    assert (await applied(kube, {"size": 1}, by=entry["manager"])).spec == {"size": 1}
    assert list(await owners(kube)) == [(entry["manager"], "Apply")]


# ------------------------------------------------------------------ conditions of an apply
async def test_a_revision_in_it_must_be_the_newest(kube: Kube) -> None:
    made = await applied(kube, {"size": 1})
    await applied(kube, {"size": 2})

    with pytest.raises(Conflict):
        await applied(kube, {"size": 3}, resourceVersion=made.metadata.resource_version)
    now = await kube.client.get(WIDGETS, key(kube, "a"))
    later = await applied(kube, {"size": 3}, resourceVersion=now.metadata.resource_version)

    assert later.spec == {"size": 3}


async def test_a_uid_in_it_must_be_the_right_one(kube: Kube) -> None:
    made = await applied(kube, {"size": 1})

    with pytest.raises(Invalid):
        await applied(kube, {"size": 2}, uid="another")

    assert (await applied(kube, {"size": 1}, uid=made.metadata.uid)) == made


async def test_with_a_uid_it_creates_nothing(kube: Kube) -> None:
    with pytest.raises(Conflict):
        await applied(kube, {"size": 1}, uid="the-one-of-yesterday")

    assert await names(kube, WIDGETS) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"metadata": {"name": "b"}},
        {"metadata": {"namespace": "nowhere"}},
        {"metadata": {"managedFields": []}},
        {"kind": "Gadget"},
        {"apiVersion": "contract.stateward.example/v2"},
    ],
    ids=shown,
)
async def test_nonsense(kube: Kube, wrong: Json) -> None:
    body = widget(kube, "a", {"size": 1})
    metadata = body["metadata"] | wrong.get("metadata", {})

    with pytest.raises(BadRequest):
        await kube.client.patch(
            WIDGETS, key(kube, "a"), Apply(body | wrong | {"metadata": metadata}, "us")
        )

    assert await names(kube, WIDGETS) == []


async def test_an_apply_is_as_careful_as_a_create(kube: Kube) -> None:
    with pytest.raises(Invalid):
        await applied(kube, {"size": 1}, labels={"a": "b c"})
    made = await applied(kube, {"size": 1})
    with pytest.raises(Invalid):
        await applied(kube, {"size": 1}, labels={"a": "b c"})

    assert await kube.client.get(WIDGETS, key(kube, "a")) == made


async def test_once_it_is_there_its_name_may_be_left_out(kube: Kube) -> None:
    nameless = Apply({"metadata": {}, "spec": {"size": 1}}, "us")

    with pytest.raises(BadRequest):
        await kube.client.patch(WIDGETS, key(kube, "a"), nameless)
    made = await applied(kube, {"size": 1})

    assert await kube.client.patch(WIDGETS, key(kube, "a"), nameless) == made


# ------------------------------------------------------------------ both doors
async def test_applied_at_the_main_door_there_is_no_status(kube: Kube) -> None:
    body = widget(kube, "a", {"size": 1}) | {"status": {"phase": "Ready"}}

    for _ in range(2):
        now = await kube.client.patch(WIDGETS, key(kube, "a"), Apply(body, "us"))
        assert now.status == {}

    assert await owners(kube) == {("us", "Apply"): {"f:spec": {"f:size": {}}}}


async def test_applied_at_the_status_door_there_is_nothing_else(kube: Kube) -> None:
    made = await applied(kube, {"size": 1})
    body = widget(kube, "a", {"size": 2}) | {"status": {"phase": "Ready"}}
    status = Apply(body, "us")

    now = await kube.client.patch(whole(WIDGETS), key(kube, "a"), status, subresource="status")
    again = await kube.client.patch(whole(WIDGETS), key(kube, "a"), status, subresource="status")

    assert (now.spec, now.status) == ({"size": 1}, {"phase": "Ready"})
    assert now.metadata.generation == made.metadata.generation
    assert again == now
    entry = next(it for it in now.metadata.managed_fields if it.get("subresource") == "status")
    assert entry["fieldsV1"] == {"f:status": {"f:phase": {}}}


async def test_a_status_no_longer_applied_goes(kube: Kube) -> None:
    await applied(kube, {"size": 1})

    async def told(status: Json) -> Widget:
        body = Apply(widget(kube, "a") | {"status": status}, "us")
        return await kube.client.patch(WIDGETS, key(kube, "a"), body, subresource="status")

    await told({"phase": "Ready", "conditions": [{"type": "A", "status": "True"}]})
    now = await told({"phase": "Ready"})

    assert now.status == {"phase": "Ready"}


async def test_the_status_of_nothing(kube: Kube) -> None:
    body = Apply(widget(kube, "a") | {"status": {"phase": "Ready"}}, "us")

    with pytest.raises(NotFound):
        await kube.client.patch(WIDGETS, key(kube, "a"), body, subresource="status")


async def test_appliers_of_different_doors_do_not_meet(kube: Kube) -> None:
    await applied(kube, {"size": 1}, "us")
    body = Apply(widget(kube, "a") | {"status": {"phase": "Ready"}}, "us")
    await kube.client.patch(WIDGETS, key(kube, "a"), body, subresource="status")

    now = await applied(kube, {"size": 2}, "us")

    assert (now.spec, now.status) == ({"size": 2}, {"phase": "Ready"})


# ------------------------------------------------------------------ built-in kinds
async def test_a_config_map_is_shared_key_by_key(kube: Kube) -> None:
    async def told(data: Json | None, by: str) -> Any:
        body = Apply(config_map(kube, "a", data), by)
        return await kube.client.patch(CONFIG_MAPS, key(kube, "a"), body)

    await told({"x": "1"}, "us")
    await told({"y": "1"}, "them")
    with pytest.raises(Conflict):
        await told({"y": "1", "x": "2"}, "them")
    now = await told(None, "us")

    assert now.data == {"y": "1"}


async def test_a_selector_belongs_to_one(kube: Kube) -> None:
    body = stateful_set(kube, "a")
    await kube.client.patch(STATEFUL_SETS, key(kube, "a"), Apply(body, "us"))
    body["spec"]["selector"]["matchLabels"]["more"] = "b"

    with pytest.raises(Conflict) as refusal:
        await kube.client.patch(STATEFUL_SETS, key(kube, "a"), Apply(body, "them"))

    assert [c.field for c in refusal.value.causes] == [".spec.selector"]
