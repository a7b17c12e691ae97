"""A whole cluster: up, and down with nothing left."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from stateward.local.real import programs
from tools.cluster import images, links, machine, manifests, nodes, papers, plane
from tools.cluster.plan import Plan
from tools.cluster.shell import ClusterFailed, run, until

Tell = Callable[[str], None]
_KEPT: Final = "plan.json"
_END: Final = 20.0


def default_folder() -> Path:
    """Return where a cluster is unless somebody says otherwise."""
    return programs.cache().parent / "cluster"


def missing() -> str:
    """Return why there can be no cluster here, or nothing."""
    if why := machine.missing():
        return why
    wanted = [(part, it) for part in programs.CLUSTER_PARTS for it in part.programs]
    lacking = [it for part, it in wanted if programs.find(part, it) is None]
    return f"{', '.join(lacking)} must be built first: make cluster-programs" if lacking else ""


def up(plan: Plan, tell: Tell, prepare: Callable[[], None] = lambda: None) -> None:
    """Bring a cluster up, beginning with nothing; what an earlier one left goes first.

    Before nodes boot, more images can be prepared for them.
    """
    if why := missing():
        raise ClusterFailed(why)
    if plan.folder.exists() and not is_ours(plan.folder) and any(plan.folder.iterdir()):
        raise ClusterFailed(f"{plan.folder} is not of a cluster, and is left alone: name another")
    machine.claim(plan.folder)
    if is_ours(plan.folder) or links.namespaces():
        tell("an earlier cluster was not brought down: it goes first")
        _remove(plan.folder)
        machine.claim(plan.folder)
    started = time.monotonic()

    def told(what: str) -> None:
        tell(f"{time.monotonic() - started:5.1f} s  {what}")

    plan.folder.mkdir(parents=True, exist_ok=True)
    about = {"size": plan.size, "grace": plan.grace, "evict": plan.evict}
    (plan.folder / _KEPT).write_text(json.dumps(about))
    for folder in (plan.records, plan.logs, plan.volumes):
        folder.mkdir()
    machine.remember(plan)
    papers.write(plan)
    images.write_all(plan)
    prepare()
    told("images are written")
    links.lay_switch()
    for node in plan.nodes:
        nodes.power_on(plan, node)
    plane.power_on(plan)
    told("the API server answers")
    for node in plan.nodes:
        _until_ready(plan, node.name)
        told(f"{node.name} is ready")
    plane.apply(plan, manifests.first_objects())
    rollout = ("rollout", "status", "deployment/coredns", "--timeout=120s")
    run(*plane.kubectl(plan), "--namespace", "kube-system", *rollout)
    told("names are resolved")


def down(folder: Path, tell: Tell) -> None:
    """End everything, remove all of it, and put back what the machine was like."""
    whose = machine.owner()
    if whose not in (None, folder):
        raise ClusterFailed(f"the cluster of this machine is in {whose}, and not in {folder}")
    if whose is None and not is_ours(folder):
        raise ClusterFailed(f"there is no cluster in {folder}")
    _remove(folder)
    tell("everything is gone")


def _remove(folder: Path) -> None:
    plan = kept_plan(folder)
    for node in plan.nodes:
        nodes.power_off(plan, node)
    plane.power_off(plan)
    links.leave()
    machine.put_back(plan)
    try:
        until("the end of everything", lambda: _is_gone(plan), _END)
    except ClusterFailed:
        left = "; ".join(machine.left(plan))
        raise ClusterFailed(f"these are left, and must not be: {left}") from None
    if is_ours(folder):
        until(f"{folder} is empty", lambda: _is_cleared(folder), _END)
    machine.disclaim()


def _is_cleared(folder: Path) -> bool:
    """Remove the folder of a cluster; what says that it is ours goes last, or nobody could again.

    What a process that is just ending holds goes a moment later.
    """
    for it in folder.iterdir():
        if it.name != _KEPT:
            shutil.rmtree(it, ignore_errors=True) if it.is_dir() else it.unlink(missing_ok=True)
    if [it.name for it in folder.iterdir()] == [_KEPT]:
        shutil.rmtree(folder)
    return not folder.exists()


def is_ours(folder: Path) -> bool:
    """Tell whether a cluster was made in a folder: no other is ever removed."""
    return (folder / _KEPT).is_file()


def _is_gone(plan: Plan) -> bool:
    for node in plan.nodes:  # a cgroup goes after the last of its processes
        machine.remove_cgroup(node.cgroup)
    return not machine.left(plan)


def kept_plan(folder: Path) -> Plan:
    """Return the plan of the cluster in a folder."""
    try:
        return Plan(folder, **json.loads((folder / _KEPT).read_text()))
    except (OSError, ValueError, TypeError):  # a full disk, a kill: as many nodes as usual
        return Plan(folder)


def _until_ready(plan: Plan, name: str) -> None:
    run(*plane.kubectl(plan), "wait", "--for=create", f"node/{name}", "--timeout=120s")
    run(*plane.kubectl(plan), "wait", "--for=condition=Ready", f"node/{name}", "--timeout=60s")
