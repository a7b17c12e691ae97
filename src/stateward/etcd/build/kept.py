"""What a pod template must leave as it is: without it a member loses its data or its name. Pure.

A template is laid over our pod by rules with many corners (null, replace, lists that do not merge),
so it is not the template that is judged here but the pod that comes of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Any, Final

from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.settings import CONTAINER, Settings
from stateward.etcd.build.pod import Outside, own_pod, pod_template
from stateward.kube.codec import Json
from stateward.kube.crd.findings import Problem
from stateward.kube.patch import PatchError

_WHERE: Final = "spec.podTemplate.spec"
#: Lists of etcd's own container in which ours must be found again, and by what.
_LISTS: Final = {"env": "name", "volumeMounts": "mountPath"}
_NOWHERE: Final = Outside(self_host="$(POD_IP)", listen_host="$(POD_IP)")


def kept_problems(cluster: EtcdCluster, settings: Settings) -> tuple[Problem, ...]:
    """Return what a pod template takes away from the pod that a member cannot do without."""
    try:
        made = pod_template(cluster, settings, _NOWHERE)["spec"]
    except PatchError as error:
        return (Problem(_WHERE, str(error)),)
    return tuple(_problems(made, own_pod(cluster, settings, _NOWHERE), cluster))


def _problems(made: Json, ours: Json, cluster: EtcdCluster) -> Iterator[Problem]:
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
    yield from _outvoted(etcd, wanted)
    yield from _said_twice(etcd, cluster)
    yield from _covered(etcd, wanted)
    for volume in ours.get("volumes") or ():
        if volume not in (made.get("volumes") or ()):
            yield Problem(f"{_WHERE}.volumes", f"must keep the volume {volume['name']} as it is")


def _lost(name: str, key: str, etcd: Json, wanted: Json) -> Iterator[Problem]:
    there = etcd.get(name) or []
    for entry in wanted[name]:
        if entry not in there:
            yield _taken(name, f"entry for {entry[key]}", "a member needs it")


def _outvoted(etcd: Json, wanted: Json) -> Iterator[Problem]:
    """Find variables that come after ours: of two with one name the last counts.

    No other source may be last, not even one with a prefix: its names may be any.
    """
    there = etcd.get("envFrom") or []
    for entry in wanted["envFrom"]:
        name, hint = entry["configMapRef"]["name"], f"write {_flow(entry)} as its last entry"
        if entry not in there:
            yield _taken("envFrom", f"entry for {name}", f"a member needs it: {hint}")
        elif there[-1] != entry:
            where = f"{_WHERE}.containers[{CONTAINER}].envFrom"
            said = f"must end with the operator's entry for {name}: later variables would win"
            yield Problem(where, said, hint)


def _said_twice(etcd: Json, cluster: EtcdCluster) -> Iterator[Problem]:
    """Find variables whose flag is given too: etcd does not start with both.

    Flags that we would give by ourselves are left out for a variable; options are not.
    """
    given = [str(it).removeprefix("--").partition("=")[0] for it in etcd.get("args") or ()]
    flags = {f"ETCD_{it.upper().replace('-', '_')}": it for it in given}
    for variable in (str(it.get("name")) for it in etcd.get("env") or ()):
        if flag := flags.get(variable):
            who = f"spec.options.{flag}" if flag in cluster.spec.options else f"our flag {flag}"
            yield Problem(
                f"{_WHERE}.containers[{CONTAINER}].env",
                f"must not set {variable} beside {who}: etcd does not start with both",
                hint="keep one of them" if flag in cluster.spec.options else "take it away",
            )


def _covered(etcd: Json, wanted: Json) -> Iterator[Problem]:
    """Find what is mounted over our folders, or below them: data would be written elsewhere."""
    written = [it["mountPath"] for it in wanted["volumeMounts"]]
    ours = list(map(_place, written))
    for mount in etcd.get("volumeMounts") or ():
        said = str(mount.get("mountPath", ""))
        path = _place(said)
        # One that is written as ours is has taken its place, and that is told already.
        if said not in written and any(_overlap(path, it) for it in ours):
            yield Problem(
                f"{_WHERE}.containers[{CONTAINER}].volumeMounts",
                f"must mount nothing at {said}: members keep their data and certificates there",
            )


def _place(path: str) -> PurePosixPath:
    """Return where a mount really is: kubelets read every path from the root, whatever its dots."""
    return PurePosixPath(normpath(f"/{path.lstrip('/')}"))


def _overlap(one: PurePosixPath, other: PurePosixPath) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)


def _taken(name: str, what: str, hint: str) -> Problem:
    where = f"{_WHERE}.containers[{CONTAINER}].{name}"
    return Problem(where, f"must keep the operator's {what}", hint=hint)


def _flow(value: Any) -> str:
    """Return something of a manifest as YAML on one line."""
    if not isinstance(value, dict):
        return str(value)
    return f"{{{', '.join(f'{name}: {_flow(it)}' for name, it in value.items())}}}"
