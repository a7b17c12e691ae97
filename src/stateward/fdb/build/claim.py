"""The claim of a process group: what its data lies on."""

from __future__ import annotations

from stateward.fdb.api.kind import FoundationDBProcessGroup
from stateward.fdb.build.metadata import Said, digest, head
from stateward.fdb.model import names
from stateward.kube.codec import Json
from stateward.kube.resources import VOLUME_CLAIMS


def claim(group: FoundationDBProcessGroup, owner: Json | None) -> Json | None:
    """Return the claim of a group, with whom it goes; None: its data lies in its pod only."""
    template, own = group.spec.process_settings.volume_claim_template, group.metadata
    if template is None:
        return None
    labels = own.labels | _cluster_uid(group)
    said = Said.by(template.metadata).under(labels, {names.SPEC_HASH: claim_hash(group)})
    owners = [] if owner is None else [owner]
    name = names.claim_name(own.name)
    return head(VOLUME_CLAIMS, own.namespace, name, said, owners) | {"spec": template.spec}


def claim_hash(group: FoundationDBProcessGroup) -> str:
    """Return what a claim of the group carries if it is as it should be; empty: there is none."""
    template = group.spec.process_settings.volume_claim_template
    return "" if template is None else digest(template.spec)


def _cluster_uid(group: FoundationDBProcessGroup) -> dict[str, str]:
    """Whose data it is: a later cluster of the same name must not take it for its own."""
    owner = group.metadata.controller
    return {names.CLUSTER_UID_LABEL: owner.uid} if owner is not None else {}
