"""EtcdClusters before a server: what is refused, with which words, and what is taken unchanged."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from contract.kubernetes.wire import Answer, Wire, wire_to
from operators.etcd_manifests import (
    BAD,
    BAD_CHANGES,
    COMPATIBLE,
    FINE_CHANGES,
    BadChange,
    Fine,
    manifest,
    says,
)
from real.clusters import RunningCluster
from stateward.app.kinds import definitions
from stateward.kube.codec import Json

DEFINITION = definitions()["etcdclusters.etcd.aenix.io.yaml"]
#: A few of every sort, as a user meets them.
BY_HAND = (
    "a name of 41 characters",
    "a field that is none",
    "replicas as a text",
    "2^31 members",
    "asleep without volumes",
    "the option name",
    "an option with its dashes",
    "both kinds of storage",
    "peerSecret alone",
    "a budget of 150%",
    "the latest version",
    "a grace time in words",
    "recovery without a word",
)


class Door:
    """The door of a server, at which EtcdClusters are shown in one namespace."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._place = f"/apis/etcd.aenix.io/v1alpha1/namespaces/{wire.namespace}/etcdclusters"

    async def shown(self, spec: object, name: str = "shop") -> Answer:
        """Ask whether a cluster would be taken."""
        return await self._wire.post(
            self._place, manifest(spec, name), fieldValidation="Strict", dryRun="All"
        )

    async def changed(self, change: BadChange | Fine, name: str) -> Answer:
        """Make a cluster; ask whether a change of it would be taken."""
        (await self._wire.post(self._place, manifest(change.was, name))).made()
        if change.status is not None:
            status = {"status": change.status}
            (await self._wire.patch(f"{self._place}/{name}/status", status)).ok()
        return await self._wire.patch(
            f"{self._place}/{name}",
            {"spec": change.patch},
            fieldValidation="Strict",
            dryRun="All",
        )

    async def is_open(self) -> bool:
        return (await self._wire.get(self._place)).code == 200


@asynccontextmanager
async def door(cluster: RunningCluster) -> AsyncGenerator[Door, None]:
    async with wire_to(cluster.access) as wire:
        await wire.apply(
            f"customresourcedefinitions/{DEFINITION['metadata']['name']}", DEFINITION, force=True
        )
        found = Door(wire)
        await wire.until(found.is_open)
        yield found


def told(answer: Answer) -> str:
    return f"{answer.code} {answer['message']}"


async def test_bad_manifests_are_refused_with_a_sentence(cluster: RunningCluster) -> None:
    async with door(cluster) as it:
        answers = [(bad, await it.shown(bad.spec, bad.name)) for bad in BAD]

    assert {
        bad.title: told(answer)
        for bad, answer in answers
        if answer.code not in {400, 422} or bad.says not in told(answer)
    } == {}


async def test_bad_changes_are_refused_with_a_sentence(cluster: RunningCluster) -> None:
    async with door(cluster) as it:
        answers = [(bad, await it.changed(bad, f"c{n}")) for n, bad in enumerate(BAD_CHANGES)]

    assert {
        bad.title: told(answer)
        for bad, answer in answers
        if answer.code != 422 or bad.says not in told(answer)
    } == {}


async def test_fine_changes_are_taken(cluster: RunningCluster) -> None:
    async with door(cluster) as it:
        answers = [(fine, await it.changed(fine, f"c{n}")) for n, fine in enumerate(FINE_CHANGES)]

    assert {fine.title: told(answer) for fine, answer in answers if answer.code != 200} == {}


@pytest.mark.parametrize("spec", COMPATIBLE.values(), ids=COMPATIBLE)
async def test_what_is_written_for_the_compatible_operator_is_taken(
    cluster: RunningCluster, spec: Json
) -> None:
    async with door(cluster) as it:
        answer = (await it.shown(spec)).made()

    assert answer.warnings == ()
    assert says(answer["spec"], spec), "nothing that was said is lost"


def test_kubectl_shows_the_sentence(cluster: RunningCluster) -> None:
    kubectl = cluster.kubectl
    kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=json.dumps(DEFINITION))
    name = DEFINITION["metadata"]["name"]
    kubectl("wait", "--for=condition=Established", f"crd/{name}", "--timeout=20s")
    chosen = [bad for bad in BAD if bad.title in BY_HAND]
    assert len(chosen) == len(BY_HAND)

    for bad in chosen:
        text = json.dumps(manifest(bad.spec, bad.name))
        assert bad.says in kubectl("create", "-f", "-", stdin=text, code=1)
    assert kubectl("get", "etcd") == "No resources found in default namespace.\n"
