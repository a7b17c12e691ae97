"""What every Kubernetes object has: metadata, identity, owners, conditions."""

from __future__ import annotations

from typing import NamedTuple, Self

from stateward.kube.codec import Part


class ObjectKey(NamedTuple):
    """Where an object is found inside its resource. Not its identity: that is the UID."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``namespace/name``, or ``name`` for an object of no namespace.

        >>> ObjectKey.parse("shop/orders")
        ObjectKey(namespace='shop', name='orders')
        """
        namespace, _, name = text.rpartition("/")
        return cls(namespace, name)


class OwnerReference(Part):
    """Who owns an object, by UID."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False
    block_owner_deletion: bool = False


class ObjectMeta(Part):
    """The metadata that we read."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()

    @property
    def key(self) -> ObjectKey:
        """Where the object is found."""
        return ObjectKey(self.namespace, self.name)

    @property
    def deleting(self) -> bool:
        """True once somebody asked for deletion."""
        return self.deletion_timestamp is not None

    @property
    def controller(self) -> OwnerReference | None:
        """The one owner that controls the object, if any."""
        for owner in self.owner_references:
            if owner.controller:
                return owner
        return None


class Object(Part):
    """Base of every typed object.

    Lists of built-in kinds leave apiVersion and kind out, so we never read them.
    """

    metadata: ObjectMeta = ObjectMeta()


class Condition(Part):
    """One condition by the Kubernetes conventions."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None
    observed_generation: int = 0


def is_newer(revision: str, than: str) -> bool:
    """Tell whether one resourceVersion is later than another.

    Revisions are whole numbers that grow; one that is not a number can only be compared for being
    the same, and a different one counts as newer, because it is what the server said last.

    >>> is_newer("10", than="9"), is_newer("9", than="9")
    (True, False)
    """
    if revision.isdecimal() and than.isdecimal():
        return int(revision) > int(than)
    return revision != than
