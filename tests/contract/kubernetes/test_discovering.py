"""What a server tells of itself: that it is well, its version, its groups, versions and resources."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.custom import NUMBER, Things, fields, things
from contract.kubernetes.wire import Wire

GROUPS = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_ALL = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
_PART = ["get", "patch", "update"]


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
async def test_it_is_well(wire: Wire, path: str) -> None:
    answer = (await wire.ask("GET", path)).ok()

    assert answer.body == "ok"
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"


async def test_it_has_a_version(wire: Wire) -> None:
    answer = (await wire.get("/version")).ok()

    assert answer["major"] == "1"
    assert answer["gitVersion"].startswith(f"v1.{answer['minor']}.")


async def test_versions_of_the_group_without_a_name(wire: Wire) -> None:
    answer = (await wire.get("/api")).ok()

    assert (answer["kind"], answer["versions"]) == ("APIVersions", ["v1"])
    assert answer["serverAddressByClientCIDRs.0.clientCIDR"] == "0.0.0.0/0"


async def test_groups(wire: Wire) -> None:
    answer = (await wire.get("/apis")).ok()

    assert answer["kind"] == "APIGroupList"
    place = {"groupVersion": "apps/v1", "version": "v1"}
    apps = {"name": "apps", "versions": [place], "preferredVersion": place}
    assert apps in answer["groups"]
    assert (await wire.get("/apis/apps")).body == {"kind": "APIGroup", "apiVersion": "v1", **apps}


async def _resources(wire: Wire, path: str) -> dict[str, dict[str, Any]]:
    """Return the resources at a path by name, their verbs in order."""
    answer = (await wire.get(path)).ok()
    assert answer["kind"] == "APIResourceList"
    found = {it["name"]: it | {"verbs": sorted(it["verbs"])} for it in answer["resources"]}
    for it in found.values():
        it.pop("storageVersionHash", None)
    return found


@pytest.mark.parametrize(
    ("group", "name", "kind", "more"),
    [
        ("api/v1", "pods", "Pod", {"shortNames": ["po"], "categories": ["all"]}),
        ("api/v1", "configmaps", "ConfigMap", {"shortNames": ["cm"]}),
        ("api/v1", "secrets", "Secret", {}),
        ("api/v1", "services", "Service", {"shortNames": ["svc"], "categories": ["all"]}),
        ("api/v1", "events", "Event", {"shortNames": ["ev"]}),
        ("api/v1", "serviceaccounts", "ServiceAccount", {"shortNames": ["sa"]}),
        ("api/v1", "persistentvolumeclaims", "PersistentVolumeClaim", {"shortNames": ["pvc"]}),
        (
            "apis/apps/v1",
            "statefulsets",
            "StatefulSet",
            {"shortNames": ["sts"], "categories": ["all"]},
        ),
        (
            "apis/apps/v1",
            "deployments",
            "Deployment",
            {"shortNames": ["deploy"], "categories": ["all"]},
        ),
        ("apis/apps/v1", "controllerrevisions", "ControllerRevision", {}),
        ("apis/batch/v1", "cronjobs", "CronJob", {"shortNames": ["cj"], "categories": ["all"]}),
        ("apis/batch/v1", "jobs", "Job", {"categories": ["all"]}),
        ("apis/policy/v1", "poddisruptionbudgets", "PodDisruptionBudget", {"shortNames": ["pdb"]}),
        ("apis/coordination.k8s.io/v1", "leases", "Lease", {}),
    ],
)
async def test_a_resource_and_what_it_can_do(
    wire: Wire, group: str, name: str, kind: str, more: dict[str, Any]
) -> None:
    found = (await _resources(wire, f"/{group}"))[name]

    told = {"name": name, "singularName": kind.lower(), "namespaced": True, "kind": kind}
    assert found == told | {"verbs": _ALL} | more


@pytest.mark.parametrize(
    ("group", "name", "kind", "more"),
    [
        ("api/v1", "nodes", "Node", {"shortNames": ["no"]}),
        ("api/v1", "persistentvolumes", "PersistentVolume", {"shortNames": ["pv"]}),
        ("apis/storage.k8s.io/v1", "storageclasses", "StorageClass", {"shortNames": ["sc"]}),
        (
            "apis/apiextensions.k8s.io/v1",
            "customresourcedefinitions",
            "CustomResourceDefinition",
            {"shortNames": ["crd", "crds"], "categories": ["api-extensions"]},
        ),
    ],
)
async def test_a_resource_without_namespaces(
    wire: Wire, group: str, name: str, kind: str, more: dict[str, Any]
) -> None:
    found = (await _resources(wire, f"/{group}"))[name]

    told = {"name": name, "singularName": kind.lower(), "namespaced": False, "kind": kind}
    assert found == told | {"verbs": _ALL} | more


_SCALE = {"group": "autoscaling", "version": "v1", "kind": "Scale", "verbs": _PART}


@pytest.mark.parametrize(
    ("group", "name", "told"),
    [
        ("api/v1", "pods/status", {"kind": "Pod", "verbs": _PART}),
        ("api/v1", "pods/log", {"kind": "Pod", "verbs": ["get"]}),
        ("api/v1", "pods/binding", {"kind": "Binding", "verbs": ["create"]}),
        (
            "api/v1",
            "pods/eviction",
            {"group": "policy", "version": "v1", "kind": "Eviction", "verbs": ["create"]},
        ),
        (
            "api/v1",
            "namespaces/finalize",
            {"kind": "Namespace", "verbs": ["update"], "namespaced": False},
        ),
        ("apis/apps/v1", "statefulsets/status", {"kind": "StatefulSet", "verbs": _PART}),
        ("apis/apps/v1", "statefulsets/scale", _SCALE),
        ("apis/apps/v1", "deployments/scale", _SCALE),
        ("apis/batch/v1", "jobs/status", {"kind": "Job", "verbs": _PART}),
    ],
)
async def test_a_part_of_a_resource(
    wire: Wire, group: str, name: str, told: dict[str, Any]
) -> None:
    found = (await _resources(wire, f"/{group}"))[name]

    assert found == {"name": name, "singularName": "", "namespaced": True} | told


# ------------------------------------------------------------------ all in one document
async def test_everything_at_once(wire: Wire) -> None:
    answer = (await wire.get("/apis", accept=f"{GROUPS},application/json")).ok()

    assert answer.headers["Content-Type"] == GROUPS
    assert (answer["kind"], answer["apiVersion"]) == (
        "APIGroupDiscoveryList",
        "apidiscovery.k8s.io/v2",
    )
    apps = next(it for it in answer["items"] if it["metadata"]["name"] == "apps")
    (version,) = apps["versions"]
    assert (version["version"], version["freshness"]) == ("v1", "Current")
    sets = next(it for it in version["resources"] if it["resource"] == "statefulsets")
    parts = {it["subresource"]: it for it in sets["subresources"]}
    assert (sets["scope"], sets["singularResource"]) == ("Namespaced", "statefulset")
    assert sets["responseKind"] == {"group": "", "version": "", "kind": "StatefulSet"}
    assert sorted(sets["verbs"]) == _ALL
    assert parts["scale"]["responseKind"] == {
        "group": "autoscaling",
        "version": "v1",
        "kind": "Scale",
    }
    assert sorted(parts["status"]["verbs"]) == _PART


async def test_the_group_without_a_name_has_a_document_of_its_own(wire: Wire) -> None:
    answer = (await wire.get("/api", accept=GROUPS)).ok()

    (core,) = answer["items"]
    assert "name" not in core["metadata"]
    assert {"pods", "configmaps"} <= {it["resource"] for it in core["versions"][0]["resources"]}


@pytest.mark.parametrize("path", ["/api", "/apis"])
async def test_a_version_of_it_that_nobody_has(wire: Wire, path: str) -> None:
    (await wire.get(path, accept=GROUPS.replace("v=v2", "v=v3"))).refused(406, "NotAcceptable")


# ------------------------------------------------------------------ custom kinds
async def _is_told(kind: Things) -> bool:
    """Tell whether all documents know a kind."""
    wire = kind.wire
    groups = {it["name"] for it in (await wire.get("/apis"))["groups"]}
    at_once = (await wire.get("/apis", accept=GROUPS))["items"]
    is_there = (await wire.get(f"/apis/{kind.group}/v1")).code == 200
    return (
        kind.group in groups
        and kind.group in {it["metadata"]["name"] for it in at_once}
        and is_there
    )


async def test_a_custom_kind_is_told_while_it_is_defined(wire: Wire) -> None:
    async with things(wire, fields(size=NUMBER), subresources={"status": {}}) as kind:
        await wire.until(lambda: _is_told(kind))

        found = await _resources(wire, f"/apis/{kind.group}/v1")
        (await wire.delete(kind.definition)).ok()

        async def is_untold() -> bool:
            return not await _is_told(kind)

        await wire.until(is_untold)

    told = {"singularName": "thing", "namespaced": True, "kind": "Thing", "verbs": _ALL}
    assert found["things"] == told | {"name": "things"}
    assert found["things/status"] == told | {
        "name": "things/status",
        "singularName": "",
        "verbs": _PART,
    }


async def test_a_custom_kind_is_called_as_it_wants(wire: Wire) -> None:
    names = {"plural": "things", "kind": "Thing", "shortNames": ["th"], "categories": ["stuff"]}
    async with things(wire, fields(size=NUMBER)) as kind:
        (await wire.patch(kind.definition, {"spec": {"names": names}})).ok()

        async def is_called_so() -> bool:
            found = (await _resources(wire, f"/apis/{kind.group}/v1"))["things"]
            return (found.get("shortNames"), found.get("categories")) == (["th"], ["stuff"])

        await wire.until(is_called_so)


@pytest.mark.parametrize(
    "path", ["/apis/unicorns.example", "/apis/unicorns.example/v1", "/unicorns"]
)
async def test_a_path_that_leads_nowhere(wire: Wire, path: str) -> None:
    answer = await wire.get(path)

    assert (answer.code, answer.body) == (404, "404 page not found\n")
