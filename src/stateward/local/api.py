"""The verbs of the embedded Kubernetes, whoever asks: the in-memory client, the HTTP server, the controllers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

from stateward.core.ports import Ports
from stateward.kube.client import EVERYTHING, Patch, Selection
from stateward.kube.codec import Json
from stateward.kube.errors import Cause, EvictionRefused, ServerFailed
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import DISRUPTION_BUDGETS, PODS, Resource
from stateward.kube.selector import LabelSelector
from stateward.local.deletion import DeleteOptions, Deletion
from stateward.local.kinds import Kinds
from stateward.local.store import Store, Stored
from stateward.local.watching import Filter, Pace, Sighting, follow
from stateward.local.writes import Author, Writes

#: Seconds after which a refused eviction is worth another try.
_EVICTION_RETRY = 10


@dataclass(frozen=True, slots=True)
class Selected:
    """What a list found, as of one revision."""

    items: tuple[Stored, ...]
    revision: int


class Api:
    """One store and the rules around it."""

    def __init__(
        self, ports: Ports, *, store: Store | None = None, kinds: Kinds | None = None
    ) -> None:
        self.store = store or Store()
        self.kinds = kinds or Kinds()
        self._clock = ports.clock
        self._writes = Writes(
            self.store, self.kinds, now=ports.clock.now, chance=ports.chance.stream("api")
        )
        self._deletion = Deletion(self.store, self.kinds, self._writes, now=ports.clock.now)

    def get(self, resource: Resource[Any], key: ObjectKey) -> Stored:
        """Return an object as it is; raise NotFound when there is none."""
        return self._writes.existing(resource, key)

    def list(self, resource: Resource[Any], selection: Selection = EVERYTHING) -> Selected:
        """Return the selected objects, ordered by namespace and name."""
        wanted = Filter.of(selection)
        items = self.store.all(resource.name, selection.namespace)
        return Selected(tuple(s for s in items if wanted.matches(s)), self.store.revision)

    def watch(
        self, resource: Resource[Any], selection: Selection, since: int, pace: Pace | None = None
    ) -> AsyncGenerator[Sighting | int, None]:
        """Yield what changes after a revision (see :func:`stateward.local.watching.follow`)."""
        wanted = Filter.of(selection)
        return follow(self.store, resource, wanted, since, pace or Pace(self._clock))

    def create(
        self, resource: Resource[Any], namespace: str, document: Json, author: Author
    ) -> Stored:
        """Keep a new object."""
        return self._writes.create(resource, namespace, document, author)

    def update(
        self,
        resource: Resource[Any],
        key: ObjectKey,
        document: Json,
        author: Author,
        *,
        subresource: str = "",
    ) -> Stored:
        """Replace an object or a part of it."""
        return self._writes.update(resource, key, document, author, subresource=subresource)

    def patch(
        self,
        resource: Resource[Any],
        key: ObjectKey,
        patch: Patch,
        author: Author,
        *,
        subresource: str = "",
    ) -> Stored:
        """Change part of an object."""
        return self._writes.patch(resource, key, patch, author, subresource=subresource)

    def delete(self, resource: Resource[Any], key: ObjectKey, options: DeleteOptions) -> None:
        """Ask for the end of an object."""
        self._deletion.delete(resource, key, options)

    def evict(self, key: ObjectKey, options: DeleteOptions) -> None:
        """Ask for the end of a pod, if its disruption budget has room; the budget pays for it at once."""
        pod = self._writes.existing(PODS, key)
        budgets = [
            budget
            for budget in self.store.all(DISRUPTION_BUDGETS.name, key.namespace)
            if _guards(budget.document(), pod)
        ]
        if len(budgets) > 1:
            raise ServerFailed(
                "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
            )
        if budgets and not options.dry_run:
            self._charge(budgets[0].document(), key)
        self._deletion.delete(PODS, key, options)

    def _charge(self, budget: Json, pod: ObjectKey) -> None:
        status = budget.setdefault("status", {})
        if status.get("disruptionsAllowed", 0) <= 0:
            reason = f"The disruption budget {budget['metadata']['name']} needs its pods to stay."
            raise EvictionRefused(
                "Cannot evict pod as it would violate the pod's disruption budget.",
                causes=(Cause(reason=EvictionRefused.reason, message=reason),),
                retry_after=_EVICTION_RETRY,
            )
        status["disruptionsAllowed"] -= 1
        status.setdefault("disruptedPods", {})[pod.name] = budget["metadata"]["creationTimestamp"]
        where = ObjectKey(pod.namespace, budget["metadata"]["name"])
        self._writes.update(
            DISRUPTION_BUDGETS, where, budget, Author("eviction"), subresource="status"
        )


def _guards(budget: Json, pod: Stored) -> bool:
    selector = LabelSelector.from_document(budget.get("spec", {}).get("selector"))
    return selector.matches(pod.labels)
