"""What people choose of an installation, and what they are told when it cannot be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from stateward.app.install import chart, choices
from stateward.app.settings import selector
from stateward.core.errors import UsageError
from stateward.kube.codec import Json


def test_the_usual_values_are_sound() -> None:
    assert list(choices.problems(chart.usual_values(), chart.schema())) == []


def _unnamed(value: Any, schema: Json, path: str = "") -> Iterator[str]:
    """Yield where values and schema do not name the same; what is free names nothing."""
    if "properties" not in schema:
        return
    # Helm puts `global` there by itself.
    for name in value.keys() ^ (schema["properties"].keys() - {"global"}):
        yield f"{path}.{name}"
    for name, inner in value.items():
        yield from _unnamed(inner, schema["properties"].get(name, {}), f"{path}.{name}")


def test_every_value_is_in_the_schema_and_the_other_way_round() -> None:
    assert list(_unnamed(chart.usual_values(), chart.schema())) == []


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("replcas=2", "replcas: must be a value that the chart knows; did you mean replicas?"),
        ("nonsense=2", "nonsense: must be a value that the chart knows: one of replicas, image"),
        (
            "image.digets=2",
            "image.digets: must be a value that the chart knows; did you mean digest",
        ),
        ("replicas=two", "replicas: must be of type integer, got 'two'"),
        ("replicas=true", "replicas: must be of type integer, got True"),
        ("replicas=0", "replicas: must be 1 to 9, got 0"),
        ("image=x", "image: must be of type object, got 'x'"),
        ("image.repository=", "image.repository: must not be empty"),
        ("image.digest=sha256:1", "image.digest: must match"),
        (
            "image.tag=1.10",
            "image.tag: must be of type string, got 1.1; in quotes it is one: '1.1'",
        ),
        ("image.tag='a b'", "image.tag: must be a tag: letters"),
        ("image.repository=Foo/Bar:1", "image.repository: must be the name of an image"),
        ("image.repository='a b'", "image.repository: must be the name of an image"),
        ("image.pullPolicy=Often", "image.pullPolicy: must be one of Always, IfNotPresent, Never"),
        ("watch.namespaces=shop", "watch.namespaces: must be of type array, got 'shop'"),
        ("watch.namespaces=[Shop]", "watch.namespaces[0]: must match"),
        (f"watch.namespaces=[{'x' * 64}]", "watch.namespaces[0]: must be at most 63 characters"),
        ("podLabels={a: 1}", "podLabels.a: must be of type string, got 1"),
        ("networkPolicy.apiServerPorts=[]", "networkPolicy.apiServerPorts: must have at least 1"),
        (
            "watch.namespaces=[shop, bank, shop]",
            "watch.namespaces: must name each once, got 'shop' twice",
        ),
        ("networkPolicy.apiServerPorts=[0]", "networkPolicy.apiServerPorts[0]: must be 1 to 65535"),
        ("log.level=loud", "log.level: must be one of debug, info"),
        ('serviceAccount.name="a\\n"', "serviceAccount.name: must match"),
        ("watch.selector=a=b=c", "watch.selector: must be a label selector, as in fleet=blue"),
        ("networkPolicy.dnsPorts=[]", "networkPolicy.dnsPorts: must have at least 1"),
        ("rescueVolume={emptyDir: {}, nfs: {}}", "rescueVolume: must have at most 1 field, got e"),
        ("podSecurityContext.runAsUser=0", "podSecurityContext.runAsUser: must be 1 to 2147483647"),
    ],
)
def test_what_cannot_be_chosen(word: str, sentence: str) -> None:
    values = choices.laid_over(chart.usual_values(), choices.from_word(word))
    with pytest.raises(UsageError) as caught:
        choices.check(values, chart.schema())
    assert caught.value.message.startswith(sentence)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("watch: null", "watch: must be there, and null takes it away"),
        ("image: {tag: null}", "image.tag: must be there, and null takes it away"),
        ("imagePullSecrets: [{}]", "imagePullSecrets[0].name: must be there"),
    ],
)
def test_what_cannot_be_taken_away(text: str, sentence: str) -> None:
    values = choices.laid_over(chart.usual_values(), choices.from_text("mine.yaml", text))
    with pytest.raises(UsageError) as caught:
        choices.check(values, chart.schema())
    assert caught.value.message.startswith(sentence)


@pytest.mark.parametrize("word", ["", "a", "=1", "a..b=1", ".a=1", "a=[", "a={"])
def test_what_is_no_choice(word: str) -> None:
    with pytest.raises(UsageError, match="--set"):
        choices.from_word(word)


@pytest.mark.parametrize("text", ["- a", "a: [", "text"])
def test_what_is_no_file_of_values(text: str) -> None:
    with pytest.raises(UsageError, match=r"^mine\.yaml: must"):
        choices.from_text("mine.yaml", text)


def test_an_empty_file_chooses_nothing() -> None:
    assert choices.from_text("mine.yaml", "# nothing\n") == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "!a",
        "a=b",
        "a==b, c!=d",
        "x.y/a in (b, c),d notin (e)",
        "a=",
        "a=b=c",
        "a in b",
        "a in (b",
        "a,,b",
        "=b",
        "-a=b",
        "a=b;c",
        "a in ()",
        "a b",
        "A/b=c",
    ],
)
def test_the_schema_knows_what_a_selector_is(text: str) -> None:
    """Helm refuses what the operator would refuse to start with."""
    values = choices.laid_over(chart.usual_values(), {"watch": {"selector": text}})
    is_read = True
    try:
        selector("watch.selector", text)
    except UsageError:
        is_read = False
    assert (list(choices.problems(values, chart.schema())) == []) == is_read


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        (
            "products={etcd: false, foundationdb: false}",
            "products: one of etcd, foundationdb must be true",
        ),
        (
            "watch={clusterWide: true, namespaces: [shop]}",
            "watch: must have namespaces or clusterWide, not both",
        ),
        (
            "metrics={enabled: false, serviceMonitor: {enabled: true}}",
            "metrics.serviceMonitor: must have metrics.enabled",
        ),
        (
            "podLabels={app.kubernetes.io/name: mine}",
            "podLabels: must leave app.kubernetes.io/name to the chart",
        ),
        ("rescueVolume={name: mine}", "rescueVolume: must be the volume without a name"),
        ("serviceAccount.create=false", "serviceAccount.name: must say which account"),
    ],
)
def test_what_does_not_go_together(word: str, sentence: str) -> None:
    values = choices.laid_over(chart.usual_values(), choices.from_word(word))
    choices.check(values, chart.schema())
    with pytest.raises(UsageError) as caught:
        chart.objects(chart.Release(), values)
    assert caught.value.message.startswith(sentence)


@pytest.mark.parametrize("name", ["7", "x" * 54, "a-", "A", "a.b"])
def test_names_that_no_service_can_have(name: str) -> None:
    with pytest.raises(UsageError, match="must begin with a letter"):
        chart.objects(chart.Release(name), chart.usual_values())
