"""What earlier clusters of a name left, and what this one lost, as the caches show it."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fdb_views import spec
from stateward.fdb.api.group import FoundationDBProcessGroupSpec
from stateward.fdb.api.kind import (
    CLUSTERS,
    PROCESS_GROUPS,
    FoundationDBCluster,
    FoundationDBProcessGroup,
)
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.cluster.left import left_of
from stateward.fdb.decide.groups.leftovers import Left, LeftConfig, Orphan
from stateward.fdb.groups.caches import GroupCaches, by_cluster, by_instance
from stateward.fdb.model import names
from stateward.kube.meta import ObjectMeta, OwnerReference
from stateward.kube.objects.configs import ConfigMap
from stateward.kube.objects.storage import PersistentVolumeClaim
from stateward.kube.resources import CONFIG_MAPS, PODS, SERVICES, VOLUME_CLAIMS
from stateward.runtime.cache import Cache

ID = names.GROUP_ID_LABEL
GONE = "2026-01-01T00:00:00Z"


def owner(kind: str, uid: str) -> OwnerReference:
    return OwnerReference(api_version="v1", kind=kind, name="any", uid=uid, controller=True)


def metadata(name: str, former: str = "", instance: str = "shop", **fields: Any) -> ObjectMeta:
    labels = names.instance_labels(instance) | fields.pop("labels", {})
    if former:
        labels[names.CLUSTER_UID_LABEL] = former
    return ObjectMeta(
        name=name,
        namespace=fields.pop("namespace", "prod"),
        uid=f"uid-{name}",
        resource_version="1",
        labels=labels,
        **fields,
    )


def seen(*items: Any, **said: Any) -> Left:
    """Return what is left among objects, of the cluster shop whose UID is ours."""
    caches = GroupCaches(
        groups=Cache(PROCESS_GROUPS, [by_cluster()]),
        clusters=Cache(CLUSTERS),
        pods=Cache(PODS),
        claims=Cache(VOLUME_CLAIMS, [by_instance()]),
        services=Cache(SERVICES),
        configs=Cache(CONFIG_MAPS),
    )
    where: dict[type, Cache[Any]] = {
        FoundationDBProcessGroup: caches.groups,
        PersistentVolumeClaim: caches.claims,
        ConfigMap: caches.configs,
    }
    for it in items:
        where[type(it)].put(it)
    mine = ObjectMeta(name="shop", namespace="prod", uid="ours", resource_version="1")
    cluster = FoundationDBCluster(metadata=mine, spec=FoundationDBClusterSpec(version="7.3.63"))
    return left_of(caches, cluster, spec(**said))


def claim(name: str, former: str = "old", **fields: Any) -> PersistentVolumeClaim:
    return PersistentVolumeClaim(metadata=metadata(name, former, **fields))


@pytest.mark.parametrize(
    ("item", "group", "leaving"),
    [
        pytest.param(
            claim("shop-log-7-data", labels={ID: "dc1-log-7"}), "dc1-log-7", False, id="by label"
        ),
        pytest.param(claim("shop-log-7-data"), "log-7", False, id="by name"),
        pytest.param(
            claim("shop-log-7-data", labels={ID: "log-8"}), "log-7", False, id="belied by its name"
        ),
        pytest.param(claim("shop-log-7-data", labels={ID: "?"}), "log-7", False, id="no id"),
        pytest.param(claim("shop-thing-data"), "None", False, id="of no class"),
        pytest.param(claim("shop-log-7"), "None", False, id="not named like one"),
        pytest.param(
            claim("shop-log-7-data", deletion_timestamp=GONE), "log-7", True, id="it goes"
        ),
        pytest.param(
            claim("shop-log-7-data", owner_references=(owner(CLUSTERS.kind, "old"),)),
            "log-7",
            True,
            id="it goes with its owner",
        ),
    ],
)
def test_a_claim_of_another_uid_is_left(
    item: PersistentVolumeClaim, group: str, *, leaving: bool
) -> None:
    (found,) = seen(item).claims
    assert (found.name, found.former) == (item.metadata.name, "old")
    assert (str(found.group), found.leaving) == (group, leaving)


def test_where_a_label_says_nothing_the_prefix_is_the_specs() -> None:
    (found,) = seen(claim("shop-log-7-data"), processGroupIDPrefix="dc2").claims
    assert str(found.group) == "dc2-log-7"


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(claim("shop-log-7-data", "ours"), id="ours"),
        pytest.param(claim("shop-log-7-data", ""), id="of another operator"),
        pytest.param(claim("shop-log-7-data", instance="shop-log"), id="of another name"),
        pytest.param(claim("shop-log-7-data", namespace="test"), id="elsewhere"),
        pytest.param(
            claim("shop-log-7-data", owner_references=(owner("Restore", "r"),)), id="of somebody"
        ),
    ],
)
def test_other_claims_are_not(item: PersistentVolumeClaim) -> None:
    assert seen(item).claims == ()


def group_of(name: str, *owners: OwnerReference, **fields: Any) -> FoundationDBProcessGroup:
    """Return the object of a group of the cluster shop."""
    identity = fields.pop("identity", "log-7")
    return FoundationDBProcessGroup(
        metadata=metadata(name, owner_references=owners, **fields),
        spec=FoundationDBProcessGroupSpec(
            cluster_name="shop", process_group_id=identity, process_class="log"
        ),
    )


@pytest.mark.parametrize(
    ("items", "lost"),
    [
        pytest.param([claim("shop-log-7-data", "ours")], ["log-7"], id="no group has it"),
        pytest.param(
            [claim("shop-log-7-data", "ours", owner_references=(owner(CLUSTERS.kind, "ours"),))],
            ["log-7"],
            id="it goes with the cluster",
        ),
        pytest.param(
            [claim("shop-log-7-data", "ours"), group_of("shop-log-7")], [], id="its group"
        ),
        pytest.param([claim("shop-log-7-data", "ours", deletion_timestamp=GONE)], [], id="it goes"),
        pytest.param([claim("shop-log-7", "ours")], [], id="not named like one"),
        pytest.param([claim("shop-log-7-data", "old")], [], id="of a cluster before"),
        pytest.param([claim("shop-log-7-data", "")], [], id="of another operator"),
        pytest.param(
            [claim("shop-log-7-data", "ours", owner_references=(owner("Restore", "r"),))],
            [],
            id="of somebody",
        ),
    ],
)
def test_a_claim_of_ours_that_no_group_has_is_lost(items: list[Any], lost: list[str]) -> None:
    assert [str(it.group) for it in seen(*items).lost] == lost


@pytest.mark.parametrize(
    ("items", "orphans"),
    [
        pytest.param([group_of("shop-log-7")], [Orphan("shop-log-7")], id="without a volume"),
        pytest.param(
            [group_of("shop-log-7"), claim("shop-log-7-data")],
            [Orphan("shop-log-7", "old")],
            id="with one of a cluster before",
        ),
        pytest.param([group_of("shop-log-7", owner(CLUSTERS.kind, "x"))], [], id="with an owner"),
        pytest.param([group_of("shop-log-8")], [], id="not called as it is"),
        pytest.param([group_of("shop-log-7", identity="?")], [], id="with an id that is none"),
        pytest.param([group_of("shop-log-7", instance="other")], [], id="labelled otherwise"),
    ],
)
def test_groups_that_nobody_owns_are_told(items: list[Any], orphans: list[Orphan]) -> None:
    assert list(seen(*items).orphans) == orphans


DATA = {"cluster-file": "shop:x@a:1", "running-version": "7.3.63", "other": "y"}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"former": "old"}, LeftConfig("old", "shop:x@a:1", "7.3.63")),
        ({}, LeftConfig("", "shop:x@a:1", "7.3.63")),
        ({"former": "ours"}, None),
        ({"owner_references": (owner(CLUSTERS.kind, "ours"),)}, None),
        ({"owner_references": (owner("Thing", "t"),)}, None),
        (
            {"owner_references": (owner(CLUSTERS.kind, "old"),)},
            LeftConfig("", "shop:x@a:1", "7.3.63", leaving=True),
        ),
        (
            {"former": "old", "deletion_timestamp": GONE},
            LeftConfig("old", "shop:x@a:1", "7.3.63", leaving=True),
        ),
    ],
)
def test_a_config_map_that_is_not_this_clusters_is_left(
    fields: dict[str, Any], expected: LeftConfig | None
) -> None:
    item = ConfigMap(metadata=metadata("shop-config", **fields), data=DATA)
    assert seen(item).config == expected


@pytest.mark.parametrize(("uid", "expected"), [("old", ("shop-log-7",)), ("ours", ())])
def test_groups_of_before_are_told(uid: str, expected: tuple[str, ...]) -> None:
    group = group_of("shop-log-7", owner(CLUSTERS.kind, uid))
    assert seen(group).groups == expected
