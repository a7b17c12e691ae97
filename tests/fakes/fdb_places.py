"""Stories of one database in several places: an object for each data center or hall.

Objects are in one namespace and under one operator, as if their Kubernetes clusters were one; that
several operators take turns is another matter.
"""

from __future__ import annotations

from typing import Any

from fakes.fdb_stories import LONG, NAMESPACE, USER, Story, merged, spec
from stateward.fdb.api.kind import CLUSTERS
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey

#: Every pod is a zone, nobody else acts on the database, and nothing waits for longer than it must.
APART: Json = {
    "faultDomain": {"key": "foundationdb.org/none"},
    "lockOptions": {"disableLocks": True},
    "processCounts": {"stateless": 1},
}


def region(center: str, priority: int, *satellites: str) -> Json:
    """Return a region as users write it."""
    beside = [{"id": it, "priority": 1, "satellite": 1} for it in satellites]
    found: Json = {"datacenters": [{"id": center, "priority": priority}, *beside]}
    if satellites:
        found |= {"satellite_redundancy_mode": "one_satellite_double", "satellite_logs": 2}
    return found


def database(usable: int, *regions: Json, **more: Any) -> Json:
    """Return a configuration with regions."""
    return {"usable_regions": usable, "regions": list(regions), **more}


class Places:
    """Several objects, one database."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.api = story.it.world.api

    # ------------------------------------------------------------------ doing
    def apply(self, place: str, seed: str = "", **over: Any) -> None:
        """Create the object of a place: its name and the prefix of its ids."""
        mine: Json = {"processGroupIDPrefix": place}
        if seed:
            mine["seedConnectionString"] = seed
        document = {
            "apiVersion": CLUSTERS.api_version,
            "kind": CLUSTERS.kind,
            "metadata": {"name": place, "namespace": NAMESPACE},
            "spec": merged(merged(spec(**APART), mine), over),
        }
        self.api.create(CLUSTERS, NAMESPACE, document, USER)

    def change(self, *places: str, **over: Any) -> None:
        """Change the specs of objects alike, at once."""
        for it in places:
            self.api.patch(CLUSTERS, _key(it), MergePatch({"spec": over}), USER)

    # ------------------------------------------------------------------ waiting
    async def found(self, place: str) -> str:
        """Wait until an object says how its database is found."""
        await self.story.until(
            f"{place} is begun", lambda: bool(self.status(place).get("connectionString"))
        )
        return str(self.status(place)["connectionString"])

    async def reconciled(self, *places: str, within: float = LONG) -> None:
        """Wait until all objects are as their specs say, and stay so."""
        while True:
            try:
                await self.story.it.world.until(
                    f"{', '.join(places)} are reconciled",
                    lambda: all(map(self.is_reconciled, places)),
                    within=within,
                )
            except Exception as error:
                for it in places:
                    error.add_note(f"{it}: {self.told(it)}")
                raise
            await self.story.rest(25)
            if all(map(self.is_reconciled, places)):
                return

    # ------------------------------------------------------------------ looking
    def cluster(self, place: str) -> Json:
        """Return the object of a place."""
        return self.story.eyes.see(self.api.get(CLUSTERS, _key(place)))

    def status(self, place: str) -> Json:
        """Return what is told of a place."""
        found: Json = self.cluster(place).get("status", {})
        return found

    def is_reconciled(self, place: str) -> bool:
        """Tell whether all of a place is as asked, by its own word."""
        document = self.cluster(place)
        told = document.get("status", {}).get("generations", {})
        wrong = {name: it for name, it in told.items() if name != "hasPendingRemoval"}
        return wrong == {"reconciled": document["metadata"]["generation"]}

    def blockers(self, place: str) -> str:
        """Return all that a place says it waits for."""
        return "\n".join(
            f"{it['guard']}: {it['message']}" for it in self.status(place).get("blockers", ())
        )

    def told(self, place: str) -> str:
        """Return what a place says of itself."""
        status = self.status(place)
        words = [f"{status.get('doing')} {status.get('generations')}", self.blockers(place)]
        words += [f"{it['type']} {it['message']}" for it in status.get("conditions", ())]
        return "\n".join(words)

    def coordinators(self, locality: str) -> dict[str, int]:
        """Return how many coordinators there are, by a locality."""
        database, found = self.story.database, {}
        for at in database.string.coordinators:
            for it in database.servers.values():
                host = it.localities.get("dns_name", "")
                if it.listens_at(at) or (host and host == at.host):
                    name = it.localities.get(locality, "")
                    found[name] = found.get(name, 0) + 1
        return dict(sorted(found.items()))

    def configured(self) -> list[str]:
        """Return every configuration that was asked for, in order."""
        return [it for it in self.story.watcher.commands if it.startswith("configure")]


def _key(place: str) -> ObjectKey:
    return ObjectKey(NAMESPACE, place)
