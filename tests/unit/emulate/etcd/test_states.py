"""The pure parts: states, histories, disks, and who one is by how it was started."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stateward.core.chance import Chance
from stateward.emulate.etcd.links import Links
from stateward.emulate.etcd.reign import Reign
from stateward.emulate.etcd.servers import Server, Start, new_member_id
from stateward.emulate.etcd.state import UNKNOWN, Disk, History, State
from stateward.etcd.model.members import Alarm, AlarmKind, Member

A, B, C = (Member(id_, name, (f"http://{name}",)) for id_, name in ((1, "a"), (2, "b"), (3, "c")))
THREE = State({it.id: it for it in (A, B, replace(C, learner=True))})


def test_learners_do_not_vote():
    assert (THREE.voters, THREE.learners) == ((1, 2), (3,))


def test_who_is_removed_never_comes_back_and_its_alarms_stay():
    alarmed = replace(THREE, alarms=frozenset({Alarm(2, AlarmKind.CORRUPT)}))
    after = alarmed.without(2)

    assert sorted(after.members) == [1, 3]
    assert after.removed == {2}
    assert after.alarms == alarmed.alarms


@pytest.mark.parametrize(("who", "left"), [(1, {1: False}), (3, {3: False}), (9, None)])
def test_one_alone_votes_and_all_others_are_removed(who, left):
    after = THREE.alone(who)

    assert (after and {it.id: it.learner for it in after.members.values()}) == left
    assert after is None or after.removed == {1, 2, 3} - {who}


#: What is written, one after the other, and what it takes: keys, and what nobody reads any more.
@pytest.mark.parametrize(
    ("writes", "used", "waste"),
    [
        ([(b"k", b"")], 1, 0),
        ([(b"k", b"12"), (b"k", b"3456")], 5, 3),
        ([(b"k", b"12"), (b"l", b"3")], 5, 0),
    ],
)
def test_space(writes, used, waste):
    state = THREE
    for key, value in writes:
        state = state.with_key(key, value)

    assert (state.used, state.waste) == (used, waste)
    assert state.used == sum(len(key) + len(value) for key, value in state.keys.items())
    assert state.revision == THREE.revision + len(writes)


def test_a_fork_leaves_the_other_as_it_was():
    history = History(1, [THREE, THREE.with_key(b"k", b"v")])
    fork = history.fork(0)
    fork.append(THREE.without(2))

    assert (history.last, fork.last) == (1, 1)
    assert b"k" in history.states[-1].keys
    assert fork.shared_with(history) == 0


def test_raft_counts_who_began():
    history = History(1, [THREE, THREE])

    assert [history.raft_index(it) for it in (-1, 0, 1)] == [0, 3, 4]


def test_a_disk_knows_nothing_until_it_heard_something():
    disk = Disk()
    assert (disk.empty, disk.state) == (True, UNKNOWN)
    disk.member_id, disk.history = 1, History(7, [THREE])
    assert (disk.empty, disk.state) == (False, UNKNOWN)
    disk.index = 0
    assert disk.state is THREE
    disk.wipe()
    assert (disk.empty, disk.state, disk.lives) == (True, UNKNOWN, 1)


def start(address: str = "10.0.0.1", **terms: object) -> Start:
    listed = (("a", "http://a"), ("b", "http://b"))
    known = {"peer_url": "http://a", "client_url": "http://a:1", "initial": listed}
    return Start(**{"name": "a", "address": address, "existing": False, **known, **terms})  # type: ignore[arg-type]


def test_ids_are_made_of_addresses_and_token():
    one = start()
    turned = start(initial=(("b", "http://b"), ("a", "http://a")))
    renamed = start(initial=(("x", "http://a"), ("y", "http://b")))
    other = start(token="other")

    assert one.cluster_id == turned.cluster_id == renamed.cluster_id
    assert one.cluster_id != other.cluster_id
    assert one.member_id("http://a") != other.member_id("http://a")


def test_the_id_of_who_is_added_changes_with_the_second():
    assert new_member_id("http://a", 1.2) == new_member_id("http://a", 1.9)
    assert new_member_id("http://a", 1.9) != new_member_id("http://a", 2.0)


# -------------------------------------------------------------------------- elections


#: How far members have come ("." knows nothing, "+" learns only), which wires are cut, and who wins.
@pytest.mark.parametrize(
    ("logs", "cuts", "winner"),
    [
        ("a2 b2 c2", "", "a"),
        ("a1 b2 c2", "", "b"),
        ("a2 b2", "", "a"),
        ("a2 b2", "ab", None),
        ("a2 b2 c2", "ab ac", "b"),
        ("a2 b2 c2", "ab ac bc", None),
        ("a2 b2 c2", "ab", "a"),
        ("a. b. c2", "", "c"),
        ("a. b. c2", "ac bc", None),
        ("a0 b0 c2", "ac bc", "a"),
        ("a1 b1 c2+", "", "a"),
        ("a1 b2+", "", "a"),
        # c would win, if d had not more than it.
        ("a0 b0 c0 d2", "ad bd bc ab", None),
        ("a0 b0 c2 d2", "ad bd bc ab", "c"),
    ],
)
def test_elections(logs, cuts, winner):
    found = [(it[0], it[1], "+" in it) for it in logs.split()]
    members = {n: Member(n, name, (name,), learner=late) for n, (name, _, late) in enumerate(found)}
    history = History(1, [State(members)] * 3)
    servers = [
        Server(start(name), disk(n, index, history), 0.0, print, print, booted=True)
        for n, (name, index, _) in enumerate(found)
    ]
    links = Links(servers)
    links.cuts |= {frozenset(it) for it in cuts.split()}
    reign, chance = Reign(history, servers, links), Chance(1)

    assert reign.elect(0.0, chance) is None  # nobody has waited yet
    chosen = reign.elect(9.0, chance)
    assert (chosen.start.address if chosen else None) == winner


def disk(member_id: int, index: str, history: History) -> Disk:
    return Disk(member_id, history, -1 if index == "." else int(index))


# -------------------------------------------------------------------------- links


def pair() -> tuple[Links, Server, Server]:
    servers = [
        Server(start(f"10.0.0.{n}"), Disk(), 0.0, lambda _: None, lambda: None, booted=True)
        for n in (1, 2)
    ]
    links = Links(servers)
    links.note(0.0)
    return links, servers[0], servers[1]


#: When a wire is cut and healed, and how old the connection is at 20 s: it lives through 5 s.
@pytest.mark.parametrize(
    ("cut", "healed", "age"),
    [
        (None, None, 20.0),
        (10.0, 14.9, 20.0),
        (10.0, 15.0, 5.0),
        (16.0, None, 20.0),
        (15.0, None, None),
    ],
)
def test_the_age_of_a_connection(cut, healed, age):
    links, one, other = pair()
    wire = frozenset(("10.0.0.1", "10.0.0.2"))
    if cut is not None:
        links.cuts.add(wire)
        links.note(cut)
    if healed is not None:
        links.cuts.discard(wire)
        links.note(healed)

    assert (links.age(one, other, 20.0), links.age(other, one, 20.0)) == (age, age)


def test_the_end_of_a_process_ends_its_connections():
    links, one, other = pair()
    other.ended = True
    links.end(other)

    assert links.age(one, other, 1.0) is None
    assert links.age(one, one, 1.0) == 1.0
    assert not links.reach(one, other)
