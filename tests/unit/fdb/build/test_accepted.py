"""Servers take what we make: every document of every manifest, by a server that is strict."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from operators.fdb_compatible import COMPATIBLE
from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.fdb.api.group import FoundationDBProcessGroupSpec
from stateward.fdb.api.kind import PROCESS_GROUP_KIND, PROCESS_GROUPS
from stateward.fdb.build.claim import claim
from stateward.fdb.build.config_map import config_map
from stateward.fdb.build.metadata import Said, cluster_owner, head
from stateward.fdb.build.pod import pod
from stateward.fdb.build.services import group_service, headless_service
from stateward.fdb.model.classes import ProcessClass
from stateward.kube.codec import Json, encode, plain
from stateward.kube.crd.kind import crd
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import (
    CONFIG_MAPS,
    CUSTOM_RESOURCES,
    NAMESPACES,
    PODS,
    SERVICES,
    VOLUME_CLAIMS,
)
from stateward.local.rules.admission import Author, Strictness
from stateward.local.schema.served import served_api
from stateward.sim.loop import SimClock, SimLoop
from unit.fdb.build.clusters import group, wanted

AUTHOR = Author(strictness=Strictness.STRICT)
LAYOUTS: dict[str, Json] = {
    "split": {"version": "7.3.63", "imageType": "split"},
    "split, IPv6": {"version": "7.3.63", "imageType": "split", "routing": {"podIPFamily": 6}},
    "with faults": {
        "version": "7.3.63",
        "buggify": {
            "noSchedule": ["*"],
            "crashLoopContainers": [{"containerName": "foundationdb", "targets": ["*"]}],
        },
        "mainContainer": {"enableLivenessProbe": True, "enableReadinessProbe": True},
    },
}


@pytest.mark.virtual
@pytest.mark.parametrize("title", [*COMPATIBLE, *LAYOUTS])
async def test_every_document_is_accepted(title: str) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SimLoop)
    api = served_api(Ports(SimClock(loop), Chance(1)))
    api.create(CUSTOM_RESOURCES, "", plain(crd(PROCESS_GROUP_KIND)), AUTHOR)
    api.create(NAMESPACES, "", {"metadata": {"name": "prod"}}, AUTHOR)
    of = wanted({**COMPATIBLE, **LAYOUTS}[title])
    groups = [group(of, f"{it}-1") for it in ProcessClass]
    classes = [
        (ProcessClass(it.spec.process_class), it.spec.servers_per_pod, it.spec.image_type)
        for it in groups
    ]
    api.create(CONFIG_MAPS, "prod", config_map(of, classes), AUTHOR)
    api.create(SERVICES, "prod", headless_service(of), AUTHOR)
    for one in groups:
        api.create(PODS, "prod", pod(one, "10.9.0.1"), AUTHOR)
        for resource, found in (
            (SERVICES, group_service(one)),
            (VOLUME_CLAIMS, claim(one, cluster_owner(of))),
        ):
            if found is not None:
                api.create(resource, "prod", found, AUTHOR)
        said = Said(one.metadata.labels)
        document = head(PROCESS_GROUPS, "prod", one.metadata.name, said, [cluster_owner(of)])
        document["spec"] = plain(one.spec)
        api.create(PROCESS_GROUPS, "prod", document, AUTHOR)
        there = api.get(PROCESS_GROUPS, ObjectKey("prod", one.metadata.name))
        read = msgspec.json.decode(
            encode(there.document()["spec"]), type=FoundationDBProcessGroupSpec
        )
        assert read == one.spec  # a server fills nothing in that would look like a change
