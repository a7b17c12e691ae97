"""What becomes of volumes that an earlier cluster of the same name left."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from fakes.fdb_views import cluster
from stateward.core.version import Version
from stateward.fdb.api.status import FoundationDBClusterStatus, Generations
from stateward.fdb.decide.groups import leftovers
from stateward.fdb.decide.groups.leftovers import (
    NOTHING,
    Ask,
    Begin,
    Leaving,
    Left,
    LeftClaim,
    LeftConfig,
    NotFound,
    Orphan,
    Take,
    Verdict,
)
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.names import ProcessGroupID, pod_name
from stateward.fdb.views import ClusterView

FILE = "shop:abc@shop-storage-1.shop.prod.svc.cluster.local:4501"
CONFIG = LeftConfig("old", FILE, "7.3.63")


def claim(group: str, former: str = "old", **fields: Any) -> LeftClaim:
    mine = ProcessGroupID.parse(group)
    return LeftClaim(f"{pod_name('shop', mine)}-data", former, mine, **fields)


S1, L1 = claim("storage-1"), claim("log-1")
LEFT = Left((S1, L1), CONFIG)


def new(**fields: Any) -> ClusterView:
    """Return a cluster whose database was never made."""
    return replace(cluster("", **fields), configured=False, connection=None)


def taking(picture: str = "", coordinating: str = "", **status: Any) -> ClusterView:
    """Return a cluster that has begun to take over what was left."""
    told = FoundationDBClusterStatus(
        adopted_from="old", configured=True, connection_string=FILE, **status
    )
    return replace(cluster(picture, coordinating=coordinating), status=told)


def settle(view: ClusterView, left: Left, said: str = "") -> Verdict:
    return leftovers.settle(view, "new-uid", left, said)


# ------------------------------------------------------------------ nothing to ask
@pytest.mark.parametrize(
    ("view", "left", "said"),
    [
        pytest.param(new(), Left(), "", id="nothing is left"),
        pytest.param(new(), Left(), "adopt", id="nothing to adopt"),
        pytest.param(new(), Left((), CONFIG), "", id="the config map alone holds no data"),
        pytest.param(new(), Left((), None, ("shop-log-1",)), "", id="groups go without volumes"),
        pytest.param(new(), LEFT, "ignore", id="ignored"),
        pytest.param(cluster("s1"), LEFT, "", id="a database is there"),
        pytest.param(cluster("s1"), LEFT, "adopt", id="too late to adopt"),
        pytest.param(
            replace(new(), status=FoundationDBClusterStatus(connection_string=FILE)),
            LEFT,
            "adopt",
            id="it is found already",
        ),
        pytest.param(
            replace(new(), connection=ConnectionString.parse(FILE)), LEFT, "", id="it joins another"
        ),
        pytest.param(
            replace(new(), status=FoundationDBClusterStatus(configured=True)),
            LEFT,
            "adopt",
            id="it was made once",
        ),
    ],
)
def test_nothing_stands_in_the_way(view: ClusterView, left: Left, said: str) -> None:
    assert settle(view, left, said) == NOTHING


# ------------------------------------------------------------------ waiting
@pytest.mark.parametrize("said", ["", "adopt", "nonsense"])
@pytest.mark.parametrize(
    ("left", "who"),
    [
        (replace(LEFT, groups=("shop-log-1",)), "process groups of before to go: shop-log-1"),
        (replace(LEFT, claims=(S1, claim("log-1", leaving=True))), "volumes of before"),
        (replace(LEFT, config=replace(CONFIG, leaving=True)), "the config map of before"),
    ],
)
def test_what_goes_is_waited_for(left: Left, who: str, said: str) -> None:
    found = settle(new(), left, said)
    assert isinstance(found, Leaving)
    assert who in found.why


# ------------------------------------------------------------------ asking
def test_it_is_asked_with_what_to_type_for_each_way() -> None:
    found = settle(new(), LEFT)
    assert found == Ask(
        "2 volumes of an earlier cluster of this name: log-1, storage-1",
        "to have their database back: kubectl -n prod annotate --overwrite fdb shop"
        " foundationdb.org/left-volumes=adopt; to make a new one beside them: kubectl -n prod"
        " annotate --overwrite fdb shop foundationdb.org/left-volumes=ignore (shop-config is"
        " written anew: keep the cluster file that is in it); to delete them for good: kubectl -n"
        " prod delete pvc,configmap -l 'app.kubernetes.io/managed-by=stateward-fdb,"
        "app.kubernetes.io/instance=shop,stateward.dev/cluster-uid!=new-uid'",
    )


def test_of_many_only_some_are_named() -> None:
    many = Left(tuple(claim(f"storage-{it}") for it in range(1, 9)), CONFIG)
    found = settle(new(), many)
    assert isinstance(found, Ask)
    assert found.message.endswith("storage-4, storage-5 and 3 more")


def test_a_word_that_is_none_of_ours_is_told() -> None:
    found = settle(new(), LEFT, "Adopt!")
    assert isinstance(found, Ask)
    assert "left-volumes must be adopt or ignore, got 'Adopt!'" in found.message


@pytest.mark.parametrize(
    ("view", "left", "why"),
    [
        pytest.param(new(), replace(LEFT, config=None), "does not tell how", id="no config map"),
        pytest.param(
            new(),
            replace(LEFT, config=replace(CONFIG, cluster_file="")),
            "does not tell how",
            id="their database was never made",
        ),
        pytest.param(
            new(),
            replace(LEFT, config=replace(CONFIG, cluster_file="nonsense")),
            "cannot be read",
            id="garbage",
        ),
        pytest.param(
            new(),
            replace(LEFT, config=replace(CONFIG, running="new")),
            "cannot be read",
            id="no version",
        ),
        pytest.param(
            new(),
            replace(LEFT, config=replace(CONFIG, former="older")),
            "which of them",
            id="none is of that database",
        ),
        pytest.param(
            new(),
            Left((S1, claim("log-1", "older")), replace(CONFIG, former="")),
            "which of them",
            id="of several, and nobody says of whom the config map is",
        ),
        pytest.param(
            new(),
            Left((S1, LeftClaim("shop-thing-data", "old", None)), CONFIG),
            "not known: shop-thing-data",
            id="of no group",
        ),
        pytest.param(new(version="7.1.61"), LEFT, "same minor release", id="older"),
        pytest.param(new(version="7.4.1"), LEFT, "same minor release", id="newer"),
        pytest.param(
            new(
                processes={
                    "log": {
                        "volumeClaimTemplate": {
                            "spec": {"resources": {"requests": {"storage": "0"}}}
                        }
                    }
                }
            ),
            LEFT,
            "class log no volumes",
            id="a class without volumes",
        ),
    ],
)
def test_what_cannot_be_adopted_is_not_and_says_why(
    view: ClusterView, left: Left, why: str
) -> None:
    found = settle(view, left, "adopt")
    assert isinstance(found, Ask)
    assert "they cannot be adopted" in found.message
    assert why in found.message
    assert "=adopt" not in found.hint
    assert "=ignore" in found.hint


# ------------------------------------------------------------------ beginning
@pytest.mark.parametrize(
    ("left", "running"),
    [
        pytest.param(LEFT, Version(7, 3, 63), id="as it was left"),
        pytest.param(
            replace(LEFT, claims=(S1, L1, claim("log-9", "older"))),
            Version(7, 3, 63),
            id="beside those of a still earlier one",
        ),
        pytest.param(
            replace(LEFT, config=LeftConfig("", FILE, "")),
            Version(7, 3, 79),
            id="with a config map that somebody made",
        ),
    ],
)
def test_their_database_is_on_record_before_anything_is_done(left: Left, running: Version) -> None:
    found = settle(new(), left, "adopt")
    assert found == Begin("old", ConnectionString.parse(FILE), running)


# ------------------------------------------------------------------ taking
def test_groups_are_made_with_the_very_ids_of_their_claims() -> None:
    prefixed = claim("dc1-storage-7")
    found = settle(taking(), replace(LEFT, claims=(S1, L1, prefixed)))
    ids = tuple(ProcessGroupID.parse(it) for it in ("storage-1", "log-1", "dc1-storage-7"))
    assert found == Take("old", ids)


@pytest.mark.parametrize("said", ["", "adopt", "ignore"])
def test_whoever_is_there_is_not_made_again_whatever_is_said_meanwhile(said: str) -> None:
    found = settle(taking("s1"), LEFT, said)
    assert found == Take("old", (ProcessGroupID.parse("log-1"),))
    assert settle(taking("s1 l1"), LEFT, said) == NOTHING


@pytest.mark.parametrize("other", [claim("log-1", "older"), claim("log-1", leaving=True)])
def test_volumes_of_others_and_those_that_go_are_not_taken(other: LeftClaim) -> None:
    assert settle(taking("s1"), replace(LEFT, claims=(S1, other))) == NOTHING


def test_once_all_was_well_nothing_more_is_taken() -> None:
    view = taking("s1", generations=Generations(reconciled=1))
    assert settle(view, LEFT, "adopt") == NOTHING
    assert not leftovers.concerns(view)


@pytest.mark.parametrize(
    ("coordinators", "is_found"),
    [
        ("storage-1 storage-2 storage-3", True),
        ("storage-1 storage-2 10.9.9.9:4501", True),
        ("storage-1 10.9.9.8:4501 10.9.9.9:4501", False),
        ("10.9.9.7:4501 10.9.9.8:4501 10.9.9.9:4501", False),
        ("a.shop.svc:4501 b.shop.svc:4501 c.shop.svc:4501", True),
    ],
)
def test_coordinators_at_addresses_that_nobody_has_are_told(
    coordinators: str, *, is_found: bool
) -> None:
    view = taking("s1 s2 s3", coordinators)
    found = settle(view, Left())
    assert (found == NOTHING) is is_found
    if isinstance(found, NotFound):
        assert "10.9.9.9:4501" in found.message


def test_pods_without_addresses_yet_are_waited_for() -> None:
    view = taking("s1 s2", "10.9.9.9:4501")
    groups = tuple(replace(it, addresses=()) for it in view.groups)
    assert settle(replace(view, groups=groups), Left()) == NOTHING


def test_what_is_left_is_looked_for_only_where_it_matters() -> None:
    assert leftovers.concerns(new())
    assert leftovers.concerns(taking())
    assert not leftovers.concerns(cluster("s1"))
    made = msgspec.structs.replace(new().status, connection_string=FILE)
    assert not leftovers.concerns(replace(new(), status=made))


# ------------------------------------------------------------------ groups that run on
RUNS = replace(LEFT, orphans=(Orphan("shop-storage-1", "old"), Orphan("shop-stateless-1")))


@pytest.mark.parametrize("left", [RUNS, replace(RUNS, claims=(), orphans=(Orphan("x"),))])
@pytest.mark.parametrize("said", ["", "adopt"])
def test_groups_that_run_on_without_an_owner_are_taken_unasked(left: Left, said: str) -> None:
    found = settle(new(), left, said)
    assert found == Begin("old", ConnectionString.parse(FILE), Version(7, 3, 63))


@pytest.mark.parametrize(
    ("left", "said", "why"),
    [
        (RUNS, "ignore", "run on: shop-storage-1, shop-stateless-1"),
        (replace(RUNS, config=None), "", "cannot be adopted: shop-config does not tell"),
        (Left(orphans=(Orphan("x"),)), "", "cannot be adopted: shop-config does not tell"),
    ],
)
def test_beside_them_nothing_is_begun(left: Left, said: str, why: str) -> None:
    found = settle(new(), left, said)
    assert isinstance(found, Ask)
    assert why in found.message
    assert "=ignore" not in found.hint
    assert "delete fdbpg" in found.hint


def test_one_without_a_volume_is_this_clusters_where_others_are() -> None:
    view = replace(new(), groups=cluster("x1").groups)
    assert settle(view, Left(orphans=(Orphan("shop-stateless-2"),))) == NOTHING
    assert settle(new(), Left(orphans=(Orphan("shop-log-2", "new-uid"),))) == NOTHING


def test_who_runs_on_is_taken_as_it_is_and_the_others_are_made() -> None:
    older = Orphan("shop-log-9", "older")
    found = settle(taking(), replace(RUNS, orphans=(*RUNS.orphans, older)))
    log = ProcessGroupID.parse("log-1")
    assert found == Take("old", (log,), ("shop-storage-1", "shop-stateless-1"))
