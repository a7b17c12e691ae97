"""The registry: kind, place and type lead to one another."""

from __future__ import annotations

import pytest

from stateward.core.errors import HouseError, UsageError
from stateward.kube.meta import Object
from stateward.kube.objects.pods import Pod
from stateward.kube.resources import BUILT_IN, NODES, PODS, STATEFUL_SETS


@pytest.mark.parametrize("resource", list(BUILT_IN), ids=str)
def test_kind_place_and_type_lead_to_one_another(resource):
    assert BUILT_IN.of_kind(resource.api_version, resource.kind) is resource
    assert BUILT_IN.at(resource.group, resource.version, resource.plural) is resource
    assert BUILT_IN.of_type(resource.type) is resource


@pytest.mark.parametrize(
    ("resource", "where", "path"),
    [
        (PODS, ("shop",), "/api/v1/namespaces/shop/pods"),
        (PODS, (), "/api/v1/pods"),
        (PODS, ("shop", "a", "log"), "/api/v1/namespaces/shop/pods/a/log"),
        (NODES, ("ignored", "n1"), "/api/v1/nodes/n1"),
        (
            STATEFUL_SETS,
            ("shop", "db", "status"),
            "/apis/apps/v1/namespaces/shop/statefulsets/db/status",
        ),
        (PODS, ("a/b", "../c"), "/api/v1/namespaces/a%2Fb/pods/..%2Fc"),
    ],
)
def test_paths(resource, where, path):
    assert resource.path(*where) == path


def test_an_unknown_kind_suggests_the_one_that_was_meant():
    with pytest.raises(UsageError, match="not known here") as caught:
        BUILT_IN.of_kind("apps/v1", "StatefulSat")

    assert caught.value.hint == "did you mean apps/v1 StatefulSet?"


def test_a_type_without_a_resource_is_our_own_mistake():
    class Stray(Object):
        pass

    with pytest.raises(HouseError, match="Stray"):
        BUILT_IN.of_type(Stray)


def test_documents_are_read_as_their_type():
    assert isinstance(PODS.read(b'{"metadata":{"name":"a"}}'), Pod)
