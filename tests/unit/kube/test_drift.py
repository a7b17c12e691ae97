"""Drift: what is wanted and not so, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.kube import drift, schemas
from stateward.kube.client import Apply
from stateward.kube.codec import Json, plain
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import SERVICES, STATEFUL_SETS, Resource
from stateward.local.rules.writes import Author, Strictness
from stateward.local.schema.served import served_api
from unit.local.pictures import Still

SET = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: a, namespace: default, labels: {app: a}, annotations: {note: "1"}}
spec:
  replicas: 2
  serviceName: a
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      nodeSelector: {disk: fast}
      tolerations: [{key: a, operator: Exists}, {key: b, value: c}]
      volumes: [{name: tmp, emptyDir: {sizeLimit: 1024Mi}}, {name: s, secret: {secretName: x}}]
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: host, labelSelector: {matchLabels: {app: a}}}
      containers:
      - name: main
        image: example.com/main:1
        args: [--one, --two]
        env:
        - {name: A, value: "1"}
        - {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        ports: [{containerPort: 80}, {containerPort: 80, protocol: UDP}]
        livenessProbe: {httpGet: {path: /, port: 80}}
        resources: {requests: {cpu: 0.5, memory: 1Gi}, limits: {cpu: 1000m}}
        volumeMounts: [{name: tmp, mountPath: /tmp}]
      - {name: side, image: "example.com/side:1"}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""
SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: a, namespace: default}
spec: {selector: {app: a}, ports: [{name: x, port: 80}, {name: y, port: 81, targetPort: web}]}
"""


def read(text: str) -> Json:
    found: Json = yaml.safe_load(text)
    return found


def served(resource: Resource[Any], wanted: Json) -> Json:
    """What the embedded server makes of a document, defaults and all."""
    api = served_api(Ports(Still(), Chance(1)))
    author = Author("us", strictness=Strictness.STRICT)
    key = ObjectKey("default", wanted["metadata"]["name"])
    return api.patch(resource, key, Apply(plain(wanted), "us"), author).document()


WANTED = {STATEFUL_SETS: drift.sealed(read(SET)), SERVICES: drift.sealed(read(SERVICE))}
LIVE = {resource: served(resource, it) for resource, it in WANTED.items()}


@pytest.mark.parametrize("resource", WANTED, ids=str)
def test_what_a_server_made_of_a_document_is_no_drift(resource: Resource[Any]) -> None:
    assert len(str(LIVE[resource])) > len(str(WANTED[resource]))
    assert drift.difference(LIVE[resource], WANTED[resource]) is None


# ------------------------------------------------------------------ any leaf counts
def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    parts: Any = ()
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list):
        parts = enumerate(value)
    else:
        yield path
    for name, item in parts:
        yield from leaves(item, (*path, name))


def changed(document: Json, path: tuple[str | int, ...], *, away: bool) -> Json:
    """The document with one leaf made another, or taken away with what it is in."""
    result: Any = deepcopy(document)
    place = result
    for step in path[:-1]:
        place = place[step]
    if away:
        del place[path[-1]]
    else:
        old = place[path[-1]]
        place[path[-1]] = old + 1 if isinstance(old, int | float) else f"{old}x"
    return result  # type: ignore[no-any-return]


NAMED = [
    (resource, path)
    for resource, document in WANTED.items()
    for path in leaves(document)
    if path[0] not in {"apiVersion", "kind"}
]


@given(st.sampled_from(NAMED), st.booleans())
def test_any_named_leaf_that_is_another_is_drift(
    named: tuple[Resource[Any], tuple[str | int, ...]], away: bool
) -> None:
    resource, path = named
    another = changed(WANTED[resource], path, away=False)
    assert drift.differs(LIVE[resource], another)
    touched = changed(LIVE[resource], path, away=away)
    assert drift.differs(touched, WANTED[resource])


@given(st.sampled_from(NAMED))
def test_what_is_no_longer_wanted_is_noticed_by_the_seal(
    named: tuple[Resource[Any], tuple[str | int, ...]],
) -> None:
    resource, path = named
    less = changed(WANTED[resource], path, away=True)
    assert path[-1] == drift.APPLIED or drift.differs(LIVE[resource], drift.sealed(less))


@given(st.sampled_from([*WANTED.values()]), st.dictionaries(st.text(), st.text()))
def test_the_seal_that_a_document_carries_is_its_own(document: Json, more: dict[str, str]) -> None:
    """Whatever annotations came with it, also one that looks like a seal."""
    annotations = document["metadata"]["annotations"] | more | {drift.APPLIED: "forged"}
    given = document | {"metadata": document["metadata"] | {"annotations": annotations}}
    bare = {name: value for name, value in document.items() if name != "metadata"}
    for wanted in (given, bare):
        assert drift.seal_on(drift.sealed(wanted)) == drift.seal_of(wanted)
    assert drift.seal_on(bare) == drift.seal_of(bare), "made where nobody sealed"


@given(st.sampled_from([*WANTED.values()]), st.dictionaries(st.text(), st.integers()))
def test_a_seal_stands_for_all_but_itself(document: Json, more: dict[str, int]) -> None:
    assert drift.sealed(document) == document
    other = document | {"more": more}
    assert (drift.seal_of(other) == drift.seal_of(document)) is (other == document)


# ------------------------------------------------------------------ what is the same
def container(**fields: Any) -> Json:
    return {"template": {"spec": {"containers": [{"name": "main"} | fields]}}}


def pod(**fields: Any) -> Json:
    return {"template": {"spec": fields}}


@pytest.mark.parametrize(
    ("live", "wanted"),
    [
        ({"replicas": 1, "more": 2}, {"replicas": 1}),
        ({"replicas": 1.0}, {"replicas": 1}),
        ({}, {"serviceName": "", "template": {}, "volumeClaimTemplates": [], "selector": None}),
        ({}, pod(hostNetwork=False, priority=0, nodeSelector={})),
        (pod(hostname="x"), pod(hostname=None)),
        (container(resources={"limits": {"cpu": "1"}}), container(resources={"limits": {"cpu": "1000m"}})),
        (container(resources={"limits": {"cpu": "1"}}), container(resources={"limits": {"cpu": 1}})),
        (container(resources={"limits": {"cpu": "100m"}}), container(resources={"limits": {"cpu": 0.1}})),
        (pod(volumes=[{"name": "a", "emptyDir": {"sizeLimit": "1Gi"}}]), pod(volumes=[{"name": "a", "emptyDir": {"sizeLimit": "1024Mi"}}])),
        (pod(containers=[{"name": "b"}, {"name": "a"}]), pod(containers=[{"name": "a"}])),
        (container(ports=[{"containerPort": 1, "protocol": "TCP"}]), container(ports=[{"containerPort": 1}])),
        (container(livenessProbe={"httpGet": {"port": "80"}}), container(livenessProbe={"httpGet": {"port": 80}})),
        (container(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x", "apiVersion": "v1"}}}]), container(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}])),
    ],
)  # fmt: skip
def test_the_same_in_other_words(live: Json, wanted: Json) -> None:
    kind = {"apiVersion": "apps/v1", "kind": "StatefulSet"}
    assert drift.difference({"spec": live}, kind | {"spec": wanted}) is None


@pytest.mark.parametrize(
    ("live", "wanted", "where"),
    [
        ({"replicas": True}, {"replicas": 1}, "replicas"),
        ({"replicas": "2"}, {"replicas": 1}, "replicas"),
        ({"serviceName": {"a": 1}}, {"serviceName": "a"}, "serviceName"),
        ({"template": "a"}, {"template": {"spec": {}}}, "template"),
        (container(args=["a", "b"]), container(args=["b", "a"]), "template.spec.containers[0].args[0]"),
        (container(args=["a", "b"]), container(args=["a"]), "template.spec.containers[0].args"),
        (container(args=["a"]), container(args=[]), "template.spec.containers[0].args"),
        (container(env=[{"name": "A", "value": "1"}]), container(env=[{"name": "A", "value": "1000m"}]), "template.spec.containers[0].env[0].value"),
        (container(), container(env=[{"name": "A"}]), "template.spec.containers[0].env[0]"),
        (container(resources={"limits": {"cpu": "?"}}), container(resources={"limits": {"cpu": "1"}}), "template.spec.containers[0].resources.limits.cpu"),
        (pod(nodeSelector={"a": "1", "b": "2"}), pod(nodeSelector={"a": "1"}), "template.spec.nodeSelector"),
        ({"selector": {"matchLabels": {"a": "1", "b": "2"}}}, {"selector": {"matchLabels": {"a": "1"}}}, "selector.matchLabels"),
    ],
)  # fmt: skip
def test_what_is_not_the_same(live: Json, wanted: Json, where: str) -> None:
    kind = {"apiVersion": "apps/v1", "kind": "StatefulSet"}
    assert drift.difference({"spec": live}, kind | {"spec": wanted}) == f"spec.{where}"


@pytest.mark.parametrize(
    ("live", "wanted", "expected"),
    [
        ({"finalizers": ["a", "b"]}, {"finalizers": ["b"]}, None),
        ({"finalizers": ["a"]}, {"finalizers": ["b"]}, "metadata.finalizers"),
        ({"ownerReferences": [{"uid": "1"}, {"uid": "2"}]}, {"ownerReferences": [{"uid": "2"}]}, None),
        ({"ownerReferences": [{"uid": "1"}]}, {"ownerReferences": [{"uid": "2"}]}, "metadata.ownerReferences[0]"),
        ({"labels": {"a": "1", "limits": "1"}}, {"labels": {"limits": "1000m"}}, "metadata.labels.limits"),
    ],
)  # fmt: skip
def test_what_others_add_to_metadata_is_theirs(
    live: Json, wanted: Json, expected: str | None
) -> None:
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    assert drift.difference({"metadata": live}, kind | {"metadata": wanted}) == expected


def test_a_kind_without_a_schema_is_compared_by_name_and_place() -> None:
    live = {"spec": {"limits": {"cpu": "1"}, "names": [{"name": "a", "more": 1}]}}
    assert drift.difference(live, {"kind": "Odd", "spec": {"names": [{"name": "a"}]}}) is None
    assert drift.differs(live, {"kind": "Odd", "spec": {"limits": {"cpu": "1000m"}}})


# ------------------------------------------------------------------ amounts
QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"


def amounts(schema: Json, path: tuple[str, ...], seen: frozenset[str]) -> Iterator[tuple[str, ...]]:
    """Every place of a schema that holds an amount; ``[]`` and ``{}`` are any item, any key."""
    if (name := schema.get("$ref")) is not None:
        if name == QUANTITY:
            yield path
        if name in seen:
            return
        schema, seen = schemas.definitions()[name], seen | {name}
    for field, inner in schema.get("properties", {}).items():
        yield from amounts(inner, (*path, field), seen)
    for step, key in (("[]", "items"), ("{}", "additionalProperties")):
        if isinstance(schema.get(key), dict):
            yield from amounts(schema[key], (*path, step), seen)


def holding(path: tuple[str, ...], value: str) -> Any:
    if not path:
        return value
    inner = holding(path[1:], value)
    return [{"name": "a"} | inner] if path[0] == "[]" else {path[0]: inner}


SPECS = ["apps.v1.StatefulSet", "core.v1.Service", "core.v1.PersistentVolumeClaim", "policy.v1.PodDisruptionBudget"]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        (name, path)
        for name in SPECS
        for path in amounts({"$ref": f"io.k8s.api.{name}"}, (), frozenset())
        if path[0] == "spec"
    ],
    ids=lambda it: it if isinstance(it, str) else ".".join(it),
)
def test_every_amount_of_what_we_write_is_compared_by_value(
    kind: str, path: tuple[str, ...]
) -> None:
    group, _, name = kind.rpartition(".")
    api_version = group.removeprefix("core.").replace(".v1", "/v1")
    known = {"apiVersion": api_version, "kind": name}
    assert drift.difference(holding(path, "1"), known | holding(path, "1000m")) is None
    assert drift.differs(holding(path, "1"), known | holding(path, "1001m"))
