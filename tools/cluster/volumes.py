"""Makes the volumes that claims ask for, and removes those that were released: one process.

They are folders of the machine that every node sees, as disks on a network are. Kubernetes has a
maker of such folders, but nobody except root may write to what that makes.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import Any, Final

from tools.cluster import cluster
from tools.cluster.api import Api
from tools.cluster.plan import Plan

PROVISIONER: Final = "stateward.test/volumes"
_ASKED: Final = "volume.kubernetes.io/storage-provisioner"
_MADE: Final = "pv.kubernetes.io/provisioned-by"
_STEP: Final = 0.3
_VOLUMES: Final = "/api/v1/persistentvolumes"


def main(folder: str) -> None:
    """Look after volumes, until ended."""
    plan = cluster.kept_plan(Path(folder))
    api = Api(plan)
    while True:
        try:
            _look(plan, api)
        except OSError as error:  # the next look asks again
            print(f"volumes: {error}", flush=True)
        time.sleep(_STEP)


def _look(plan: Plan, api: Api) -> None:
    volumes = {it["metadata"]["name"]: it for it in api.ask("GET", _VOLUMES)["items"]}
    for claim in api.ask("GET", "/api/v1/persistentvolumeclaims")["items"]:
        asked = claim["metadata"].get("annotations", {}).get(_ASKED) == PROVISIONER
        if asked and _name(claim) not in volumes and not claim["spec"].get("volumeName"):
            path = plan.volumes / _name(claim)
            path.mkdir(exist_ok=True)
            api.ask("POST", _VOLUMES, _volume(claim, path))
    for name in [name for name, it in volumes.items() if _is_over(it)]:
        api.ask("DELETE", f"{_VOLUMES}/{name}")
        shutil.rmtree(plan.volumes / name, ignore_errors=True)


def _is_over(volume: dict[str, Any]) -> bool:
    """Tell whether a volume is ours, and nobody's any more."""
    ours = volume["metadata"].get("annotations", {}).get(_MADE) == PROVISIONER
    goes = volume["spec"]["persistentVolumeReclaimPolicy"] == "Delete"
    return bool(ours and goes and volume["status"]["phase"] == "Released")


def _name(claim: dict[str, Any]) -> str:
    return f"pvc-{claim['metadata']['uid']}"


def _volume(claim: dict[str, Any], path: Path) -> dict[str, Any]:
    about, spec = claim["metadata"], claim["spec"]
    everywhere = {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": _name(claim), "annotations": {_MADE: PROVISIONER}},
        "spec": {
            "capacity": spec["resources"]["requests"],
            "accessModes": spec["accessModes"],
            "storageClassName": spec.get("storageClassName"),
            "persistentVolumeReclaimPolicy": "Delete",
            "local": {"path": str(path)},
            "nodeAffinity": {
                "required": {"nodeSelectorTerms": [{"matchExpressions": [everywhere]}]}
            },
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": about["namespace"],
                "name": about["name"],
                "uid": about["uid"],
            },
        },
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
