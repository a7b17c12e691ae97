"""Each half of a process group has one writer: its spec the cluster's controller, its status, its
pod, its claim and its service the groups' own."""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import pytest

from fakes.fdb_stories import NAME, Story, played, spec
from stateward.core.outcome import Outcome
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.fdb.cluster.controller import ClusterReconciler
from stateward.fdb.groups.reconciler import GroupReconciler
from stateward.kube.client import MergePatch
from stateward.kube.interception import Call
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import (
    CONFIG_MAPS,
    EVENTS,
    LEASES,
    PODS,
    SERVICES,
    VOLUME_CLAIMS,
)
from stateward.sim.network import Asked

WHO: ContextVar[str] = ContextVar("who", default="nobody")
KNOB = {"general": {"customParameters": ["knob_max_trace_lines=1000000"]}}


@pytest.fixture(autouse=True)
def _signed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each controller be known by what it sends."""
    for kind, name in ((ClusterReconciler, "cluster"), (GroupReconciler, "groups")):
        _sign(monkeypatch, kind, name)


def _sign(monkeypatch: pytest.MonkeyPatch, kind: Any, name: str) -> None:
    before = kind.reconcile

    async def reconcile(self: Any, key: ObjectKey) -> Outcome:
        token = WHO.set(name)
        try:
            found: Outcome = await before(self, key)
            return found
        finally:
            WHO.reset(token)

    monkeypatch.setattr(kind, "reconcile", reconcile)


async def eventful(it: Story) -> list[tuple[str, Call]]:
    """Let a cluster live through all that makes both controllers write; return who wrote what."""
    found: list[tuple[str, Call]] = []

    def heard(_who: str, call: Asked) -> None:
        if call.writes and isinstance(call, Call) and call.resource not in (EVENTS, LEASES):
            found.append((WHO.get(), call))

    it.it.world.weather.listeners.append(heard)
    await it.create(spec(imageType="split", routing={"publicIPSource": "service"}))
    it.change(processes=KNOB)
    await it.reconciled()
    it.change(version="7.3.69", deletionPolicy="Delete")
    await it.reconciled()
    it.delete(PROCESS_GROUPS, it.pod(next(iter(it.groups("storage")))).name)
    await it.rest(60)
    await it.reconciled()
    it.change(processCounts={"stateless": 2}, routing={"headlessService": True})
    await it.until("all are gone", it.none_leaves)
    await it.reconciled()
    return found


def fields(call: Call) -> Iterator[str]:
    """Yield what a call writes: beginnings of documents, and what is in metadata."""
    body = call.body.body if isinstance(call.body, MergePatch) else call.body
    for name, value in dict(body).items() if isinstance(body, dict) else ():
        if name == "metadata":
            yield from (f"metadata.{it}" for it in value if it not in ("uid", "resourceVersion"))
        else:
            yield name


def test_each_half_has_one_writer() -> None:
    async def story(it: Story) -> None:
        wrote = await eventful(it)
        seen = {(who, call.verb, call.resource.name) for who, call in wrote}
        assert {who for who, _, _ in seen} == {"cluster", "groups"}
        for who, call in wrote:
            if call.resource in (PODS, VOLUME_CLAIMS):
                assert who == "groups", call
            if call.resource is SERVICES:
                assert who == ("cluster" if call.key.name == NAME else "groups"), call
            if call.resource in (CONFIG_MAPS, CLUSTERS):
                assert who == "cluster", call
            if call.resource is PROCESS_GROUPS:
                _check_group(who, call)
        # All of it happened, or nothing was proved.
        for what in (
            ("cluster", "create", PROCESS_GROUPS.name),
            ("cluster", "patch", PROCESS_GROUPS.name),
            ("cluster", "delete", PROCESS_GROUPS.name),
            ("groups", "patch", PROCESS_GROUPS.name),
            ("groups", "create", PODS.name),
            ("groups", "patch", PODS.name),
            ("groups", "delete", PODS.name),
            ("groups", "delete", VOLUME_CLAIMS.name),
            ("groups", "delete", SERVICES.name),
        ):
            assert what in seen, what

    played(story)


def _check_group(who: str, call: Call) -> None:
    """See that a write of a process group is the writer's own half, and nothing else."""
    if call.subresource == "status":
        assert who == "groups", call
    elif call.verb in ("create", "delete"):
        assert who == "cluster", call
    elif who == "groups":
        assert [*fields(call)] == ["metadata.finalizers"], call


def test_managed_fields_tell_the_halves_apart() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        it.change(processes=KNOB)
        await it.reconciled()
        for group in it.groups().values():
            halves = {
                entry.get("subresource", ""): {*entry["fieldsV1"]}
                for entry in group["metadata"]["managedFields"]
            }
            assert "f:status" not in halves[""]
            assert "f:spec" in halves[""]
            assert "f:spec" not in halves["status"]
            assert "f:status" in halves["status"]

    played(story)
