"""The controller of Deployments: looks, asks the rollout, and carries out its moves."""

from __future__ import annotations

from stateward.core.errors import SpecInvalid
from stateward.core.outcome import DONE, Blocked, Outcome, Retry, Wait
from stateward.kube.codec import Json
from stateward.kube.errors import AlreadyExists
from stateward.kube.meta import ObjectKey, ObjectMeta
from stateward.kube.resources import DEPLOYMENTS, PODS
from stateward.local.catalog import REPLICA_SETS
from stateward.local.controllers.desk import Workplace
from stateward.local.controllers.workloads import custody
from stateward.local.controllers.workloads.deployments import crews
from stateward.local.controllers.workloads.deployments.crews import Crew
from stateward.local.controllers.workloads.deployments.rollout import (
    Dismiss,
    Hire,
    Move,
    Resize,
    Rules,
    View,
    decide,
)
from stateward.local.controllers.workloads.deployments.status import Told, deadline_in, status
from stateward.local.controllers.workloads.hands import Hands
from stateward.local.controllers.workloads.pods import Seen, number, selector_of, template_of
from stateward.local.controllers.workloads.waking import owner_of_owner, owner_or_adopter
from stateward.local.documents import Document
from stateward.runtime import triggers


class Deployments:
    """Brings Deployments closer to what they ask for."""

    def __init__(self, desk: Workplace) -> None:
        self._desk = desk
        self._hands = Hands(desk, DEPLOYMENTS)

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Give one deployment a pass."""
        owner = self._desk.cache(DEPLOYMENTS).get(key)
        if owner is None or owner.metadata.deleting:
            return DONE
        cache, meta = self._desk.cache(REPLICA_SETS), owner.metadata
        belonging = custody.judge(
            meta,
            selector_of(owner.spec),
            cache.find("owner", meta.uid),
            cache.find("orphans", meta.namespace),
        )
        if await self._hands.take_care(REPLICA_SETS, owner, belonging):
            return Wait("Adopting", "replica sets changed hands")
        try:
            view = self._look(owner, [Crew.of(it) for it in belonging.kept])
        except SpecInvalid as error:
            await self._hands.tell(owner, error.reason, error.sentence(), warning=True)
            return Blocked(error.reason, error.message, error.hint)
        made = await self._carry_out(owner, view)
        return await self._report(owner, view, made)

    def _look(self, owner: Document, known: list[Crew]) -> View:
        new, olds = crews.split(known, template_of(owner.spec), _collisions(owner))
        runs = any(self._has_pods(it.metadata) for it in olds)
        return View(Rules.of(owner.spec), new, olds, runs)

    def _has_pods(self, crew: ObjectMeta) -> bool:
        pods = self._desk.cache(PODS).find("owner", crew.uid)
        return any(not Seen.of(pod).finished for pod in pods)

    async def _carry_out(self, owner: Document, view: View) -> str:
        """Make all moves; return the name of a ReplicaSet that was made."""
        moves = decide(view)
        made = ""
        for move in moves:
            made = await self._do(owner, view, move) or made
        if view.new is not None and not any(isinstance(it, Resize) for it in moves):
            await self._annotate(owner, view, view.new)
        return made

    async def _do(self, owner: Document, view: View, move: Move) -> str:
        match move:
            case Hire(replicas=replicas):
                return await self._hire(owner, view, replicas)
            case Resize(crew=crew, replicas=replicas):
                await self._resize(owner, view.rules, crew, replicas)
            case Dismiss(crew=crew):
                await self._hands.delete(REPLICA_SETS, crew.metadata)
        return ""

    async def _hire(self, owner: Document, view: View, replicas: int) -> str:
        notes = crews.revision_notes(owner.metadata, None, view.olds)
        notes |= crews.size_notes(view.rules.replicas, view.rules.most)
        collisions = _collisions(owner)
        body = crews.body(owner, replicas, collisions, notes)
        try:
            made = await self._hands.create(REPLICA_SETS, body)
        except AlreadyExists:
            # Somebody else's: with another count, the next one gets another name.
            await self._hands.report(owner, {"collisionCount": collisions + 1})
            raise
        name = made.metadata.name
        if replicas:
            await self._tell_size(owner, name, 0, replicas)
        return name

    async def _resize(self, owner: Document, rules: Rules, crew: Crew, replicas: int) -> None:
        part: Json = {
            "metadata": {"annotations": crews.size_notes(rules.replicas, rules.most)},
            "spec": {"replicas": replicas},
        }
        await self._hands.change(REPLICA_SETS, crew.metadata, part)
        if replicas != crew.replicas:
            await self._tell_size(owner, crew.name, crew.replicas, replicas)

    async def _tell_size(self, owner: Document, name: str, before: int, now: int) -> None:
        way = "up" if now > before else "down"
        text = f"Scaled {way} replica set {name} from {before} to {now}"
        await self._hands.tell(owner, "ScalingReplicaSet", text)

    async def _annotate(self, owner: Document, view: View, new: Crew) -> None:
        """Have the new ReplicaSet note its revision and what the deployment says beside size."""
        noted = new.metadata.annotations
        notes = crews.revision_notes(owner.metadata, new, view.olds)
        part: Json = {}
        if changed := {k: it for k, it in notes.items() if noted.get(k) != it}:
            part["metadata"] = {"annotations": changed}
        min_ready = number(owner.spec, "minReadySeconds", 0)
        if min_ready != new.min_ready:
            part["spec"] = {"minReadySeconds": min_ready}
        if part:
            await self._hands.change(REPLICA_SETS, new.metadata, part)

    async def _report(self, owner: Document, view: View, made: str) -> Outcome:
        now = self._desk.ports.clock.now()
        told = Told(
            old=owner.status,
            spec=owner.spec,
            generation=owner.metadata.generation,
            now=now,
            made=made,
            collisions=_collisions(owner) or None,
        )
        said = status(view, told)
        await self._hands.report(owner, said, _revision_notes(owner, view, made))
        wait = deadline_in(owner.spec, said, now)
        if wait is None:
            return DONE
        return Retry(wait, "ProgressDeadline", "looks whether the rollout still progresses")


def _revision_notes(owner: Document, view: View, made: str) -> Json:
    """Return the revision that a deployment is at, once its ReplicaSet is there."""
    if view.new is None and not made:
        return {}
    notes = crews.revision_notes(owner.metadata, view.new, view.olds)
    return {crews.REVISION: notes[crews.REVISION]}


def _collisions(owner: Document) -> int:
    return number(owner.status, "collisionCount", 0)


def employ(desk: Workplace) -> None:
    """Have the Deployments of a cluster looked after."""
    desk.add(
        "deployment",
        Deployments(desk),
        (
            (DEPLOYMENTS, triggers.itself),
            (REPLICA_SETS, owner_or_adopter(desk, DEPLOYMENTS)),
            (PODS, owner_of_owner(desk, REPLICA_SETS, DEPLOYMENTS)),
        ),
    )
