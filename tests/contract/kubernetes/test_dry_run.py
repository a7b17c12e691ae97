"""Rehearsals: every verb can be tried, shows what would be, and leaves nothing."""

from __future__ import annotations

import pytest

from contract.kubernetes.bodies import Json, deployment, named, pod, service
from contract.kubernetes.wire import Answer, Wire

APPLIED = {"apiVersion": "v1", "kind": "ConfigMap"} | named("a", data={"x": "2"})


async def test_a_rehearsed_birth(wire: Wire) -> None:
    made = (await wire.post("configmaps", named("a", data={"x": "1"}), dryRun="All")).made()

    assert made["metadata.resourceVersion"] is None
    assert made["metadata.uid"]
    assert made["metadata.creationTimestamp"]
    assert made["metadata.managedFields"]
    (await wire.get("configmaps/a")).refused(404, "NotFound")


async def test_a_generated_name_is_shown(wire: Wire) -> None:
    made = await wire.post("configmaps", {"metadata": {"generateName": "a-"}}, dryRun="All")

    assert len(made.made().name) == len("a-") + 5


async def test_defaults_and_decisions_are_shown(wire: Wire) -> None:
    shown = (await wire.post("pods", pod(), dryRun="All")).made()
    served = (await wire.post("services", service(), dryRun="All")).made()

    assert (shown["spec.restartPolicy"], shown["status.phase"]) == ("Always", "Pending")
    assert (served["spec.type"], served["spec.ports.0.targetPort"]) == ("ClusterIP", 80)
    assert served["spec.clusterIP"]


@pytest.mark.parametrize(
    "act",
    ["put", "merge", "json", "strategic", "apply", "delete", "delete by its body", "delete all"],
)
async def test_nothing_is_kept(wire: Wire, act: str) -> None:
    was = (await wire.post("configmaps", named("a", data={"x": "1"}))).made()

    shown = (await tried(wire, act)).ok()

    if not act.startswith("delete"):
        assert (shown["data"], shown.revision) == ({"x": "2"}, was.revision)
    assert (await wire.get("configmaps/a")).body == was.body


async def tried(wire: Wire, act: str) -> Answer:
    data: Json = {"data": {"x": "2"}}
    match act:
        case "put":
            return await wire.put("configmaps/a", named("a", **data), dryRun="All")
        case "apply":
            return await wire.apply("configmaps/a", APPLIED, force=True, dryRun="All")
        case "json":
            steps = [{"op": "replace", "path": "/data/x", "value": "2"}]
            return await wire.patch("configmaps/a", steps, "json", dryRun="All")
        case "delete":
            return await wire.delete("configmaps/a", dryRun="All")
        case "delete by its body":
            return await wire.delete("configmaps/a", {"dryRun": ["All"]})
        case "delete all":
            return await wire.delete("configmaps", dryRun="All")
        case kind:
            return await wire.patch("configmaps/a", data, kind, dryRun="All")


async def test_an_applied_object_may_be_new(wire: Wire) -> None:
    shown = await wire.apply("configmaps/a", APPLIED, dryRun="All")

    assert (shown.made()["data"], shown["metadata.resourceVersion"]) == ({"x": "2"}, None)
    (await wire.get("configmaps/a")).refused(404, "NotFound")


async def test_so_may_one_that_is_made_by_an_update(wire: Wire) -> None:
    (await wire.put("services/a", service(), dryRun="All")).made()

    (await wire.get("services/a")).refused(404, "NotFound")


async def test_a_generation_is_counted_on_paper(wire: Wire) -> None:
    (await wire.post("deployments", deployment())).made()

    shown = (await wire.patch("deployments/a", {"spec": {"minReadySeconds": 5}}, dryRun="All")).ok()

    assert shown["metadata.generation"] == 2
    assert (await wire.get("deployments/a"))["metadata.generation"] == 1


async def test_parts_can_be_rehearsed_too(wire: Wire) -> None:
    (await wire.post("statefulsets", named("a", spec={**deployment()["spec"]}))).made()
    (await wire.post("pods", pod())).made()

    scaled = await wire.put("statefulsets/a/scale", named("a", spec={"replicas": 7}), dryRun="All")
    said = await wire.patch("pods/a/status", {"status": {"message": "x"}}, dryRun="All")

    assert (scaled.ok()["spec.replicas"], said.ok()["status.message"]) == (7, "x")
    assert (await wire.get("statefulsets/a"))["spec.replicas"] == 0
    assert (await wire.get("pods/a"))["status.message"] is None


@pytest.mark.parametrize("how", ["query", "body"])
async def test_an_eviction_and_a_binding(wire: Wire, how: str) -> None:
    (await wire.post("pods", pod())).made()
    query = {"dryRun": "All"} if how == "query" else {}
    options = {"deleteOptions": {"dryRun": ["All"]}} if how == "body" else {}

    (await wire.post("pods/a/eviction", named("a", **options), **query)).made()
    (await wire.post("pods/a/binding", named("a", target={"name": "n"}), dryRun="All")).made()

    left = (await wire.get("pods/a")).ok()
    assert (left["spec.nodeName"], left["metadata.deletionTimestamp"]) == (None, None)


async def test_a_namespace(wire: Wire) -> None:
    made = await wire.post("namespaces", named(f"{wire.namespace}-c"), dryRun="All")
    ended = await wire.delete(f"namespaces/{wire.elsewhere}", dryRun="All")

    assert (made.made()["status.phase"], ended.ok()["status.phase"]) == ("Active", "Terminating")
    assert (await wire.get(f"namespaces/{wire.elsewhere}"))["status.phase"] == "Active"


async def test_a_rehearsal_is_refused_like_the_real_thing(wire: Wire) -> None:
    (await wire.post("configmaps", named("a"))).made()

    (await wire.post("configmaps", named("a"), dryRun="All")).refused(409, "AlreadyExists")
    (await wire.post("configmaps", named("B"), dryRun="All")).refused(422, "Invalid")
    (await wire.patch("configmaps/b", {}, dryRun="All")).refused(404, "NotFound")


@pytest.mark.parametrize("verb", ["POST", "PUT", "PATCH", "DELETE", "DELETE all", "DELETE body"])
@pytest.mark.parametrize("word", ["Some", "all", "true"])
async def test_all_or_nothing(wire: Wire, verb: str, word: str) -> None:
    (await wire.post("configmaps", named("a"))).made()
    match verb.split():
        case ["POST"]:
            answer = await wire.post("configmaps", named("b"), dryRun=word)
        case ["PUT"]:
            answer = await wire.put("configmaps/a", named("a"), dryRun=word)
        case ["PATCH"]:
            answer = await wire.patch("configmaps/a", {}, dryRun=word)
        case ["DELETE", "body"]:
            answer = await wire.delete("configmaps/a", {"dryRun": [word]})
        case _:
            answer = await wire.delete(
                "configmaps" if "all" in verb else "configmaps/a", dryRun=word
            )

    kind = {"POST": "Create", "PUT": "Update", "PATCH": "Patch"}.get(verb, "Delete")
    answer.refused(
        422,
        "Invalid",
        "FieldValueNotSupported dryRun",
        says=f'{kind}Options.meta.k8s.io "" is invalid',
    )
    assert answer.about == {"group": "meta.k8s.io", "kind": f"{kind}Options"}
    assert (await wire.get("configmaps")).names == ["a"]
