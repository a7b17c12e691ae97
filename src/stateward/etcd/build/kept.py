"""What a pod template must leave as it is: without it a member loses its data or its name. Pure.

A template is laid over our pod by rules with many corners (null, replace, lists that do not merge),
so it is not the template that is judged here but the pod that comes of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Final

from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.problems import Problem
from stateward.etcd.api.settings import CONTAINER, Settings
from stateward.etcd.build.pod import Outside, own_pod, pod_template
from stateward.kube.codec import Json
from stateward.kube.patch import PatchError

_WHERE: Final = "spec.podTemplate.spec"
#: Lists of etcd's own container in which ours must be found again, and by what.
_LISTS: Final = {"env": "name", "envFrom": "configMapRef", "volumeMounts": "mountPath"}
_NOWHERE: Final = Outside(self_host="$(POD_IP)", listen_host="$(POD_IP)")


def kept_problems(cluster: EtcdCluster, settings: Settings) -> tuple[Problem, ...]:
    """Return what a pod template takes away from the pod that a member cannot do without."""
    try:
        made = pod_template(cluster, settings, _NOWHERE)["spec"]
    except PatchError as error:
        return (Problem(_WHERE, str(error)),)
    return tuple(_problems(made, own_pod(cluster, settings, _NOWHERE)))


def _problems(made: Json, ours: Json) -> Iterator[Problem]:
    wanted = ours["containers"][0]
    found = [it for it in made.get("containers") or () if it.get("name") == CONTAINER]
    if len(found) != 1:
        yield Problem(f"{_WHERE}.containers", "must keep the container etcd, once")
        return
    etcd = found[0]
    if etcd.get("args") != wanted["args"]:
        yield _taken("args", "flags of etcd", "write flags into spec.options")
    for name, key in _LISTS.items():
        yield from _lost(name, key, etcd, wanted)
    yield from _covered(etcd, wanted)
    for volume in ours.get("volumes") or ():
        if volume not in (made.get("volumes") or ()):
            yield Problem(f"{_WHERE}.volumes", f"must keep the volume {volume['name']} as it is")


def _lost(name: str, key: str, etcd: Json, wanted: Json) -> Iterator[Problem]:
    there = etcd.get(name) or []
    for entry in wanted[name]:
        if entry not in there:
            yield _taken(name, f"entry for {_called(entry[key])}", "a member needs it")


def _covered(etcd: Json, wanted: Json) -> Iterator[Problem]:
    """Find what is mounted over our folders, or below them: data would be written elsewhere."""
    ours = [PurePosixPath(it["mountPath"]) for it in wanted["volumeMounts"]]
    for mount in etcd.get("volumeMounts") or ():
        path = PurePosixPath(str(mount.get("mountPath", "")))
        above = any(path != it and (path in it.parents or it in path.parents) for it in ours)
        if mount not in wanted["volumeMounts"] and above:
            yield Problem(
                f"{_WHERE}.containers[{CONTAINER}].volumeMounts",
                f"must mount nothing at {path}: members keep their data and certificates there",
            )


def _taken(name: str, what: str, hint: str) -> Problem:
    where = f"{_WHERE}.containers[{CONTAINER}].{name}"
    return Problem(where, f"must keep the operator's {what}", hint=hint)


def _called(value: Any) -> str:
    return str(value.get("name", value)) if isinstance(value, dict) else str(value)
