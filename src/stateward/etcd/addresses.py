"""Where members find each other: the one thing that differs between a cluster and one machine."""

from __future__ import annotations

from typing import Protocol

from stateward.kube.meta import ObjectKey


class AddressBook(Protocol):
    """Gives every pod a host that stays its own, known before the pod exists."""

    def host(self, pod: ObjectKey, service: str) -> str:
        """Return the host under which peers reach a pod of a headless service."""


class ClusterDns:
    """Hosts by the names that Kubernetes gives to pods of a headless service."""

    def host(self, pod: ObjectKey, service: str) -> str:
        """Return the name that every pod of the namespace's cluster resolves.

        >>> ClusterDns().host(ObjectKey("shop", "orders-0"), "orders-headless")
        'orders-0.orders-headless.shop.svc'
        """
        return f"{pod.name}.{service}.{pod.namespace}.svc"
