"""What makes no sense in the volumes of a pod: above all paths that lead out of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from stateward.core.quantity import Quantity
from stateward.kube.codec import Json
from stateward.kube.errors import Cause
from stateward.local.schema import causes

_HOST_PATHS: Final = (
    *("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate"),
    *("File", "FileOrCreate", "Socket"),
)
_MOST_MODE: Final = 0o777


def volume_problems(volumes: Iterable[Json], path: str) -> Iterator[Cause]:
    """Yield what is wrong with where the files of a pod come from."""
    for place, volume in enumerate(volumes):
        where = f"{path}[{place}]"
        kinds = [name for name, value in volume.items() if isinstance(value, dict)]
        for more in kinds[1:]:
            yield causes.forbidden(f"{where}.{more}", "may not specify more than 1 volume type")
        for name in kinds[:1]:
            yield from _source_problems(name, volume[name], f"{where}.{name}")


def mount_path_problems(mount: Json, path: str) -> Iterator[Cause]:
    """Yield what is wrong with the part of a volume that a container sees."""
    if mount.get("subPath") and mount.get("subPathExpr"):
        why = "subPathExpr and subPath are mutually exclusive"
        yield causes.invalid(f"{path}.subPathExpr", mount["subPathExpr"], why)
    for name in ("subPath", "subPathExpr"):
        if part := mount.get(name):
            # Kubernetes leaves the number of the mount out here.
            yield from _way_problems(part, f"{path[: path.rindex('[')]}.{name}")


def _source_problems(name: str, source: Json, path: str) -> Iterator[Cause]:
    match name:
        case "hostPath":
            yield from _host_path_problems(source, path)
        case "emptyDir":
            yield from _size_problems(source.get("sizeLimit"), path)
        case "configMap" | "secret":
            yield from _named(source, "name" if name == "configMap" else "secretName", path)
            yield from _files_problems(source, path)
        case "downwardAPI":
            yield from _facts_problems(source, path)
        case "persistentVolumeClaim":
            yield from _named(source, "claimName", path)
        case "projected":
            yield from _mode_problem(source, "defaultMode", path)
            for place, part in enumerate(source.get("sources") or ()):
                yield from _part_problems(part, f"{path}.sources[{place}]")


def _part_problems(part: Json, path: str) -> Iterator[Cause]:
    if sum(1 for value in part.values() if value is not None) > 1:
        yield causes.forbidden(path, "may not specify more than 1 volume type per source")
    for name in ("configMap", "secret"):
        if isinstance(source := part.get(name), dict):
            yield from _named(source, "name", f"{path}.{name}")
            yield from _files_problems(source, f"{path}.{name}")
    if isinstance(source := part.get("downwardAPI"), dict):
        yield from _facts_problems(source, f"{path}.downwardAPI")


def _host_path_problems(source: Json, path: str) -> Iterator[Cause]:
    where = source.get("path")
    if not where:
        yield causes.required(f"{path}.path")
    elif ".." in where.split("/"):
        yield causes.invalid(f"{path}.path", where, "must not contain '..'")
    if (kind := source.get("type")) is not None and kind not in _HOST_PATHS:
        yield causes.unsupported(f"{path}.type", kind, _HOST_PATHS)


def _size_problems(limit: Any, path: str) -> Iterator[Cause]:
    if limit is not None and Quantity.parse(str(limit)).nano < 0:
        why = "SizeLimit field must be a valid resource quantity"
        yield causes.forbidden(f"{path}.sizeLimit", why)


def _files_problems(source: Json, path: str) -> Iterator[Cause]:
    yield from _mode_problem(source, "defaultMode", path)
    for place, item in enumerate(source.get("items") or ()):
        where = f"{path}.items[{place}]"
        if not item.get("key"):
            yield causes.required(f"{where}.key")
        yield from _file_problems(item, where)
        yield from _mode_problem(item, "mode", where)


def _facts_problems(source: Json, path: str) -> Iterator[Cause]:
    yield from _mode_problem(source, "defaultMode", path)
    for item in source.get("items") or ():
        yield from _file_problems(item, path)
        if not item.get("fieldRef") and not item.get("resourceFieldRef"):
            yield causes.required(path, "one of fieldRef and resourceFieldRef is required")


def _file_problems(item: Json, path: str) -> Iterator[Cause]:
    name = item.get("path")
    if not name:
        yield causes.required(f"{path}.path")
        return
    found = list(_way_problems(name, f"{path}.path"))
    yield from found
    if not found and name.startswith(".."):
        yield causes.invalid(f"{path}.path", name, "must not start with '..'")


def _way_problems(way: str, path: str) -> Iterator[Cause]:
    if way.startswith("/"):
        yield causes.invalid(path, way, "must be a relative path")
    if ".." in way.split("/"):
        yield causes.invalid(path, way, "must not contain '..'")


def _mode_problem(part: Json, name: str, path: str) -> Iterator[Cause]:
    if (mode := part.get(name)) is not None and not 0 <= mode <= _MOST_MODE:
        why = "must be a number between 0 and 0777 (octal), both inclusive"
        yield causes.invalid(f"{path}.{name}", mode, why)


def _named(source: Json, name: str, path: str) -> Iterator[Cause]:
    if not source.get(name):
        yield causes.required(f"{path}.{name}")
