"""Three data halls in one object: each process is in the hall of its node."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from stateward.fdb.model.names import CLASS_LABEL, CLUSTER_LABEL
from stateward.kube.codec import Json
from stateward.sim.fdb.acts import happenings
from stateward.sim.fdb.scripts.kit import KEY, SMALL, Script, Step, create, is_mended, volume
from stateward.sim.fdb.world import FdbWorld
from stateward.sim.kube.spreading import ZONE

_HALL: Final = "locality_data_hall=$NODE_LABEL_TOPOLOGY_KUBERNETES_IO_ZONE"


def in_halls(name: str) -> Json:
    """Return what a spec says so that pods are spread over halls, and know in which they are."""
    even: Json = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {CLUSTER_LABEL: name}},
        "matchLabelKeys": [CLASS_LABEL],  # even together, storage might be in two halls only
    }
    watching = {"name": "foundationdb", "args": ["--enable-node-watch"]}
    template = {"spec": {"topologySpreadConstraints": [even], "containers": [watching]}}
    return {
        "lockOptions": {"disableLocks": True},
        "faultDomain": {"key": "foundationdb.org/none"},
        "databaseConfiguration": {"redundancy_mode": "three_data_hall"},
        "processCounts": {**SMALL, "storage": 6, "log": 6},
        "processes": {
            "general": {
                **volume("16G")["general"], "customParameters": [_HALL], "podTemplate": template
            }
        },
    }  # fmt: skip


def _lose_hall(seconds: int) -> Step:
    """Have all nodes of a hall be dark for a while."""

    async def do(it: FdbWorld) -> None:
        for node in it.nodes.nodes:
            if node.zone == "zone-1":
                number = node.name.removeprefix("node-")
                happenings.happen(it, None, "power", number, str(seconds))

    return Step(f"a hall is dark for {seconds} s", do, is_mended, 3600.0, befalls=True)


SCENARIOS: Final[dict[str, Script]] = {
    "fdb-halls-in-one": (replace(create(**in_halls(KEY.name)), quick=900.0), _lose_hall(300)),
}
