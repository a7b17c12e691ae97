"""Selectors: by labels everywhere, by the few fields that a kind offers."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.custom import NUMBER, TEXT, fields, things
from contract.kubernetes.wire import Wire


async def _four(wire: Wire) -> None:
    labels = {
        "a": {"app": "x", "n": "1"},
        "b": {"app": "x", "n": "2"},
        "c": {"app": "y", "n": "3"},
        "d": {},
    }
    for name, said in labels.items():
        (await wire.post("secrets", {"metadata": {"name": name, "labels": said}})).made()


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("app=x", "ab"),
        ("app==x", "ab"),
        (" app = x , n ", "ab"),
        ("app!=x", "cd"),
        ("app in (x,y)", "abc"),
        ("app in (x),n notin (2)", "a"),
        ("app notin (x)", "cd"),
        ("app in ()", ""),
        ("app", "abc"),
        ("!app", "d"),
        ("app=", ""),
    ],
)
async def test_labels(wire: Wire, selector: str, found: str) -> None:
    await _four(wire)

    assert (await wire.get("secrets", labelSelector=selector)).ok().names == list(found)


@pytest.mark.differs("Label selectors know no > and <.")
@pytest.mark.parametrize(("selector", "found"), [("n>1", "bc"), ("n<3", "ab")])
async def test_labels_that_are_numbers(wire: Wire, selector: str, found: str) -> None:
    await _four(wire)

    assert (await wire.get("secrets", labelSelector=selector)).ok().names == list(found)


@pytest.mark.parametrize("selector", ["a in", "a=b=c", "!", "a=-x-", "_/x", ",", "a>x", "a in (b"])
@pytest.mark.parametrize("watch", [False, True], ids=["list", "watch"])
async def test_what_selects_no_labels(wire: Wire, selector: str, watch: bool) -> None:
    answer = await wire.get("secrets", labelSelector=selector, watch=watch, timeoutSeconds=1)

    answer.refused(400, "BadRequest")


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("metadata.name=b", "b"),
        ("metadata.name==b", "b"),
        ("metadata.name!=b", "acd"),
        ("metadata.name=a,metadata.name=b", ""),
        ("metadata.namespace=nowhere", ""),
        ("metadata.namespace!=nowhere", "abcd"),
        ("type=Opaque", "abcd"),
        ("type!=Opaque", ""),
    ],
)
async def test_fields(wire: Wire, selector: str, found: str) -> None:
    await _four(wire)

    assert (await wire.get("secrets", fieldSelector=selector)).ok().names == list(found)


@pytest.mark.parametrize(
    "selector", ["nope", "metadata.name>a", "metadata.name in (a)"], ids=["word", "order", "set"]
)
async def test_what_selects_no_fields(wire: Wire, selector: str) -> None:
    (await wire.get("secrets", fieldSelector=selector)).refused(400, "BadRequest")


@pytest.mark.parametrize(
    ("path", "selector"),
    [
        ("pods", "spec.nodeName=x"),
        ("pods", "spec.restartPolicy=Never"),
        ("pods", "spec.schedulerName=x"),
        ("pods", "spec.serviceAccountName=x"),
        ("pods", "spec.hostNetwork=true"),
        ("pods", "status.phase!=Pending"),
        ("pods", "status.podIP=1.2.3.4"),
        ("pods", "status.nominatedNodeName=x"),
        ("events", "involvedObject.kind=Pod"),
        ("events", "involvedObject.uid=x"),
        ("events", "involvedObject.fieldPath=x"),
        ("events", "reason=x,type=Warning"),
        ("events", "reportingComponent=x"),
        ("services", "spec.clusterIP=None"),
        ("services", "spec.type=NodePort"),
        ("namespaces", "status.phase=Nowhere"),
        ("nodes", "spec.unschedulable=true"),
        ("jobs", "status.successful=1"),
    ],
)
async def test_fields_that_a_kind_offers(wire: Wire, path: str, selector: str) -> None:
    assert (await wire.get(path, fieldSelector=selector)).ok()["items"] == []


@pytest.mark.differs("Events cannot be selected by their source.")
async def test_events_by_their_source(wire: Wire) -> None:
    (await wire.get("events", fieldSelector="source=x")).ok()


_GENERAL = '"{}" is not a known field selector: only "metadata.name", "metadata.namespace"'
_OWN = "field label not supported: {}"


@pytest.mark.parametrize(
    ("path", "field", "said"),
    [
        ("pods", "spec.containers", _OWN),
        ("pods", "status.reason", _OWN),
        ("events", "message", _OWN),
        ("secrets", "data.a", _OWN),
        ("services", "spec.ports", _OWN),
        ("namespaces", "metadata.namespace", _OWN),
        ("nodes", "metadata.namespace", _OWN),
        ("configmaps", "data.x", _GENERAL),
        ("configmaps", "metadata.labels.app", _GENERAL),
        ("statefulsets", "spec.replicas", _GENERAL),
        ("replicasets", "status.replicas", _GENERAL),
        ("leases", "spec.holderIdentity", _GENERAL),
        ("customresourcedefinitions", "spec.group", _GENERAL),
        ("persistentvolumes", "spec.storageClassName", _GENERAL),
    ],
)
@pytest.mark.parametrize("watch", [False, True], ids=["list", "watch"])
async def test_fields_that_no_kind_offers(
    wire: Wire, path: str, field: str, said: str, watch: bool
) -> None:
    answer = await wire.get(path, fieldSelector=f"{field}=x", watch=watch, timeoutSeconds=1)

    answer.refused(400, "BadRequest", says=said.format(field))


_FIELDS = fields(color=TEXT, size=NUMBER, on={"type": "boolean"})
_CHOSEN = [{"jsonPath": ".spec.color"}, {"jsonPath": ".spec.size"}, {"jsonPath": ".spec.on"}]


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("spec.color=red", "a"),
        ("spec.color!=red", "b"),
        ("spec.color=", "b"),
        ("spec.size=7", "b"),
        ("spec.on=true", "b"),
        ("spec.color=red,metadata.name=b", ""),
    ],
)
async def test_fields_that_a_custom_kind_offers(wire: Wire, selector: str, found: str) -> None:
    async with things(wire, _FIELDS, selectableFields=_CHOSEN) as kind:
        await kind.made({"color": "red", "size": 1}, "a")
        await kind.made({"size": 7, "on": True}, "b")

        assert (await wire.get(kind.at(), fieldSelector=selector)).ok().names == list(found)


@pytest.mark.parametrize("terms", [{}, {"selectableFields": _CHOSEN}], ids=["none", "others"])
async def test_fields_that_a_custom_kind_does_not_offer(wire: Wire, terms: dict[str, Any]) -> None:
    async with things(wire, _FIELDS, **terms) as kind:
        answer = await wire.get(kind.at(), fieldSelector="spec.name=x")

        answer.refused(400, "BadRequest", says="field label not supported: spec.name")


async def test_jobs_have_words_of_their_own_for_it(wire: Wire) -> None:
    answer = await wire.get("jobs", fieldSelector="spec.x=1")

    answer.refused(400, "BadRequest", says='field label "spec.x" not supported for Job')
