"""Services: the fields that we read."""

from __future__ import annotations

import msgspec

from stateward.kube.codec import Part
from stateward.kube.meta import Object


class ServicePort(Part):
    """A port of a service."""

    name: str = ""
    port: int = 0


class ServiceSpec(Part):
    """What a service offers."""

    type: str = ""
    cluster_ip: str = ""
    cluster_ips: tuple[str, ...] = ()
    ip_families: tuple[str, ...] = msgspec.field(default=(), name="ipFamilies")
    selector: dict[str, str] = {}
    ports: tuple[ServicePort, ...] = ()


class Service(Object):
    """A name and an address for some pods."""

    spec: ServiceSpec = ServiceSpec()
