"""The control plane: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, a kube-proxy."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Final

from stateward.local.real import programs
from tools.cluster import plan as places
from tools.cluster import settings
from tools.cluster.papers import MANAGER, SCHEDULER, kubeconfig
from tools.cluster.plan import Plan
from tools.cluster.shell import does, inside, run, start, stop, until

#: Not of Kubernetes: see volumes.py.
VOLUMES: Final = "volumes"
#: In the order in which they are started; ended the other way round.
PARTS: Final = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kube-proxy",
    VOLUMES,
)
_PROJECT: Final = Path(__file__).parents[2]
_ETCD: Final = "http://127.0.0.1:2379"
_PEER: Final = "http://127.0.0.1:2380"


def power_on(plan: Plan) -> None:
    """Start everything; the API server answers then."""
    text = settings.proxy(plan, "control", places.CONTROL, places.NETWORK)
    (plan.folder / "proxy.json").write_text(text)
    for name in PARTS[:2]:
        start_part(plan, name)
    until_answering(plan)
    plan.is_ready.touch()
    for name in PARTS[2:]:
        start_part(plan, name)


def power_off(plan: Plan) -> None:
    """End everything."""
    for name in reversed(PARTS):
        stop_part(plan, name)
    plan.is_ready.unlink(missing_ok=True)


def start_part(plan: Plan, name: str) -> None:
    """Start one of its programs."""
    words = _provisioner(plan) if name == VOLUMES else [_program(name), *_words(plan, name)]
    record, log = plan.records / f"{name}.pid", plan.logs / f"{name}.log"
    start(inside(places.NAMESPACE, *words), record, log, env={"PYTHONPATH": str(_PROJECT)})


def _provisioner(plan: Plan) -> list[str]:
    return [sys.executable, "-m", "tools.cluster.volumes", str(plan.folder)]


def _program(name: str) -> str:
    found = programs.find(programs.ETCD if name == "etcd" else programs.NODES, name)
    assert found is not None, "checked before anything is made"  # noqa: S101
    return str(found.path)


def stop_part(plan: Plan, name: str, number: int = signal.SIGTERM) -> None:
    """End one of its programs."""
    stop(plan.records / f"{name}.pid", number)


def until_answering(plan: Plan) -> None:
    """Wait for the API server."""
    until("the API server", lambda: does(*kubectl(plan), "get", "--raw", "/readyz"))


def kubectl(plan: Plan) -> list[str]:
    """Return the beginning of the words of a kubectl that may do everything."""
    return inside(places.NAMESPACE, _program("kubectl"), "--kubeconfig", plan.kubeconfig)


def apply(plan: Plan, manifest: str) -> None:
    """Give the API server some objects."""
    run(*kubectl(plan), "apply", "--filename", "-", given=manifest)


def _words(plan: Plan, name: str) -> list[str]:
    of = (_etcd, _api_server, _manager, _scheduler, _proxy)
    return of[PARTS.index(name)](plan)


def _proxy(plan: Plan) -> list[str]:
    return [f"--config={plan.folder / 'proxy.json'}"]


def _etcd(plan: Plan) -> list[str]:
    return [
        f"--data-dir={plan.folder / 'etcd'}",
        f"--listen-client-urls={_ETCD}",
        f"--advertise-client-urls={_ETCD}",
        f"--listen-peer-urls={_PEER}",
        f"--initial-advertise-peer-urls={_PEER}",
        f"--initial-cluster=default={_PEER}",
        "--unsafe-no-fsync",  # it does not outlive the machine
    ]


def _api_server(plan: Plan) -> list[str]:
    papers = plan.papers
    own, key, authority = (papers / it for it in ("server.crt", "server.key", "ca.crt"))
    return [
        f"--etcd-servers={_ETCD}",
        f"--bind-address={places.CONTROL}",
        f"--advertise-address={places.CONTROL}",
        f"--secure-port={places.API_PORT}",
        f"--tls-cert-file={own}",
        f"--tls-private-key-file={key}",
        f"--client-ca-file={authority}",
        f"--service-cluster-ip-range={places.SERVICES},{places.SERVICES6}",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-account-key-file={own}",
        f"--service-account-signing-key-file={key}",
        f"--token-auth-file={papers / 'tokens.csv'}",
        f"--kubelet-client-certificate={own}",
        f"--kubelet-client-key={key}",
        f"--kubelet-certificate-authority={authority}",
        "--kubelet-preferred-address-types=InternalIP",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--allow-privileged",
        f"--default-not-ready-toleration-seconds={plan.evict}",
        f"--default-unreachable-toleration-seconds={plan.evict}",
    ]


def _manager(plan: Plan) -> list[str]:
    papers = plan.papers
    return [
        f"--kubeconfig={kubeconfig(plan, MANAGER)}",
        "--leader-elect=false",
        "--secure-port=0",
        f"--node-monitor-grace-period={plan.grace}s",
        f"--node-monitor-period={max(1, plan.grace // 10)}s",
        "--node-eviction-rate=1",
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={papers / 'server.key'}",
        f"--root-ca-file={papers / 'ca.crt'}",
        f"--flex-volume-plugin-dir={plan.folder / 'flex'}",
    ]


def _scheduler(plan: Plan) -> list[str]:
    own = f"--kubeconfig={kubeconfig(plan, SCHEDULER)}"
    return [own, "--leader-elect=false", "--secure-port=0"]
