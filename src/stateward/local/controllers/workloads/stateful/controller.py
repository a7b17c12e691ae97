"""The controller of StatefulSets: looks, asks the plan, and carries out its moves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from stateward.core.outcome import DONE, Outcome, Retry, Wait
from stateward.kube.codec import Json
from stateward.kube.errors import AlreadyExists, ApiError, Conflict
from stateward.kube.meta import Object, ObjectKey, ObjectMeta
from stateward.kube.resources import PODS, STATEFUL_SETS, VOLUME_CLAIMS
from stateward.kube.selector import LabelSelector
from stateward.local.catalog import CONTROLLER_REVISIONS
from stateward.local.controllers.desk import Workplace
from stateward.local.controllers.workloads import custody
from stateward.local.controllers.workloads.hands import Hands
from stateward.local.controllers.workloads.pods import Seen, number, selector_of, template_of
from stateward.local.controllers.workloads.stateful import identity, revisions
from stateward.local.controllers.workloads.stateful.identity import Retention, ordinal_of
from stateward.local.controllers.workloads.stateful.plan import (
    Make,
    Move,
    Plan,
    Remove,
    Rules,
    View,
    plan,
    revision_of,
)
from stateward.local.controllers.workloads.stateful.status import status
from stateward.local.controllers.workloads.waking import owner_or_adopter
from stateward.local.documents import Document
from stateward.runtime import triggers
from stateward.runtime.triggers import Trigger

_HISTORY = 10


@dataclass(frozen=True, slots=True)
class _Scene:
    """A set, its pods by ordinal and its revisions by name."""

    owner: Document
    #: What the set asks for, read once: only to be looked at.
    spec: Json
    pods: dict[int, Seen]
    known: list[Document] = field(default_factory=list)

    def template(self, revision: str) -> Json:
        """Return the template of a revision, or the newest when that is lost."""
        found = next((it for it in self.known if it.metadata.name == revision), None)
        return revisions.template_in(found) if found else template_of(self.owner.spec)


class StatefulSets:
    """Brings StatefulSets closer to what they ask for."""

    def __init__(self, desk: Workplace) -> None:
        self._desk = desk
        self._hands = Hands(desk, STATEFUL_SETS)

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Give one set a pass."""
        owner = self._desk.cache(STATEFUL_SETS).get(key)
        if owner is None or owner.metadata.deleting:
            return DONE
        spec = owner.spec
        selector = selector_of(spec)
        belonging, history = self._belonging(owner, selector), self._history(owner, selector)
        took_pods = await self._hands.take_care(PODS, owner, belonging)
        if await self._hands.take_care(CONTROLLER_REVISIONS, owner, history) or took_pods:
            return Wait("Adopting", "pods or revisions changed hands")
        pods = {
            ordinal: Seen.of(pod)
            for pod in belonging.kept
            if (ordinal := ordinal_of(owner.metadata.name, pod.metadata.name)) is not None
        }
        scene = _Scene(owner, spec, pods, [it for it in history.kept if not it.metadata.deleting])
        update = await self._settle_revision(scene)
        if update is None:
            return Wait("NewRevision", "a revision of the template was noted")
        return await self._advance(scene, update)

    def _belonging(self, owner: Document, selector: LabelSelector) -> custody.Custody:
        cache, meta = self._desk.cache(PODS), owner.metadata
        return custody.judge(
            meta,
            selector,
            cache.find("owner", meta.uid),
            cache.find("orphans", meta.namespace),
            lambda pod: ordinal_of(meta.name, pod.metadata.name) is not None,
        )

    def _history(self, owner: Document, selector: LabelSelector) -> custody.Custody:
        """Return whose the revisions are; ours stay ours, whatever their labels say."""
        cache, meta = self._desk.cache(CONTROLLER_REVISIONS), owner.metadata
        mine = cache.find("owner", meta.uid)
        orphans = cache.find("orphans", meta.namespace)
        adopted = custody.judge(meta, selector, (), orphans).adopted
        return custody.Custody(
            tuple(it for it in mine if custody.controls(meta, it.metadata)), adopted
        )

    async def _settle_revision(self, scene: _Scene) -> str | None:
        """Return the name of the template's revision; None after it was written."""
        owner = scene.owner
        found = revisions.find(template_of(scene.spec), scene.known)
        if found.revision is not None and found.revision.revision == found.number:
            return found.revision.metadata.name
        if found.revision is not None:
            again = found.revision.metadata
            await self._hands.change(CONTROLLER_REVISIONS, again, {"revision": found.number})
            return None
        collisions = number(owner.status, "collisionCount", 0)
        try:
            body = revisions.body(owner, found.number, collisions)
            await self._hands.create(CONTROLLER_REVISIONS, body)
        except AlreadyExists:
            # Another template with this hash, or another owner's: the next one has another name.
            await self._hands.report(owner, {"collisionCount": collisions + 1})
        return None

    async def _advance(self, scene: _Scene, update: str) -> Outcome:
        owner = scene.owner
        was = owner.status.get("currentRevision") or update
        known = {it.metadata.name for it in scene.known}
        now = self._desk.ports.clock.now()
        current = was if was in known else update
        view = View(Rules.of(scene.spec), current, update, scene.pods, now)
        decided = plan(view)
        taken = await self._carry_out(scene, decided)
        collisions = number(owner.status, "collisionCount", 0)
        await self._hands.report(owner, status(view, owner.metadata.generation, collisions))
        await self._forget_old(scene, view)
        if taken:
            return Wait("NameTaken", taken)
        if decided.wake:
            return Retry(decided.wake, "MinReadySeconds", f"waits for {decided.waits_for}")
        return Wait("Waiting", f"waits for {decided.waits_for}") if decided.waits_for else DONE

    async def _carry_out(self, scene: _Scene, decided: Plan) -> str:
        """Make all moves; return what stands in the way, if anything does."""
        await self._keep_labels(scene)
        await self._keep_claims(scene)
        obstacles = [await self._do(scene, move) for move in decided.moves]
        return "; ".join(filter(None, obstacles))

    async def _do(self, scene: _Scene, move: Move) -> str:
        match move:
            case Make(ordinal=ordinal, revision=revision):
                return await self._make(scene, ordinal, revision)
            case Remove(pod=pod, reason=reason):
                await self._remove(scene.owner, pod, reason)
                return ""

    async def _make(self, scene: _Scene, ordinal: int, revision: str) -> str:
        """Make a pod and its claims; return what stands in the way, if anything does."""
        owner = scene.owner
        body = identity.pod_body(owner, ordinal, revision, scene.template(revision))
        name = body["metadata"]["name"]
        if obstacle := await self._claim(owner, ordinal, name):
            return obstacle
        if ObjectKey(owner.metadata.namespace, name) in self._desk.cache(PODS):
            return await self._taken(owner, name)
        try:
            await self._hands.create(PODS, body)
        except AlreadyExists:
            return await self._taken(owner, name)
        except Conflict:
            raise
        except ApiError as error:
            text = f"create Pod {name} in StatefulSet {owner.metadata.name} failed error: {error}"
            await self._hands.tell(owner, "FailedCreate", text, warning=True)
            raise
        text = f"create Pod {name} in StatefulSet {owner.metadata.name} successful"
        await self._hands.tell(owner, "SuccessfulCreate", text)
        return ""

    async def _taken(self, owner: Document, name: str) -> str:
        text = (
            f"create Pod {name} in StatefulSet {owner.metadata.name} failed error:"
            f' pods "{name}" already exists and is not controlled by it'
        )
        await self._hands.tell(owner, "FailedCreate", text, warning=True)
        return text

    async def _claim(self, owner: Document, ordinal: int, pod: str) -> str:
        """Make the claims of a pod that are not there; wait for those that are about to go."""
        cache = self._desk.cache(VOLUME_CLAIMS)
        for body in identity.claim_bodies(owner, ordinal, Retention.of(owner.spec)):
            name = body["metadata"]["name"]
            found = cache.get(ObjectKey(owner.metadata.namespace, name))
            if found is not None and identity.is_doomed(found.metadata, pod):
                return f"claim {name} must end before pod {pod} is made"
            if found is not None:
                continue
            await self._hands.create(VOLUME_CLAIMS, body)
            text = f"create Claim {name} Pod {pod} in StatefulSet {owner.metadata.name} success"
            await self._hands.tell(owner, "SuccessfulCreate", text)
        return ""

    async def _remove(self, owner: Document, pod: Seen, reason: str) -> None:
        name = owner.metadata.name
        if reason != "SuccessfulDelete":
            text = f"StatefulSet {name} is recreating {pod.phase.lower()} Pod {pod.name}"
            await self._hands.tell(owner, reason, text, warning=True)
        await self._hands.delete(PODS, pod.metadata)
        text = f"delete Pod {pod.name} in StatefulSet {name} successful"
        await self._hands.tell(owner, "SuccessfulDelete", text)

    async def _keep_labels(self, scene: _Scene) -> None:
        """Have every pod be found by the labels of its name: of adopted ones, too."""
        for ordinal in Rules.of(scene.spec).ordinals:
            pod = scene.pods.get(ordinal)
            if pod is not None and (lost := identity.lost_labels(pod.metadata, ordinal)):
                await self._hands.change(PODS, pod.metadata, {"metadata": {"labels": lost}})

    async def _keep_claims(self, scene: _Scene) -> None:
        """Have every claim there, and end with whom the policy says, before any pod is removed."""
        owner, retention = scene.owner, Retention.of(scene.spec)
        ordinals = Rules.of(scene.spec).ordinals
        for ordinal, pod in scene.pods.items():
            if pod.phase == "Pending" and pod.active and ordinal in ordinals:
                await self._claim(owner, ordinal, pod.name)  # it cannot start without
            for claim in self._claims_of(scene, ordinal):
                wanted = identity.claim_owners(
                    claim,
                    owner.metadata,
                    retention,
                    pod.metadata,
                    condemned=ordinal not in ordinals,
                )
                if wanted is not None and not claim.deleting:
                    part = {"metadata": {"ownerReferences": wanted}}
                    await self._hands.change(VOLUME_CLAIMS, claim, part)

    def _claims_of(self, scene: _Scene, ordinal: int) -> list[ObjectMeta]:
        cache, meta = self._desk.cache(VOLUME_CLAIMS), scene.owner.metadata
        names = [
            identity.claim_name(it["metadata"]["name"], meta.name, ordinal)
            for it in scene.spec.get("volumeClaimTemplates") or ()
        ]
        found = [cache.get(ObjectKey(meta.namespace, name)) for name in names]
        return [it.metadata for it in found if it is not None]

    async def _forget_old(self, scene: _Scene, view: View) -> None:
        used = {view.current, view.update, *(revision_of(pod) for pod in scene.pods.values())}
        limit = number(scene.spec, "revisionHistoryLimit", _HISTORY)
        for revision in revisions.superfluous(scene.known, used, limit):
            await self._hands.delete(CONTROLLER_REVISIONS, revision.metadata)


def _by_name(desk: Workplace) -> Trigger:
    """Wake the set of a pod, and the one that waits for the name of a pod that is not its own."""
    cache = desk.cache(STATEFUL_SETS)
    wake_owner = owner_or_adopter(desk, STATEFUL_SETS)

    def wake(pod: Object) -> Iterable[ObjectKey]:
        yield from wake_owner(pod)
        parent = ObjectKey(pod.metadata.namespace, pod.metadata.name.rpartition("-")[0])
        if parent in cache:
            yield parent

    return wake


def _by_claim(desk: Workplace) -> Trigger:
    """Wake the set whose claim it is by its name: it may wait for one that is going to be gone."""
    cache = desk.cache(STATEFUL_SETS)

    def wake(claim: Object) -> Iterable[ObjectKey]:
        for name in identity.sets_of_claim(claim.metadata.name):
            if (key := ObjectKey(claim.metadata.namespace, name)) in cache:
                yield key

    return wake


def employ(desk: Workplace) -> None:
    """Have the StatefulSets of a cluster looked after."""
    desk.add(
        "statefulset",
        StatefulSets(desk),
        (
            (STATEFUL_SETS, triggers.itself),
            (PODS, _by_name(desk)),
            (CONTROLLER_REVISIONS, owner_or_adopter(desk, STATEFUL_SETS)),
            (VOLUME_CLAIMS, _by_claim(desk)),
        ),
    )
