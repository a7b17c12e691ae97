"""Where a database is, while the status is lost or cannot be read: no second one is begun."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import msgspec
import pytest

from fakes.fdb_views import cluster as pictured
from fakes.fdb_views import spec
from stateward.core.chance import Chance
from stateward.core.outcome import Stop
from stateward.fdb.api.group import (
    FoundationDBProcessGroupSpec,
    FoundationDBProcessGroupStatus,
    ProcessReport,
)
from stateward.fdb.api.kind import CLUSTERS, FoundationDBCluster, FoundationDBProcessGroup
from stateward.fdb.api.processes import PodTemplate, ProcessSettings
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.api.status import FoundationDBClusterStatus
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.hands.writing import difference
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.cluster.steps.acting.generate_initial_cluster_file import (
    GenerateInitialClusterFile,
)
from stateward.fdb.cluster.whereabouts import StatusUnreadable, must_not_begin, whereabouts
from stateward.fdb.model.names import (
    CLUSTER_FILE_KEY,
    CLUSTER_UID_LABEL,
    DATABASE_MADE_KEY,
    MAIN_CONTAINER,
    RUNNING_VERSION_KEY,
)
from stateward.kube.errors import NotFound
from stateward.kube.meta import ObjectMeta, OwnerReference
from stateward.kube.objects.configs import ConfigMap

TOLD, KEPT, SEED = "shop:told@10.0.0.1:4501", "shop:kept@10.0.0.2:4501", "shop:seed@10.0.0.3:4501"
GARBAGE = ("garbage", "x:y@1.2.3.4:99999999")


def a_cluster(connection: str = "", running: str = "") -> FoundationDBCluster:
    return FoundationDBCluster(
        metadata=ObjectMeta(name="shop", namespace="prod", uid="ours", generation=1),
        spec=FoundationDBClusterSpec(version="7.3.79"),
        status=FoundationDBClusterStatus(connection_string=connection, running_version=running),
    )


def config(
    file: str = KEPT,
    version: str = "7.3.63",
    uid: str = "ours",
    owner: str = "",
    *,
    made: bool = False,
) -> Any:
    owners = [OwnerReference(api_version="v1", kind=CLUSTERS.kind, name="shop", uid=owner)]
    metadata = ObjectMeta(
        name="shop-config",
        namespace="prod",
        uid="u",
        resource_version="7",
        labels={CLUSTER_UID_LABEL: uid} if uid else {},
        owner_references=tuple(owners) if owner else (),
    )
    data = {CLUSTER_FILE_KEY: file, RUNNING_VERSION_KEY: version}
    data |= {DATABASE_MADE_KEY: "true"} if made else {}
    return ConfigMap(metadata=metadata, data=data)


@pytest.mark.parametrize(
    ("status", "live", "seed", "found"),
    [
        ("", None, "", None),
        ("", None, SEED, SEED),
        (TOLD, config(), SEED, TOLD),
        ("", config(), SEED, KEPT),
        ("", config(uid="", owner="ours"), "", KEPT),
        ("", config(uid="theirs"), "", None),
        ("", config(uid=""), "", None),
        ("", config(""), "", None),
        ("", config("garbage"), SEED, SEED),
        *((it, config(), "", KEPT) for it in GARBAGE),
        *((it, None, SEED, SEED) for it in GARBAGE),
    ],
)
def test_the_first_that_can_be_read_counts(
    status: str, live: ConfigMap | None, seed: str, found: str | None
) -> None:
    it = whereabouts(a_cluster(status), spec(seedConnectionString=seed), live)
    assert (None if it.connection is None else str(it.connection)) == found


@pytest.mark.parametrize(
    ("status", "live", "made"),
    [
        (False, None, False),
        (True, None, True),
        (False, config(), False),
        (False, config(made=True), True),
        (False, config(made=True, uid="another"), False),
    ],
)
def test_that_it_was_made_is_told_by_the_status_or_by_the_config_map(
    status: bool, live: Any, made: bool
) -> None:
    it = a_cluster(TOLD)
    it = msgspec.structs.replace(it, status=FoundationDBClusterStatus(configured=status))
    assert whereabouts(it, spec(), live).made is made


@pytest.mark.parametrize(
    ("status", "live"),
    [*((it, None) for it in GARBAGE), ("garbage", config(uid="theirs")), ("", config("garbage"))],
)
def test_what_nobody_can_read_is_for_a_person(status: str, live: ConfigMap | None) -> None:
    with pytest.raises(StatusUnreadable, match=r"must say how the database is found") as caught:
        whereabouts(a_cluster(status), spec(), live)
    assert caught.value.reason == "StatusUnreadable"
    assert "--subresource=status" in caught.value.hint


@pytest.mark.parametrize(
    ("status", "live", "found"),
    [
        ("7.3.70", config(), "7.3.70"),
        ("", config(), "7.3.63"),
        ("banana", config(), "7.3.63"),
        ("banana", config(version="x"), "7.3.79"),
        ("banana", config(uid="theirs"), "7.3.79"),
        ("", None, "7.3.79"),
    ],
)
def test_the_version_that_ran_last(status: str, live: ConfigMap | None, found: str) -> None:
    it = whereabouts(a_cluster(TOLD, status), spec(version="7.3.79"), live)
    assert str(it.running) == found


def of_image(image: str) -> FoundationDBProcessGroup:
    template = PodTemplate(spec={"containers": [{"name": MAIN_CONTAINER, "image": image}]})
    made_from = FoundationDBProcessGroupSpec(
        cluster_name="shop",
        process_group_id="log-1",
        process_class="log",
        process_settings=ProcessSettings(pod_template=template),
    )
    return FoundationDBProcessGroup(metadata=ObjectMeta(name="shop-log-1"), spec=made_from)


@pytest.mark.parametrize(
    ("images", "found"),
    [
        ((), "7.3.79"),
        (("a/b:7.1.61",), "7.1.61"),
        (("a:5000/b:7.1.61-mine", "a/b:latest"), "7.1.61"),
        (("a/b:7.4.0-rc.1",), "7.4.0-rc.1"),
        (("a/b:7.1.61", "a/b:7.1.61", "a/b:7.3.63"), "7.1.61"),
        (("a/b:7.1.61", "a/b:7.3.63"), "7.3.63"),
        (("a/b", ""), "7.3.79"),
    ],
)
def test_where_nothing_is_on_record_images_tell_what_ran(
    images: tuple[str, ...], found: str
) -> None:
    asked, groups = spec(version="7.3.79"), [of_image(it) for it in images]
    assert str(whereabouts(a_cluster(TOLD), asked, None, groups).running) == found
    assert str(whereabouts(a_cluster(TOLD, "7.3.70"), asked, None, groups).running) == "7.3.70"


@pytest.mark.parametrize(("uid", "kept"), [("ours", True), ("theirs", False)])
def test_a_cluster_file_is_never_emptied_but_for_that_of_a_cluster_before(
    uid: str, *, kept: bool
) -> None:
    metadata = {"name": "shop-config", "labels": {CLUSTER_UID_LABEL: "ours"}}
    data = {CLUSTER_FILE_KEY: "", RUNNING_VERSION_KEY: "7.3.79"}
    found = difference(config(uid=uid), {"metadata": metadata, "data": data})
    assert found is not None
    assert found["data"][RUNNING_VERSION_KEY] == "7.3.79"
    assert (CLUSTER_FILE_KEY not in found["data"]) == kept


class Api:
    """Has a cluster as it was seen, and a config map as it is."""

    def __init__(self, live: ConfigMap | None) -> None:
        self._live = live

    async def get(self, resource: Any, _key: Any) -> Any:
        if resource is CLUSTERS:
            return a_cluster()
        if self._live is None:
            raise NotFound("there is none")
        return self._live


@pytest.mark.parametrize(
    ("cached", "live", "begins"),
    [
        (None, None, True),
        (config(""), config(""), True),
        (config(""), config(uid="theirs"), True),
        (config(), config(""), False),
        (config(""), config(), False),
        (None, config(), False),
    ],
)
async def test_no_database_is_begun_beside_one_that_the_config_map_knows(
    cached: ConfigMap | None, live: ConfigMap | None, *, begins: bool
) -> None:
    first = {"coordinators": ["10.0.0.1:4501"], "databaseName": "shop"}
    view = replace(
        pictured("s1 s2 s3", partialConnectionString=first),
        connection=None,
        configured=False,
        status=FoundationDBClusterStatus(),
    )
    nothing = cast("Any", None)
    seen = Seen(a_cluster(), view, {}, nothing, frozenset(), {}, cached, None, None)
    tools = Tools(cast("Any", Api(live)), nothing, nothing, Chance(1, "steps"))
    found = await GenerateInitialClusterFile(tools).run(seen)
    assert isinstance(found, Stop)
    assert found.reason == ("CoordinatorsChosen" if begins else "ClusterFileKept")
    assert (seen.book.connection is not None) == begins


# ------------------------------------------------------------------ what groups remember
def a_group(processes: tuple[ProcessReport, ...] = (), **said: Any) -> FoundationDBProcessGroup:
    return FoundationDBProcessGroup(
        metadata=ObjectMeta(name="shop-log-1", namespace="prod"),
        spec=FoundationDBProcessGroupSpec(
            cluster_name="shop", process_group_id="log-1", process_class="log", **said
        ),
        status=FoundationDBProcessGroupStatus(processes=processes),
    )


@pytest.mark.parametrize(
    "group",
    [
        pytest.param(
            a_group((ProcessReport(process_id="log-1-1", reporting=True),)), id="reported"
        ),
        pytest.param(a_group((ProcessReport(process_id="log-1-1", reporting=False),)), id="missed"),
        pytest.param(a_group(adopt_volume_of="ours"), id="on a volume of before"),
    ],
)
def test_where_a_group_was_part_of_a_database_none_is_begun(
    group: FoundationDBProcessGroup,
) -> None:
    with pytest.raises(StatusUnreadable, match="shop-log-1 has been part of one"):
        must_not_begin(a_cluster(), [a_group(), group])


def test_groups_that_never_reported_are_in_nobodys_way() -> None:
    must_not_begin(a_cluster(), [a_group()])
