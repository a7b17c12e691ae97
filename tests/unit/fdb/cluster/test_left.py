"""What earlier clusters of a name left, as the caches show it."""

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
from stateward.fdb.decide.groups.leftovers import Left, LeftConfig
from stateward.fdb.groups.caches import GroupCaches, by_cluster, by_instance
from stateward.fdb.model import names
from stateward.kube.meta import ObjectMeta, OwnerReference
from stateward.kube.objects.configs import ConfigMap
from stateward.kube.objects.storage import PersistentVolumeClaim
from stateward.kube.resources import CONFIG_MAPS, PODS, SERVICES, VOLUME_CLAIMS
from stateward.runtime.cache import Cache

ID = names.GROUP_ID_LABEL


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


GONE = "2026-01-01T00:00:00Z"


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
    assert seen(item) == Left()


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
    group = FoundationDBProcessGroup(
        metadata=metadata("shop-log-7", owner_references=(owner(CLUSTERS.kind, uid),)),
        spec=FoundationDBProcessGroupSpec(
            cluster_name="shop", process_group_id="log-7", process_class="log"
        ),
    )
    assert seen(group).groups == expected
