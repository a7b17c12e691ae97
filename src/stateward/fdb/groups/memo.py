"""What is worked out once for each group and not in every pass: there may be a thousand of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from stateward.core.memory import Memory
from stateward.fdb.api.kind import FoundationDBProcessGroup
from stateward.fdb.build import claim as claims
from stateward.fdb.build import config_map, services
from stateward.fdb.build import pod as pods
from stateward.fdb.build.metadata import digest
from stateward.fdb.build.servers import commandlines, environment
from stateward.fdb.model import names
from stateward.fdb.views import GroupView
from stateward.kube.codec import Json
from stateward.kube.objects.pods import Pod

#: Groups that are kept in mind.
_LIMIT: Final = 20_000
#: Containers that can be started anew by themselves.
_BESIDE: Final = frozenset({names.SIDECAR_CONTAINER, names.INIT_CONTAINER})
#: Annotations that tell how an object was made: what is wanted by now is not said in them.
_MADE_BY: Final = frozenset(
    {
        names.SPEC_HASH,
        names.CONFIG_HASH,
        names.IMAGE_TYPE,
        names.PUBLIC_IP,
        names.PUBLIC_IP_SOURCE,
        names.IP_FAMILY,
        names.SIDECAR_CERTIFICATE,
        names.SIDECAR_BEFORE,
    }
)


@dataclass(frozen=True, slots=True)
class Marks:
    """What is to be on an object whenever it was made."""

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the objects of a group are known by, and the hashes of what they are made from."""

    pod: Marks
    pod_hash: str
    #: None: the group has none.
    claim: Marks | None = None
    claim_hash: str = ""
    service: Marks | None = None
    #: The images of containers beside fdbserver, by their names.
    beside: Mapping[str, str] = field(default_factory=dict)


class Memo:
    """Keeps in mind, for as long as what it was worked out from is the same."""

    def __init__(self, limit: int = _LIMIT) -> None:
        self._wanted: Memory[int, Wanted] = Memory(limit)
        self._hashes: Memory[Any, str] = Memory(limit)
        self._others: Memory[Any, str] = Memory(limit)
        self._lines: Memory[Any, tuple[tuple[str, ...], ...]] = Memory(limit)
        #: Groups that are well, as they were judged; what is so is known to whoever judges.
        self.calm: Memory[tuple[object, ...], GroupView] = Memory(limit)

    def wanted(self, group: FoundationDBProcessGroup) -> Wanted:
        """Return what the objects of a group are known by."""
        metadata = group.metadata
        return self._wanted.recall(metadata.uid, metadata.generation, lambda: _wanted(group))

    def files_hash(self, group: FoundationDBProcessGroup, data: Mapping[str, str]) -> str:
        """Return the hash of what the sidecar of a split pod shall have copied."""
        asked = (group.metadata.generation, data)
        return self._hashes.recall(
            group.metadata.uid, asked, lambda: config_map.files_hash(data, group.spec)
        )

    def hash_with(self, group: FoundationDBProcessGroup, images: Mapping[str, str]) -> str:
        """Return the hash of a pod that has these images beside fdbserver, and is else as asked."""
        asked = (group.metadata.generation, images)
        return self._others.recall(group.metadata.uid, asked, lambda: _hash_with(group, images))

    def command_lines(
        self, group: FoundationDBProcessGroup, pod: Pod, data: Mapping[str, str]
    ) -> tuple[tuple[str, ...], ...]:
        """Return the arguments that the processes of a pod shall have; none: nobody knows yet."""
        conf = config_map.conf_text(data, group.spec)
        if conf is None:
            return ()
        asked = (
            group.metadata.generation,
            pod.metadata.uid,
            pod.metadata.resource_version,
            conf,
        )
        return self._lines.recall(group.metadata.uid, asked, lambda: _lines(conf, group, pod))


def _wanted(group: FoundationDBProcessGroup) -> Wanted:
    claim, service = claims.claim(group, None), services.group_service(group)
    return Wanted(
        pod=_marks(pods.pod(group)),
        pod_hash=pods.pod_hash(group),
        claim=None if claim is None else _marks(claim),
        claim_hash="" if claim is None else claims.claim_hash(group),
        service=None if service is None else _marks(service),
        beside={it["name"]: str(it.get("image")) for it in _beside(pods.pod_spec(group))},
    )


def _beside(spec: Json) -> Iterator[Json]:
    for kind in ("initContainers", "containers"):
        yield from (it for it in spec.get(kind) or () if it.get("name") in _BESIDE)


def _hash_with(group: FoundationDBProcessGroup, images: Mapping[str, str]) -> str:
    """Return the hash that a pod would have that has other images beside fdbserver."""
    spec = pods.pod_spec(group)
    for kind in ("initContainers", "containers"):
        if kind in spec:
            spec[kind] = [
                {**it, "image": images.get(it["name"], it.get("image"))} for it in spec[kind]
            ]
    return digest(spec)


def _marks(document: Json) -> Marks:
    metadata = document["metadata"]
    annotations = metadata.get("annotations") or {}
    return Marks(
        metadata.get("labels") or {},
        {name: it for name, it in annotations.items() if name not in _MADE_BY},
    )


def _lines(conf: str, group: FoundationDBProcessGroup, pod: Pod) -> tuple[tuple[str, ...], ...]:
    """Return the arguments; none while its pod does not tell what they are made of."""
    spec, variables = group.spec, environment.environment(group, pod)
    try:
        return commandlines.expected(conf, spec.image_type, spec.servers_per_pod, variables)
    except commandlines.Untold:
        return ()
