"""Bad manifests around maintenance and image types: each is told where it is, and what must be."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from operators.fdb_manifests import Bad, automation, main, manifest, pod, spec
from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.fdb.api.kind import CLUSTER_KIND, CLUSTERS, FoundationDBCluster
from stateward.fdb.api.validation import problems
from stateward.kube.codec import Json, plain
from stateward.kube.crd.kind import crd
from stateward.kube.errors import ApiError
from stateward.kube.resources import CUSTOM_RESOURCES
from stateward.local.rules.admission import Author, Strictness
from stateward.local.schema.served import served_api
from stateward.sim.loop import SimClock

STRICT = Author(strictness=Strictness.STRICT)
MODES = "spec.automationOptions.maintenanceModeOptions"
SECONDS = f"{MODES}.maintenanceModeTimeSeconds"
MAIN = "spec.processes.general.podTemplate.spec"
UNIFIED, SPLIT = "foundationdb/fdb-kubernetes-monitor", "foundationdb/foundationdb"
BESIDE = "foundationdb/foundationdb-kubernetes-sidecar"


def modes(**said: Any) -> Json:
    return automation(maintenanceModeOptions=said)


def images(container: str, image: str, **more: Any) -> Json:
    return spec(**{container: {"imageConfigs": [{"baseImage": image}]}}, **more)


def beside(image: str, **more: Any) -> Json:
    first = [{"name": "foundationdb-kubernetes-init", "image": image}]
    return {**pod(initContainers=first), **more}


#: What is wrong, where it is said, and what must be.
TOLD = [
    Bad("maintenance for no time", modes(maintenanceModeTimeSeconds=0), SECONDS, "must be from 10 to 86400"),
    Bad("maintenance for a moment", modes(maintenanceModeTimeSeconds=9), SECONDS, "got 9 (leave it out for 600"),
    Bad("maintenance for a week", modes(maintenanceModeTimeSeconds=604_800), SECONDS, "got 604800"),
    Bad("a split image in a unified pod", main(image=SPLIT), f"{MAIN}.containers[0].image", "of type unified"),
    Bad("a sidecar in the place of a monitor", main(image=BESIDE), f"{MAIN}.containers[0].image", "of type unified"),
    Bad("a copy of it in another registry", main(image=f"reg.example:5000/{SPLIT}"), f"{MAIN}.containers[0].image", "of type unified"),
    Bad("a unified image in a split pod", {**main(image=UNIFIED), "imageType": "split"}, f"{MAIN}.containers[0].image", "of type split"),
    Bad("the same by its older word", {**main(image=UNIFIED), "useUnifiedImage": False}, f"{MAIN}.containers[0].image", "of type split"),
    Bad("a server that shall copy files", beside(SPLIT, imageType="split"), f"{MAIN}.initContainers[0].image", "as in foundationdb-kubernetes-sidecar"),
    Bad("base images of the other type", images("mainContainer", UNIFIED, imageType="split"), "spec.mainContainer.imageConfigs[0].baseImage", "as in foundationdb/foundationdb"),
    Bad("a base image beside it", images("sidecarContainer", BESIDE), "spec.sidecarContainer.imageConfigs[0].baseImage", "as in fdb-kubernetes-monitor"),
    Bad("a tag in a template", main(image=f"{UNIFIED}:7.3.63"), f"{MAIN}.containers[0].image", "must be without a tag"),
    Bad("a digest in a template", main(image=f"{UNIFIED}@sha256:00"), f"{MAIN}.containers[0].image", "must be without a tag or digest"),
    Bad("both words for a type", spec(imageType="unified", useUnifiedImage=False), "spec.useUnifiedImage", "must say the same as imageType"),
]  # fmt: skip

#: What is refused before the operator sees it: by whom it is told which field is meant.
REFUSED = [
    Bad("maintenance in the past", modes(maintenanceModeTimeSeconds=-600), "", "", "maintenanceModeTimeSeconds"),
    Bad("maintenance for longer than a year", modes(maintenanceModeTimeSeconds=10**9), "", "", "maintenanceModeTimeSeconds"),
    Bad("a time as a text", modes(maintenanceModeTimeSeconds="10m"), "", "", "maintenanceModeTimeSeconds"),
    Bad("a fraction of a second", modes(maintenanceModeTimeSeconds=10.5), "", "", "maintenanceModeTimeSeconds"),
    Bad("a word for a switch", modes(UseMaintenanceModeChecker="yes"), "", "", "UseMaintenanceModeChecker"),
    Bad("a mistyped switch", modes(useMaintenanceMode=True), "", "", "useMaintenanceMode"),
    Bad("a list of options", automation(maintenanceModeOptions=[]), "", "", "maintenanceModeOptions"),
    Bad("a type that nobody has", spec(imageType="sidecar"), "", "", "imageType"),
    Bad("a type in capitals", spec(imageType="Unified"), "", "", "imageType"),
    Bad("no type", spec(imageType=""), "", "", "imageType"),
]  # fmt: skip

FINE = {
    "all that it may be": modes(UseMaintenanceModeChecker=True, maintenanceModeTimeSeconds=86_400),
    "as little as it may be": modes(resetMaintenanceMode=True, maintenanceModeTimeSeconds=10),
    "an image of one's own": main(image="me/foundationdb"),
    "a unified one": main(image=UNIFIED),
    "a split one": {**main(image=SPLIT), "imageType": "split"},
    "another container": pod(containers=[{"name": "exporter", "image": f"{BESIDE}:1"}]),
}


def said(body: Any) -> dict[str, str]:
    cluster = msgspec.convert(manifest(body), FoundationDBCluster)
    return {it.field: str(it) for it in problems(cluster)}


@pytest.mark.parametrize("bad", TOLD, ids=lambda bad: bad.title)
def test_it_is_told_where_it_is(bad: Bad) -> None:
    assert bad.says in said(bad.spec).get(bad.field, f"nothing of {bad.field}: {said(bad.spec)}")


@pytest.mark.parametrize("name", FINE)
def test_what_can_be_is_taken(name: str) -> None:
    assert said(FINE[name]) == {}


def test_there_is_a_hint_where_the_fault_is_not_plain() -> None:
    for bad in TOLD[:11]:
        assert "(" in said(bad.spec)[bad.field], bad.title


@pytest.mark.virtual
@pytest.mark.parametrize("bad", REFUSED, ids=lambda bad: bad.title)
async def test_it_does_not_get_in(bad: Bad) -> None:
    with pytest.raises(ApiError) as refusal:
        door().create(CLUSTERS, "default", plain(manifest(bad.spec)), STRICT)

    assert bad.door in str(refusal.value)


def door() -> Any:
    """An API server that knows the kind."""
    api = served_api(Ports(SimClock(asyncio.get_running_loop()), Chance(1)))
    api.create(CUSTOM_RESOURCES, "", plain(crd(CLUSTER_KIND)), STRICT)
    return api
