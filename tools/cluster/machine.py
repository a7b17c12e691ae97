"""What all nodes share with the machine and cannot have for themselves: put back at the end."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from tools.cluster import links
from tools.cluster import plan as places
from tools.cluster.plan import Plan
from tools.cluster.shell import ClusterFailed, does

#: What a kubelet sets of the kernel.
_KERNEL: Final = (
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
)
#: Not on a disk: after another start of the machine nothing of a cluster is left but files.
_OWNER: Final = Path("/run/stateward-cluster")
_CGROUPS: Final = Path("/sys/fs/cgroup")
_PLUGINS: Final = (Path("/usr/lib/cni"), Path("/opt/cni/bin"))
_PROGRAMS: Final = ("containerd", "runc", "nft", "ip", "nsenter", "unshare", "mount", "apt-get")
#: Folders that containerd, runc and kubelet insist on; a node has its own in their place.
FOLDERS: Final = tuple(
    Path(it)
    for it in ("/run/containerd", "/var/lib/cni", "/var/lib/kubelet", "/var/log/containers")
)


def missing() -> str:
    """Return why there can be no cluster on this machine, or nothing."""
    if os.uname().sysname != "Linux" or os.geteuid() != 0:
        return "nodes are namespaces of Linux, which only root may make"
    lacking = [it for it in _PROGRAMS if shutil.which(it) is None]
    if plugins() is None:
        lacking.append("CNI's plugins")
    if lacking:
        return (
            f"{', '.join(lacking)} must be on this machine: apt-get install containerd runc"
            " containernetworking-plugins nftables iproute2 conntrack"
        )
    if not Path("/proc/sys/net/ipv6").exists():
        return "pods have addresses of IPv6 too, and this machine's kernel has none"
    probe = f"{places.NAMESPACE}-probe"
    made = does("ip", "netns", "add", probe)
    does("ip", "netns", "del", probe)
    return "" if made else "this machine does not let us make network namespaces"


def plugins() -> Path | None:
    """Return the folder of CNI's plugins."""
    return next((it for it in _PLUGINS if (it / "bridge").exists()), None)


def remember(plan: Plan) -> None:
    """Write down what the machine is like before a kubelet changes it."""
    lines = [f"{it} {_kernel(it)}" for it in _KERNEL if Path("/proc/sys", it).exists()]
    (plan.records / "kernel").write_text("\n".join(lines))
    made = [it for it in FOLDERS if not it.exists()]
    for folder in FOLDERS:
        folder.mkdir(parents=True, exist_ok=True)
    (plan.records / "made").write_text("\n".join(map(str, made)))


def put_back(plan: Plan) -> None:
    """Make the machine as it was; what somebody else uses by now stays."""
    for line in _lines(plan.records / "kernel") if owner() is not None else []:
        name, value = line.split(maxsplit=1)
        if _kernel(name) != value:
            Path("/proc/sys", name).write_text(value)
    for folder in _lines(plan.records / "made"):
        with suppress(OSError):  # nodes mount theirs over it, so ours is empty
            Path(folder).rmdir()


def owner() -> Path | None:
    """Return the folder of the cluster that this machine has had since it was started, if any."""
    try:
        return Path(_OWNER.read_text())
    except OSError:
        return None


def claim(folder: Path) -> None:
    """Note whose this machine is: names and addresses are there once, for one cluster."""
    with suppress(FileExistsError), _OWNER.open("x") as file:
        file.write(str(folder))
    if (whose := owner()) != folder:
        raise ClusterFailed(f"the cluster of this machine is in {whose}: bring that one down first")


def disclaim() -> None:
    """Forget whose it was."""
    _OWNER.unlink(missing_ok=True)


def make_cgroup(name: str) -> None:
    """Make a cgroup in every hierarchy: a kubelet wants its root to exist."""
    for hierarchy in _hierarchies():
        (hierarchy / name).mkdir(exist_ok=True)


def remove_cgroup(name: str) -> None:
    """Remove a cgroup and all below it."""
    for hierarchy in _hierarchies():
        for folder, _, _ in os.walk(hierarchy / name, topdown=False):
            try:
                Path(folder).rmdir()
            except OSError:
                continue


def left(plan: Plan) -> list[str]:
    """Return what is still there of a cluster, a line each."""
    found = [f"network namespace {it}" for it in links.namespaces()]
    mounts = Path("/proc/mounts").read_text().splitlines()
    found += [
        f"mount {it.split()[1]}" for it in mounts if it.split()[1].startswith(f"{plan.folder}/")
    ]
    groups = [it / node.cgroup for it in _hierarchies() for node in plan.nodes]
    found += [f"cgroup {it}" for it in groups if it.exists()]
    return found + [f"process {it}" for it in _processes(plan)]


def _processes(plan: Plan) -> Iterator[str]:
    """Yield what runs on the files of a cluster, but for us and whoever called us."""
    word, ours = f"{plan.folder}/".encode(), _ancestors()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if word in words and int(entry.name) not in ours:
            program = words.partition(b"\0")[0].decode(errors="replace")
            yield f"{entry.name} {program}"


def _ancestors() -> set[int]:
    found, pid = set(), os.getpid()
    while pid > 0:
        found.add(pid)
        stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        pid = int(stat[1])
    return found


def _hierarchies() -> list[Path]:
    """Return the roots of cgroups: one of version 2, or one of each controller."""
    if (_CGROUPS / "cgroup.controllers").exists():
        return [_CGROUPS]
    return [it for it in _CGROUPS.iterdir() if (it / "cgroup.procs").exists()]


def _kernel(name: str) -> str:
    return Path("/proc/sys", name).read_text().strip()


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
