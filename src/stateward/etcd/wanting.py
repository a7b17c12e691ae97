"""What the objects of a cluster should be, beside what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from stateward.etcd.addresses import AddressBook
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.settings import Settings
from stateward.etcd.build import documents
from stateward.etcd.build.pod import Outside
from stateward.etcd.build.volumes import claim_templates
from stateward.etcd.build.workload import workload
from stateward.etcd.model.names import CLUSTER_UID_LABEL
from stateward.etcd.model.view import WorkloadSeen
from stateward.etcd.objects import Workload
from stateward.etcd.reading import template_bytes, workload_seen
from stateward.kube import drift
from stateward.kube.codec import Json
from stateward.kube.meta import Object

#: Tells whether writing a document would change an object.
Differs: TypeAlias = Callable[[Object, Json], bool]

#: What is decided apart: how many pods, from which ordinal on, and what their claims ask for.
_APART = ("replicas", "ordinals", "volumeClaimTemplates")


@dataclass(frozen=True, slots=True)
class Pods:
    """The StatefulSet as it should be, without its size, and as it is."""

    document: Json
    claim_templates: tuple[Json, ...] = ()
    live: Workload | None = None
    seen: WorkloadSeen | None = None


def pods_of(
    cluster: EtcdCluster,
    settings: Settings,
    book: AddressBook,
    ca_hashes: Mapping[str, str],
    live: Workload | None,
    *,
    differs: Differs,
) -> Pods:
    """Return the StatefulSet of a cluster, wanted and seen."""
    namespace, service = cluster.metadata.namespace, settings.headless_service
    outside = Outside(
        self_host=book.self_host(namespace, service),
        listen_host=book.listen_host(),
        ca_hashes=ca_hashes,
    )
    made = workload(cluster, settings, outside, replicas=0)
    made["spec"] = {name: it for name, it in made["spec"].items() if name not in _APART}
    document = drift.sealed(made)
    templates = tuple(claim_templates(cluster, settings))
    if live is None:
        return Pods(document, templates)
    there = live.spec.get("volumeClaimTemplates") or ()
    seen = workload_seen(
        live,
        differs=differs(live, document),
        outgrown=template_bytes(there) < template_bytes(templates),
        disowned=_names_another(there, cluster.metadata.uid),
    )
    return Pods(document, templates, live, seen)


def around(cluster: EtcdCluster) -> tuple[documents.Wanted, ...]:
    """Return what stands around the pods."""
    status = cluster.status
    members = status.last_known_members
    voters = sum(not it.learner for it in members)
    return documents.around(cluster, voters=voters, members=len(members))


def _names_another(templates: Iterable[Mapping[str, Any]], uid: str) -> bool:
    """Tell whether new claims would belong to a cluster that is gone, and would go after it."""
    every = (it.get("metadata") or {} for it in templates)
    return any((it.get("labels") or {}).get(CLUSTER_UID_LABEL, uid) != uid for it in every)
