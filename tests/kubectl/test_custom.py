"""A kind of somebody's own: defined, and used at once."""

from __future__ import annotations

import pytest

from kubectl.manifests import DEFINITION, WIDGET
from local.clusters import Kubectl


@pytest.fixture
def widgets(kubectl: Kubectl) -> Kubectl:
    kubectl("apply", "-f", "-", stdin=DEFINITION)
    kubectl(
        "wait", "--for=condition=Established", "crd/widgets.kubectl.example.com", "--timeout=5s"
    )
    kubectl("apply", "-f", "-", stdin=WIDGET)
    return kubectl


def test_its_columns(widgets: Kubectl) -> None:
    ready = '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}'
    widgets("patch", "wd", "w", "--type=merge", "--subresource=status", "-p", ready)
    head, line = (it.split() for it in widgets("get", "wd").splitlines())

    assert head == ["NAME", "SIZE", "READY", "AGE"]
    assert line[:3] == ["w", "3", "True"]
    assert "COLOR" in widgets("get", "wd", "-o", "wide")
    assert "widget.kubectl.example.com/w" in widgets("get", "all")


def test_what_it_means(widgets: Kubectl) -> None:
    assert "How many there should be." in widgets("explain", "widget.spec.size")
    assert "Size:" in widgets("describe", "widget", "w")


def test_its_scale(widgets: Kubectl) -> None:
    widgets("scale", "widget", "w", "--replicas=7")

    assert widgets("get", "wd", "w", "-o", "jsonpath={.spec.size}") == "7"


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("size: 3", "size: 0", 'The Widget "w" is invalid: spec.size'),
        ("size: 3", "sise: 3", 'unknown field "spec.sise"'),
        ("size: 3", "size: many", "spec.size"),
    ],
)
def test_its_schema_is_kept(widgets: Kubectl, before: str, after: str, told: str) -> None:
    assert told in widgets("apply", "-f", "-", stdin=WIDGET.replace(before, after), code=1)


def test_its_fields_have_owners(widgets: Kubectl) -> None:
    widgets("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=WIDGET)
    blue = WIDGET.replace("red", "blue")
    refused = widgets(
        "apply", "--server-side", "--field-manager=rival", "-f", "-", stdin=blue, code=1
    )

    assert ".spec.color" in refused
