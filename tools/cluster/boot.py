"""The first process of a node: mounts what is the node's own, starts its programs, buries the dead."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from stateward.local.real import programs
from tools.cluster import cluster
from tools.cluster.papers import kubeconfig
from tools.cluster.plan import Node, Plan
from tools.cluster.shell import does, run, until


def main(folder: str, number: str) -> None:
    """Boot; never return."""
    plan = cluster.kept_plan(Path(folder))
    node = plan.node(int(number))
    socket.sethostname(node.name)
    _mount(node)
    _start(plan, f"{node.name}-containerd", "containerd", "-c", node.folder / "containerd.toml")
    _import_images(plan, node)
    until("the API server", plan.is_ready.exists, 300.0)
    _start(plan, f"{node.name}-kubelet", *_kubelet(plan, node))
    proxy = _program("kube-proxy")
    _start(plan, f"{node.name}-proxy", proxy, f"--config={node.folder / 'proxy.json'}")
    while True:  # what containers leave behind is ours
        try:
            os.wait()
        except ChildProcessError:
            time.sleep(1)


def _mount(node: Node) -> None:
    """Give the node folders of its own; what a boot must not find again is in memory."""
    run("mount", "--make-rshared", "/")  # within this node only, as on any
    for path in (Path("/run/containerd"), Path("/var/log/containers"), node.folder / "state"):
        run("mount", "-t", "tmpfs", "tmpfs", path)
    own = {
        node.folder / "cni-state": Path("/var/lib/cni"),
        node.folder / "kubelet": Path("/var/lib/kubelet"),
        node.folder / "boot-id": Path("/proc/sys/kernel/random/boot_id"),
    }
    if Path("/etc/machine-id").exists():
        own[node.folder / "machine-id"] = Path("/etc/machine-id")
    for ours, theirs in own.items():
        run("mount", "--bind", ours, theirs)


def _import_images(plan: Plan, node: Node) -> None:
    ctr = ("ctr", "--address", str(node.socket), "--namespace", "k8s.io")
    until("containerd", lambda: does(*ctr, "version"))
    there = set(run(*ctr, "images", "ls", "-q").split())
    for archive in sorted(plan.images.glob("*.tar")):
        if archive.with_suffix(".name").read_text() not in there:
            run(*ctr, "images", "import", archive)


def _kubelet(plan: Plan, node: Node) -> list[str | Path]:
    return [
        _program("kubelet"),
        f"--config={node.folder / 'kubelet.json'}",
        f"--kubeconfig={kubeconfig(plan, node.name)}",
        f"--hostname-override={node.name}",
        f"--node-ip={node.address},{node.address6}",
        f"--node-labels=topology.kubernetes.io/zone={node.zone}",
        f"--cert-dir={plan.papers}",
    ]


def _program(name: str) -> Path:
    found = programs.find(programs.NODES, name)
    assert found is not None, "checked before anything is made"  # noqa: S101
    return found.path


def _start(plan: Plan, name: str, *words: str | Path) -> None:
    # Otherwise a connection that is dead is noticed after 45 s.
    idle, answer = plan.grace // 4 + 1, plan.grace // 8 + 1
    env = {
        **os.environ,
        "HTTP2_READ_IDLE_TIMEOUT_SECONDS": str(idle),
        "HTTP2_PING_TIMEOUT_SECONDS": str(answer),
    }
    with (plan.logs / f"{name}.log").open("ab") as said:
        subprocess.Popen(
            [str(it) for it in words],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            env=env,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
