"""What every cluster begins with: a storage class, DNS, and the right to ask kubelets."""

from __future__ import annotations

import json
from typing import Any, Final

from tools.cluster import plan as places
from tools.cluster.images import COREDNS
from tools.cluster.volumes import PROVISIONER

_GROUP: Final = "rbac.authorization.k8s.io"
_DNS: Final = {"name": "coredns", "namespace": "kube-system"}
_LABELS: Final = {"k8s-app": "kube-dns"}
_COREFILE: Final = """cluster.local:53 in-addr.arpa:53 {
    errors
    health
    ready
    kubernetes cluster.local in-addr.arpa {
        pods insecure
        ttl 1
    }
    loadbalance
}
.:53 {
    errors
    template ANY ANY {
        rcode NXDOMAIN
    }
}
"""


def first_objects() -> str:
    """Return all of it, for kubectl."""
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "List",
            "items": [_storage(), _asking_kubelets(), *_dns_rights(), *_dns()],
        }
    )


def _storage() -> dict[str, Any]:
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "standard", "annotations": default},
        "provisioner": PROVISIONER,
        "volumeBindingMode": "Immediate",
    }


def _asking_kubelets() -> dict[str, Any]:
    user = {"kind": "User", "apiGroup": _GROUP, "name": "kube-apiserver"}
    return _binding("kube-apiserver-to-kubelets", "system:kubelet-api-admin", user)


def _binding(name: str, role: str, subject: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": _GROUP, "kind": "ClusterRole", "name": role},
        "subjects": [subject],
    }


def _dns_rights() -> list[dict[str, Any]]:
    seen = {"services": "", "pods": "", "namespaces": "", "endpointslices": "discovery.k8s.io"}
    rules = [
        {"apiGroups": [group], "resources": [it], "verbs": ["list", "watch"]}
        for it, group in seen.items()
    ]
    role = {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "coredns"},
        "rules": rules,
    }
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _DNS}
    return [role, account, _binding("coredns", "coredns", {"kind": "ServiceAccount", **_DNS})]


def _dns() -> list[dict[str, Any]]:
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _DNS,
        "data": {"Corefile": _COREFILE},
    }
    ports = [{"name": f"dns-{it.lower()}", "port": 53, "protocol": it} for it in ("UDP", "TCP")]
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "kube-dns", "namespace": "kube-system"},
        "spec": {"clusterIP": places.DNS_SERVICE, "selector": _LABELS, "ports": ports},
    }
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {**_DNS, "labels": _LABELS},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": _LABELS},
            "template": {"metadata": {"labels": _LABELS}, "spec": _dns_pod()},
        },
    }
    return [config, service, deployment]


def _dns_pod() -> dict[str, Any]:
    apart = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": _LABELS},
    }
    container = {
        "name": "coredns",
        "image": COREDNS,
        "imagePullPolicy": "Never",
        "args": ["-conf", "/etc/coredns/Corefile"],
        "volumeMounts": [{"name": "config", "mountPath": "/etc/coredns", "readOnly": True}],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8181}, "periodSeconds": 1},
    }
    return {
        "serviceAccountName": "coredns",
        "dnsPolicy": "Default",
        "priorityClassName": "system-cluster-critical",
        "topologySpreadConstraints": [apart],
        "containers": [container],
        "volumes": [{"name": "config", "configMap": {"name": "coredns"}}],
    }
