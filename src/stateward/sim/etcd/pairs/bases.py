"""The clusters from which every pair sets out, and the secrets that lie ready for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from stateward.kube.codec import Json
from stateward.sim.etcd.certificates import OTHER, TLS, secrets

__all__ = ["BASES", "NOWHERE", "OTHER", "TLS", "Base", "secrets", "storage_classes"]

#: A secret that nobody made.
NOWHERE: Final = "nowhere"


_CLASS: Final[Json] = {"provisioner": "sim.stateward.dev"}
_GROWS: Final[Json] = {"allowVolumeExpansion": True}


@dataclass(frozen=True, slots=True)
class Base:
    """A cluster that everything begins with."""

    name: str
    spec: Json


def _claims(size: str) -> Json:
    return {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": size}}}}}


BASES: Final = {
    it.name: it
    for it in (
        Base("S0", {"replicas": 3, "version": "3.5.35", "storage": _claims("1Gi")}),
        Base(
            "tls",
            {
                "replicas": 3,
                "version": "3.5.35",
                "storage": _claims("1Gi"),
                "security": {"tls": TLS},
            },
        ),
        Base("scratch", {"replicas": 3, "version": "3.5.35", "storage": {"emptyDir": {}}}),
        Base(
            "named",
            {
                "replicas": 1,
                "version": "3.6.16",
                "headlessServiceTemplate": {"metadata": {"name": "peers"}},
                "storage": {
                    "volumeClaimTemplate": {
                        "metadata": {"name": "disk"},
                        "spec": {
                            "storageClassName": "stiff",
                            "accessModes": ["ReadWriteMany"],
                            "resources": {"requests": {"storage": "1Gi"}},
                        },
                    }
                },
            },
        ),
    )
}


def storage_classes() -> list[Json]:
    """Return the one that everybody gets who names none, and one whose volumes never grow."""
    usual = {"storageclass.kubernetes.io/is-default-class": "true"}
    return [
        {"metadata": {"name": "usual", "annotations": usual}, **_CLASS, **_GROWS},
        {"metadata": {"name": "stiff"}, **_CLASS},
    ]
