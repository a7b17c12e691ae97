"""Steps by themselves: what each writes, notes and waits for, and that it does nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from fakes.fdb_views import cluster, healthy
from stateward.core.chance import Chance
from stateward.core.outcome import DONE, Done, Outcome, Retry, Stop
from stateward.fdb.api.group import FoundationDBProcessGroupSpec
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.pipeline import steps
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.decide.groups.faults import CRASHES
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.names import CLUSTER_UID_LABEL
from stateward.fdb.views import ClusterView, GroupView
from stateward.kube.client import MergePatch
from stateward.kube.codec import plain
from stateward.kube.meta import ObjectMeta, OwnerReference
from stateward.kube.objects.configs import ConfigMap
from stateward.kube.objects.network import Service
from unit.fdb.cluster.test_steps import COUNTS, WHOLE, Desk, with_condition


@dataclass
class Noting(Desk):
    """A desk that also notes what is written, and what a step would have told."""

    written: list[Any] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    last: Seen | None = None

    async def patch(self, _resource: Any, key: Any, body: MergePatch, **_more: Any) -> None:
        self.asked.append("patch")
        self.written.append((key.name, body.body))

    async def delete(self, _resource: Any, key: Any, *, uid: str, **_more: Any) -> None:
        self.asked.append("delete")
        self.gone.append(f"{key.name} {uid}")

    async def told(self, step: str, **fields: Any) -> Any:
        """Run a step, with something else in what it sees."""
        it = cast("Any", self)
        tools = Tools(client=it, turn=it, fence=it, chance=Chance(1, "steps"))
        chosen = next(one for one in steps(tools) if one.name == step)
        self.last = replace(self.seen(), **fields)
        return await chosen.run(self.last)


def wanting(**routing: Any) -> Any:
    """Return as much of what is wanted as a step looks at."""
    return SimpleNamespace(name="shop", spec=SimpleNamespace(routing=SimpleNamespace(**routing)))


# ------------------------------------------------------------------ waiting
WAITS = {
    "AddPVCs": Kind.MISSING_PVC,
    "AddPods": Kind.MISSING_POD,
    "AddServices": Kind.MISSING_SERVICE,
    "UpdateSidecarVersions": Kind.INCORRECT_SIDECAR_IMAGE,
    "UpdatePodConfig": Kind.INCORRECT_CONFIG_MAP,
    "UpdateLabels": Kind.INCORRECT_POD_METADATA,
}


@pytest.mark.parametrize("step", WAITS)
async def test_what_groups_do_themselves_is_waited_for_and_told(step: str) -> None:
    desk = Noting(cluster(WHOLE, counts=COUNTS, change=with_condition(WAITS[step])))
    found: Outcome = await desk.told(step, wanted=wanting(headless_service=False))
    assert not isinstance(found, Done | Stop), "later steps still run"
    assert "storage-1" in found.message
    assert desk.asked == []


@pytest.mark.parametrize("kind", [Kind.INCORRECT_CONFIG_MAP, Kind.SIDECAR_UNREACHABLE])
async def test_files_of_one_that_shall_go_are_not_waited_for(kind: Kind) -> None:
    def marked(it: GroupView) -> GroupView:
        return replace(with_condition(kind)(it), marked=str(it.id) == "storage-1")

    assert await Noting(cluster(WHOLE, change=marked)).told("UpdatePodConfig") == DONE


async def test_who_cannot_go_yet_is_looked_at_again() -> None:
    desk = Noting(cluster(f"{WHOLE} s4-", counts=COUNTS, coordinating="storage-1"))
    found = await desk.told("RemoveProcessGroups")
    assert isinstance(found, Retry)
    assert "storage-4" in found.message
    assert desk.asked == []


# ------------------------------------------------------------------ marking
async def test_who_is_too_many_is_told_to_go_in_its_spec_and_nothing_else_is_done() -> None:
    desk = Noting(cluster(f"{WHOLE} s4", counts=COUNTS))
    found = await desk.told("ChooseRemovals")
    assert isinstance(found, Stop)
    ((_, body),) = desk.written
    assert body["spec"].pop("removalTimestamp")
    assert body["spec"] == {"remove": True, "excluded": False, "exclusionTimestamp": None}


# ------------------------------------------------------------------ faults
def made_from(*args: str) -> FoundationDBProcessGroupSpec:
    main = {"name": "foundationdb", **({"args": list(args)} if args else {})}
    words = {
        "clusterName": "shop",
        "processGroupID": "storage-1",
        "processClass": "storage",
        "processSettings": {"podTemplate": {"spec": {"containers": [main]}}},
    }
    return msgspec.convert(words, FoundationDBProcessGroupSpec)


async def test_faults_reach_pods_whatever_the_database_says() -> None:
    """Also of a database that is away: that may be just the fault that is to end."""
    tree = healthy(database_available=False)
    tree["client"]["database_status"]["available"] = False
    desk = Noting(cluster("s1? s2? s3?", tree, counts={"s": 3}))
    wanted = SimpleNamespace(group=lambda _id: made_from(*CRASHES))
    names = frozenset({"shop-storage-1"})
    found = await desk.told("DeletePodsForBuggification", wanted=wanted, outdated=names)
    assert isinstance(found, Stop), found
    ((name, body),) = desk.written
    assert (name, body["spec"]["obsoletePod"]) == ("shop-storage-1", "pod-storage-1")
    assert desk.turns == [], "no lock is needed for that"


# ------------------------------------------------------------------ how a database is found
async def test_the_first_connection_string_is_noted_and_the_pass_ends() -> None:
    def runs(it: GroupView) -> GroupView:
        pod = it.pod
        return it if pod is None else replace(it, pod=replace(pod, node=it.zone, ips=it.addresses))

    view = replace(cluster("s1 s2 s3", change=runs), connection=None, configured=False)
    desk = Noting(view)
    found = await desk.told("GenerateInitialClusterFile", wanted=wanting())
    assert isinstance(found, Stop), found
    assert desk.last is not None
    assert desk.last.book.connection is not None
    assert len(desk.last.book.connection.coordinators) == 3
    assert desk.asked == [], "it is written with the status"


async def test_who_coordinates_from_now_on_is_noted_by_the_databases_own_word() -> None:
    desk = Noting(cluster("s1 s2 s3? s4", coordinating="storage-1 storage-2 storage-3"))
    found = await desk.told("ChangeCoordinators")
    assert isinstance(found, Stop)
    assert desk.last is not None
    assert str(desk.last.book.connection) == "shop:new@10.0.0.1:4501"


# ------------------------------------------------------------------ what a database is
def unmade() -> ClusterView:
    never = "configuration_never_created"
    tree = healthy(configuration=..., recovery_state__name=never, database_available=False)
    tree["client"]["database_status"]["available"] = False
    return replace(cluster(WHOLE, tree, counts=COUNTS), configured=False)


async def test_a_database_is_made_and_that_is_noted_at_once() -> None:
    desk = Noting(unmade())
    found = await desk.told("UpdateDatabaseConfiguration")
    assert isinstance(found, Stop), found
    assert desk.asked == ["create"]
    assert desk.last is not None
    assert desk.last.book.configured


async def test_a_database_whose_data_is_not_well_is_not_configured_and_others_go_on() -> None:
    tree = healthy(data__state={"healthy": False, "name": "healing", "min_replicas_remaining": 1})
    desk = Noting(cluster(WHOLE, tree, counts=COUNTS, databaseConfiguration={"logs": 7}))
    found = await desk.told("UpdateDatabaseConfiguration")
    assert isinstance(found, Retry), "later steps still run"
    assert desk.asked == []


@pytest.mark.parametrize("made", [True, False])
async def test_who_configures_by_hand_is_told_what(made: bool) -> None:
    off = {"automationOptions": {"configureDatabase": False}}
    view = cluster(WHOLE, counts=COUNTS, databaseConfiguration={"logs": 7}, **off)
    desk = Noting(view if made else replace(unmade(), spec=view.spec))
    found = await desk.told("UpdateDatabaseConfiguration")
    assert isinstance(found, Retry), found
    assert ("logs is 2" if made else "no database") in found.message
    assert desk.asked == []
    as_it_is = {"logs": 2, "commit_proxies": 3}
    right = Noting(cluster(WHOLE, counts=COUNTS, databaseConfiguration=as_it_is, **off))
    assert await right.told("UpdateDatabaseConfiguration") == DONE


# ------------------------------------------------------------------ objects around it
def service(owner: str) -> Service:
    owners = (OwnerReference(api_version="v1", kind="It", name="it", uid=owner, controller=True),)
    metadata = ObjectMeta(name="shop", namespace="prod", uid="its-uid", owner_references=owners)
    return Service(metadata=metadata)


@pytest.mark.parametrize(
    ("owner", "wanted", "gone"),
    [("u", False, ["shop its-uid"]), ("u", True, []), ("other", False, [])],
)
async def test_a_service_that_nobody_needs_goes_if_it_is_ours(
    owner: str, wanted: bool, gone: list[str]
) -> None:
    found = ConnectionString.parse("shop:abcdefgh@10.1.0.1:4501")
    desk = Noting(replace(cluster(WHOLE), connection=found))
    about = wanting(headless_service=wanted)
    assert await desk.told("RemoveServices", service=service(owner), wanted=about) == DONE
    assert desk.gone == gone


async def test_a_service_stays_while_nobody_knows_how_the_database_is_found() -> None:
    desk = Noting(replace(cluster(WHOLE), connection=None))
    about = wanting(headless_service=False)
    assert await desk.told("RemoveServices", service=service("u"), wanted=about) == DONE
    assert desk.gone == []


async def test_labels_and_annotations_of_a_config_map_are_written_too() -> None:
    owner = OwnerReference(api_version="v1", kind="It", name="it", uid="u", controller=True)
    ours = {CLUSTER_UID_LABEL: "u"}
    around = ObjectMeta(
        name="shop-config",
        namespace="prod",
        labels={**ours, "theirs": "stays"},
        owner_references=(owner,),
    )
    metadata = {
        "name": "shop-config",
        "labels": {**ours, "team": "shop"},
        "annotations": {"note": "x"},
        "ownerReferences": [plain(owner)],
    }
    desk = Noting(cluster(WHOLE))
    await desk.told(
        "UpdateConfigMap",
        config={"metadata": metadata, "data": {"a": "1"}},
        config_map=ConfigMap(metadata=around, data={"a": "1"}),
    )
    ((_, body),) = desk.written
    assert body["metadata"]["labels"] == {"team": "shop"}
    assert body["metadata"]["annotations"] == {"note": "x"}
    assert "data" not in body
