"""Whom a cluster lost and has back."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from fakes.fdb_views import cluster
from stateward.fdb.api.status import GroupMirror
from stateward.fdb.decide.groups.leftovers import Left, LeftClaim, Orphan
from stateward.fdb.decide.groups.recalling import NOBODY, Recall, recall
from stateward.fdb.model.names import ProcessGroupID
from stateward.fdb.views import ClusterView

LOG = ProcessGroupID.parse("log-7")
LOST = Left(lost=(LeftClaim("shop-log-7-data", "ours", LOG),))
NO_VOLUME = {"spec": {"resources": {"requests": {"storage": "0"}}}}


def unmade(picture: str = "") -> ClusterView:
    """Return a cluster whose database was never made."""
    return replace(cluster(picture), configured=False, connection=None)


def test_a_cluster_that_lost_nobody_has_nobody_back() -> None:
    assert recall(cluster("s1"), "ours", Left()) == NOBODY


@pytest.mark.parametrize("view", [cluster("s1"), cluster(""), unmade(), unmade("s1")])
def test_whose_volume_is_there_is_made_again_under_its_name(view: ClusterView) -> None:
    assert recall(view, "ours", LOST) == Recall(make=((LOG, "shop-log-7-data"),))


def test_a_volume_of_a_class_without_any_is_told() -> None:
    view = cluster("s1", processes={"log": {"volumeClaimTemplate": NO_VOLUME}})
    found = recall(view, "ours", LOST)
    assert found.make == ()
    (held,) = found.held
    assert held.group == "shop-log-7-data"


def test_what_is_not_named_as_ours_are_is_none_of_ours() -> None:
    assert (
        recall(cluster("s1"), "ours", Left(lost=(LeftClaim("shop-x-data", "ours", None),)))
        == NOBODY
    )


def test_those_whom_the_status_names_are_made_from_it() -> None:
    view = cluster("")
    told = msgspec.structs.replace(
        view.status, process_groups=(GroupMirror(process_group_id="log-7"),)
    )
    assert recall(replace(view, status=told), "ours", LOST) == NOBODY


@pytest.mark.parametrize(
    ("view", "former", "is_ours"),
    [
        (cluster("s1"), "ours", True),
        (cluster("s1"), "", True),
        (cluster("s1"), "older", False),
        (unmade("s1"), "", True),
        (unmade(), "ours", True),
        (unmade(), "", False),
    ],
)
def test_who_has_no_owner_is_owned_again_if_it_is_ours(
    view: ClusterView, former: str, *, is_ours: bool
) -> None:
    found = recall(view, "ours", Left(orphans=(Orphan("shop-log-7", former),)))
    assert found.adopt == (("shop-log-7",) if is_ours else ())
