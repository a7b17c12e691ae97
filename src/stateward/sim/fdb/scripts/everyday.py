"""What happens to every cluster sooner or later."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from stateward.sim.fdb.oracles.costs import Cost
from stateward.sim.fdb.scripts.kit import (
    FEW,
    KNOB,
    MORE,
    ONE,
    OTHER,
    SMALL,
    Script,
    befall,
    create,
    edit,
    lose_and_remove,
    lose_node,
    remove,
    replaced,
    volume,
)

_SOON: Final = {"replacements": {"enabled": True, "failureDetectionTimeSeconds": 60}}

#: Files first, and then one restart of all.
_KNOB: Final = replace(edit(processes=KNOB), costs=Cost(restarts=1, recoveries=1))

SCENARIOS: Final[dict[str, Script]] = {
    "fdb-create": (create(),),
    "fdb-single": (
        create(
            databaseConfiguration=ONE,
            processCounts=FEW,
        ),
    ),
    "fdb-replace": (create(), replaced("storage")),
    "fdb-replace-log": (create(), replaced("log")),
    "fdb-skip": (create(), replaced("storage", field="processGroupsToRemoveWithoutExclusion")),
    "fdb-grow": (create(), edit(processCounts={**SMALL, "storage": 4, "stateless": 2})),
    "fdb-shrink": (
        create(processCounts={**SMALL, "storage": 4, "log": 3}),
        replace(edit(processCounts=SMALL), quick=2400.0),
    ),
    "fdb-knob": (create(), _KNOB),
    "fdb-image": (create(), replace(edit(version="7.3.69"), quick=3600.0)),
    "fdb-coordinator": (create(), befall("delete-pod:coordinator")),
    "fdb-coordinators": (create(), befall("kill-all")),
    "fdb-node": (create(automationOptions=_SOON), lose_node(400)),
    "fdb-detection": (
        create(databaseConfiguration=ONE, processCounts=FEW),
        edit(automationOptions=_SOON),
        edit(automationOptions={"replacements": {"failureDetectionTimeSeconds": 3600}}),
        edit(automationOptions={"replacements": {"enabled": False}}),
    ),
    "fdb-configure": (
        create(),
        edit(databaseConfiguration={"redundancy_mode": "single"}),
        edit(databaseConfiguration={"redundancy_mode": "double"}),
    ),
    "fdb-volume": (create(), replace(edit(processes=volume("32G")), quick=3600.0)),
    "fdb-delete": (create(), remove()),
    "fdb-addresses": (
        create(automationOptions={"useLocalitiesForExclusion": False}),
        replaced("storage"),
    ),
    "fdb-lost": (create(processCounts=MORE), lose_and_remove("storage", 300)),
    "fdb-lost-log": (create(), lose_and_remove("log", 300)),
    "fdb-watched": (create(automationOptions=_SOON),),
    "fdb-pending": (
        create(processCounts=MORE),
        lose_and_remove("storage", 300, "no-room:300", "delete-pod:{pod}"),
    ),
    "fdb-spare": (create(processCounts=MORE), replaced("storage")),
    "fdb-dense": (create(storageServersPerPod=2), replaced("storage")),
    "fdb-two": (create(), create(OTHER, processCounts=FEW, databaseConfiguration=ONE)),
    "fdb-split": (
        create(imageType="split"),
        _KNOB,
    ),
}
