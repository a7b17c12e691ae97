"""Server-side apply in lists: items told apart by keys, by value, or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from contract.backends import Kube
from contract.widgets import WIDGETS, Widget
from contract.words import config_map, deployment, key, owner, service, stateful_set, whole, widget
from fakes.names import named
from stateward.kube.client import Apply, JsonPatch, MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import Conflict, ServerFailed
from stateward.kube.resources import CONFIG_MAPS, DEPLOYMENTS, SERVICES, STATEFUL_SETS


async def applied(kube: Kube, spec: Json | None, by: str = "us", *, force: bool = False) -> Widget:
    body = Apply(widget(kube, "a", spec), by, force)
    return await kube.client.patch(WIDGETS, key(kube, "a"), body)


def parts(words: str) -> list[Json]:
    """Return the parts that a picture shows: ``"a b=red"`` is one without a color and one with."""
    pairs = [word.partition("=") for word in words.split()]
    return [{"name": name, **({"color": color} if color else {})} for name, _, color in pairs]


def drawn(items: list[Json]) -> str:
    return " ".join(f"{i['name']}={i['color']}" if "color" in i else i["name"] for i in items)


# ------------------------------------------------------------------ items with keys
@pytest.mark.parametrize(
    ("live", "laid_over", "merged"),
    [
        ("a b", "c", "a b c"),
        ("a=red b", "a b=blue", "a=red b=blue"),
        ("a b c", "c a", "b c a"),
        ("a b", "b a", "b a"),
        ("a b c", "b x", "a b c x"),
        ("a b", "x a", "x a b"),
        ("a", "x y", "a x y"),
        ("a b c d", "d x a", "b c d x a"),
        ("a b c d", "c x b", "a c d x b"),
        ("a b c", "x b y", "a x b c y"),
    ],
)
async def test_items_merge_and_the_applier_decides_their_order(
    kube: Kube, live: str, laid_over: str, merged: str
) -> None:
    await kube.rival.create(WIDGETS, widget(kube, "a", {"parts": parts(live)}))

    now = await applied(kube, {"parts": parts(laid_over)})

    assert drawn(now.spec["parts"]) == merged


async def test_fields_of_one_item_may_have_several_owners(kube: Kube) -> None:
    await applied(kube, {"parts": [{"name": "a", "color": "red"}]}, "us")
    both = await applied(kube, {"parts": [{"name": "a", "weight": "1"}]}, "them")

    assert both.spec["parts"] == [{"name": "a", "color": "red", "weight": "1"}]
    with pytest.raises(Conflict) as refusal:
        await applied(kube, {"parts": [{"name": "a", "color": "blue"}]}, "them")
    assert [c.field for c in refusal.value.causes] == ['.spec.parts[name="a"].color']


async def test_an_item_stays_while_somebody_holds_it(kube: Kube) -> None:
    await applied(kube, {"parts": parts("a=red b")}, "us")
    await applied(kube, {"parts": parts("a")}, "them")

    one = await applied(kube, {"parts": parts("b")}, "us")
    none = await applied(kube, None, "them")

    assert drawn(one.spec["parts"]) == "a b"
    assert drawn(none.spec["parts"]) == "b"


async def test_an_item_removed_by_an_update_is_nobodys(kube: Kube) -> None:
    await applied(kube, {"parts": parts("a=red b")}, "us")
    remove = JsonPatch(({"op": "remove", "path": "/spec/parts/0"},))
    await kube.rival.patch(WIDGETS, key(kube, "a"), remove)

    now = await applied(kube, {"parts": parts("a=blue")}, "them")

    assert drawn(now.spec["parts"]) == "b a=blue"


async def test_the_same_key_twice_is_nonsense(kube: Kube) -> None:
    # Kubernetes answers 500 here, without a reason.
    with pytest.raises(ServerFailed):
        await applied(kube, {"parts": parts("a a")})


@pytest.mark.parametrize(
    ("resource", "team"), [(STATEFUL_SETS, stateful_set), (DEPLOYMENTS, deployment)], ids=named
)
async def test_containers_merge_by_name(kube: Kube, resource: Any, team: Any) -> None:
    main, proxy = {"name": "main", "image": "m:1"}, {"name": "proxy", "image": "p:1"}
    where = key(kube, "a")
    await kube.client.patch(resource, where, Apply(team(kube, "a", main), "us"))
    await kube.client.patch(resource, where, Apply(team(kube, "a", proxy), "them"))

    newer = team(kube, "a", main | {"image": "m:2"})
    now = await kube.client.patch(whole(resource), where, Apply(newer, "us"))

    containers = now.spec["template"]["spec"]["containers"]
    assert [(c["name"], c["image"]) for c in containers] == [("main", "m:2"), ("proxy", "p:1")]


async def test_ports_merge_by_number_and_protocol(kube: Kube) -> None:
    dns_tcp = {"name": "t", "port": 53, "protocol": "TCP"}
    dns_udp = {"name": "u", "port": 53, "protocol": "UDP"}
    where = key(kube, "a")
    await kube.client.patch(SERVICES, where, Apply(service(kube, "a", dns_tcp), "us"))
    await kube.client.patch(SERVICES, where, Apply(service(kube, "a", dns_udp), "them"))

    less = service(kube, "a", dns_udp)
    both = await kube.client.get(SERVICES, where)
    one = await kube.client.patch(SERVICES, where, Apply(less, "us"))

    assert [(p.name, p.port) for p in both.spec.ports] == [("t", 53), ("u", 53)]
    assert [(p.name, p.port) for p in one.spec.ports] == [("u", 53)]


async def test_a_port_without_protocol_is_tcp(kube: Kube) -> None:
    where = key(kube, "a")
    short, long = {"port": 80}, {"port": 80, "protocol": "TCP"}
    made = await kube.client.patch(SERVICES, where, Apply(service(kube, "a", short), "us"))

    same = await kube.client.patch(SERVICES, where, Apply(service(kube, "a", long), "them"))

    assert same.spec.ports == made.spec.ports


async def test_conditions_merge_by_type(kube: Kube) -> None:
    await applied(kube, {"size": 1})

    async def told(by: str, **conditions: str) -> list[Json]:
        said = [{"type": name, "status": is_it} for name, is_it in conditions.items()]
        body = Apply(widget(kube, "a") | {"status": {"conditions": said}}, by)
        now = await kube.client.patch(WIDGETS, key(kube, "a"), body, subresource="status")
        return [(c["type"], c["status"]) for c in now.status["conditions"]]

    await told("us", Ready="False", Idle="True")
    assert await told("them", Backed="True") == [
        ("Ready", "False"),
        ("Idle", "True"),
        ("Backed", "True"),
    ]
    assert await told("us", Ready="True") == [("Ready", "True"), ("Backed", "True")]


async def test_owners_merge_by_uid(kube: Kube) -> None:
    one, two = [await kube.client.create(WIDGETS, widget(kube, name)) for name in ("o1", "o2")]
    where = key(kube, "a")

    async def owned(by: str, *of: Widget) -> list[str]:
        body = config_map(kube, "a", ownerReferences=[owner(it, WIDGETS) for it in of])
        now = await kube.client.patch(CONFIG_MAPS, where, Apply(body, by))
        return [it.name for it in now.metadata.owner_references]

    assert await owned("us", one) == ["o1"]
    assert await owned("them", two) == ["o1", "o2"]
    assert await owned("us") == ["o2"]


# ------------------------------------------------------------------ items that are their own key
async def test_finalizers_are_a_set(kube: Kube) -> None:
    where = key(kube, "a")

    async def held(by: str, *finalizers: str) -> tuple[str, ...]:
        body = config_map(kube, "a", finalizers=[f"example.com/{f}" for f in finalizers])
        now = await kube.client.patch(CONFIG_MAPS, where, Apply(body, by))
        return tuple(f.removeprefix("example.com/") for f in now.metadata.finalizers)

    assert await held("us", "a", "b") == ("a", "b")
    assert await held("them", "b", "c") == ("a", "b", "c")
    assert await held("us", "a") == ("a", "b", "c")
    assert await held("us") == ("b", "c")
    assert await held("them") == ()


async def test_members_of_a_set_have_owners(kube: Kube) -> None:
    await applied(kube, {"tags": ["x", "y"]}, "us")
    await applied(kube, {"tags": ["z"]}, "them")

    found = await kube.client.get(whole(WIDGETS), key(kube, "a"))

    tags = {
        it["manager"]: it["fieldsV1"]["f:spec"]["f:tags"] for it in found.metadata.managed_fields
    }
    assert tags == {"us": {'v:"x"': {}, 'v:"y"': {}}, "them": {'v:"z"': {}}}
    assert found.spec["tags"] == ["x", "y", "z"]


# ------------------------------------------------------------------ lists that are one value
async def test_a_plain_list_is_one_value(kube: Kube) -> None:
    await applied(kube, {"words": ["a", "b"]}, "us")

    with pytest.raises(Conflict) as refusal:
        await applied(kube, {"words": ["a", "b", "c"]}, "them")
    now = await applied(kube, {"words": ["c"]}, "them", force=True)

    assert [c.field for c in refusal.value.causes] == [".spec.words"]
    assert now.spec == {"words": ["c"]}


async def test_an_atomic_object_is_one_value(kube: Kube) -> None:
    await applied(kube, {"origin": {"host": "h", "path": "p"}}, "us")

    with pytest.raises(Conflict) as refusal:
        await applied(kube, {"origin": {"host": "h"}}, "them")
    now = await applied(kube, {"origin": {"path": "q"}}, "them", force=True)

    assert [c.field for c in refusal.value.causes] == [".spec.origin"]
    assert now.spec == {"origin": {"path": "q"}}


async def test_an_update_of_one_item_takes_only_that(kube: Kube) -> None:
    await applied(kube, {"parts": parts("a=red b=red")}, "us")
    repaint = MergePatch({"spec": {"parts": parts("a=red b=blue")}})
    await kube.rival.patch(WIDGETS, key(kube, "a"), repaint)

    with pytest.raises(Conflict) as refusal:
        await applied(kube, {"parts": parts("a=green b=green")}, "us")

    assert [c.field for c in refusal.value.causes] == ['.spec.parts[name="b"].color']
