"""What the pods of a StatefulSet keep for ever: their names, their place and their claims."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from stateward.core.naming import LABEL_LIMIT
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectMeta
from stateward.kube.resources import PODS, STATEFUL_SETS, VOLUME_CLAIMS
from stateward.local.controllers.workloads.custody import owners_of
from stateward.local.controllers.workloads.pods import from_template, owner_reference
from stateward.local.documents import Document

REVISION_LABEL = "controller-revision-hash"
_NAME_LABEL = "statefulset.kubernetes.io/pod-name"
_INDEX_LABEL = "apps.kubernetes.io/pod-index"

_ORDINAL = re.compile(r"(?P<parent>.+)-(?P<ordinal>0|[1-9][0-9]*)")


def ordinal_of(set_name: str, pod_name: str) -> int | None:
    """Return which pod of a set a name means, or None.

    >>> ordinal_of("web", "web-2"), ordinal_of("web", "web-x"), ordinal_of("web", "web-a-2")
    (2, None, None)
    """
    found = _ORDINAL.fullmatch(pod_name)
    return int(found["ordinal"]) if found and found["parent"] == set_name else None


def pod_body(owner: Document, ordinal: int, revision: str, template: Json) -> Json:
    """Return a pod of a set."""
    spec = owner.spec
    name = f"{owner.metadata.name}-{ordinal}"
    labels = {**_labels(name, ordinal), REVISION_LABEL: revision}
    metadata = {
        "name": name,
        "generateName": f"{owner.metadata.name}-",
        "namespace": owner.metadata.namespace,
        "labels": labels,
        "ownerReferences": [owner_reference(STATEFUL_SETS, owner.metadata)],
    }
    placed: Json = {"hostname": name}
    if spec.get("serviceName"):
        placed["subdomain"] = spec["serviceName"]
    claims = spec.get("volumeClaimTemplates") or ()
    if claims:
        placed["volumes"] = _volumes(owner.metadata.name, ordinal, template, claims)
    return from_template(template, metadata, placed)


def lost_labels(pod: ObjectMeta, ordinal: int) -> Json:
    """Return the labels of its name that a pod lost, or never had before it was adopted."""
    wanted = _labels(pod.name, ordinal)
    is_named = pod.labels.get(_NAME_LABEL) == wanted.get(_NAME_LABEL)
    return {} if is_named else wanted


def _labels(name: str, ordinal: int) -> Json:
    named = {_NAME_LABEL: name} if len(name) <= LABEL_LIMIT else {}
    return {**named, _INDEX_LABEL: str(ordinal)}


def _volumes(
    set_name: str, ordinal: int, template: Json, claims: list[Json] | tuple[Json, ...]
) -> list[Json]:
    """Return the volumes of a pod: a claim takes the place of a volume of its name."""
    names = [claim["metadata"]["name"] for claim in claims]
    claimed = [
        {
            "name": name,
            "persistentVolumeClaim": {"claimName": claim_name(name, set_name, ordinal)},
        }
        for name in names
    ]
    others = (template.get("spec") or {}).get("volumes") or ()
    return [*claimed, *(it for it in others if it.get("name") not in names)]


def claim_name(claim: str, set_name: str, ordinal: int) -> str:
    """Return the name of a pod's claim."""
    return f"{claim}-{set_name}-{ordinal}"


def sets_of_claim(name: str) -> Iterator[str]:
    """Yield the sets that may have given a claim its name; a template and a set may have hyphens.

    >>> list(sets_of_claim("data-my-web-0")), list(sets_of_claim("data"))
    (['my-web', 'web'], [])
    """
    found = _ORDINAL.fullmatch(name)
    rest = found["parent"] if found else ""
    while rest := rest.partition("-")[2]:
        yield rest


def claim_bodies(owner: Document, ordinal: int, retention: Retention) -> list[Json]:
    """Return the claims that a pod needs before it is made."""
    spec = owner.spec
    selected = (spec.get("selector") or {}).get("matchLabels") or {}
    return [
        _claim_body(owner, ordinal, template, selected, retention)
        for template in spec.get("volumeClaimTemplates") or ()
    ]


def _claim_body(
    owner: Document, ordinal: int, template: Json, selected: Json, retention: Retention
) -> Json:
    meta = template.get("metadata") or {}
    metadata: Json = {
        "name": claim_name(meta["name"], owner.metadata.name, ordinal),
        "namespace": owner.metadata.namespace,
        "labels": {**(meta.get("labels") or {}), **selected},
    }
    if meta.get("annotations"):
        metadata["annotations"] = meta["annotations"]
    owners = list(meta.get("ownerReferences") or ())
    if retention.ends_with_set:
        owners.append(owner_reference(STATEFUL_SETS, owner.metadata))
    if owners:
        metadata["ownerReferences"] = owners
    return {
        "apiVersion": VOLUME_CLAIMS.api_version,
        "kind": VOLUME_CLAIMS.kind,
        "metadata": metadata,
        "spec": template.get("spec") or {},
    }


@dataclass(frozen=True, slots=True)
class Retention:
    """Whether claims end with their set, and whether with a pod that is scaled away."""

    ends_with_set: bool = False
    ends_with_pod: bool = False

    @classmethod
    def of(cls, spec: Json) -> Retention:
        """Read the policy of a set; claims stay unless it says otherwise."""
        policy = spec.get("persistentVolumeClaimRetentionPolicy") or {}
        return cls(policy.get("whenDeleted") == "Delete", policy.get("whenScaled") == "Delete")


def claim_owners(
    claim: ObjectMeta,
    owner: ObjectMeta,
    retention: Retention,
    pod: ObjectMeta,
    *,
    condemned: bool,
) -> list[Json] | None:
    """Return the owners that a claim must have, or None when it has them.

    A claim whose pod is scaled away ends with that pod if the policy says so; else it ends with the
    set, or with nothing. Owners that somebody else named stay, and if one of them controls the
    claim, we do not. A claim of an earlier set or pod of our names ends with that one.
    """
    old = owners_of(claim)
    ours = {(STATEFUL_SETS.kind, owner.name): owner.uid, (PODS.kind, pod.name): pod.uid}
    named = [it for it in old if (it.get("kind"), it.get("name")) in ours]
    if any(it["uid"] != ours[it["kind"], it["name"]] for it in named):
        return None
    wanted = [it for it in old if it not in named]
    if not any(it.get("controller") for it in wanted):
        if condemned and retention.ends_with_pod:
            wanted.append(owner_reference(PODS, pod))
        elif retention.ends_with_set:
            wanted.append(owner_reference(STATEFUL_SETS, owner))
    same = {it["uid"] for it in old} == {it["uid"] for it in wanted}
    return None if same else wanted


def is_doomed(claim: ObjectMeta, pod_name: str) -> bool:
    """Tell whether a claim is about to go with an earlier pod: a new pod must not rely on it."""
    return claim.deleting or any(
        it.kind == PODS.kind and it.name == pod_name for it in claim.owner_references
    )
