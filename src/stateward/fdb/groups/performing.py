"""Do: carry out what was decided for a process group, each act by itself.

Whatever is made or taken away was decided by a cache, so the group and its pod are read once more
past it, and it is done only if it would be decided again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from stateward.core.clock import Clock
from stateward.core.errors import PeerError
from stateward.core.outcome import DONE, Blocked, Outcome, Retry, Stop, Wait
from stateward.fdb.admin.pod_agent import AgentRefused, PodAgent
from stateward.fdb.api.kind import PROCESS_GROUPS
from stateward.fdb.build import claim as claims
from stateward.fdb.build import pod as pods
from stateward.fdb.build import services
from stateward.fdb.groups import acts, decide, ownership
from stateward.fdb.groups.acts import Act
from stateward.fdb.groups.observe import found, look_again
from stateward.fdb.groups.refused import without_raising
from stateward.fdb.groups.seen import GroupSeen, sidecar_before
from stateward.fdb.groups.syncing import synchronize
from stateward.fdb.groups.waking import TOUCH, Waker, annotate
from stateward.fdb.model import names
from stateward.kube.client import Client, JsonPatch, MergePatch
from stateward.kube.codec import Json, plain
from stateward.kube.errors import AlreadyExists, Invalid, NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.pods import Pod
from stateward.kube.resources import PODS, SERVICES, VOLUME_CLAIMS, Resource
from stateward.runtime.pipeline import Report, Said
from stateward.runtime.telling import logs

_log = logs.get("fdb.groups")

#: How the sidecar of a pod is reached.
Agents: TypeAlias = Callable[[Pod], PodAgent]
#: What rests on the group's spec, and is not done by the word of a cache.
_MAKING: Final = (acts.CreateClaim, acts.CreateService, acts.CreatePod)
_TAKING: Final = (acts.DeletePod, acts.DeleteClaim, acts.DeleteService, acts.DropFinalizer)
#: What only tells that nothing can be done.
_WORDS: Final = (acts.Await, acts.Refuse)
#: The same may be put on an object so often within so many seconds.
_OFTEN: Final = 3
_VAIN: Final = 30.0
_REMEMBERED: Final = 10_000
_CHANGED: Final = Retry(1.0, "Changed", "the process group changed meanwhile: looking again")


@dataclass(frozen=True, slots=True)
class Performed:
    """What came of a pass: the report of it, and whether the next one sees something else.

    That is so when anything was made, changed or deleted, by us or by others meanwhile.
    """

    report: Report
    acted: bool
    #: Seconds after which to look again at what is nothing to tell of; None: nothing is.
    again: float | None = None


class _Repeats:
    """Notices that the same is put on an object again and again, because somebody takes it off."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._mended: OrderedDict[str, tuple[str, list[float]]] = OrderedDict()

    def are_vain(self, act: acts.Relabel) -> bool:
        """Note what is put on an object; tell whether the same was, again and again."""
        now, words = self._clock.monotonic(), repr((act.labels, act.annotations, act.owners))
        before, times = self._mended.pop(act.seen.uid, (words, []))
        lately = [it for it in times if now - it < _VAIN] if before == words else []
        is_vain = len(lately) >= _OFTEN
        self._mended[act.seen.uid] = (words, lately if is_vain else [*lately, now])
        if len(self._mended) > _REMEMBERED:
            self._mended.popitem(last=False)
        return is_vain


class Performer:
    """Carries out acts."""

    def __init__(self, client: Client, agents: Agents, clock: Clock, silent: set[str]) -> None:
        self._client = client
        self._agents = agents
        self._clock = clock
        self._silent = silent
        self._repeats = _Repeats(clock)
        self._waker = Waker(client, clock)
        self._verbs: Mapping[type, Callable[[GroupSeen, Any], Awaitable[Outcome | None]]] = {
            acts.CreateClaim: self._create_claim,
            acts.CreateService: self._create_service,
            acts.CreatePod: self._create_pod,
            acts.DeletePod: self._delete_pod,
            acts.DeleteClaim: self._delete_claim,
            acts.DeleteService: self._delete_service,
            acts.Relabel: self._relabel,
            acts.UpdateImages: self._update_images,
            acts.SyncFiles: self._sync_files,
            acts.RenewCertificate: self._renew,
            acts.WakeNode: self._waker.wake,
            acts.DropFinalizer: self._drop_finalizer,
        }

    async def perform(self, seen: GroupSeen, chosen: Iterable[Act]) -> Performed:
        """Carry out acts in their order; one that fails keeps only those from it that need it."""
        report, acted, again, chosen = Report(), False, None, tuple(chosen)
        if any(isinstance(it, _MAKING + _TAKING) for it in chosen):
            taking = any(isinstance(it, _TAKING) for it in chosen)
            fresh = await look_again(self._client, seen, taking=taking)
            chosen = () if fresh is None else tuple(_still(decide.next_acts(fresh), chosen))
            if fresh is None or not chosen:
                report.said.append(Said("LookAgain", _CHANGED, 0.0))
                return Performed(report, acted=True)
            seen = fresh
        for act in chosen:
            began = self._clock.monotonic()
            if isinstance(act, acts.CreatePod) and _lacks_claim(report):
                continue
            outcome = await self._one(seen, act)
            if isinstance(act, acts.WakeNode) and isinstance(outcome, Retry):
                # All nodes are slow, and the status says what a pod lacks: no event for each.
                again, outcome = outcome.after, DONE
            acted = acted or outcome is None or isinstance(outcome, Stop)
            report.said.append(Said(act.name, outcome or DONE, self._clock.monotonic() - began))
        return Performed(report, acted, again)

    async def _one(self, seen: GroupSeen, act: Act) -> Outcome | None:
        match act:
            case acts.Await(reason=reason, message=message, after=None):
                return Wait(reason, message)
            case acts.Await(reason=reason, message=message, after=float(after)):
                return Retry(after, reason, message)
            case acts.Refuse(reason=reason, message=message, hint=hint):
                return Blocked(reason, message, hint)
            case _:
                return await without_raising(act.name, self._verbs[type(act)](seen, act))

    # -------------------------------------------------------------- making
    async def _create_claim(self, seen: GroupSeen, _act: acts.CreateClaim) -> Outcome | None:
        is_tied = seen.group.spec.deletion_policy == "Delete"
        owner = plain(ownership.cluster_reference(seen.group)) if is_tied else None
        document = claims.claim(seen.group, owner)
        return await self._create(VOLUME_CLAIMS, seen.claim_key, document, seen)

    async def _create_service(self, seen: GroupSeen, _act: acts.CreateService) -> Outcome | None:
        """Make the service; one that was lost gets the address again that its pod tells."""
        document = services.group_service(seen.group)
        told = "" if seen.pod is None else seen.pod.metadata.annotations.get(names.PUBLIC_IP, "")
        if document is not None and told:
            same = {**document, "spec": {**document["spec"], "clusterIP": told}}
            with suppress(Invalid):  # somebody else has it by now
                return await self._create(SERVICES, seen.key, same, seen)
        return await self._create(SERVICES, seen.key, document, seen)

    async def _create_pod(self, seen: GroupSeen, act: acts.CreatePod) -> Outcome | None:
        return await self._create(PODS, seen.key, pods.pod(seen.group, act.public_ip), seen)

    async def _create(
        self, resource: Resource[Any], key: ObjectKey, document: Json | None, seen: GroupSeen
    ) -> Outcome | None:
        """Make an object; if one of its name is there that no cache shows, adopt it or say so."""
        if document is None:
            return None
        try:
            await self._client.create(resource, document)
        except AlreadyExists:
            return await self._adopt(resource, key, seen)
        _log.info("made", kind=resource.kind, name=key.name)
        return None

    async def _adopt(
        self, resource: Resource[Any], key: ObjectKey, seen: GroupSeen
    ) -> Outcome | None:
        """Make an object ours that is of the cluster; what is nobody's or another's stays so."""
        there = await found(self._client, resource, key)
        if there is None:
            return _CHANGED
        for act in _about(resource, there, seen):
            if isinstance(act, acts.Relabel | acts.DeletePod | acts.Await | acts.Refuse):
                return await self._one(seen, act)
        return None

    # -------------------------------------------------------------- taking away
    async def _delete_pod(self, seen: GroupSeen, act: acts.DeletePod) -> None:
        await self._delete(PODS, seen.key, act)

    async def _delete_claim(self, seen: GroupSeen, act: acts.DeleteClaim) -> None:
        await self._delete(VOLUME_CLAIMS, seen.claim_key, act)

    async def _delete_service(self, seen: GroupSeen, act: acts.DeleteService) -> None:
        await self._delete(SERVICES, seen.key, act)

    async def _delete(
        self,
        resource: Resource[Any],
        key: ObjectKey,
        act: acts.DeletePod | acts.DeleteClaim | acts.DeleteService,
    ) -> None:
        with suppress(NotFound):
            await self._client.delete(resource, key, uid=act.uid)
        _log.info("deleted", kind=resource.kind, name=key.name, uid=act.uid, why=act.why)

    async def _drop_finalizer(self, seen: GroupSeen, _act: acts.DropFinalizer) -> None:
        """Let go of the object; with the cluster goes whoever would take its exclusion back."""
        metadata = seen.group.metadata
        ours = {names.FINALIZER, *([names.EXCLUSION_FINALIZER] if seen.orphaned else [])}
        left = [it for it in metadata.finalizers if it not in ours]
        if len(left) == len(metadata.finalizers):
            return
        version = {"uid": metadata.uid, "resourceVersion": metadata.resource_version}
        patch = MergePatch({"metadata": {**version, "finalizers": left}})
        with suppress(NotFound):
            await self._client.patch(PROCESS_GROUPS, seen.key, patch)

    # -------------------------------------------------------------- mending
    async def _relabel(self, _seen: GroupSeen, act: acts.Relabel) -> Outcome | None:
        if self._repeats.are_vain(act):
            words = f"{act.resource.kind} {act.seen.name}: somebody takes off what is put on it"
            return Retry(_VAIN, "DoneInVain", words)
        metadata: Json = {"uid": act.seen.uid}
        if act.labels:
            metadata["labels"] = dict(act.labels)
        if act.annotations:
            metadata["annotations"] = dict(act.annotations)
        if act.owners is not None:
            # A list is replaced as a whole: nobody may have added to it meanwhile.
            metadata["resourceVersion"] = act.seen.resource_version
            metadata["ownerReferences"] = [plain(it) for it in act.owners]
        patch = MergePatch({"metadata": metadata})
        await self._client.patch(act.resource, act.seen.key, patch)
        return None

    async def _update_images(self, seen: GroupSeen, act: acts.UpdateImages) -> Outcome:
        """Change images, if the pod is still the one, and made from what it was; and say so."""
        made_from = f"/metadata/annotations/{names.SPEC_HASH.replace('/', '~1')}"
        operations: list[Json] = [
            {"op": "test", "path": "/metadata/uid", "value": act.uid},
            {"op": "test", "path": made_from, "value": act.made_from},
            {"op": "replace", "path": made_from, "value": act.spec_hash},
        ]
        if before := sidecar_before(seen.pod):
            # It runs on for a moment, with programs that it brought before.
            path = f"/metadata/annotations/{names.SIDECAR_BEFORE.replace('/', '~1')}"
            operations.append({"op": "add", "path": path, "value": before})
        for place, image in act.images.items():
            path = f"/spec/{place}/image"
            operations.append({"op": "replace", "path": path, "value": image})
        await self._client.patch(PODS, seen.key, JsonPatch(tuple(operations)))
        images = ", ".join(sorted(set(act.images.values())))
        words = f"containers beside fdbserver in pod {seen.key.name} get {images} in place"
        return Stop(0.0, "SidecarUpgraded", f"{words}: fdbserver runs on as it is")

    async def _sync_files(self, seen: GroupSeen, act: acts.SyncFiles) -> Outcome | None:
        """Have the sidecar copy files; say on the pod that it did, or wake its node."""
        pod = seen.pod
        if pod is None or seen.data is None:
            return None
        uid = pod.metadata.uid
        try:
            behind = await synchronize(self._agents(pod), seen.data, seen.group.spec)
        except AgentRefused as error:
            self._silent.discard(uid)
            return Retry(TOUCH, error.reason, error.message)
        except PeerError as error:
            self._silent.add(uid)
            words = f"the sidecar of pod {pod.metadata.name} must answer: {error.message}"
            return Retry(TOUCH, "SidecarUnreachable", words)
        self._silent.discard(uid)
        if not behind:
            await annotate(self._client, pod, names.CONFIG_HASH, act.wanted)
            return None
        return await self._waker.woken(pod, f" ({', '.join(behind)})")

    async def _renew(self, seen: GroupSeen, act: acts.RenewCertificate) -> Outcome | None:
        pod = seen.pod
        return None if pod is None else await self._waker.renewed(pod, self._agents(pod), act)


def _still(fresh: Iterable[Act], chosen: tuple[Act, ...]) -> Iterator[Act]:
    """Yield what was chosen and would be chosen again; words are those of now."""
    for act in fresh:
        if act in chosen or isinstance(act, _WORDS):
            yield act


def _lacks_claim(report: Report) -> bool:
    """Tell whether the claim that a pod needs could not be made, or is not ours."""
    return any(it.step == acts.CreateClaim.name and it.outcome is not DONE for it in report.said)


def _about(resource: Resource[Any], there: Any, seen: GroupSeen) -> Iterator[Act]:
    """Yield what is to be done for an object that was found where one was to be made."""
    if resource is PODS:
        return decide.pod_acts(replace(seen, pod=there))
    if resource is SERVICES:
        return decide.service_acts(replace(seen, service=there))
    return decide.claim_acts(replace(seen, claim=there))
