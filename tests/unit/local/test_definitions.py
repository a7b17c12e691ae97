"""Definitions of custom kinds that are wrong, strange or broken: nothing else suffers from them."""

from __future__ import annotations

from typing import Any

import pytest
from structlog.testing import capture_logs

from stateward.core.chance import Chance
from stateward.core.clock import SystemClock
from stateward.core.ports import Ports
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import Invalid
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.resources import CUSTOM_RESOURCES, LEASES, Resource
from stateward.local.api import Api
from stateward.local.kinds import built_in
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.local.schema.custom.definitions import is_established
from stateward.local.schema.custom.serving import Definitions
from stateward.local.schema.served import served_api
from stateward.local.store import Store

WIDGETS = Resource("example.com", "v1", "Widget", "widgets", Object)
KEY = ObjectKey("", "widgets.example.com")
APPROVED = {"api-approved.kubernetes.io": "https://example.com/approved"}


def api(store: Store | None = None) -> Api:
    return served_api(Ports(SystemClock(), Chance(1)), store)


def definition(
    group: str = "example.com", plural: str = "widgets", kind: str = "Widget", **annotations: str
) -> Json:
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object"}},
    }
    return {
        "metadata": {"name": f"{plural}.{group}", "annotations": annotations},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [version],
        },
    }


def define(served: Api, document: Json) -> Any:
    return served.create(CUSTOM_RESOURCES, "", document, Author())


def is_served(served: Api, resource: Resource[Any]) -> bool:
    return served.kinds.at(resource.group, resource.version, resource.plural) is not None


# ------------------------------------------------------------------ conditions
@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ({}, "type: Required value"),
        ({"type": "Established"}, "status: Required value"),
        ({"type": "Established", "status": "maybe"}, 'Unsupported value: "maybe"'),
    ],
)
def test_a_condition_without_sense_is_not_stored(condition: Json, problem: str) -> None:
    served = api()
    define(served, definition())
    before = served.get(CUSTOM_RESOURCES, KEY).text
    patch = MergePatch({"status": {"conditions": [condition]}})

    with pytest.raises(Invalid, match=problem):
        served.patch(CUSTOM_RESOURCES, KEY, patch, Author(), subresource="status")

    assert served.get(CUSTOM_RESOURCES, KEY).text == before


@pytest.mark.parametrize(
    "status",
    [
        {"conditions": [{}]},
        {"conditions": [3, None, {"type": "Established"}]},
        {"conditions": "none"},
        "nothing",
        {"storedVersions": 3},
    ],
    ids=str,
)
def test_a_cluster_begins_whatever_state_is_stored(status: Any) -> None:
    store = Store()
    define(api(store), definition())
    broken = store.get(CUSTOM_RESOURCES.name, KEY).document() | {"status": status}
    store.put(CUSTOM_RESOURCES.name, broken)

    assert is_served(api(store), WIDGETS)


def test_one_broken_definition_does_not_hide_the_others() -> None:
    store = Store()
    first = api(store)
    define(first, definition("a.example.com"))
    define(first, definition())
    broken = store.get(CUSTOM_RESOURCES.name, ObjectKey("", "widgets.a.example.com")).document()
    del broken["spec"]["versions"]
    store.put(CUSTOM_RESOURCES.name, broken)

    with capture_logs() as logs:
        served = api(store)

    assert is_served(served, WIDGETS)
    assert not is_served(served, Resource("a.example.com", "v1", "Widget", "widgets", Object))
    assert [line["event"] for line in logs] == ["a definition cannot be served"]


def test_a_write_is_done_when_settling_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    served = api()

    def broken(*_: object) -> None:
        raise KeyError("type")

    monkeypatch.setattr(Definitions, "_settle", broken)
    made = define(served, definition())

    assert not is_established(served.get(CUSTOM_RESOURCES, made.key).document())


# ------------------------------------------------------------------ Kubernetes' own kinds
@pytest.mark.parametrize("resource", [LEASES, CUSTOM_RESOURCES], ids=lambda resource: resource.name)
def test_nobody_takes_over_what_kubernetes_has(resource: Resource[Any]) -> None:
    served = api()
    taken = definition(resource.group, resource.plural, resource.kind, **APPROVED)

    with pytest.raises(Invalid, match="is a resource of Kubernetes itself"):
        define(served, taken)

    assert served.kinds.of(resource).built_in


@pytest.mark.parametrize(
    ("group", "approval", "problem"),
    [
        ("x.k8s.io", "", "protected groups must have approval annotation"),
        ("kubernetes.io", "", "protected groups must have approval annotation"),
        ("x.kubernetes.io", "somebody said so", "must be the URL of an approval"),
        ("x.k8s.io", "unapproved, an experiment", ""),
        ("x.k8s.io", "https://example.com", ""),
        ("myk8s.io", "", ""),
    ],
)
def test_groups_of_kubernetes_need_an_approval(group: str, approval: str, problem: str) -> None:
    served = api()
    said = {"api-approved.kubernetes.io": approval} if approval else {}
    if not problem:
        define(served, definition(group, **said))
        return
    with pytest.raises(Invalid, match=problem):
        define(served, definition(group, **said))


def test_a_stored_definition_of_a_built_in_kind_changes_nothing() -> None:
    store = Store()
    define(api(store), definition())
    old = store.get(CUSTOM_RESOURCES.name, KEY).document()
    names = {"plural": "leases", "kind": "Lease"}
    taken = definition("coordination.k8s.io", "leases", "Lease")["spec"] | {"names": names}
    meta = old["metadata"] | {"name": LEASES.name, "uid": "1"}
    document = old | {"metadata": meta, "spec": taken}
    store.put(CUSTOM_RESOURCES.name, document)

    served = api(store)
    assert served.kinds.of(LEASES).structure() == built_in(LEASES).structure()
    served.delete(CUSTOM_RESOURCES, ObjectKey("", LEASES.name), DeleteOptions())

    assert served.kinds.of(LEASES).built_in
