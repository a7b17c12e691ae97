"""A kind of somebody's own: defined, and used at once."""

from __future__ import annotations

import pytest

from kubectl.manifests import DEFINITION, GADGET
from local.clusters import Kubectl


@pytest.fixture
def gadgets(kubectl: Kubectl) -> Kubectl:
    kubectl("apply", "-f", "-", stdin=DEFINITION)
    kubectl(
        "wait", "--for=condition=Established", "crd/gadgets.kubectl.example.com", "--timeout=5s"
    )
    kubectl("apply", "-f", "-", stdin=GADGET)
    return kubectl


def test_its_columns(gadgets: Kubectl) -> None:
    ready = '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}'
    gadgets("patch", "gd", "w", "--type=merge", "--subresource=status", "-p", ready)
    head, line = (it.split() for it in gadgets("get", "gd").splitlines())

    assert head == ["NAME", "SIZE", "READY", "AGE"]
    assert line[:3] == ["w", "3", "True"]
    assert "COLOR" in gadgets("get", "gd", "-o", "wide")
    assert "gadget.kubectl.example.com/w" in gadgets("get", "all")


def test_what_it_means(gadgets: Kubectl) -> None:
    assert "How many there should be." in gadgets("explain", "gadget.spec.size")
    assert "Size:" in gadgets("describe", "gadget", "w")


def test_its_scale(gadgets: Kubectl) -> None:
    gadgets("scale", "gadget", "w", "--replicas=7")

    assert gadgets("get", "gd", "w", "-o", "jsonpath={.spec.size}") == "7"


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("size: 3", "size: 0", 'The Gadget "w" is invalid: spec.size'),
        ("size: 3", "sise: 3", 'unknown field "spec.sise"'),
        ("size: 3", "size: many", "spec.size"),
    ],
)
def test_its_schema_is_kept(gadgets: Kubectl, before: str, after: str, told: str) -> None:
    assert told in gadgets("apply", "-f", "-", stdin=GADGET.replace(before, after), code=1)


def test_its_fields_have_owners(gadgets: Kubectl) -> None:
    gadgets("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=GADGET)
    blue = GADGET.replace("red", "blue")
    refused = gadgets(
        "apply", "--server-side", "--field-manager=rival", "-f", "-", stdin=blue, code=1
    )

    assert ".spec.color" in refused
