"""What the objects of a cluster should be, beside what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeAlias

from stateward.core.memory import Last, Memory
from stateward.etcd.addresses import AddressBook
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.settings import Settings, settings_of, wish_of
from stateward.etcd.api.validation import problems
from stateward.etcd.build import documents
from stateward.etcd.build.kept import kept_problems
from stateward.etcd.build.pod import Outside
from stateward.etcd.build.volumes import claim_templates
from stateward.etcd.build.workload import workload
from stateward.etcd.model.names import CLUSTER_UID_LABEL
from stateward.etcd.model.view import ClaimSeen, Config, WorkloadSeen
from stateward.etcd.objects import Workload
from stateward.etcd.reading import template_bytes, workload_seen
from stateward.kube import drift
from stateward.kube.codec import Json
from stateward.kube.crd.findings import Problem
from stateward.kube.meta import Object

#: Tells whether writing a document would change an object.
Differs: TypeAlias = Callable[[Object, Json], bool]
#: Services and a budget.
Around: TypeAlias = tuple[documents.Wanted, ...]

#: What is decided apart: how many pods, from which ordinal on, and what their claims ask for.
_APART = ("replicas", "ordinals", "volumeClaimTemplates")
#: Clusters whose documents are kept.
_REMEMBERED = 1000


@dataclass(frozen=True, slots=True)
class Pods:
    """The StatefulSet as it should be, without its size, and as it is."""

    document: Json
    claim_templates: tuple[Json, ...] = ()
    live: Workload | None = None
    seen: WorkloadSeen | None = None


@dataclass(frozen=True, slots=True)
class _Made:
    """The StatefulSet as it should be, without its size."""

    document: Json
    claim_templates: tuple[Json, ...]
    #: How much its claims ask for, all together.
    bytes: int


class Wants:
    """Says what clusters shall be; what it worked out it keeps while the wish stays the same."""

    def __init__(self, book: AddressBook, differs: Differs) -> None:
        self._book = book
        self._differs = differs
        self._known: Memory[EtcdCluster, Want] = Memory(_REMEMBERED)

    def of(self, cluster: EtcdCluster) -> Want:
        """Return what a cluster shall be."""
        wish = wish_of(cluster)
        make = partial(Want, wish, self._book, self._differs)
        return self._known.recall(wish.metadata.uid, wish, make)


class Want:
    """What one wish comes to. Everything here depends on the wish and on what is asked with."""

    def __init__(self, wish: EtcdCluster, book: AddressBook, differs: Differs) -> None:
        self._wish = wish
        self._book = book
        self._differs = differs
        self._pods: Last[Outside, _Made] = Last()
        self._around: Last[tuple[int, int], Around] = Last()
        self._variables: Last[Config, documents.Wanted] = Last()

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """What must be otherwise before anything is done; nothing: all is well."""
        return problems(self._wish) or kept_problems(self._wish, self.settings)

    @cached_property
    def settings(self) -> Settings:
        """Every name, size and time; raise ValueError when there are problems."""
        return settings_of(self._wish)

    def pods(
        self,
        ca_hashes: Mapping[str, str],
        live: Workload | None,
        claims: Iterable[ClaimSeen] = (),
    ) -> Pods:
        """Return the StatefulSet, wanted and seen."""
        metadata, service = self._wish.metadata, self.settings.headless_service
        outside = Outside(
            self_host=self._book.self_host(metadata.namespace, service),
            listen_host=self._book.listen_host(),
            ca_hashes=ca_hashes,
            smallest_volume=min((it.size for it in claims if not it.deleting), default=0),
        )
        made = self._pods.recall(outside, lambda: _made(self._wish, self.settings, outside))
        if live is None:
            return Pods(made.document, made.claim_templates)
        there = live.spec.get("volumeClaimTemplates") or ()
        seen = workload_seen(
            live,
            differs=self._differs(live, made.document),
            outgrown=template_bytes(there) < made.bytes,
            disowned=_names_another(there, metadata.uid),
        )
        return Pods(made.document, made.claim_templates, live, seen)

    def around(self, voters: int, members: int) -> Around:
        """Return what stands around the pods of so many members."""
        return self._around.recall(
            (voters, members),
            lambda: documents.around(self._wish, voters=voters, members=members),
        )

    def variables(self, config: Config) -> documents.Wanted:
        """Return what members start with, if that is what they shall be told."""
        return self._variables.recall(config, lambda: documents.variables(self._wish, config))


def _made(wish: EtcdCluster, settings: Settings, outside: Outside) -> _Made:
    made = workload(wish, settings, outside, replicas=0)
    made["spec"] = {name: it for name, it in made["spec"].items() if name not in _APART}
    templates = tuple(claim_templates(wish, settings))
    return _Made(drift.sealed(made), templates, template_bytes(templates))


def _names_another(templates: Iterable[Mapping[str, Any]], uid: str) -> bool:
    """Tell whether new claims would belong to a cluster that is gone, and would go after it."""
    every = (it.get("metadata") or {} for it in templates)
    return any((it.get("labels") or {}).get(CLUSTER_UID_LABEL, uid) != uid for it in every)
