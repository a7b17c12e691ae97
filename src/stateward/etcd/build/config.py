"""The variables that members start with, and how they are read back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.build.metadata import owned
from stateward.etcd.model.names import config_key
from stateward.etcd.model.view import Config
from stateward.kube.codec import Json
from stateward.kube.resources import CONFIG_MAPS

CLUSTER: Final = "ETCD_INITIAL_CLUSTER"
STATE: Final = "ETCD_INITIAL_CLUSTER_STATE"
TOKEN: Final = "ETCD_INITIAL_CLUSTER_TOKEN"  # noqa: S105 - a name for the cluster, and no secret
FORCE: Final = "ETCD_FORCE_NEW_CLUSTER"

_STATES: Final = {"new": False, "existing": True}
_TRUTHS: Final = {"false": False, "true": True}


def config_map(cluster: EtcdCluster, config: Config) -> Json:
    """Return the ConfigMap that every member reads as it starts."""
    return owned(CONFIG_MAPS, cluster, config_key(cluster.metadata.key).name) | {
        "data": {
            CLUSTER: ",".join(f"{name}={url}" for name, url in config.initial_cluster),
            STATE: _word(_STATES, config.existing),
            TOKEN: token(cluster),
            FORCE: _word(_TRUTHS, config.force_new_cluster),
        }
    }


def token(cluster: EtcdCluster) -> str:
    """Return what makes the ids of this cluster its own, even if one of its name was before."""
    metadata = cluster.metadata
    return f"{metadata.namespace}-{metadata.name}-{metadata.uid}"


def config_of(data: Mapping[str, str]) -> Config | None:
    """Return what such variables say; None when somebody made them unreadable.

    Without a word about force there is none, as etcd has it.
    """
    state, force = _STATES.get(data.get(STATE, "")), _TRUTHS.get(data.get(FORCE, "false"))
    members = _members(data.get(CLUSTER))
    if state is None or force is None or members is None:
        return None
    return Config(members, existing=state, force_new_cluster=force)


def _members(text: str | None) -> tuple[tuple[str, str], ...] | None:
    if text is None:
        return None
    pairs = [entry.partition("=") for entry in text.split(",") if text]
    if not all(name and "://" in url for name, _, url in pairs):
        return None
    return tuple((name, url) for name, _, url in pairs)


def _word(words: Mapping[str, bool], wanted: bool) -> str:  # noqa: FBT001 - it is what is looked up
    return next(word for word, value in words.items() if value is wanted)
