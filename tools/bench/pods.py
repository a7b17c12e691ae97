"""Pods as a database operator meets them: about 17 kB of JSON each, a third of it managedFields."""

from __future__ import annotations

from typing import Any

import msgspec

COUNT = 5_000


def pod(number: int, revision: int) -> dict[str, Any]:
    """Return one pod of a large cluster."""
    name = f"shop-storage-{number}"
    containers = [_container(c, number) for c in ("foundationdb", "sidecar", "metrics")]
    return {
        "metadata": {
            "name": name,
            "namespace": "databases",
            "uid": f"{number:08x}-0000-4000-8000-000000000000",
            "resourceVersion": str(revision),
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {
                "app.kubernetes.io/name": "shop",
                "app.kubernetes.io/component": "storage",
                "app.kubernetes.io/managed-by": "stateward",
                "process-group": f"storage-{number}",
            },
            "annotations": {"last-applied-spec": f"{number:064x}", "config-hash": f"{number:064x}"},
            "ownerReferences": [
                {
                    "apiVersion": "example/v1",
                    "kind": "Cluster",
                    "name": "shop",
                    "uid": "owner-uid",
                    "controller": True,
                }
            ],
            "managedFields": [_managed_fields(m) for m in ("stateward", "kubelet", "scheduler")],
        },
        "spec": {
            "nodeName": f"node-{number % 100}",
            "containers": containers,
            "volumes": [
                {
                    "name": f"volume-{v}",
                    "configMap": {"name": f"shop-config-{v}", "defaultMode": 420},
                }
                for v in range(8)
            ],
            "tolerations": [
                {"key": f"key-{t}", "operator": "Exists", "effect": "NoExecute"} for t in range(6)
            ],
        },
        "status": {
            "phase": "Running",
            "podIP": f"10.{number // 65536}.{number // 256 % 256}.{number % 256}",
            "conditions": [
                {"type": t, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
                for t in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
            ],
            "containerStatuses": [_container_status(c["name"]) for c in containers],
        },
    }


def watch_line(number: int, revision: int) -> bytes:
    """Return a watch event about one pod."""
    return msgspec.json.encode({"type": "MODIFIED", "object": pod(number, revision)}) + b"\n"


def _container(name: str, number: int) -> dict[str, Any]:
    return {
        "name": name,
        "image": f"registry.example/{name}:7.3.79",
        "command": [f"/usr/bin/{name}"],
        "args": [f"--option-{n}=/var/lib/data/{n}" for n in range(12)],
        "env": [
            {"name": f"VARIABLE_{n}", "value": f"value {n} of pod {number}"} for n in range(15)
        ],
        "resources": {"requests": {"cpu": "1", "memory": "8Gi"}, "limits": {"memory": "8Gi"}},
        "volumeMounts": [{"name": f"volume-{v}", "mountPath": f"/var/lib/{v}"} for v in range(8)],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080}, "periodSeconds": 5},
    }


def _container_status(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "ready": True,
        "restartCount": 0,
        "image": f"registry.example/{name}:7.3.79",
        "imageID": f"registry.example/{name}@sha256:{'0' * 64}",
        "containerID": f"containerd://{'0' * 64}",
        "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
    }


def _managed_fields(manager: str) -> dict[str, Any]:
    fields: dict[str, Any] = {
        f"f:field-{n}": {".": {}, "f:name": {}, "f:value": {}} for n in range(45)
    }
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": "v1",
        "time": "2026-01-01T00:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": fields},
    }
