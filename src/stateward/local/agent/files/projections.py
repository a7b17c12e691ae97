"""Config maps, secrets and pod fields as files: what is in them (pure), and how they are swapped.

A reader sees all files of one version or all of the next, never a mixture: the files stand in a
folder of their own, ``..data`` points to it, and is replaced in one step.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from stateward.core.naming import short_hash
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.local.agent.environment import (
    ConfigMissing,
    PodView,
    field_of,
    picked,
    resource_of,
)
from stateward.local.agent.references import Lookup
from stateward.local.agent.tokens import Ask, Tokens

_DATA = "..data"
_MODE = 0o644
_HOUR = 3600


@dataclass(frozen=True, slots=True)
class FileText:
    """One file."""

    data: bytes
    mode: int = _MODE


#: Files by their path in the volume.
Files = dict[str, FileText]

#: The kinds of volume that are made of files we write.
KINDS = ("configMap", "secret", "downwardAPI", "projected")


def files_of(volume: Json, pod: PodView, lookup: Lookup) -> Files:
    """Return the files of a volume; raise ConfigMissing when something is not there yet."""
    if "projected" in volume:
        projected = volume["projected"] or {}
        found: Files = {}
        for source in projected.get("sources") or ():
            found |= _source(source, projected.get("defaultMode"), pod, lookup)
        return found
    return _source(volume, None, pod, lookup)


def write(folder: Path, files: Mapping[str, FileText]) -> bool:
    """Make a folder show these files and no others; tell whether anything changed."""
    version = f"..{_digest(files)}"
    data = folder / _DATA
    if data.is_symlink() and os.readlink(data) == version:  # noqa: PTH115 - the text, not a path
        return False
    if folder.is_symlink():
        folder.unlink()  # somebody's link would have us write elsewhere
    folder.mkdir(parents=True, exist_ok=True)
    old = [it for it in folder.iterdir() if it.name.startswith("..") and not it.is_symlink()]
    _fill(folder / version, files)
    fresh = folder / "..fresh"
    _clear(fresh)
    fresh.symlink_to(version)
    if not data.is_symlink():
        _clear(data)
    os.replace(fresh, data)  # noqa: PTH105 - the words of the manual: atomic
    _point(folder, {PurePosixPath(path).parts[0] for path in files})
    for gone in old:
        if gone.name != version:
            shutil.rmtree(gone, ignore_errors=True)
    return True


def _source(source: Json, mode: int | None, pod: PodView, lookup: Lookup) -> Files:
    namespace = pod.metadata.namespace
    if "configMap" in source:
        part = source["configMap"] or {}
        return dict(_named(part, "configmap", mode, namespace, lookup))
    if "secret" in source:
        part = source["secret"] or {}
        return dict(_named(part, "secret", mode, namespace, lookup))
    if "downwardAPI" in source:
        return dict(_fields(source["downwardAPI"] or {}, mode, pod))
    if "serviceAccountToken" in source and lookup.tokens is not None:
        part = source["serviceAccountToken"] or {}
        return {_safe(part["path"]): FileText(_token(part, pod, lookup.tokens), mode or _MODE)}
    return {}  # tokens of service accounts are not offered by every control plane


def _token(part: Json, pod: PodView, tokens: Tokens) -> bytes:
    account = pod.spec.get("serviceAccountName") or "default"
    audience, seconds = part.get("audience") or "", part.get("expirationSeconds") or _HOUR
    token = tokens.get(Ask(pod.metadata.key, pod.metadata.uid, account, audience, seconds))
    if token is None:
        raise ConfigMissing(f'no token yet for the service account "{account}"')
    return token


def _named(
    part: Json, noun: str, mode: int | None, namespace: str, lookup: Lookup
) -> Iterator[tuple[str, FileText]]:
    """Yield the files of a config map or a secret."""
    name = part.get("name") or part.get("secretName") or ""
    look = lookup.config_map if noun == "configmap" else lookup.secret
    contents = look(ObjectKey(namespace, name))
    usual = part.get("defaultMode", mode or _MODE)
    if contents is None:
        if not part.get("optional"):
            raise ConfigMissing(f'{noun} "{name}" not found')
        return
    items = part.get("items")
    if items is None:
        yield from ((key, FileText(data, usual)) for key, data in contents.items())
        return
    there = [it for it in items if it["key"] in contents or not part.get("optional")]
    chosen = picked(contents, there, f"{noun} {namespace}/{name}")
    modes = {it["path"]: it.get("mode", usual) for it in there}
    yield from ((_safe(path), FileText(data, modes[path])) for path, data in chosen.items())


def _fields(part: Json, mode: int | None, pod: PodView) -> Iterator[tuple[str, FileText]]:
    """Yield the files of the downward API."""
    usual = part.get("defaultMode", mode or _MODE)
    for item in part.get("items") or ():
        if "fieldRef" in item:
            text = field_of(item["fieldRef"].get("fieldPath", ""), pod)
        else:
            reference = item.get("resourceFieldRef") or {}
            text = resource_of(reference, _container(reference, pod), pod)
        yield _safe(item["path"]), FileText(text.encode(), item.get("mode", usual))


def _container(reference: Json, pod: PodView) -> Json:
    name = reference.get("containerName")
    found = next((it for it in pod.spec.get("containers") or () if it.get("name") == name), None)
    if found is None:
        raise ConfigMissing(f"containerName must be a container of the pod, got {name!r}")
    container: Json = found
    return container


def _safe(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or parts[0] == "/" or ".." in parts:
        raise ConfigMissing(f"the path of a file must stay inside of its volume, got {path!r}")
    return str(PurePosixPath(path))


def _digest(files: Mapping[str, FileText]) -> str:
    return short_hash({path: [it.data.hex(), it.mode] for path, it in files.items()})


def _fill(folder: Path, files: Mapping[str, FileText]) -> None:
    _clear(folder)
    folder.mkdir()
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.data)
        place.chmod(text.mode)


def _point(folder: Path, names: set[str]) -> None:
    """Let a link stand for every file, through ``..data``; links of files that are gone go.

    What somebody put in the way of a link goes as well, or it would hide the file for ever.
    """
    for name in names:
        place, target = folder / name, f"{_DATA}/{name}"
        if not place.is_symlink() or os.readlink(place) != target:  # noqa: PTH115 - the text
            _clear(place)
            place.symlink_to(target)
    for entry in folder.iterdir():
        if entry.is_symlink() and entry.name != _DATA and entry.name not in names:
            entry.unlink()


def _clear(place: Path) -> None:
    """Remove whatever is there."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)
