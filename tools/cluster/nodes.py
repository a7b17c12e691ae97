"""Nodes: started as a boot starts them, lost as by a power cut, cut off and healed.

A node is a network namespace, and the pid, mount and UTS namespaces of one process; end that one,
and the kernel ends and unmounts the rest.
"""

from __future__ import annotations

import os
import signal
import sys
import uuid
from pathlib import Path

from tools.cluster import links, machine, settings
from tools.cluster.plan import Node, Plan
from tools.cluster.shell import ClusterFailed, inside, pid_of, start, stop

_PROJECT = Path(__file__).parents[2]


def power_on(plan: Plan, node: Node) -> None:
    """Boot a node; its kubelet begins once the API server is ready."""
    if pid_of(_record(plan, node)) is not None:
        raise ClusterFailed(f"{node.name} is running already")
    _write_files(plan, node)
    machine.make_cgroup(node.cgroup)
    links.plug_in(plan, node)
    apart = ["unshare", "--mount", "--propagation", "slave", "--uts", "--pid", "--fork"]
    apart += ["--kill-child", "--mount-proc"]
    boot = [sys.executable, "-m", "tools.cluster.boot", str(plan.folder), str(node.number)]
    start(
        inside(node.namespace, *apart, *boot),
        _record(plan, node),
        plan.logs / f"{node.name}.log",
        env={"PYTHONPATH": str(_PROJECT)},
    )


def power_off(plan: Plan, node: Node) -> None:
    """Take the power away: off the network first, so that others see silence; disks stay."""
    links.silence(node)
    stop(_record(plan, node), signal.SIGKILL)
    links.unplug(node)
    machine.remove_cgroup(node.cgroup)


def entering(plan: Plan, node: Node) -> list[str]:
    """Return the words that run a command on a node: its network, mounts and processes."""
    pid = first_process(plan, node)
    if pid is None:
        raise ClusterFailed(f"{node.name} is not running")
    return ["nsenter", "-t", str(pid), "--mount", "--net", "--pid", "--uts"]


def first_process(plan: Plan, node: Node) -> int | None:
    """Return the pid of a node's first process, as the machine counts them."""
    outer = pid_of(_record(plan, node))
    if outer is None:
        return None
    children = Path(f"/proc/{outer}/task/{outer}/children").read_text().split()
    return int(children[0]) if children else None


def _record(plan: Plan, node: Node) -> Path:
    return plan.records / f"{node.name}.pid"


def _write_files(plan: Plan, node: Node) -> None:
    for name in ("cni", "containerd", "state", "opt", "addresses", "pods", "kubelet", "cni-state"):
        (node.folder / name).mkdir(parents=True, exist_ok=True)
    plugins = machine.plugins()
    assert plugins is not None, "checked before anything is made"  # noqa: S101
    files = {
        "containerd.toml": settings.containerd(node, plugins),
        "cni/10-stateward.conflist": settings.network(node),
        "kubelet.json": settings.kubelet(plan, node),
        "proxy.json": settings.proxy(plan, node.name, node.address, node.pods),
        "resolv.conf": "# nothing beyond the cluster on purpose\n",
        "boot-id": f"{uuid.uuid4()}\n",
    }
    if not (node.folder / "machine-id").exists():
        files["machine-id"] = f"{uuid.uuid4().hex}\n"
    for name, text in files.items():
        (node.folder / name).write_text(text)
    os.chmod(node.folder, 0o755)  # noqa: PTH101, S103 - pods look into it through mounts
