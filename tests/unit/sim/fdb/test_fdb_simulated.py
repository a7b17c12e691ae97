"""FoundationDB among the products that are simulated: names, menus, excuses, and what laws tell."""

from __future__ import annotations

import pytest

from fakes.scenes import scene
from stateward.core.errors import UsageError
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.shards import Piece
from stateward.fdb.api.kind import CLUSTERS
from stateward.fdb.model.names import CLUSTER_UID_LABEL
from stateward.kube.client import MergePatch
from stateward.kube.resources import VOLUME_CLAIMS
from stateward.sim import people
from stateward.sim.explore.menus import menu
from stateward.sim.faults import Family, Fault, Kind, Plan
from stateward.sim.fdb.acts import happenings
from stateward.sim.fdb.laws.claims import lost_without
from stateward.sim.fdb.oracles.dead_ends import is_dead_end
from stateward.sim.fdb.oracles.differences import differences, room_of
from stateward.sim.fdb.scenarios import SCENARIOS
from stateward.sim.fdb.scripts.kit import manifest
from stateward.sim.fdb.world import FdbWorld, simulated
from stateward.sim.lives import Ask, Life
from stateward.sim.products import ETCD, FDB, PRODUCTS, product


def test_no_two_products_have_a_scenario_of_one_name():
    names = [name for it in PRODUCTS for name in it.scenarios]
    assert len(names) == len(set(names))
    assert all(name.startswith("fdb-") for name in SCENARIOS)
    assert product("fdb-create") is FDB
    assert product("bootstrap") is ETCD


def test_what_befalls_is_that_of_the_product():
    fdb, etcd = (scene("gp", name) for name in ("fdb-create", "one"))
    titles = {it.title for it in menu(Family.WORLD, fdb, fdb.sites[0])}
    assert "act:include-all" in titles
    assert titles != {it.title for it in menu(Family.WORLD, etcd, etcd.sites[0])}


@pytest.mark.parametrize("act", sorted({it[0] for it in happenings.TYPICAL}))
def test_whatever_is_tried_is_known(act):
    assert act in happenings.ALL


def test_acts_without_a_target_that_is_there_change_nothing():
    async def look(it: FdbWorld) -> None:
        for words in happenings.TYPICAL:
            happenings.happen(it, None, *words)
        for wrong in (("no-such-act",), ("kill-pod",), ("silence", "soon")):
            with pytest.raises(UsageError):
                happenings.happen(it, None, *wrong)

    simulated(look, seed=1)


@pytest.mark.parametrize(
    ("guard", "owner", "is_one"),
    [
        ("VolumesLeft", "before", True),
        ("VolumesLeft", "now", False),
        ("ClientsUnknown", "before", False),
    ],
)
def test_a_question_that_nobody_answers_is_a_dead_end_where_it_must_be_asked(guard, owner, is_one):
    async def look(it: FdbWorld) -> None:
        api = it.world.api
        cluster = api.create(CLUSTERS, "ns", manifest(), people.USER)
        uid = cluster.uid if owner == "now" else "u-before"
        labels = {CLUSTER_UID_LABEL: uid}
        spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1G"}}}
        claim = {"metadata": {"name": "left", "labels": labels}, "spec": spec}
        api.create(VOLUME_CLAIMS, "ns", claim, people.USER)
        told = {"status": {"blockers": [{"guard": guard, "message": "?"}]}}
        api.patch(CLUSTERS, cluster.key, MergePatch(told), people.USER, subresource="status")
        assert is_dead_end(it) is is_one

    simulated(look, seed=1)


def test_a_cluster_is_written_as_a_user_would():
    assert manifest(skip=True)["spec"]["skip"] is True


def life(**acts: int) -> Life:
    named = {name.replace("_", " "): many for name, many in acts.items()}
    return Life(Ask("fdb-create"), (), (), named, {"pods": "3"}, "digest", 1.0, 1, 1)


def test_more_is_done_only_as_often_as_faults_excuse():
    calm, more = life(fdb_kill=1), life(fdb_kill=2, fdb_make=1)
    assert [it.law for it in differences(calm, more)] == ["DIFF", "DIFF"]
    assert not differences(calm, calm)


def test_an_end_is_that_of_the_calm_life():
    other = Life(Ask("fdb-create"), (), (), {}, {"pods": "4"}, "digest", 1.0, 1, 1)
    (found,) = differences(life(), other)
    assert "ends in another way" in found.sentence


def test_what_changes_the_end_is_not_compared():
    edit = Fault(Kind.ACT, ("edit", "version=7.3.69"))
    assert room_of((edit,)) is None
    crash = Plan.parse("1=crash-after:0").hits[0].fault
    room = room_of((crash,))
    assert room is not None
    assert not room.get("delete pods", 0)


def test_two_that_make_all_groups_make_as_many_as_there_are():
    two = Plan.parse("1=two-passes").hits[0].fault
    rooms = [room_of((two,), groups) or {} for groups in (3, 13)]
    assert [it["delete pods"] for it in rooms] == [8, 13]
    assert [it["create pods"] for it in rooms] == [16, 26]
    assert [it["fdb make"] for it in rooms] == [1, 1]


def test_data_is_lost_when_no_disk_of_a_team_is_left():
    database = Database.__new__(Database)
    database.settings = object()  # type: ignore[assignment]
    database.shards = type("Shards", (), {"pieces": [Piece(team=("a", "b")), Piece()]})()
    assert not lost_without(database, {"b"})
    assert lost_without(database, {"c"})
