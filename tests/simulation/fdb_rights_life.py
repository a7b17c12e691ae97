"""A life of a FoundationDB cluster in which the operator uses every right that it has."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from fakes import fdb_tls
from stateward.fdb.admin.pod_agent.pods import by_pod
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS, FoundationDBCluster
from stateward.fdb.build.detection import Detector
from stateward.fdb.model.names import CLASS_LABEL, OURS, detection_job_name
from stateward.fdb.operator import FdbOptions, assemble
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CRON_JOBS, PODS
from stateward.local.rules.writes import Author
from stateward.runtime.supervisor import Supervisor
from stateward.sim.fdb.world import FdbWorld, Surroundings

KEY: Final = ObjectKey("default", "shop")
_USER: Final = Author("user")
#: Seconds after which something that was asked for has come, long before.
_PATIENCE: Final = 3600.0
_LEAVES: Final = {"replacements": {"taintReplacementOptions": [{"key": "work"}]}}


def operator(of: Surroundings) -> Supervisor:
    """Put the operator together as a process of ours does."""
    options = FdbOptions(
        databases=of.databases,
        agents=by_pod(of.agents),
        lease=ObjectKey("default", "fdb-operator"),
        detector=Detector("stateward:0.1.0", "stateward"),
    )
    return assemble(of.client, of.ports, of.identity, of.metrics, options=options)


async def life(it: FdbWorld) -> None:
    """Make a cluster, and do to it what people do."""
    it.operate(operator, count=2)
    it.world.api.create(CLUSTERS, KEY.namespace, _asked(), _USER)
    await _reconciled(it)
    await _edit(it, processes={"general": {"customParameters": ["knob_a=1"]}})
    await _edit(it, routing={"publicIPSource": "service", "headlessService": True})
    await _edit(it, labels={"resourceLabels": {"team": "db"}})
    await _edit(it, deletionPolicy="Delete")
    await _take_label(it, CLASS_LABEL)
    await _edit(it, automationOptions=_LEAVES)
    await _edit(it, processGroupsToRemove=[_groups(it)[0]])
    await _edit(it, routing={"publicIPSource": "pod", "headlessService": False})
    await _edit(it, automationOptions={"replacements": {"enabled": True}})
    await _edit(it, automationOptions={"replacements": {"failureDetectionTimeSeconds": 3600}})
    await _hide_job(it)
    await _edit(it, automationOptions={"replacements": {"enabled": False}})
    await _ask_for_tls(it)


def _asked() -> Json:
    general = {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "1G"}}}}}
    spec = {
        "version": "7.3.63",
        "processCounts": {"stateless": 3},
        "processes": {"general": general},
    }
    kind = {"apiVersion": CLUSTERS.api_version, "kind": CLUSTERS.kind}
    return kind | {"metadata": {"name": KEY.name, "namespace": KEY.namespace}, "spec": spec}


def _cluster(it: FdbWorld) -> FoundationDBCluster:
    return CLUSTERS.read(it.world.api.get(CLUSTERS, KEY).text)


def _groups(it: FdbWorld) -> list[str]:
    return [
        PROCESS_GROUPS.read(one.text).spec.process_group_id
        for one in it.world.api.list(PROCESS_GROUPS).items
    ]


async def _edit(it: FdbWorld, **spec: object) -> None:
    it.world.api.patch(CLUSTERS, KEY, MergePatch({"spec": spec}), _USER)
    await _reconciled(it)


async def _ask_for_tls(it: FdbWorld) -> None:
    """Ask for certificates from a secret that is not there, and see that it is looked for."""
    general = {"podTemplate": fdb_tls.template()}
    spec = {"processes": {"general": general}, **fdb_tls.ON}
    it.world.api.patch(CLUSTERS, KEY, MergePatch({"spec": spec}), _USER)
    await _until(
        it,
        lambda: any(
            one.guard == "CertificateUnusable" and "must be there" in one.message
            for one in _cluster(it).status.blockers
        ),
    )


async def _take_label(it: FdbWorld, label: str) -> None:
    """Take a label from a pod, and see that it comes back."""
    key = it.world.api.list(PODS).items[0].key
    gone = {"metadata": {"labels": {label: None}}}
    it.world.api.patch(PODS, key, MergePatch(gone), _USER)
    await _until(it, lambda: label in PODS.read(it.world.api.get(PODS, key).text).metadata.labels)


async def _hide_job(it: FdbWorld) -> None:
    """Take the label from the job by which it is seen, and see that it comes back."""
    key = ObjectKey(KEY.namespace, detection_job_name(KEY.name))
    label, _, value = OURS.partition("=")
    it.world.api.patch(CRON_JOBS, key, MergePatch({"metadata": {"labels": {label: None}}}), _USER)

    def is_back() -> bool:
        found = CRON_JOBS.read(it.world.api.get(CRON_JOBS, key).text)
        return found.metadata.labels.get(label) == value

    await _until(it, is_back)


async def _reconciled(it: FdbWorld) -> None:
    await _until(it, lambda: _is_reconciled(_cluster(it)))


def _is_reconciled(cluster: FoundationDBCluster) -> bool:
    told = cluster.status.generations
    return told.reconciled == cluster.metadata.generation and not told.has_pending_removal


async def _until(it: FdbWorld, holds: Callable[[], bool]) -> None:
    deadline = it.world.loop.time() + _PATIENCE
    while not holds():
        assert it.world.loop.time() < deadline, _cluster(it).status.doing
        await asyncio.sleep(5)
