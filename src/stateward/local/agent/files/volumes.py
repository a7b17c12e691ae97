"""The volumes of pods as folders of this machine."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from stateward.core.errors import UsageError
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.local.agent.environment import ConfigMissing, PodView, expanded
from stateward.local.agent.files import lastwords, projections
from stateward.local.agent.files.mounts import Mounts
from stateward.local.agent.references import Lookup
from stateward.local.documents import Document

#: What a program may leave as its last words, and where.
TERMINATION_LOG = "/dev/termination-log"


#: What odd paths come to: too long, with a zero byte, not ours to look at, links in a circle.
_UNUSABLE = (OSError, ValueError, RuntimeError)
#: Characters of a path in a sentence.
_LONGEST = 200


class NotMounted(UsageError):
    """A volume cannot be had (yet)."""


class Storage(Lookup, Protocol):
    """What volumes refer to."""

    def claim(self, key: ObjectKey) -> Document | None:
        """Return a claim."""

    def volume(self, name: str) -> Document | None:
        """Return a persistent volume."""


@dataclass(frozen=True, slots=True)
class Folders:
    """Where everything of the agent is on disk."""

    root: Path

    def pod(self, uid: str) -> Path:
        """Return what is a pod's alone, and goes with it."""
        return self.root / "pods" / uid

    def volume(self, uid: str, name: str) -> Path:
        """Return a volume that lives as long as its pod."""
        return self.pod(uid) / "volumes" / name

    def persistent(self, name: str) -> Path:
        """Return a volume that outlives pods."""
        return self.root / "volumes" / name

    def work(self, uid: str, container: str) -> Path:
        """Return the folder in which a container's program starts."""
        return self.pod(uid) / "work" / container

    def last_words(self, uid: str, container: str) -> Path:
        """Return the file for what a container says about its end."""
        return self.pod(uid) / "last-words" / container

    def log(self, uid: str, container: str, run: int) -> Path:
        """Return the log of one run of a container."""
        return self.pod(uid) / "logs" / container / f"{run}.log"


class Volumes:
    """Makes, refreshes and finds the volumes of pods."""

    def __init__(self, folders: Folders, storage: Storage) -> None:
        self._folders = folders
        self._storage = storage

    def prepare(self, pod: PodView) -> dict[str, Path]:
        """Return the place of every volume; raise NotMounted while one cannot be had."""
        return {it["name"]: self._usable(it, pod) for it in pod.spec.get("volumes") or ()}

    def refresh(self, pod: PodView) -> None:
        """Bring files up to date that come from objects; what is gone leaves the files there."""
        for volume in pod.spec.get("volumes") or ():
            if any(kind in volume for kind in projections.KINDS):
                self._try_to_write(volume, pod)

    def remove(self, uid: str) -> None:
        """Remove what was a pod's alone."""
        _remove(self._folders.pod(uid))

    def left_behind(self, living: Collection[str]) -> list[str]:
        """Return the pods of which something is here, and which are no more."""
        pods = self._folders.root / "pods"
        there = [folder.name for folder in pods.iterdir()] if pods.exists() else []
        return [uid for uid in there if uid not in living]

    def remove_persistent(self, name: str) -> None:
        """Remove a volume whose object is gone."""
        _remove(self._folders.persistent(name))

    def of_claim(self, key: ObjectKey) -> Path:
        """Return the folder behind a claim; raise NotMounted while it has none."""
        return self._claimed(key, key.name)

    def _try_to_write(self, volume: Json, pod: PodView) -> None:
        try:
            self._write(volume, pod)
        except NotMounted:
            return

    def _usable(self, volume: Json, pod: PodView) -> Path:
        try:
            return self._place(volume, pod)
        except _UNUSABLE as error:
            raise NotMounted(
                f'volume "{volume["name"]}" must have paths that can be used here: {_why(error)}'
            ) from error

    def _place(self, volume: Json, pod: PodView) -> Path:
        uid, name = pod.metadata.uid, volume["name"]
        if any(kind in volume for kind in projections.KINDS):
            return self._write(volume, pod)
        if "persistentVolumeClaim" in volume:
            claim = volume["persistentVolumeClaim"].get("claimName", "")
            return self._claimed(ObjectKey(pod.metadata.namespace, claim), name)
        if "ephemeral" in volume:
            claim = f"{pod.metadata.name}-{name}"
            return self._claimed(ObjectKey(pod.metadata.namespace, claim), name)
        if "hostPath" in volume:
            return _host_path(volume["hostPath"], name)
        kinds = volume.keys() - {"name"}
        if kinds - {"emptyDir"}:
            raise NotMounted(
                f'volume "{name}" must be emptyDir, persistentVolumeClaim, ephemeral, configMap,'
                f" secret, downwardAPI, projected or hostPath here, got {', '.join(sorted(kinds))}"
            )
        return _folder(self._folders.volume(uid, name))

    def _write(self, volume: Json, pod: PodView) -> Path:
        folder = self._folders.volume(pod.metadata.uid, volume["name"])
        try:
            projections.write(folder, projections.files_of(volume, pod, self._storage))
        except ConfigMissing as error:
            raise NotMounted(
                f'MountVolume.SetUp failed for volume "{volume["name"]}" : {error}'
            ) from error
        except _UNUSABLE as error:
            raise NotMounted(
                f'volume "{volume["name"]}" must be writable: {_why(error)}'
            ) from error
        return _folder(folder)

    def _claimed(self, key: ObjectKey, name: str) -> Path:
        claim = self._storage.claim(key)
        if claim is None:
            raise NotMounted(f'persistentvolumeclaim "{key.name}" not found')
        bound = claim.spec.get("volumeName", "")
        if claim.status.get("phase") != "Bound" or not bound:
            raise NotMounted(f'volume "{name}": claim "{key.name}" must be Bound, and is not yet')
        volume = self._storage.volume(bound)
        if volume is None:
            raise NotMounted(f'persistentvolume "{bound}" not found')
        given = "" if _is_ours(volume) else _given_path(volume.spec)
        return _folder(Path(given) if given else self._folders.persistent(bound))


def mounts_of(
    container: Json,
    places: Mapping[str, Path],
    env: Mapping[str, str],
    last_words: Path | None = None,
    *,
    fresh: bool = False,
) -> Mounts:
    """Return where a container's mount paths are; folders of sub-paths are made.

    With ``fresh`` the file for its last words is emptied, as for every start.
    """
    found: dict[str, Path] = {}
    for mount in container.get("volumeMounts") or ():
        if mount["name"] not in places:
            raise NotMounted(f'volumeMount "{mount["name"]}" must name a volume of the pod')
        inner = mount.get("subPath") or expanded(mount.get("subPathExpr") or "", env)
        found[mount["mountPath"]] = _inside(places[mount["name"]], inner)
    if last_words is not None:
        path = container.get("terminationMessagePath") or TERMINATION_LOG
        if fresh:
            lastwords.begin(last_words)
        found[path] = last_words
    return Mounts(found)


def wipe(folder: Path) -> None:
    """Remove everything in a folder, and leave the folder."""
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)


def _remove(place: Path) -> None:
    """Remove a folder, or whatever a program put in its place; links are not followed."""
    if place.is_symlink() or place.is_file():
        place.unlink(missing_ok=True)
    else:
        shutil.rmtree(place, ignore_errors=True)


def _inside(folder: Path, inner: str) -> Path:
    if not inner:
        return folder
    if PurePosixPath(inner).is_absolute() or ".." in PurePosixPath(inner).parts:
        raise NotMounted(f"subPath must stay inside of its volume, got {_short(inner)}")
    place = folder / inner
    try:
        # A program may have put links there; the one below us would be made where they lead.
        is_inside = place.resolve().is_relative_to(folder.resolve())
        if is_inside and not place.exists() and not place.is_symlink():
            place.mkdir(parents=True)
    except _UNUSABLE as error:
        raise NotMounted(
            f"subPath {_short(inner)} must be a folder we may make: {_why(error)}"
        ) from error
    if not is_inside:
        raise NotMounted(
            f"subPath must stay inside of its volume, and a link leads {_short(inner)} out of it"
        )
    return place


def _why(error: Exception) -> str:
    """Return what went wrong, without a path that may be very long."""
    return (error.strerror or "") if isinstance(error, OSError) else str(error)


def _short(path: str) -> str:
    return repr(path if len(path) <= _LONGEST else f"{path[:_LONGEST]}...")


def _is_ours(volume: Document) -> bool:
    maker = volume.metadata.annotations.get("pv.kubernetes.io/provisioned-by", "")
    return maker.startswith("stateward.dev/")


def _given_path(spec: Json) -> str:
    """Return the folder that somebody chose for a volume, if any."""
    for kind in ("hostPath", "local"):
        if kind in spec:
            return str((spec[kind] or {}).get("path", ""))
    return ""


def _host_path(source: Json, name: str) -> Path:
    place, kind = Path(source.get("path", "")), source.get("type") or ""
    if "\0" in str(place):
        raise NotMounted(f'volume "{name}": hostPath must be a path, without zero bytes')
    makers: dict[str, Callable[[], object]] = {
        "DirectoryOrCreate": lambda: place.mkdir(parents=True, exist_ok=True),
        "FileOrCreate": place.touch,
    }
    try:
        makers.get(kind, lambda: None)()
    except OSError as error:
        raise NotMounted(
            f'volume "{name}": hostPath {_short(str(place))} must be one we may make: {_why(error)}'
        ) from error
    if kind in {"Directory", "File"} and not place.exists():
        raise NotMounted(f'volume "{name}": hostPath {place} must exist on this machine')
    return place


def _folder(place: Path) -> Path:
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotMounted(
            f"the folder {_short(str(place))} must be one we may make: {_why(error)}"
        ) from error
    return place
