"""The words with which the programs of a control plane are started. Pure."""

from __future__ import annotations

from pathlib import Path
from typing import Final


def etcd(papers: Path, data: Path, client: int, peer: int) -> list[str]:
    """Return the words for etcd: one member, and nobody without our certificate."""
    here, there = f"https://127.0.0.1:{client}", f"https://127.0.0.1:{peer}"
    pair = {"cert-file": "server.crt", "key-file": "server.key", "trusted-ca-file": "ca.crt"}
    return [
        f"--data-dir={data}",
        f"--listen-client-urls={here}",
        f"--advertise-client-urls={here}",
        f"--listen-peer-urls={there}",
        f"--initial-advertise-peer-urls={there}",
        f"--initial-cluster=default={there}",
        "--client-cert-auth",
        "--peer-client-cert-auth",
        *(
            f"--{prefix}{it}={papers / name}"
            for prefix in ("", "peer-")
            for it, name in pair.items()
        ),
    ]


def api_server(papers: Path, etcd_url: str, port: int) -> list[str]:
    """Return the words for kube-apiserver; it shows one certificate to etcd and to the nodes."""
    own, key, authority = (papers / it for it in ("server.crt", "server.key", "ca.crt"))
    return [
        f"--etcd-servers={etcd_url}",
        f"--etcd-cafile={authority}",
        f"--etcd-certfile={own}",
        f"--etcd-keyfile={key}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={port}",
        "--endpoint-reconciler-type=none",
        f"--tls-cert-file={own}",
        f"--tls-private-key-file={key}",
        f"--kubelet-client-certificate={own}",
        f"--kubelet-client-key={key}",
        # Names of nodes do not resolve here.
        "--kubelet-preferred-address-types=InternalIP",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={own}",
        f"--service-account-signing-key-file={key}",
        f"--token-auth-file={papers / 'tokens.csv'}",
        "--authorization-mode=RBAC",
        "--allow-privileged",
    ]


#: All but those that would try for ever to write loopback addresses, which a real server refuses
#: in their kinds.
CONTROLLERS: Final = (
    "*,-endpoints-controller,-endpointslice-controller,-endpointslice-mirroring-controller"
)


def manager(papers: Path, kubeconfig: Path, controllers: str) -> list[str]:
    """Return the words for kube-controller-manager."""
    return [
        *_alone(kubeconfig),
        f"--controllers={controllers}",
        f"--service-account-private-key-file={papers / 'server.key'}",
        f"--root-ca-file={papers / 'ca.crt'}",
        # It has an API server of its own, which nobody else's controllers wait for.
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
    ]


def scheduler(kubeconfig: Path) -> list[str]:
    """Return the words for kube-scheduler."""
    return _alone(kubeconfig)


def _alone(kubeconfig: Path) -> list[str]:
    """Return the words for the only instance of a program that serves nobody."""
    return [f"--kubeconfig={kubeconfig}", "--leader-elect=false", "--secure-port=0"]
