"""Find the objects that a person means by a name, of one kind or of all of ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from stateward.app.kinds import PRODUCTS
from stateward.app.views.told import Told
from stateward.core.errors import UsageError
from stateward.core.naming import dns_label_problem, dns_subdomain_problem
from stateward.kube.crd.kind import CustomKind
from stateward.kube.errors import ApiError, Forbidden, NotFound
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.resources import Resource

T = TypeVar("T", bound=Object)


class Reader(Protocol):
    """All that is asked of a cluster."""

    async def get(self, resource: Resource[T], key: ObjectKey) -> T:
        """Return the object as it is now; raise NotFound when there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody typed: objects of one name, of these kinds."""

    key: ObjectKey
    kinds: tuple[CustomKind, ...]

    @classmethod
    def parse(cls, text: str, namespace: str) -> Wanted:
        """Read ``NAME`` or ``KIND/NAME``, where the kind is called as kubectl calls it.

        >>> wanted = Wanted.parse("fdb/shop", "trade")
        >>> str(wanted.key), [kind.resource.kind for kind in wanted.kinds]
        ('trade/shop', ['FoundationDBCluster'])
        """
        kind, slash, name = text.rpartition("/")
        if (problem := dns_label_problem(namespace)) is not None:
            raise UsageError(f"--namespace {problem}")
        if (problem := dns_subdomain_problem(name)) is not None:
            raise UsageError(f"NAME {problem}")
        key = ObjectKey(namespace, name)
        return cls(key, (_kind_called(kind),) if slash else PRODUCTS)


@dataclass(frozen=True, slots=True)
class Found:
    """An object, and of which kind it is."""

    kind: str
    told: Told


async def find(reader: Reader, wanted: Wanted) -> tuple[Found, ...]:
    """Return every object that is meant; raise when there is none, or none may be looked at.

    A kind that the cluster does not know has no objects; one that may not be looked at keeps
    nobody from hearing of the others.
    """
    found: list[Found] = []
    known: list[CustomKind] = []
    refused: Forbidden | None = None
    for kind in wanted.kinds:
        resource = replace(kind.resource, type=Told)
        try:
            found.append(Found(resource.kind, await reader.get(resource, wanted.key)))
        except NotFound:
            known.append(kind)
        except Forbidden as error:
            refused = refused or error
        except ApiError as error:
            if error.code != NotFound.code:  # which says of no object, but of no such page
                raise
    if found:
        return tuple(found)
    if refused is not None:
        raise refused
    raise _absent(wanted, known)


def words_for(kind: CustomKind) -> tuple[str, ...]:
    """Return all that a kind may be called, the shortest first.

    >>> words_for(PRODUCTS[0])
    ('etcd', 'etcdcluster', 'etcdclusters', 'etcdclusters.etcd.aenix.io')
    """
    resource = kind.resource
    return (*kind.short_names, resource.kind.lower(), resource.plural, resource.name)


def _kind_called(word: str) -> CustomKind:
    for kind in PRODUCTS:
        if word.lower() in words_for(kind):
            return kind
    raise UsageError(
        f"the kind in KIND/NAME must be one of {_listed(it.short_names[0] for it in PRODUCTS)},"
        f" got {word!r}"
    )


def _absent(wanted: Wanted, known: Sequence[CustomKind]) -> UsageError:
    if not known:
        kinds = _listed(kind.resource.kind for kind in wanted.kinds)
        return UsageError(
            f"the cluster must know {kinds}, and does not",
            hint="`stateward crds | kubectl apply --server-side -f -`, or another --context",
        )
    kinds = _listed(kind.resource.kind for kind in known)
    return UsageError(
        f"namespace {wanted.key.namespace} must have {wanted.key.name}, of kind {kinds}",
        hint="kubectl get stateward --all-namespaces lists them; --namespace names another",
    )


def _listed(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last
