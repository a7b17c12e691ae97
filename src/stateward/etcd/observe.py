"""See: one frozen snapshot of a cluster, from the caches and from etcd itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from stateward.core.clock import Clock
from stateward.core.facts import Fact, Known, Unknown
from stateward.etcd import survey
from stateward.etcd.addresses import AddressBook
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.settings import Settings
from stateward.etcd.build.config import config_of
from stateward.etcd.caches import Caches, of_cluster
from stateward.etcd.chances import Chances
from stateward.etcd.members.port import Dialer, Endpoint, MemberApi
from stateward.etcd.model import names
from stateward.etcd.model.members import Member
from stateward.etcd.model.view import (
    ClaimSeen,
    Config,
    Listed,
    PodSeen,
    Replica,
    View,
    WorkloadSeen,
)
from stateward.etcd.objects import (
    WHOLE_BUDGETS,
    WHOLE_SERVICES,
    WORKLOADS,
    Getter,
    Whole,
    Workload,
)
from stateward.etcd.reading import covered, pod_seen
from stateward.etcd.secrets import Certificates, Secrets
from stateward.etcd.seen import Seen
from stateward.etcd.survey import Answers
from stateward.etcd.volumes import Volumes
from stateward.etcd.wanting import Differs, Want, Wants
from stateward.kube.crd.findings import Problem
from stateward.kube.errors import NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.pods import Pod
from stateward.kube.resources import Resource


@dataclass(frozen=True, slots=True)
class Sources:
    """Where an observer looks."""

    caches: Caches
    dialer: Dialer
    book: AddressBook
    secrets: Secrets
    client: Getter
    clock: Clock
    differs: Differs


@dataclass(frozen=True, slots=True)
class _Place:
    """A cluster, what its spec comes to, and where its members are."""

    cluster: EtcdCluster
    want: Want
    book: AddressBook

    @property
    def settings(self) -> Settings:
        return self.want.settings

    def pod(self, ordinal: int) -> ObjectKey:
        metadata = self.cluster.metadata
        return ObjectKey(metadata.namespace, names.pod_name(metadata.name, ordinal))

    def host(self, ordinal: int) -> str:
        return self.book.host(self.pod(ordinal), self.settings.headless_service)

    def peer_url(self, ordinal: int) -> str:
        return f"https://{self.host(ordinal)}:{names.PEER_PORT}"


class Observer:
    """Looks at one cluster at a time."""

    def __init__(self, sources: Sources) -> None:
        self._of = sources
        self._volumes = Volumes(sources.caches.claims, sources.client)
        self._chances = Chances()
        self._wants = Wants(sources.book, sources.differs)

    def problems(self, cluster: EtcdCluster) -> tuple[Problem, ...]:
        """Return what must be otherwise in a spec before anything is done about it."""
        return self._wants.of(cluster).problems

    async def look(self, cluster: EtcdCluster) -> Seen:
        """Return the cluster as it is now; raise SecretMissing when we cannot ask it safely."""
        want = self._wants.of(cluster)
        settings = want.settings
        certificates = await self._of.secrets.certificates(cluster.metadata.namespace, settings)
        place = _Place(cluster, want, self._of.book)
        live = await self._workload(cluster)
        claims = await self._claims(place, live)
        pods = dict(self._pods(cluster, live, claims))
        doors = self._doors(place, certificates, pods)
        about_auth = settings.auth or cluster.status.auth_enabled
        answers = await survey.ask_all(
            doors, self._of.clock, latched=cluster.status.cluster_id, about_auth=about_auth
        )
        if certificates.trust is not None and not answers.anybody:
            self._of.secrets.doubt(cluster.metadata.namespace)
        ours = (it for it in claims.values() if it.cluster_uid or it.owner_uid)
        wanted = want.pods(certificates.ca_hashes, live, ours)
        found = Parts(pods, claims, answers, _listed(place, answers), certificates.flaw)
        kept = self._of.caches.configs.get(names.config_key(cluster.metadata.key))
        return Seen(
            view=self._view(place, found, wanted.seen),
            doors=doors,
            wanted=want.around(*_counted(cluster, found.listed, wanted.seen)),
            live=tuple(self._around(cluster)),
            pods=wanted,
            config=kept.metadata if kept is not None else None,
        )

    def _view(self, place: _Place, found: Parts, workload: WorkloadSeen | None) -> View:
        cluster, settings, answers = place.cluster, place.settings, found.answers
        spoken_of = {*range(max(cluster.spec.replicas, 1)), *_known(cluster)}
        if workload is not None:
            spoken_of |= set(workload.ordinals)
        return View(
            cluster=cluster,
            now=self._of.clock.now(),
            replicas=_replicas(place, {*found.pods, *found.claims, *spoken_of}, found),
            listed=found.listed,
            other_lists=answers.other_lists,
            alarms=answers.alarms,
            auth_enabled=answers.auth_enabled,
            workload=workload,
            config=self._config(place),
            has_service=self._has_service(place),
            taken_claims=tuple(
                self._volumes.taken(cluster.metadata, settings.claim_name, spoken_of)
            ),
            secret_flaw=found.secret_flaw,
            image_version=str(settings.version or ""),
            wanted_bytes=(settings.storage_bytes or 0) if settings.claim_spec else 0,
            wanted_size=_size(settings),
        )

    def _has_service(self, place: _Place) -> bool:
        metadata = place.cluster.metadata
        key = ObjectKey(metadata.namespace, place.settings.headless_service)
        found = self._of.caches.services.get(key)
        owner = found.metadata.controller if found is not None else None
        return owner is not None and owner.uid == metadata.uid

    async def _workload(self, cluster: EtcdCluster) -> Workload | None:
        """Return the StatefulSet, also one that made pods and lost the labels by which we watch."""
        key = cluster.metadata.key
        found = self._of.caches.workloads.get(key)
        makers = [pod.metadata.controller for _, pod in self._made(cluster)]
        if found is not None or not any(makers):
            return found
        try:
            return await self._of.client.get(WORKLOADS, key)
        except NotFound:
            return None

    def _pods(
        self, cluster: EtcdCluster, workload: Workload | None, claims: Mapping[int, ClaimSeen]
    ) -> Iterator[tuple[int, PodSeen]]:
        now = self._of.clock.now()
        maker = workload.metadata.uid if workload is not None else ""
        for ordinal, pod in self._made(cluster):
            seen = pod_seen(pod, ordinal, maker)
            yield ordinal, self._chances.noted(seen, claims.get(ordinal), now)

    def _made(self, cluster: EtcdCluster) -> Iterator[tuple[int, Pod]]:
        for pod in of_cluster(self._of.caches.pods, cluster.metadata.key):
            ordinal = names.ordinal_of(cluster.metadata.name, pod.metadata.name)
            if ordinal is not None:
                yield ordinal, pod

    async def _claims(self, place: _Place, live: Workload | None) -> Mapping[int, ClaimSeen]:
        """Return the claims; those on which pods run or will soon are asked for if not watched."""
        metadata, template = place.cluster.metadata, place.settings.claim_name
        found = self._volumes.watched(metadata, template)
        if not place.settings.claim_spec:
            return found
        made = {ordinal for ordinal, _ in self._made(place.cluster)}
        joining: set[int] = set()
        if live is None or place.cluster.status.cluster_id:
            # Who starts next must not start on old data, of which the watch may not have told yet,
            # nor on what is not ours, of which it never tells.
            there = made | set(covered(live.spec) if live is not None else ())
            joining = set(range(place.cluster.spec.replicas)) - there
        asked = sorted((made | joining) - set(found))
        return found | await self._volumes.strays(metadata, template, asked, joining)

    def _doors(
        self, place: _Place, certificates: Certificates, pods: Mapping[int, PodSeen]
    ) -> dict[int, MemberApi]:
        """Return how to ask every pod of ours that has an address and a running etcd."""
        doors: dict[int, MemberApi] = {}
        for ordinal, pod in sorted(pods.items() if certificates.can_ask else ()):
            if not pod.address or not pod.running or not pod.ours:
                continue
            endpoint = Endpoint(
                address=pod.address,
                port=names.CLIENT_PORT,
                trust=certificates.trust,
                server_name=place.host(ordinal),
                login_by_certificate=place.settings.auth or place.cluster.status.auth_enabled,
            )
            doors[ordinal] = self._of.dialer.dial(endpoint)
        return doors

    def _config(self, place: _Place) -> Config | None:
        """Return what members are told as they start; None: it must be written anew."""
        found = self._of.caches.configs.get(names.config_key(place.cluster.metadata.key))
        config = config_of(found.data) if found is not None else None
        if found is None or config is None:
            return None
        wanted = place.want.variables(config).document
        return None if self._of.differs(found, wanted) else config

    def _around(self, cluster: EtcdCluster) -> Iterator[tuple[Resource[Any], Whole]]:
        key = cluster.metadata.key
        for service in of_cluster(self._of.caches.services, key):
            yield WHOLE_SERVICES, service
        for budget in of_cluster(self._of.caches.budgets, key):
            yield WHOLE_BUDGETS, budget


@dataclass(frozen=True, slots=True)
class Parts:
    """What was found of the replicas, each by ordinal, and of the rest."""

    pods: Mapping[int, PodSeen]
    claims: Mapping[int, ClaimSeen]
    answers: Answers
    listed: Fact[tuple[Listed, ...]]
    #: What is wrong with a secret; empty: nothing.
    secret_flaw: str


def _replicas(place: _Place, ordinals: set[int], parts: Parts) -> tuple[Replica, ...]:
    entries = parts.listed.value if isinstance(parts.listed, Known) else ()
    by_ordinal = {it.ordinal: it for it in entries if it.ordinal is not None}
    return tuple(
        Replica(
            ordinal=ordinal,
            name=place.pod(ordinal).name,
            peer_url=place.peer_url(ordinal),
            pod=parts.pods.get(ordinal),
            claim=parts.claims.get(ordinal),
            status=parts.answers.statuses.get(ordinal, Unknown("nobody was asked")),
            listed=by_ordinal.get(ordinal),
        )
        for ordinal in sorted({*ordinals, *by_ordinal})
    )


def _listed(place: _Place, answers: Answers) -> Fact[tuple[Listed, ...]]:
    roster = answers.roster
    if isinstance(roster, Unknown):
        return roster
    entries = [Listed(it, _ordinal(place, it)) for it in roster.value.members]
    order = sorted(entries, key=lambda it: -1 if it.ordinal is None else it.ordinal)
    return Known(tuple(order), roster.at, roster.source)


def _ordinal(place: _Place, member: Member) -> int | None:
    """Return whose entry this is: by its host, which must be the one of the pod that it names."""
    hosts = [urlsplit(url).hostname or "" for url in member.peer_urls]
    cluster = place.cluster.metadata.name
    if member.name:
        ordinal = names.ordinal_of(cluster, member.name)
        return ordinal if ordinal is not None and _lives_at(place, ordinal, hosts) else None
    for ordinal in range(names.MOST_ORDINALS):
        if _lives_at(place, ordinal, hosts):
            return ordinal
    return None


def _lives_at(place: _Place, ordinal: int, hosts: list[str]) -> bool:
    host = place.host(ordinal)
    # Another operator may have written the cluster's domain behind it.
    return any(it == host or it.startswith(f"{host}.") for it in hosts)


def _known(cluster: EtcdCluster) -> Iterator[int]:
    for it in cluster.status.last_known_members:
        ordinal = names.ordinal_of(cluster.metadata.name, it.name)
        if ordinal is not None and ordinal < names.MOST_ORDINALS:
            yield ordinal


def _size(settings: Settings) -> str:
    requests = ((settings.claim_spec or {}).get("resources") or {}).get("requests") or {}
    return str(requests.get("storage", ""))


def _counted(
    cluster: EtcdCluster, listed: Fact[tuple[Listed, ...]], workload: WorkloadSeen | None
) -> tuple[int, int]:
    """Return how many members have a vote, and how many there are, as far as anybody knows.

    By the record. A status that somebody emptied has none: then by the quorum's word, or by pods.
    """
    known = cluster.status.last_known_members
    learners = [it.learner for it in known]
    if not known and isinstance(listed, Known):
        learners = [it.member.learner for it in listed.value]
    if learners or workload is None:
        return learners.count(False), len(learners)
    return workload.replicas, workload.replicas
