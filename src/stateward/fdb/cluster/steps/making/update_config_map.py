"""UpdateConfigMap: pods find the cluster file, and how to start processes, in one config map."""

from __future__ import annotations

from stateward.core.errors import PeerError
from stateward.core.outcome import DONE, Blocked, Outcome, Stop
from stateward.fdb.cluster.hands.asking import ended
from stateward.fdb.cluster.hands.refused import trouble
from stateward.fdb.cluster.hands.saying import done, wrote
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.hands.writing import difference
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.model.names import STAGED_VERSION_KEY
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import AlreadyExists, Conflict
from stateward.kube.resources import CONFIG_MAPS


class UpdateConfigMap:
    """Creates it, and has its data be as wanted; labels and annotations of others stay."""

    name = "UpdateConfigMap"

    def __init__(self, tools: Tools) -> None:
        self._client = tools.client

    async def run(self, seen: Seen) -> Outcome:
        """Write it where it differs; without it the pass ends, since what follows relies on it."""
        found = await self._outcome(seen)
        return found if isinstance(found, Stop) else ended(seen, self.name, found)

    async def _outcome(self, seen: Seen) -> Outcome:
        try:
            return await self._settle(seen)
        except AlreadyExists:
            return _taken(seen)
        except Conflict:
            raise
        except PeerError as error:
            return trouble(f"config map {seen.config['metadata']['name']}", error)

    async def _settle(self, seen: Seen) -> Outcome:
        if seen.config_map is None:
            await self._client.create(CONFIG_MAPS, seen.config)
            wrote("the config map was made", name=seen.config["metadata"]["name"])
            return DONE
        live = seen.config_map.metadata
        owner = live.controller
        if owner is not None and owner.uid != seen.cluster.metadata.uid:
            return _taken(seen)
        changes = difference(seen.config_map, seen.config)
        if changes is not None:
            await self._client.patch(CONFIG_MAPS, live.key, MergePatch(changes))
            parts = sorted(changes.get("data") or ["metadata"])
            wrote("the config map was written", name=live.name, parts=parts)
            return _taken_back(seen, changes.get("data") or {}) or DONE
        return DONE


def _taken_back(seen: Seen, written: Json) -> Outcome | None:
    """Say that pods are given other programs no more, unless they run by now."""
    before = seen.config_map.data if seen.config_map is not None else {}
    staged, running = before.get(STAGED_VERSION_KEY, ""), str(seen.view.running_version)
    is_over = STAGED_VERSION_KEY in written and written[STAGED_VERSION_KEY] is None
    if not is_over or staged in ("", running):
        return None
    words = f"the upgrade from {running} to {staged} is taken back: spec.version is"
    asked = f"{seen.cluster.spec.version}, and pods go back to programs of {running}"
    return done("UpgradeTakenBack", f"{words} {asked}")


def _taken(seen: Seen) -> Blocked:
    name, namespace = seen.config["metadata"]["name"], seen.view.key.namespace
    return Blocked(
        "NameTaken",
        f"config map {name} is there and is not this cluster's",
        f"delete it: kubectl -n {namespace} delete configmap {name}; or give the cluster another"
        " name",
    )
