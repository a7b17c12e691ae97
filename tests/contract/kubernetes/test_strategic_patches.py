"""Strategic patches: lists that merge by a key, and the directives that say otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.bodies import Json, container, deployment, named, pod, service
from contract.kubernetes.custom import NUMBER, fields, things
from contract.kubernetes.wire import Answer, Wire

PORTS = [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]
ENV = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]


async def patched(wire: Wire, template: Json) -> Answer:
    """Patch the pods of a deployment with two containers."""
    made = await wire.post(
        "deployments", deployment("a", container("c", ports=PORTS, env=ENV), container("d"))
    )
    made.made()
    return await wire.patch(
        "deployments/a", {"spec": {"template": {"spec": template}}}, "strategic"
    )


def images(answer: Answer) -> Json:
    return {it["name"]: it["image"] for it in answer.ok()["spec.template.spec.containers"]}


def values(answer: Answer) -> list[str]:
    return [
        f"{it['name']}={it['value']}" for it in answer.ok()["spec.template.spec.containers.0.env"]
    ]


@pytest.mark.parametrize(
    ("containers", "left"),
    [
        ([{"name": "c", "image": "new"}], {"c": "new", "d": "none"}),
        ([{"name": "d", "image": "new"}], {"c": "none", "d": "new"}),
        ([{"name": "e", "image": "new"}], {"e": "new", "c": "none", "d": "none"}),
        ([{"name": "c", "$patch": "delete"}], {"d": "none"}),
        ([{"name": "e", "$patch": "delete"}], {"c": "none", "d": "none"}),
        ([{"$patch": "replace"}, container("e")], {"e": "none"}),
    ],
    ids=str,
)
async def test_containers_are_known_by_their_names(
    wire: Wire, containers: list[Json], left: Json
) -> None:
    found = images(await patched(wire, {"containers": containers}))

    assert list(found.items()) == list(left.items())


@pytest.mark.parametrize(
    ("env", "left"),
    [
        ([{"name": "A", "value": "9"}], ["A=9", "B=2"]),
        ([{"name": "A", "value": "9"}, {"name": "C", "value": "3"}], ["A=9", "C=3", "B=2"]),
        ([{"name": "C", "value": "3"}], ["C=3", "A=1", "B=2"]),
        ([{"name": "A", "$patch": "delete"}], ["B=2"]),
        ([{"$patch": "replace"}, {"name": "C", "value": "3"}], ["C=3"]),
    ],
    ids=str,
)
async def test_so_are_variables_within_them(wire: Wire, env: list[Json], left: list[str]) -> None:
    assert values(await patched(wire, {"containers": [{"name": "c", "env": env}]})) == left


async def test_a_null_removes_a_list(wire: Wire) -> None:
    now = await patched(wire, {"containers": [{"name": "c", "env": None}]})

    assert now.ok()["spec.template.spec.containers.0.env"] is None


async def test_ports_are_known_by_their_number_alone(wire: Wire) -> None:
    now = await patched(
        wire, {"containers": [{"name": "c", "ports": [{"containerPort": 80, "name": "web"}]}]}
    )

    found = now.ok()["spec.template.spec.containers.0.ports"]
    assert [(it.get("name"), it["protocol"]) for it in found] == [("web", "TCP"), (None, "UDP")]


@pytest.mark.parametrize("order", [["d", "c"], ["c", "d"]], ids=str)
async def test_the_order_can_be_said(wire: Wire, order: list[str]) -> None:
    now = await patched(wire, {"$setElementOrder/containers": [{"name": it} for it in order]})

    assert list(images(now)) == order


async def test_a_list_without_a_key_is_replaced(wire: Wire) -> None:
    some = [{"key": it, "operator": "Exists"} for it in "ab"]
    (await patched(wire, {"tolerations": some[:1]})).ok()

    now = await wire.patch(
        "deployments/a", {"spec": {"template": {"spec": {"tolerations": some[1:]}}}}, "strategic"
    )

    assert now.ok()["spec.template.spec.tolerations"] == some[1:]


async def test_a_map_is_merged(wire: Wire) -> None:
    (await patched(wire, {"nodeSelector": {"a": "b"}})).ok()

    now = await wire.patch(
        "deployments/a", {"spec": {"template": {"spec": {"nodeSelector": {"c": "d"}}}}}, "strategic"
    )

    assert now.ok()["spec.template.spec.nodeSelector"] == {"a": "b", "c": "d"}


@pytest.mark.parametrize(
    ("labels", "left"),
    [
        ({"$patch": "replace", "z": "1"}, {"z": "1"}),
        ({"$patch": "delete"}, None),
        ({"z": "1"}, {"x": "1", "y": "1", "z": "1"}),
        ({"$retainKeys": ["x", "z"], "z": "1"}, {"x": "1", "z": "1"}),
    ],
    ids=str,
)
async def test_a_map_can_be_replaced_or_removed(
    wire: Wire, labels: Json, left: Json | None
) -> None:
    (
        await wire.post("configmaps", {"metadata": {"name": "a", "labels": {"x": "1", "y": "1"}}})
    ).made()

    now = await wire.patch("configmaps/a", {"metadata": {"labels": labels}}, "strategic")

    assert now.ok()["metadata.labels"] == left


@pytest.mark.parametrize(
    ("patch", "left"),
    [
        ({"finalizers": ["a.b/2"]}, ["a.b/2", "a.b/0", "a.b/1"]),
        ({"finalizers": ["a.b/1"]}, ["a.b/0", "a.b/1"]),
        ({"$deleteFromPrimitiveList/finalizers": ["a.b/0"]}, ["a.b/1"]),
        ({"$setElementOrder/finalizers": ["a.b/1", "a.b/0"]}, ["a.b/1", "a.b/0"]),
        (
            {"$setElementOrder/finalizers": ["a.b/1", "a.b/2", "a.b/0"], "finalizers": ["a.b/2"]},
            ["a.b/1", "a.b/2", "a.b/0"],
        ),
    ],
    ids=str,
)
async def test_a_list_of_words_is_a_set(wire: Wire, patch: Json, left: list[str]) -> None:
    (
        await wire.post("configmaps", {"metadata": {"name": "a", "finalizers": ["a.b/0", "a.b/1"]}})
    ).made()

    now = await wire.patch("configmaps/a", {"metadata": patch}, "strategic")

    assert now.ok()["metadata.finalizers"] == left
    (await wire.patch("configmaps/a", {"metadata": {"finalizers": None}})).ok()


async def test_retained_keys_make_room_for_others(wire: Wire) -> None:
    (await patched(wire, {"volumes": [{"name": "v", "emptyDir": {}}]})).ok()

    volume = {"name": "v", "$retainKeys": ["name", "configMap"], "configMap": {"name": "x"}}
    now = await wire.patch(
        "deployments/a", {"spec": {"template": {"spec": {"volumes": [volume]}}}}, "strategic"
    )

    assert [sorted(it) for it in now.ok()["spec.template.spec.volumes"]] == [["configMap", "name"]]


@pytest.mark.parametrize(
    ("strategy", "is_fine"),
    [({"type": "Recreate"}, False), ({"$retainKeys": ["type"], "type": "Recreate"}, True)],
    ids=str,
)
async def test_as_one_strategy_does_for_another(wire: Wire, strategy: Json, is_fine: bool) -> None:
    (await wire.post("deployments", deployment("a"))).made()

    now = await wire.patch("deployments/a", {"spec": {"strategy": strategy}}, "strategic")

    if is_fine:
        assert now.ok()["spec.strategy"] == {"type": "Recreate"}
    else:
        now.refused(422, "Invalid", "FieldValueForbidden spec.strategy.rollingUpdate")


async def test_the_ports_of_a_service(wire: Wire) -> None:
    (await wire.post("services", service("a", {"port": 80, "name": "a"}))).made()

    more = {"spec": {"ports": [{"port": 81, "name": "b"}]}}
    (await wire.patch("services/a", more, "strategic")).ok()
    now = await wire.patch(
        "services/a", {"spec": {"ports": [{"port": 80, "targetPort": 8080}]}}, "strategic"
    )

    found = [(it["name"], it["targetPort"]) for it in now.ok()["spec.ports"]]
    assert found == [("b", 81), ("a", 8080)]


async def test_conditions_are_known_by_their_types(wire: Wire) -> None:
    (await wire.post("pods", pod("a"))).made()

    async def say(**condition: str) -> list[str]:
        status = {"status": {"conditions": [condition]}}
        now = await wire.patch("pods/a/status", status, "strategic")
        return sorted(it["type"] for it in now.ok()["status.conditions"] or [])

    assert await say(type="A", status="True") == ["A"]
    assert await say(type="B", status="False") == ["A", "B"]
    assert await say(**{"type": "A", "$patch": "delete"}) == ["B"]


async def test_owners_are_known_by_their_uids(wire: Wire) -> None:
    owner = {"apiVersion": "v1", "kind": "Namespace", "name": wire.namespace, "uid": "0"}
    space = (await wire.get(f"namespaces/{wire.namespace}"))["metadata.uid"]
    (
        await wire.post(
            "configmaps", {"metadata": {"name": "a", "ownerReferences": [owner | {"uid": space}]}}
        )
    ).made()

    async def owners(**one: Any) -> list[str]:
        now = await wire.patch(
            "configmaps/a", {"metadata": {"ownerReferences": [one]}}, "strategic"
        )
        return [it["uid"] for it in now.ok()["metadata.ownerReferences"]]

    assert await owners(**owner) == ["0", space]
    assert await owners(uid="0", **{"$patch": "delete"}) == [space]


@pytest.mark.parametrize(
    "containers",
    [
        [{"image": "new"}],
        [{"name": "c", "$patch": "frob"}],
        [{"name": "c", "$patch": "merge"}],
        ["c"],
    ],
    ids=str,
)
async def test_a_patch_that_makes_no_sense_is_the_servers_failure(
    wire: Wire, containers: list[Any]
) -> None:
    answer = await patched(wire, {"containers": containers})

    answer.refused(500, "")
    assert answer.about == {}


@pytest.mark.parametrize("body", ["{nope", "", "[]", '"text"'])
async def test_a_patch_is_an_object(wire: Wire, body: str) -> None:
    (await wire.post("configmaps", named("a"))).made()

    (await wire.patch("configmaps/a", body, "strategic")).refused(400, "BadRequest")


async def test_an_object_cannot_patch_itself_away(wire: Wire) -> None:
    (await wire.post("configmaps", named("a"))).made()

    (await wire.patch("configmaps/a", {"$patch": "delete"}, "strategic")).refused(400, "BadRequest")


@pytest.mark.parametrize("door", ["", "/status"])
async def test_custom_kinds_know_no_keys(wire: Wire, door: str) -> None:
    async with things(wire, fields(size=NUMBER), subresources={"status": {}}) as kind:
        await kind.made({"size": 1})
        answer = await wire.patch(kind.at(f"a{door}"), {"spec": {"size": 2}}, "strategic")

    answer.refused(415, "UnsupportedMediaType")
    assert answer.about == {}


@pytest.mark.parametrize("kept", [["rollingUpdate"], "type", [1]], ids=str)
async def test_what_is_retained_are_names_and_all_that_is_set(wire: Wire, kept: Any) -> None:
    (await wire.post("deployments", deployment())).made()
    patch = {"spec": {"strategy": {"$retainKeys": kept, "type": "Recreate"}}}

    (await wire.patch("deployments/a", patch, "strategic")).refused(400, "BadRequest")


@pytest.mark.parametrize(
    ("order", "names"),
    [(["d"], ["c"]), (["d", "c"], ["c", "d"]), (["e", "c"], ["d"])],
    ids=str,
)
async def test_a_list_keeps_to_the_order_beside_it(
    wire: Wire, order: list[str], names: list[str]
) -> None:
    wanted = [{"name": it} for it in order]
    items = [{"name": it, "image": "new"} for it in names]

    answer = await patched(wire, {"$setElementOrder/containers": wanted, "containers": items})

    answer.refused(500, "")
