"""A kind of somebody's own: defined, and used at once."""

from __future__ import annotations

import pytest

from kubectl.manifests import DEFINITION, GIZMO
from local.clusters import Kubectl


@pytest.fixture
def gizmos(kubectl: Kubectl) -> Kubectl:
    # Others may define it in the same moment: whoever was late finds it there the second time.
    kubectl("apply", "-f", "-", stdin=DEFINITION, code=None)
    kubectl("apply", "-f", "-", stdin=DEFINITION)
    kubectl("wait", "--for=condition=Established", "crd/gizmos.kubectl.example.com", "--timeout=5s")
    kubectl("apply", "-f", "-", stdin=GIZMO)
    return kubectl


def test_its_columns(gizmos: Kubectl) -> None:
    ready = '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}'
    gizmos("patch", "gz", "w", "--type=merge", "--subresource=status", "-p", ready)
    head, line = (it.split() for it in gizmos("get", "gz").splitlines())

    assert head == ["NAME", "SIZE", "READY", "AGE"]
    assert line[:3] == ["w", "3", "True"]
    assert "COLOR" in gizmos("get", "gz", "-o", "wide")
    assert "gizmo.kubectl.example.com/w" in gizmos("get", "all")


def test_what_it_means(gizmos: Kubectl) -> None:
    assert "How many there should be." in gizmos("explain", "gizmo.spec.size")
    assert "Size:" in gizmos("describe", "gizmo", "w")


def test_its_scale(gizmos: Kubectl) -> None:
    gizmos("scale", "gizmo", "w", "--replicas=7")

    assert gizmos("get", "gz", "w", "-o", "jsonpath={.spec.size}") == "7"


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("size: 3", "size: 0", 'The Gizmo "w" is invalid: spec.size'),
        ("size: 3", "sise: 3", 'unknown field "spec.sise"'),
        ("size: 3", "size: many", "spec.size"),
    ],
)
def test_its_schema_is_kept(gizmos: Kubectl, before: str, after: str, told: str) -> None:
    assert told in gizmos("apply", "-f", "-", stdin=GIZMO.replace(before, after), code=1)


def test_its_fields_have_owners(gizmos: Kubectl) -> None:
    gizmos("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=GIZMO)
    blue = GIZMO.replace("red", "blue")
    refused = gizmos(
        "apply", "--server-side", "--field-manager=rival", "-f", "-", stdin=blue, code=1
    )

    assert ".spec.color" in refused
