"""Where members find each other: the one thing that differs between a cluster and one machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from stateward.kube.meta import ObjectKey


class AddressBook(Protocol):
    """Gives every pod a host that stays its own, known before the pod exists."""

    def host(self, pod: ObjectKey, service: str) -> str:
        """Return the host under which peers reach a pod of a headless service."""

    def self_host(self, namespace: str, service: str) -> str:
        """Return how a pod writes its own host: one text for all, with $(POD_NAME) or $(POD_IP)."""

    def listen_host(self) -> str:
        """Return where a pod listens: an address, or $(POD_IP). A name is not allowed here."""


@dataclass(frozen=True, slots=True)
class ClusterDns:
    """Hosts by the names that Kubernetes gives to pods of a headless service."""

    #: Whether pods have IPv6 addresses alone.
    ipv6: bool = False

    def host(self, pod: ObjectKey, service: str) -> str:
        """Return the name that every pod of the namespace's cluster resolves.

        >>> ClusterDns().host(ObjectKey("shop", "orders-0"), "orders-headless")
        'orders-0.orders-headless.shop.svc'
        """
        return f"{pod.name}.{service}.{pod.namespace}.svc"

    def self_host(self, namespace: str, service: str) -> str:
        """Return the same name as a pod writes it of itself.

        >>> ClusterDns().self_host("shop", "orders-headless")
        '$(POD_NAME).orders-headless.shop.svc'
        """
        return self.host(ObjectKey(namespace, "$(POD_NAME)"), service)

    def listen_host(self) -> str:
        """Return every address of the pod.

        Not $(POD_IP): ``kubectl port-forward`` and ``etcdctl`` inside of the pod come by localhost,
        and an IPv6 address would need brackets, which Go refuses around any other.
        """
        return "[::]" if self.ipv6 else "0.0.0.0"  # noqa: S104 - a pod has its own network
