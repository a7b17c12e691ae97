"""Volumes, claims and their classes as the stories write them."""

from __future__ import annotations

from typing import Any, Final

from contract.scheduling.stage import Stage

#: Nobody makes volumes of this class: they are there, or not.
NOBODY: Final = "kubernetes.io/no-provisioner"


def volume(name: str, size: str = "1Gi", **spec: Any) -> dict[str, Any]:
    """Return a volume of no class, for one node at a time, that is kept."""
    labels = spec.pop("labels", {})
    said = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": "Retain",
        "hostPath": {"path": f"/volumes/{name}"},
    }
    return {"metadata": {"name": name, "labels": labels}, "spec": said | spec}


def claim(name: str = "data", size: str = "1Gi", **spec: Any) -> dict[str, Any]:
    """Return a claim of no class."""
    said = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}},
        "storageClassName": "",
    }
    said |= spec
    kept = {key: value for key, value in said.items() if value is not None}
    return {"metadata": {"name": name}, "spec": kept}


def storage_class(name: str, *, late: bool = False, default: bool = False) -> dict[str, Any]:
    """Return a class of volumes that nobody makes."""
    mode = "WaitForFirstConsumer" if late else "Immediate"
    notes = {"storageclass.kubernetes.io/is-default-class": "true"} if default else {}
    metadata = {"name": name, "annotations": notes}
    return {"metadata": metadata, "provisioner": NOBODY, "volumeBindingMode": mode}


def only_on(*nodes: str) -> dict[str, Any]:
    """Return where a volume can be used."""
    wanted = {"key": "kubernetes.io/hostname", "operator": "In", "values": list(nodes)}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}}


def uses(*claims: str) -> dict[str, Any]:
    """Return the part of a pod that uses claims."""
    return {
        "volumes": [
            {"name": f"v{number}", "persistentVolumeClaim": {"claimName": name}}
            for number, name in enumerate(claims)
        ]
    }


async def volumes(stage: Stage, *these: dict[str, Any]) -> None:
    """Add volumes; they are free when this returns, or kept for somebody."""
    for it in these:
        (await stage.wire.post("persistentvolumes", it)).made()
    for it in these:
        await phase(stage, f"persistentvolumes/{it['metadata']['name']}", "Available", "Bound")


async def claims(stage: Stage, *these: dict[str, Any]) -> None:
    """Add claims."""
    for it in these:
        (await stage.wire.post("persistentvolumeclaims", it)).made()


async def classes(stage: Stage, *these: dict[str, Any]) -> None:
    """Add classes."""
    for it in these:
        (await stage.wire.post("storageclasses", it)).made()


async def phase(stage: Stage, path: str, *phases: str) -> str:
    """Wait until something is in one of these phases, and return which."""
    last: Any = None

    async def reached() -> bool:
        nonlocal last
        last = (await stage.wire.get(path))["status.phase"]
        return last in phases

    try:
        await stage.wire.until(reached)
    except TimeoutError:
        assert last in phases, f"{path} is {last}"
    return str(last)


async def bound(stage: Stage, name: str = "data") -> str:
    """Return the volume of a claim once it is bound."""
    path = f"persistentvolumeclaims/{name}"
    await phase(stage, path, "Bound")
    return str((await stage.wire.get(path))["spec.volumeName"])


async def lose(stage: Stage, name: str) -> None:
    """Take a volume away by force, whoever uses it."""
    path = f"persistentvolumes/{name}"
    (await stage.wire.delete(path)).ok()
    await stage.wire.patch(path, {"metadata": {"finalizers": None}})
    await stage.wire.gone(path)
