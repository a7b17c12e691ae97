"""AddServices: the service below which pods have names; those of groups are made by the groups."""

from __future__ import annotations

from stateward.core.errors import PeerError
from stateward.core.outcome import Blocked, Outcome, Wait
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.build.services import headless_service
from stateward.fdb.cluster.hands.refused import trouble
from stateward.fdb.cluster.hands.saying import wrote
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.hands.waiting import waiting_for
from stateward.fdb.cluster.hands.writing import exactly, metadata_difference
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide.layouts.families import names_lead_to
from stateward.fdb.model.names import instance_labels
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json, plain
from stateward.kube.errors import Conflict
from stateward.kube.objects.network import Service
from stateward.kube.resources import SERVICES


class AddServices:
    """Creates it where it is wanted, and has it select the pods."""

    name = "AddServices"

    def __init__(self, tools: Tools) -> None:
        self._client = tools.client

    async def run(self, seen: Seen) -> Outcome:
        """See to the service, then say whose own are missing."""
        if seen.wanted.spec.routing.headless_service:
            try:
                found = await self._settle(seen)
            except Conflict:
                raise
            except PeerError as error:
                return trouble(f"service {seen.wanted.name}", error)
            if found is not None:
                return found
        return waiting_for(
            seen, GroupConditionType.MISSING_SERVICE, "ServicesMissing", "have no service yet"
        )

    async def _settle(self, seen: Seen) -> Outcome | None:
        wanted = headless_service(seen.wanted)
        if seen.service is None:
            await self._client.create(SERVICES, wanted)
            wrote("the service of the cluster was made", name=seen.wanted.name)
            return None
        if (taken := _taken(seen, seen.service)) is not None:
            return taken
        if (changes := _difference(seen.service, wanted, _families(seen))) is not None:
            await self._client.patch(SERVICES, seen.service.metadata.key, MergePatch(changes))
            wrote("the service of the cluster was written", name=seen.service.metadata.name)
        return None


def _taken(seen: Seen, live: Service) -> Outcome | None:
    owner, name = live.metadata.controller, live.metadata.name
    if owner is not None and owner.uid == seen.cluster.metadata.uid:
        return None
    if live.metadata.deleting:
        return Wait("LeftoverLeaving", f"waiting for service {name} of before to go")
    if owner is None and instance_labels(name).items() <= live.metadata.labels.items():
        return None  # a cluster of this name was deleted, and what it had was kept
    return Blocked(
        "NameTaken",
        f"service {name} is there and is not this cluster's",
        f"delete it: kubectl -n {live.metadata.namespace} delete service {name}; or give the"
        " cluster another name",
    )


def _families(seen: Seen) -> list[str]:
    """Return what names must lead to; nothing: where they lead now, until all are alike."""
    if not any(it.addresses for it in seen.view.groups):
        return []
    family = names_lead_to(seen.view)
    return [] if family is None else [f"IPv{family}"]


def _difference(live: Service, wanted: Json, families: list[str]) -> Json | None:
    metadata = metadata_difference(live.metadata, wanted["metadata"])
    if live.metadata.controller is None:
        others = [plain(it) for it in live.metadata.owner_references]
        metadata["ownerReferences"] = [*others, *wanted["metadata"]["ownerReferences"]]
    selector = wanted["spec"]["selector"]
    spec: Json = {}
    if live.spec.selector != selector:
        gone = dict.fromkeys(live.spec.selector.keys() - selector.keys())
        spec = {"selector": {**gone, **selector}}
    if live.spec.ip_families and families and live.spec.ip_families[0] != families[0]:
        spec |= {"ipFamilies": families, "ipFamilyPolicy": "SingleStack"}
    if not metadata and not spec:
        return None
    patch: Json = {"metadata": {**exactly(live.metadata), **metadata}}
    return {**patch, "spec": spec} if spec else patch
