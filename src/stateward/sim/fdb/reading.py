"""What is written in a pod about its containers: options, images, variables, mounted files."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

import msgspec

from stateward.core.chance import Chance
from stateward.core.errors import UsageError
from stateward.emulate.keepers.split.substitutions import Wishes, substitutions
from stateward.emulate.keepers.unified.pod import label_variable
from stateward.fdb.model import names
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey, ObjectMeta
from stateward.kube.resources import CONFIG_MAPS, NODES, SECRETS
from stateward.local.agent.environment import PodView, environment, expanded
from stateward.local.agent.files.projections import KINDS, files_of
from stateward.local.agent.references import Contents
from stateward.local.api import Api
from stateward.sim.fdb.keepers import Errands, Keeper, Split, Unified
from stateward.sim.kube.lodgers import both

#: The tag of an image that somebody published: a version, perhaps with something behind it.
_TAG: Final = re.compile(r":v?(?P<version>[0-9]+\.[0-9]+\.[0-9]+)(?:-[0-9A-Za-z.-]+)?$")


class StoreLookup:
    """Config maps and secrets as the store has them."""

    tokens = None

    def __init__(self, api: Api) -> None:
        self._api = api

    def config_map(self, key: ObjectKey) -> Contents | None:
        """Return what a config map holds."""
        stored = self._api.store.get(CONFIG_MAPS.name, key)
        if stored is None:
            return None
        return {name: text.encode() for name, text in (stored.document().get("data") or {}).items()}

    def node_labels(self, pod: Json) -> dict[str, str]:
        """Return the labels of the node that a pod is on."""
        key = ObjectKey("", pod["spec"].get("nodeName", ""))
        stored = self._api.store.get(NODES.name, key)
        return {} if stored is None else dict(stored.document()["metadata"].get("labels") or {})

    def secret(self, key: ObjectKey) -> Contents | None:
        """Return what a secret holds."""
        stored = self._api.store.get(SECRETS.name, key)
        if stored is None:
            return None
        held = (stored.document().get("data") or {}).items()
        return {name: base64.b64decode(text) for name, text in held}


def container(pod: Json, name: str) -> Json | None:
    """Return a container of a pod."""
    return next((it for it in pod["spec"]["containers"] if it["name"] == name), None)


def version_of(pod: Json, name: str) -> str:
    """Return the version of a container by its image; empty: it has no such container, or image."""
    found = container(pod, name)
    tag = _TAG.search(found.get("image", "")) if found is not None else None
    return tag["version"] if tag is not None else ""


def seen_by(pod: Json, address: str) -> PodView:
    """Return a pod as its own programs may see it."""
    metadata = msgspec.convert(pod["metadata"], ObjectMeta)
    first, *more = both(address)
    return PodView(metadata, pod["spec"], first, more_addresses=tuple(more))


def mounted(pod: Json, name: str, view: PodView, lookup: StoreLookup) -> dict[str, bytes]:
    """Return the files that a container finds; raise ConfigMissing when some are not there yet."""
    volumes = {it["name"]: it for it in pod["spec"].get("volumes") or ()}
    found: dict[str, bytes] = {}
    for mount in (container(pod, name) or {}).get("volumeMounts") or ():
        volume = volumes.get(mount["name"], {})
        if not any(it in volume for it in KINDS):
            continue
        for path, file in files_of(volume, view, lookup).items():
            found[str(PurePosixPath(mount["mountPath"], path))] = file.data
    return found


def has_certificate(pod: Json, view: PodView, lookup: StoreLookup) -> bool:
    """Tell whether fdbserver finds the files of TLS that variables of its container name."""
    variables = environment(container(pod, names.MAIN_CONTAINER) or {}, view, lookup)
    files = mounted(pod, names.MAIN_CONTAINER, view, lookup)
    return all(variables.get(f"FDB_TLS_{it}_FILE") in files for it in ("CERTIFICATE", "KEY"))


def mounted_by(pod: Json) -> set[str]:
    """Return the names of config maps and secrets that are mounted in a pod."""
    volumes = pod["spec"].get("volumes") or ()
    maps = {(it.get("configMap") or {}).get("name", "") for it in volumes}
    return maps | {(it.get("secret") or {}).get("secretName", "") for it in volumes}


def is_split(pod: Json) -> bool:
    """Tell whether a sidecar writes what the main container reads: it is told where that is."""
    sidecar = container(pod, names.SIDECAR_CONTAINER)
    return sidecar is not None and "input-monitor-conf" in options(sidecar.get("args") or ())


def options(words: Sequence[str]) -> dict[str, list[str]]:
    """Return the options of a command line, each with all values that it has.

    >>> options(["--copy-file", "a", "--tls", "--copy-file=b"])
    {'copy-file': ['a', 'b'], 'tls': []}
    """
    found: dict[str, list[str]] = {}
    last: list[str] = []
    for word in words:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            last = found.setdefault(name, [])
            if equals:
                last.append(value)
        else:
            last.append(word)
    return found


def keeper_of(pod: Json, view: PodView, lookup: StoreLookup, chance: Chance) -> Keeper:
    """Return what keeps the processes of a pod; raise ConfigMissing or UsageError."""
    main = container(pod, names.MAIN_CONTAINER) or {}
    version = version_of(pod, names.MAIN_CONTAINER)
    if is_split(pod):
        certified = has_certificate(pod, view, lookup)
        return Split(version, _errands(pod, view, lookup), chance, certified)
    variables = environment(main, view, lookup)
    told = options([expanded(it, variables) for it in main.get("args") or ()])
    if "enable-node-watch" in told:
        variables |= {label_variable(k): it for k, it in lookup.node_labels(pod).items()}
    folder, file = _one(told, "input-dir", "."), _one(told, "input-monitor-conf", "config.json")
    return Unified(
        version,
        variables,
        int(_one(told, "process-count", "1")),
        str(PurePosixPath(folder, file)),
        has_certificate(pod, view, lookup),
    )


def _errands(pod: Json, view: PodView, lookup: StoreLookup) -> Errands:
    sidecar = container(pod, names.SIDECAR_CONTAINER) or {}
    variables = environment(sidecar, view, lookup)
    told = options([expanded(it, variables) for it in sidecar.get("args") or ()])
    target = _one(told, "main-container-conf-dir", "/var/dynamic-conf")
    family = told.get("public-ip-family")
    wishes = Wishes(
        version_of(pod, names.SIDECAR_CONTAINER),
        _one(told, "main-container-version", ""),
        target,
        told.get("substitute-variable", ()),
        int(family[-1]) if family else None,
    )
    certificate, speaks = variables.get("FDB_TLS_CERTIFICATE_FILE", ""), "tls" in told
    if speaks and certificate not in mounted(pod, names.SIDECAR_CONTAINER, view, lookup):
        raise UsageError("with --tls a certificate, its key and an authority must be given")
    return Errands(
        _one(told, "input-dir", "/var/input-files"),
        target,
        tuple(told.get("copy-file", ())),
        _one(told, "input-monitor-conf", ""),
        substitutions({"HOSTNAME": pod["metadata"]["name"], **variables}, wishes),
        speaks,
        certificate,
    )


def _one(told: dict[str, list[str]], name: str, otherwise: str) -> str:
    return (told.get(name) or [otherwise])[-1]
