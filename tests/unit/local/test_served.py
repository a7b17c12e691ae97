"""The API as people meet it: what only a server does, beside the truths of the contract."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.kube.client import Apply, JsonPatch, MergePatch
from stateward.kube.codec import Json, plain
from stateward.kube.errors import (
    ApiError,
    BadRequest,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    ServerFailed,
    WrongType,
)
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import (
    CONFIG_MAPS,
    CUSTOM_RESOURCES,
    DEPLOYMENTS,
    NAMESPACES,
    PODS,
    SERVICES,
    VOLUME_CLAIMS,
)
from stateward.kube.strategic import StrategicPatch
from stateward.local.api import Api
from stateward.local.catalog import SERVED, STORAGE_CLASSES
from stateward.local.rules.binding import Target
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author, Strictness
from stateward.local.schema.served import served_api
from stateward.local.store import Store
from unit.local.pictures import Still

US = Author("us")
POD: Json = {
    "metadata": {"name": "a", "labels": {"app": "a"}},
    "spec": {"containers": [{"name": "main", "image": "none"}]},
}


def made(store: Store | None = None) -> Api:
    return served_api(Ports(Still(), Chance(1)), store)


def at(name: str, namespace: str = "default") -> ObjectKey:
    return ObjectKey(namespace, name)


# ------------------------------------------------------------------ what is there
def test_a_new_cluster_has_its_namespaces_and_its_own_address() -> None:
    api = made()

    names = [stored.key.name for stored in api.list(NAMESPACES).items]
    assert names == ["default", "kube-node-lease", "kube-public", "kube-system"]
    assert api.get(SERVICES, at("kubernetes")).document()["spec"]["clusterIP"] == "10.96.0.1"


def test_every_kind_of_the_catalog_is_served() -> None:
    api = made()

    assert {kind.resource for kind in api.kinds} == set(SERVED)


def test_what_is_not_served_is_not_there() -> None:
    with pytest.raises(NotFound):
        made().list(replace(CONFIG_MAPS, group="other.example"))


# ------------------------------------------------------------------ unknown fields
@pytest.mark.parametrize(
    ("strictness", "warned"),
    [(Strictness.IGNORE, []), (Strictness.WARN, ['unknown field "spec.containers[0].colour"'])],
)
def test_unknown_fields_are_dropped(strictness: Strictness, warned: list[str]) -> None:
    author = Author("us", strictness=strictness)
    body = plain(POD)
    body["spec"]["containers"][0]["colour"] = "red"

    document = made().create(PODS, "default", body, author).document()

    assert "colour" not in document["spec"]["containers"][0]
    assert author.warnings == warned


def test_strict_writers_may_not_say_what_nobody_knows() -> None:
    author = Author("us", strictness=Strictness.STRICT)

    with pytest.raises(BadRequest, match=r'strict decoding error: unknown field "spec\.colour"'):
        made().create(PODS, "default", plain(POD) | {"spec": POD["spec"] | {"colour": 1}}, author)


# ------------------------------------------------------------------ patches
def test_a_strategic_patch_merges_containers() -> None:
    api = made()
    api.create(PODS, "default", plain(POD), US)

    patch = StrategicPatch({"spec": {"containers": [{"name": "main", "image": "new:1"}]}})
    (container,) = api.patch(PODS, at("a"), patch, US).document()["spec"]["containers"]

    assert (container["image"], container["imagePullPolicy"]) == ("new:1", "Always")


def test_a_custom_kind_takes_no_strategic_patch() -> None:
    api = made()
    define(api)
    api.create(api.kinds.at("x.example", "v1", "things").resource, "default", thing("a"), US)  # type: ignore[union-attr]

    with pytest.raises(WrongType):
        api.patch(things(api), at("a"), StrategicPatch({"spec": {}}), US)


def test_a_patch_that_cannot_be_applied_changes_nothing() -> None:
    api = made()
    before = api.create(PODS, "default", plain(POD), US)

    with pytest.raises(ServerFailed, match="merge key"):
        api.patch(PODS, at("a"), StrategicPatch({"spec": {"containers": [{}]}}), US)
    assert api.get(PODS, at("a")) == before


# ------------------------------------------------------------------ binding
def test_a_pod_is_bound_once() -> None:
    api = made()
    stored = api.create(PODS, "default", plain(POD), US)

    bound = api.bind(at("a"), Target("node-1", stored.uid)).document()

    assert bound["spec"]["nodeName"] == "node-1"
    assert [(c["type"], c["status"]) for c in bound["status"]["conditions"]] == [
        ("PodScheduled", "True")
    ]
    with pytest.raises(Conflict, match="already assigned to node"):
        api.bind(at("a"), Target("node-2"))


@pytest.mark.parametrize(
    ("node", "uid", "refusal"), [("", "", ServerFailed), ("node-1", "another", Conflict)]
)
def test_a_binding_must_make_sense(node: str, uid: str, refusal: type[ApiError]) -> None:
    api = made()
    api.create(PODS, "default", plain(POD), US)

    with pytest.raises(refusal):
        api.bind(at("a"), Target(node, uid))


def test_a_leaving_pod_is_not_bound() -> None:
    api = made()
    body = plain(POD)
    body["metadata"]["finalizers"] = ["x.example/hold"]
    api.create(PODS, "default", body, US)
    api.delete(PODS, at("a"), DeleteOptions())

    with pytest.raises(Conflict, match="being deleted"):
        api.bind(at("a"), Target("node-1"))


# ------------------------------------------------------------------ deletion
def test_a_deletion_tells_whether_something_is_left() -> None:
    api = made()
    for name, held in (("a", []), ("b", ["x.example/hold"])):
        meta = {"name": name, "finalizers": held}
        api.create(CONFIG_MAPS, "default", {"metadata": meta}, US)

    assert api.delete(CONFIG_MAPS, at("a"), DeleteOptions(dry_run=True)).gone
    assert api.delete(CONFIG_MAPS, at("a"), DeleteOptions()).gone
    left = api.delete(CONFIG_MAPS, at("b"), DeleteOptions())
    assert not left.gone
    assert "deletionTimestamp" in left.stored.document()["metadata"]


def test_a_namespace_goes_when_it_is_said_to_be_empty() -> None:
    api = made()
    where = ObjectKey("", "shop")
    api.create(NAMESPACES, "", {"metadata": {"name": "shop"}}, US)
    api.delete(NAMESPACES, where, DeleteOptions())
    document = api.get(NAMESPACES, where).document() | {"spec": {}}

    api.update(NAMESPACES, where, plain(document), US)
    assert api.get(NAMESPACES, where).document()["spec"] == {"finalizers": ["kubernetes"]}
    api.update(NAMESPACES, where, document, US, subresource="finalize")

    with pytest.raises(NotFound):
        api.get(NAMESPACES, where)


# ------------------------------------------------------------------ scale
def test_the_scale_of_a_deployment() -> None:
    api = made()
    labels = {"app": "a"}
    spec = {
        "selector": {
            "matchLabels": labels,
            "matchExpressions": [{"key": "b", "operator": "DoesNotExist"}],
        },
        "template": {"metadata": {"labels": labels}, "spec": POD["spec"]},
    }
    api.create(DEPLOYMENTS, "default", {"metadata": {"name": "a"}, "spec": spec}, US)

    scale = api.get(DEPLOYMENTS, at("a"), subresource="scale").document()

    assert (scale["kind"], scale["spec"]) == ("Scale", {"replicas": 1})
    assert scale["status"] == {"replicas": 0, "selector": "app=a,!b"}
    scale["spec"]["replicas"] = 4
    api.update(DEPLOYMENTS, at("a"), scale, US, subresource="scale")
    api.patch(
        DEPLOYMENTS, at("a"), Apply({"spec": {"replicas": 5}}, "them"), US, subresource="scale"
    )
    found = api.get(DEPLOYMENTS, at("a"), subresource="status").document()
    assert found["spec"]["replicas"] == 5


@pytest.mark.parametrize(
    ("patch", "refusal"),
    [
        (MergePatch({"spec": {"replicas": "many"}}), Invalid),
        (MergePatch({"metadata": {"name": "b"}}), BadRequest),
        (JsonPatch(({"op": "remove", "path": "/nothing"},)), Invalid),
        (JsonPatch(({"op": "replace", "path": "", "value": 1},)), Invalid),
    ],
    ids=str,
)
def test_a_scale_must_make_sense(patch: Any, refusal: type[ApiError]) -> None:
    api = made()
    define(api)
    api.create(things(api), "default", thing("a"), US)

    with pytest.raises(refusal):
        api.patch(things(api), at("a"), patch, US, subresource="scale")


def test_unknown_doors_are_not_there() -> None:
    api = made()
    api.create(CONFIG_MAPS, "default", {"metadata": {"name": "a"}}, US)

    for door in ("status", "scale", "magic"):
        with pytest.raises(NotFound):
            api.get(CONFIG_MAPS, at("a"), subresource=door)


# ------------------------------------------------------------------ what the server decides
def test_a_claim_gets_the_class_that_is_the_default() -> None:
    api = made()
    for name, is_default in (("fast", "true"), ("slow", "false")):
        meta = {
            "name": name,
            "annotations": {"storageclass.kubernetes.io/is-default-class": is_default},
        }
        api.create(STORAGE_CLASSES, "", {"metadata": meta, "provisioner": "x.example/p"}, US)
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1024Mi"}}}

    claim = api.create(VOLUME_CLAIMS, "default", {"metadata": {"name": "a"}, "spec": spec}, US)

    decided = claim.document()["spec"]
    assert (decided["storageClassName"], decided["resources"]["requests"]["storage"]) == (
        "fast",
        "1Gi",
    )


def test_addresses_of_services_are_used_again() -> None:
    api = made()

    def address(name: str) -> str:
        body = {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}}
        found: str = api.create(SERVICES, "default", body, US).document()["spec"]["clusterIP"]
        return found

    assert [address("a"), address("b")] == ["10.96.0.11", "10.96.0.12"]
    api.delete(SERVICES, at("a"), DeleteOptions())
    assert address("c") == "10.96.0.11"


@pytest.mark.parametrize(
    ("resources", "quality"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}, "Burstable"),
    ],
    ids=str,
)
def test_the_quality_of_service(resources: Json, quality: str) -> None:
    body = plain(POD)
    body["spec"]["containers"][0]["resources"] = resources

    assert made().create(PODS, "default", body, US).document()["status"]["qosClass"] == quality


# ------------------------------------------------------------------ custom kinds
def define(api: Api, plural: str = "things", kind: str = "Thing", **names: Any) -> None:
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}},
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {
            "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.n"}
        },
        "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
        "selectableFields": [{"jsonPath": ".spec.size"}],
    }
    spec = {
        "group": "x.example",
        "scope": "Namespaced",
        "names": {"plural": plural, "kind": kind, **names},
        "versions": [version],
    }
    body = {"metadata": {"name": f"{plural}.x.example"}, "spec": spec}
    api.create(CUSTOM_RESOURCES, "", body, US)


def things(api: Api) -> Any:
    kind = api.kinds.at("x.example", "v1", "things")
    assert kind is not None
    return kind.resource


def thing(name: str, **metadata: Any) -> Json:
    return {"metadata": {"name": name, **metadata}, "spec": {"size": 1}}


def test_a_kind_is_served_as_its_definition_says() -> None:
    api = made()
    define(api, shortNames=["th"], categories=["all"])

    kind = api.kinds.at("x.example", "v1", "things")

    assert kind is not None
    assert (kind.names.short, kind.names.categories, kind.names.list_kind) == (
        ("th",),
        ("all",),
        "ThingList",
    )
    assert [column.name for column in kind.columns] == ["Size"]
    assert "spec.size" in kind.selectable
    assert kind.subresources == {"scale"}


def test_a_restored_store_serves_what_it_knows() -> None:
    api, copy = made(), Store()
    define(api)
    api.create(things(api), "default", thing("a"), US)
    copy.restore(api.store, api.store.revision)

    again = made(copy)

    assert again.get(things(again), at("a")).document()["spec"] == {"size": 1}
    assert again.store.revision == api.store.revision


def test_names_are_given_once_and_given_again_when_free() -> None:
    api = made()
    define(api)
    define(api, "others", "Thing", singular="other")

    assert api.kinds.at("x.example", "v1", "others") is None
    api.delete(CUSTOM_RESOURCES, ObjectKey("", "things.x.example"), DeleteOptions())
    assert api.kinds.at("x.example", "v1", "others") is not None


def test_a_leaving_kind_waits_for_its_last_object() -> None:
    api = made()
    define(api)
    resource = things(api)
    api.create(resource, "default", thing("a"), US)
    api.create(resource, "default", thing("b", finalizers=["x.example/hold"]), US)

    left = api.delete(CUSTOM_RESOURCES, ObjectKey("", "things.x.example"), DeleteOptions())

    assert not left.gone
    assert [stored.key.name for stored in api.list(resource).items] == ["b"]
    with pytest.raises(Forbidden):
        api.create(resource, "default", thing("c"), US)
    api.patch(resource, at("b"), MergePatch({"metadata": {"finalizers": None}}), US)
    with pytest.raises(NotFound):
        api.get(CUSTOM_RESOURCES, ObjectKey("", "things.x.example"))
    assert api.kinds.at("x.example", "v1", "things") is None


def test_another_schema_holds_at_once() -> None:
    api = made()
    define(api)
    where = ObjectKey("", "things.x.example")
    path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/maximum"

    api.patch(CUSTOM_RESOURCES, where, JsonPatch(({"op": "add", "path": path, "value": 3},)), US)

    api.create(things(api), "default", thing("a"), US)
    with pytest.raises(Invalid, match="less than or equal to 3"):
        api.patch(things(api), at("a"), MergePatch({"spec": {"size": 4}}), US)


def test_what_was_wrong_before_may_stay_wrong() -> None:
    api = made()
    define(api)
    api.create(things(api), "default", {"metadata": {"name": "a"}, "spec": {"size": 9}}, US)
    path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/maximum"
    where = ObjectKey("", "things.x.example")
    api.patch(CUSTOM_RESOURCES, where, JsonPatch(({"op": "add", "path": path, "value": 3},)), US)

    label = MergePatch({"metadata": {"labels": {"a": "b"}}})

    assert api.patch(things(api), at("a"), label, US).labels == {"a": "b"}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"scope": "Cluster"}, "spec.scope"),
        ({"names": {"kind": "Other", "listKind": "OtherList"}}, "spec.names.kind"),
        ({"versions": []}, "spec.versions"),
    ],
    ids=str,
)
def test_a_definition_keeps_its_identity(change: Json, field: str) -> None:
    api = made()
    define(api)

    with pytest.raises(Invalid) as refusal:
        api.patch(
            CUSTOM_RESOURCES, ObjectKey("", "things.x.example"), MergePatch({"spec": change}), US
        )
    assert field in {cause.field for cause in refusal.value.causes}
