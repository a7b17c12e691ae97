"""What is declared of cases and properties, each with its reason. Whatever is not, is an error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from stateward.core.quantity import Quantity
from stateward.core.version import Version
from stateward.etcd.api.settings import tagged_version
from stateward.kube.codec import Json

DOOR: Final = "door"
READY: Final = "ready"
ASLEEP: Final = "asleep"
PAUSED: Final = "paused"
#: An edit came to no end in time: never as it should be.
NEVER: Final = "never"

#: Properties whose inside is Kubernetes' own; samples stand for it.
EMBEDDED: Final = frozenset(
    f"storage.volumeClaimTemplate.spec.{name}"
    for name in ("selector", "dataSource", "dataSourceRef")
)

# -------------------------------------------------------------------------- how cases are answered


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


#: Values that no schema lets in: the ends of the names of their cases.
_NEVER_IN: Final = _names("mistyped long odd below above many unknown")

#: How the others are answered that are not simply made so, by base.
_ANSWERS: Final[Mapping[str, Mapping[str, str]]] = {
    "S0": {
        DOOR: """
            headlessServiceTemplate.metadata.name.empty headlessServiceTemplate.metadata.name.change
            storage.emptyDir.empty storage.emptyDir.medium.is-empty
            storage.emptyDir.medium.is-Memory storage.emptyDir.sizeLimit.change
            storage.emptyDir.sizeLimit.change1 storage.volumeClaimTemplate.metadata.name.empty
            storage.volumeClaimTemplate.metadata.name.change
            storage.volumeClaimTemplate.spec.accessModes.empty
            storage.volumeClaimTemplate.spec.accessModes.change
            storage.volumeClaimTemplate.spec.resources.requests.empty
            storage.volumeClaimTemplate.spec.resources.requests.change1
            storage.volumeClaimTemplate.spec.storageClassName.empty
            storage.volumeClaimTemplate.spec.storageClassName.change
            storage.volumeClaimTemplate.spec.volumeName.change
            storage.volumeClaimTemplate.spec.dataSource.empty
            storage.volumeClaimTemplate.spec.dataSourceRef.empty
            security.tls.peerTrustedCASecret.change security.tls.peerSecret.change
            security.tls.serverSecret.change security.tls.clientTrustedCASecret.change
            security.tls.clientSecret.change security.enableAuth.on
            unhealthyMemberGracePeriod.empty quorumRecovery.empty quorumRecovery.survivor.empty
            quorumRecovery.survivor.change quorumRecovery.acceptDataLoss.off
            options.owned options.dashes options.discovery
            version.skip version.back version.words version.four
            budget.too-many budget.too-much budget.both
            storage.other storage.both storage.mode-block storage.zero storage.sizeless
            grace.short grace.words recovery.stranger
        """,
        ASLEEP: "replicas.min",
        PAUSED: "paused.on",
        "SpecInvalid": """
            podTemplate.metadata.namespace.change serviceTemplate.metadata.namespace.change
            podDisruptionBudgetTemplate.metadata.namespace.change
            storage.volumeClaimTemplate.metadata.namespace.change
            options.unknown options.refused options.pace options.newer
            image.old pod.image.other pod.env-owned pod.args pod.mount-over pod.removed
            pod.sidecar-nameless pod.grace-bad pod.hostname pod.restart-never pod.unknown
            pod.volume-taken pod.no-containers pod.labels-ours pod.labels-odd
            service.external service.unknown service.name-headless service.name-odd
            storage.labels-odd
        """,
        "ObjectRefused": """
            pod.requests-over-limits pod.pull-policy-bad pod.probe-bad pod.tolerations-bad
            service.kind-bad service.port-bad
        """,
        "RolloutStuck": "image.typo image.latest",
    },
    "tls": {
        DOOR: """
            security.drop security.empty security.tls.drop security.tls.empty
            security.tls.peerTrustedCASecret.drop security.tls.peerTrustedCASecret.empty
            security.tls.peerSecret.drop security.tls.peerSecret.empty
            security.tls.serverSecret.drop security.tls.serverSecret.empty
            security.tls.clientTrustedCASecret.drop security.tls.clientTrustedCASecret.empty
            security.tls.clientSecret.drop security.tls.clientSecret.empty auth.anonymous
        """,
        ASLEEP: "replicas.0",
        PAUSED: "paused",
        "SecretMissing": "tls.missing tls.missing-peer tls.missing-client",
    },
    "scratch": {
        DOOR: "replicas.0 storage.emptyDir.drop storage.other storage.both storage.default",
        PAUSED: "paused",
    },
    "named": {
        DOOR: """
            headlessServiceTemplate.drop headlessServiceTemplate.empty
            headlessServiceTemplate.metadata.drop headlessServiceTemplate.metadata.empty
            headlessServiceTemplate.metadata.name.drop headlessServiceTemplate.metadata.name.empty
            headlessServiceTemplate.metadata.name.change claim.nameless claim.classless
            storage.default
        """,
        ASLEEP: "replicas.0",
        PAUSED: "paused",
        "VolumeCannotGrow": "claim.grow",
    },
}


def answer(base: str, case: str) -> str:
    """Return how a case must be answered when it is asked of its base."""
    for said, names in _ANSWERS[base].items():
        if case in _names(names):
            return said
    return DOOR if case.rpartition(".")[2] in _NEVER_IN else READY


#: Answers with which the operator holds still: nothing of a cluster may change.
HELD: Final = frozenset({PAUSED, "SpecInvalid", "SecretMissing"})
#: Answers to what is as asked: the end must be the same, whatever was before.
MADE: Final = frozenset({READY, ASLEEP})
#: Invalid cases that nobody can know to be so before they are tried, and what they may cost.
TRIED: Final[Mapping[str, Json]] = {
    # Whether an image is there is seen when a pod wants it: one does, and no other one.
    "image.typo": {"deleted pods": 1},
    "image.latest": {"deleted pods": 1},
}
#: Cases that are asked only when somebody wants to wait.
HEAVY: Final[Mapping[str, str]] = {"replicas.max": "a world of 31 members takes a minute"}

#: What is left over when something is taken back: open gaps, each to go when it is mended.
OPEN: Final[Mapping[str, str]] = {
    r"\.hostPort$": "the embedded server gives host ports to templates, and keeps them",
    r"^configmaps/.*ETCD_FORCE_NEW_CLUSTER$": "a sleeper that could not wake keeps its wake word",
    r"^services/.*sessionAffinityConfig": "the server's own part of a ClientIP affinity stays",
    r"^persistentvolumeclaims/.*blockOwnerDeletion$": "claims are tied in two ways",
}

# -------------------------------------------------------------------------- what has no way back


@dataclass(frozen=True, slots=True)
class Latch:
    """A way from one spec to another that ends elsewhere than at the second."""

    name: str
    why: str
    #: Whether a way is such a one, from the specs as the server has them.
    bites: Callable[[Json, Json], bool]
    #: How it may be answered.
    answers: frozenset[str]


def _at(spec: Any, *path: str) -> Any:
    for name in path:
        spec = spec.get(name) if isinstance(spec, dict) else None
    return spec


def _size(spec: Json) -> Quantity:
    template = _at(spec, "storage", "volumeClaimTemplate")
    said = _at(template, "spec", "resources", "requests", "storage")
    return Quantity.parse(str(said or "4Gi"))


def _version(spec: Json) -> Version | None:
    """Return the version that a spec names by itself, if it does."""
    if spec.get("version"):
        return Version.parse(spec["version"])
    every = _at(spec, "podTemplate", "spec", "containers") or ()
    mine = [it for it in every if isinstance(it, dict) and it.get("name") == "etcd"]
    return tagged_version(str(mine[0].get("image", ""))) if mine else None


def _shrinks(was: Json, now: Json) -> bool:
    return "emptyDir" not in was["storage"] and _size(now) < _size(was)


def _goes_back(was: Json, now: Json) -> bool:
    old, new = _version(was), _version(now)
    return old is not None and new is not None and (new.major, new.minor) < (old.major, old.minor)


def _leaves_open(was: Json, now: Json) -> bool:
    return _version(now) is None or _version(was) is None


def _follows(was: Json, now: Json) -> bool:
    old, new = _version(was), _version(now)
    return old is not None and new is not None and new.minor == old.minor + 1


def _sleeps_on(was: Json, now: Json) -> bool:
    return bool(_at(was, "security", "enableAuth")) and now["replicas"] == 0


def _is_only_copy(_: Json, now: Json) -> bool:
    return "emptyDir" in now["storage"] and now["replicas"] == 1


LATCHES: Final = (
    Latch(
        "copy",
        "a lone member whose data goes with its pod is not restarted",
        _is_only_copy,
        frozenset({READY, "OnlyCopy"}),
    ),
    Latch(
        "logins",
        "who sleeps cannot be asked to forget its logins before it wakes",
        _sleeps_on,
        frozenset({ASLEEP}),
    ),
    Latch("size", "a volume only grows", _shrinks, frozenset({DOOR})),
    Latch("next", "what is one minor up depends on where one is", _follows, frozenset({READY})),
    Latch(
        "minor",
        "an older etcd cannot read what a newer one wrote",
        _goes_back,
        frozenset({DOOR, "UpgradeRefused"}),
    ),
    Latch(
        "version",
        "where no version is named, members stay what they are",
        _leaves_open,
        frozenset({READY, DOOR, "UpgradeRefused", "SpecInvalid"}),
    ),
)


def latches(was: Json, now: Json) -> tuple[Latch, ...]:
    """Return what may keep a way from ending where it leads to."""
    return tuple(it for it in LATCHES if it.bites(was, now))


# -------------------------------------------------------------------------- what changes nothing

_TEMPLATES: Final = ("podTemplate", "serviceTemplate", "podDisruptionBudgetTemplate")
_CLAIM: Final = "storage.volumeClaimTemplate"

#: Properties that may be written and change nothing, ever.
INERT: Final[Mapping[str, str]] = {
    **{
        f"{template}.metadata.finalizers": "labels and annotations alone are taken over"
        for template in (*_TEMPLATES, _CLAIM)
    },
    "podTemplate.metadata.name": "pods are named after their member",
    "podDisruptionBudgetTemplate.metadata.name": "a budget is named after its cluster",
    f"{_CLAIM}.spec.volumeMode": "Filesystem is all that it may say, and what it is without",
    f"{_CLAIM}.spec.volumeName": "refused unless it is empty: every member has its own volume",
}

#: Properties that are read once, when a claim or a service is made: trials.py makes a new cluster.
AT_BIRTH: Final = frozenset(
    {
        "headlessServiceTemplate.metadata.name",
        f"{_CLAIM}.metadata.name",
        f"{_CLAIM}.metadata.labels",
        f"{_CLAIM}.metadata.annotations",
        f"{_CLAIM}.spec.accessModes",
        f"{_CLAIM}.spec.resources.limits",
        f"{_CLAIM}.spec.storageClassName",
        f"{_CLAIM}.spec.volumeAttributesClassName",
        f"{_CLAIM}.spec.selector",
        f"{_CLAIM}.spec.dataSource",
        f"{_CLAIM}.spec.dataSourceRef",
    }
)
