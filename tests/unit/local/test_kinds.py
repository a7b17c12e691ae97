"""Kinds: the habits of what Kubernetes defines, and of what somebody added."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from contract.widgets import WIDGETS
from stateward.kube.meta import Object
from stateward.kube.resources import (
    BUILT_IN,
    CONFIG_MAPS,
    CUSTOM_RESOURCES,
    DEPLOYMENTS,
    DISRUPTION_BUDGETS,
    EVENTS,
    LEASES,
    NAMESPACES,
    NODES,
    PODS,
    SECRETS,
    SERVICES,
    STATEFUL_SETS,
    VOLUME_CLAIMS,
    Resource,
)
from stateward.kube.structure import Shape
from stateward.local.kinds import FREE_OBJECT, Kind, Kinds, built_in, custom
from unit.local.pictures import KIND, STRUCTURE

ROLES = Resource("rbac.authorization.k8s.io", "v1", "Role", "roles", Object)


@pytest.mark.parametrize(
    ("habit", "have_it"),
    [
        (
            "counts_generation",
            {PODS, STATEFUL_SETS, DEPLOYMENTS, DISRUPTION_BUDGETS, CUSTOM_RESOURCES},
        ),
        ("counted_metadata", {DEPLOYMENTS}),
        ("created_by_update", {SERVICES, EVENTS, LEASES}),
        ("graceful", {PODS}),
    ],
)
def test_habits_that_few_built_in_kinds_have(habit: str, have_it: set[Resource[Any]]) -> None:
    jobs = {it for it in BUILT_IN if it.group == "batch"} if habit == "counts_generation" else set()
    apps = {it for it in BUILT_IN if it.group == "apps"} if habit == "counts_generation" else set()

    found = {it for it in BUILT_IN if getattr(built_in(it), habit)}

    assert found == have_it | jobs | apps


def test_most_built_in_kinds_may_be_updated_unseen() -> None:
    strict = {it for it in BUILT_IN if not built_in(it).unconditional_update}

    assert strict == {LEASES, DISRUPTION_BUDGETS, CUSTOM_RESOURCES}


@pytest.mark.parametrize(
    ("resource", "status"),
    [
        (PODS, {"phase": "Pending"}),
        (VOLUME_CLAIMS, {"phase": "Pending"}),
        (NAMESPACES, {"phase": "Active"}),
        (NODES, None),
        (STATEFUL_SETS, {}),
        (CONFIG_MAPS, {}),
    ],
    ids=str,
)
def test_the_first_status(resource: Resource[Any], status: Any) -> None:
    assert built_in(resource).first_status == status


def test_a_custom_kind_is_strict_and_simple() -> None:
    kind = custom(WIDGETS)

    simple = {it.name: getattr(kind, it.name) for it in fields(Kind) if it.type == "bool"}
    assert simple == {
        "built_in": False,
        "counts_generation": True,
        "unconditional_update": False,
        "created_by_update": False,
        "graceful": False,
        "storage": True,
    }
    assert kind.selectable == {"metadata.name", "metadata.namespace"}


@pytest.mark.parametrize(
    ("resource", "path", "shape"),
    [
        (PODS, "spec.containers", Shape.LIST_MAP),
        (PODS, "metadata.finalizers", Shape.LIST_SET),
        (STATEFUL_SETS, "spec.selector", Shape.ATOMIC_MAP),
        (CONFIG_MAPS, "data", Shape.MAP),
    ],
    ids=str,
)
def test_built_in_kinds_merge_by_their_schemas(resource: Any, path: str, shape: Shape) -> None:
    found = built_in(resource).structure().at(path)

    assert found is not None
    assert found.shape is shape


def test_without_a_schema_only_metadata_is_known() -> None:
    finalizers, anything = FREE_OBJECT.at("metadata.finalizers"), FREE_OBJECT.at("spec.anything")

    assert custom(WIDGETS).structure() is FREE_OBJECT
    assert built_in(ROLES).structure().child("rules") is not None
    assert finalizers is not None
    assert finalizers.shape is Shape.LIST_SET
    assert anything is not None
    assert anything.shape is Shape.UNKNOWN


@pytest.mark.parametrize(
    ("resource", "name", "fine"),
    [
        (CONFIG_MAPS, "a.b-c", True),
        (CONFIG_MAPS, "a_b", False),
        (SERVICES, "a-b", True),
        (SERVICES, "a.b", False),
        (SERVICES, "0a", False),
        (NAMESPACES, "0a", True),
        (NAMESPACES, "a.b", False),
        (ROLES, "system:any", True),
        (ROLES, "a/b", False),
        (ROLES, "..", False),
        (WIDGETS, "a.b", True),
    ],
    ids=str,
)
def test_names(resource: Resource[Any], name: str, fine: bool) -> None:
    assert (Kinds().of(resource).name_problem(name) is None) is fine


@pytest.mark.parametrize(
    ("group", "is_built_in"),
    [
        ("", True),
        ("apps", True),
        ("policy", True),
        ("coordination.k8s.io", True),
        ("example.com", False),
        ("contract.stateward.example", False),
    ],
)
def test_whose_a_kind_is_shows_in_its_group(group: str, is_built_in: bool) -> None:
    resource = Resource(group, "v1", "Thing", "things", Object)

    assert Kinds().of(resource).built_in is is_built_in


def test_what_was_announced_is_remembered() -> None:
    kinds = Kinds(KIND)
    assert kinds.of(WIDGETS).structure() is STRUCTURE

    kinds.add(custom(WIDGETS))
    assert kinds.of(WIDGETS).structure() is FREE_OBJECT

    assert kinds.of(SECRETS) is kinds.of(SECRETS)
