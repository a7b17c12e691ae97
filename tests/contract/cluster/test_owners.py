"""The garbage collector: what goes with its owners, in which order, and what stays."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.wire import Wire

NOBODY = "00000000-0000-4000-8000-000000000000"


def owned_by(*owners: dict[str, Any], blocks: bool = False) -> list[dict[str, Any]]:
    return [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": it["metadata"]["name"],
            "uid": it["metadata"]["uid"],
            "blockOwnerDeletion": blocks,
        }
        for it in owners
    ]


async def thing(wire: Wire, name: str, owners: Any = None, **metadata: Any) -> dict[str, Any]:
    body = {"metadata": {"name": name, "ownerReferences": owners or [], **metadata}}
    made: dict[str, Any] = (await wire.post("configmaps", body)).made().body
    return made


async def family(wire: Wire, *, blocks: bool = False) -> dict[str, dict[str, Any]]:
    """A grandmother, her daughter and her grandson."""
    a = await thing(wire, "a")
    b = await thing(wire, "b", owned_by(a, blocks=blocks))
    c = await thing(wire, "c", owned_by(b, blocks=blocks))
    return {"a": a, "b": b, "c": c}


def policy(how: str) -> dict[str, Any]:
    return {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": how}


@pytest.mark.parametrize("how", ["Background", "Foreground"])
async def test_three_generations_go(wire: Wire, how: str) -> None:
    await family(wire, blocks=True)

    (await wire.delete("configmaps/a", policy(how))).ok()

    for name in "abc":
        await wire.gone(f"configmaps/{name}")


async def test_in_the_background_the_owner_goes_first(wire: Wire) -> None:
    a = await thing(wire, "a")
    await thing(wire, "b", owned_by(a), finalizers=["example.com/hold"])

    (await wire.delete("configmaps/a", policy("Background"))).ok()

    assert (await wire.get("configmaps/a")).code == 404
    await wire.until(lambda: _is_going(wire, "b"))
    (await wire.patch("configmaps/b", {"metadata": {"finalizers": None}})).ok()
    await wire.gone("configmaps/b")


async def _is_going(wire: Wire, name: str) -> bool:
    return bool((await wire.get(f"configmaps/{name}"))["metadata.deletionTimestamp"])


async def test_in_the_foreground_the_owner_waits_for_who_blocks_it(wire: Wire) -> None:
    a = await thing(wire, "a")
    await thing(wire, "b", owned_by(a, blocks=True), finalizers=["example.com/hold"])

    (await wire.delete("configmaps/a", policy("Foreground"))).ok()

    await wire.until(lambda: _is_going(wire, "b"))
    found = (await wire.get("configmaps/a")).ok()
    assert found["metadata.finalizers"] == ["foregroundDeletion"]
    (await wire.patch("configmaps/b", {"metadata": {"finalizers": None}})).ok()
    await wire.gone("configmaps/a")


async def test_in_the_foreground_the_owner_waits_for_nobody_else(wire: Wire) -> None:
    a = await thing(wire, "a")
    await thing(wire, "b", owned_by(a), finalizers=["example.com/hold"])

    (await wire.delete("configmaps/a", policy("Foreground"))).ok()

    await wire.gone("configmaps/a")
    await wire.until(lambda: _is_going(wire, "b"))
    (await wire.patch("configmaps/b", {"metadata": {"finalizers": None}})).ok()


async def test_orphans_stay_and_forget_their_owner(wire: Wire) -> None:
    await family(wire)

    (await wire.delete("configmaps/a", policy("Orphan"))).ok()

    await wire.gone("configmaps/a")
    assert (await wire.get("configmaps/b")).ok()["metadata.ownerReferences"] is None
    kept = (await wire.get("configmaps/c")).ok()
    assert [it["name"] for it in kept["metadata.ownerReferences"]] == ["b"]


async def test_one_of_two_owners_is_enough(wire: Wire) -> None:
    a, b = await thing(wire, "a"), await thing(wire, "b")
    await thing(wire, "c", owned_by(a, b))

    (await wire.delete("configmaps/a")).ok()

    async def forgot() -> bool:
        owners = (await wire.get("configmaps/c")).ok()["metadata.ownerReferences"]
        return [it["name"] for it in owners] == ["b"]

    await wire.until(forgot)
    (await wire.delete("configmaps/b")).ok()
    await wire.gone("configmaps/c")


async def test_an_owner_that_never_was(wire: Wire) -> None:
    await thing(wire, "b", owned_by({"metadata": {"name": "a", "uid": NOBODY}}))

    await wire.gone("configmaps/b")


async def test_another_one_of_the_owners_name(wire: Wire) -> None:
    await thing(wire, "a")

    await thing(wire, "b", owned_by({"metadata": {"name": "a", "uid": NOBODY}}))

    await wire.gone("configmaps/b")
    (await wire.get("configmaps/a")).ok()


async def test_an_owner_of_another_namespace_is_none(wire: Wire) -> None:
    owner = (await wire.post("elsewhere:configmaps", {"metadata": {"name": "a"}})).made().body

    made = await thing(wire, "b", owned_by(owner))

    await wire.gone("configmaps/b")
    (await wire.get("elsewhere:configmaps/a")).ok()

    async def told() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await wire.get("events")).body["items"]
        return [it for it in found if it["reason"] == "OwnerRefInvalidNamespace"]

    event = (await wire.until(told))[0]
    uid = owner["metadata"]["uid"]
    assert event["type"] == "Warning"
    assert event["involvedObject"]["uid"] == made["metadata"]["uid"]
    assert event["message"] == (
        f"ownerRef [v1/ConfigMap, namespace: {wire.namespace}, name: a, uid: {uid}]"
        f' does not exist in namespace "{wire.namespace}"'
    )


async def test_an_owner_of_no_namespace(wire: Wire) -> None:
    body = {"metadata": {"name": f"{wire.namespace}-owner"}, "rules": []}
    owner = (await wire.post("clusterroles", body)).made().body
    reference = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
    }
    await thing(wire, "b", [reference])

    (await wire.delete(f"clusterroles/{owner['metadata']['name']}")).ok()

    await wire.gone("configmaps/b")


async def test_an_owner_of_an_unknown_kind_is_believed(wire: Wire) -> None:
    reference = {"apiVersion": "example.com/v1", "kind": "Unheard", "name": "a", "uid": NOBODY}
    await thing(wire, "b", [reference])

    await thing(wire, "c", owned_by({"metadata": {"name": "x", "uid": NOBODY}}))

    await wire.gone("configmaps/c")
    (await wire.get("configmaps/b")).ok()


@pytest.mark.parametrize("how", ["Background", "Foreground"])
async def test_two_that_own_each_other(wire: Wire, how: str) -> None:
    a = await thing(wire, "a")
    b = await thing(wire, "b", owned_by(a, blocks=True))
    owners = {"metadata": {"ownerReferences": owned_by(b, blocks=True)}}
    (await wire.patch("configmaps/a", owners)).ok()

    (await wire.delete("configmaps/a", policy(how))).ok()

    await wire.gone("configmaps/a")
    await wire.gone("configmaps/b")


async def test_who_is_adopted_stays(wire: Wire) -> None:
    a, other = await thing(wire, "a"), await thing(wire, "other")
    await thing(wire, "b", owned_by(a))
    (await wire.patch("configmaps/b", {"metadata": {"ownerReferences": owned_by(other)}})).ok()

    (await wire.delete("configmaps/a")).ok()

    await thing(wire, "c", owned_by({"metadata": {"name": "x", "uid": NOBODY}}))
    await wire.gone("configmaps/c")
    (await wire.get("configmaps/b")).ok()
