"""What befalls a settled cluster of three: each act does what it says, and all is well in the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from stateward.core.chance import Chance
from stateward.core.errors import UsageError
from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS, VOLUME_CLAIMS
from stateward.sim.etcd.happenings import ALL, TYPICAL, happen
from stateward.sim.etcd.scenarios import KEY, cluster, create, is_mended, member_id
from stateward.sim.etcd.world import EtcdWorld
from stateward.sim.faults import Plan
from stateward.sim.loop import SimLoop, running
from stateward.sim.world import World

PATIENCE = 900.0


class Home:
    """A world with a cluster of three at rest; one for all tests, while none of them breaks it."""

    def __init__(self) -> None:
        self.stack = ExitStack()
        self.found: tuple[SimLoop, EtcdWorld] | None = None

    def open(self) -> tuple[SimLoop, EtcdWorld]:
        """Return the world, made anew where there is none."""
        if self.found is None:
            loop = self.stack.enter_context(running(SimLoop(Chance(5))))
            it = EtcdWorld(World(loop, 5, (ETCD_CLUSTERS,)))
            it.operate()
            self.found = (loop, it)
            loop.run_until_complete(create(unhealthyMemberGracePeriod="20s").do(it))
        return self.found

    def close(self) -> None:
        """End the world."""
        if self.found is not None:
            loop, it = self.found
            loop.run_until_complete(it.world.end())
            self.found = None
        self.stack.close()


HOME = Home()


@pytest.fixture(scope="module", autouse=True)
def home() -> Iterator[None]:
    """End the last world."""
    yield
    HOME.close()


@contextmanager
def settled() -> Iterator[tuple[SimLoop, EtcdWorld]]:
    """Begin and end with a cluster of three at rest."""
    loop, it = HOME.open()
    try:
        _mend(loop, it)
        loop.run_until_complete(asyncio.sleep(10))
        yield loop, it
        if HOME.found is not None:
            _mend(loop, it)
    except BaseException:
        HOME.close()
        raise


def _mend(loop: SimLoop, it: EtcdWorld) -> None:
    loop.run_until_complete(it.world.until("mended", lambda: _is_whole(it), within=PATIENCE))


def _is_whole(it: EtcdWorld) -> bool:
    return is_mended(it) and pods(it) == "0+ 1+ 2+"


# -------------------------------------------------------------------------- looking


def pods(it: EtcdWorld) -> str:
    """Return the pods as Kubernetes knows them, with a plus sign those that are ready."""
    words = []
    for stored in it.world.api.store.all(PODS.name):
        conditions = (stored.document().get("status") or {}).get("conditions") or ()
        ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
        leaving = b"deletionTimestamp" in stored.text
        words.append(stored.key.name[-1] + ("+" if ready else "") + ("!" if leaving else ""))
    return " ".join(words)


def servers(it: EtcdWorld) -> str:
    """Return the pods whose etcd runs, with a plus sign those that serve."""
    found = [
        (lodger.key.name[-1], server.ready)
        for lodger in it.nodes.lodgers.values()
        if (server := it.universe.at(lodger.address)) is not None
    ]
    return " ".join(name + ("+" if ready else "") for name, ready in sorted(found))


def claims(it: EtcdWorld) -> str:
    """Return the claims, and those on their way out."""
    found = it.world.api.store.all(VOLUME_CLAIMS.name)
    return " ".join(s.key.name[-1] + ("!" if b"deletionTimestamp" in s.text else "") for s in found)


def ended(it: EtcdWorld) -> str:
    """Return why the etcd of the second pod ended, as Kubernetes tells it."""
    stored = it.world.api.store.get(PODS.name, ObjectKey("ns", "shop-1"))
    return stored.document()["status"]["containerStatuses"][0]["lastState"]["terminated"]["reason"]


def objects(it: EtcdWorld) -> str:
    """Return what the operator made, by the first letters of its kinds."""
    names = {"configmaps": "cm", "services": "svc", "statefulsets.apps": "sts"}
    names |= {"poddisruptionbudgets.policy": "pdb", "leases.coordination.k8s.io": "lease"}
    found = [(short, len(it.world.api.store.all(name))) for name, short in names.items()]
    return " ".join(short for short, count in found if count)


def scale(it: EtcdWorld) -> str:
    """Return how many pods the StatefulSet asks for."""
    return str(it.world.api.store.all("statefulsets.apps")[0].document()["spec"]["replicas"])


def ids(it: EtcdWorld) -> list[str]:
    """Return the ids of the members."""
    return [member_id(it, f"shop-{n}") for n in range(3)]


Look = Callable[[EtcdWorld], str]

#: The act; then after so many seconds, who looks, and what is to be seen.
ACTS: dict[str, list[tuple[float, Look, str]]] = {
    "kill-pod:1": [(0.1, servers, "0+ 2+"), (8, servers, "0+ 1+ 2+")],
    "kill-all": [(0.1, servers, ""), (15, servers, "0+ 1+ 2+")],
    "delete-pod:1": [(0.01, pods, "0+ 1+! 2+"), (20, pods, "0+ 1+ 2+")],
    "force-pod:1": [(0.001, pods, "0+ 2+"), (20, pods, "0+ 1+ 2+")],
    "evict-pod:1": [(0.01, pods, "0+ 1+! 2+"), (20, pods, "0+ 1+ 2+")],
    "oom-pod:1": [(0.1, servers, "0+ 2+"), (0.5, ended, "OOMKilled")],
    "foreign-claim:3:30": [(0.1, claims, "0 1 2 3"), (35, claims, "0 1 2")],
    "lose-node:@0:60": [(30, pods, "0+ 1+ 2+"), (55, servers, "0+ 1+ 2+"), (63, pods, "0+ 1+ 2+")],
    "lose-node:@0:100": [(60, pods, "0 1+ 2+"), (60, servers, "0+ 1+ 2+"), (105, pods, "0+ 1+ 2+")],
    "power:@0:30": [(5, servers, "1+ 2+"), (5, pods, "0+ 1+ 2+"), (45, servers, "0+ 1+ 2+")],
    "hang:1:20": [(10, pods, "0+ 1 2+"), (10, servers, "0+ 1 2+"), (30, pods, "0+ 1+ 2+")],
    "split:1:20": [(5, servers, "0+ 1 2+"), (30, servers, "0+ 1+ 2+")],
    "wipe:1": [(0.1, servers, "0+ 2+")],
    "damage:1": [(5, servers, "0+ 2+")],
    "lose-claim:1": [(0.1, claims, "0 1! 2"), (30, pods, "0+ 1+ 2+")],
    "recreate-cr": [(0.1, objects, "cm svc sts pdb lease")],
    "delete-object:ConfigMap": [
        (0.001, objects, "svc sts pdb lease"),
        (5, objects, "cm svc sts pdb lease"),
    ],
    "delete-object:Service": [
        (0.001, objects, "cm sts pdb lease"),
        (5, objects, "cm svc sts pdb lease"),
    ],
    "delete-object:PodDisruptionBudget": [
        (0.001, objects, "cm svc sts lease"),
        (5, objects, "cm svc sts pdb lease"),
    ],
    "delete-object:StatefulSet": [(0.001, objects, "cm svc pdb lease"), (60, pods, "0+ 1+ 2+")],
    "orphan-object:StatefulSet": [(30, pods, "0+ 1+ 2+"), (30, objects, "cm svc sts pdb lease")],
    "edit-object:StatefulSet": [(0.001, scale, "2"), (40, scale, "3"), (40, pods, "0+ 1+ 2+")],
    "edit-object:StatefulSet:5": [(0.001, scale, "5"), (40, scale, "3"), (40, pods, "0+ 1+ 2+")],
    "edit:replicas=1:60": [(55, pods, "0+"), (120, pods, "0+ 1+ 2+")],
    "delete-cr:90": [(80, pods, ""), (80, claims, ""), (150, pods, "0+ 1+ 2+")],
}


@pytest.mark.parametrize("text", ACTS)
def test_acts(text):
    with settled() as (loop, it):
        began = loop.time()
        name, *details = text.split(":")
        happen(it, None, name, *(_place(it, detail) for detail in details))
        for second, look, wanted in ACTS[text]:
            loop.run_until_complete(asyncio.sleep(began + second - loop.time()))
            assert look(it) == wanted, f"after {second} s"


def _place(it: EtcdWorld, detail: str) -> str:
    """Return the number of the node that a pod is on, for ``@`` and the number of the pod."""
    if not detail.startswith("@"):
        return detail
    lodger = it.nodes.lodger(ObjectKey("ns", f"shop-{detail[1:]}"))
    assert lodger is not None
    return lodger.node.name[-1]


@pytest.mark.parametrize("text", ["wipe:1", "damage:1", "lose-claim:1", "corrupt:1"])
def test_who_lost_its_data_is_another_member_afterwards(text):
    with settled() as (loop, it):
        before = ids(it)
        happen(it, None, *text.split(":"))
        it.notes["was"] = before[1]
        loop.run_until_complete(it.world.until(text, lambda: _has_another(it), within=PATIENCE))

        assert [a == b for a, b in zip(before, ids(it), strict=True)] == [True, False, True]


def _has_another(it: EtcdWorld) -> bool:
    return is_mended(it) and ids(it)[1] not in {"", it.notes["was"]}


#: What holds back a pod that is deleted then, and what is to be seen after 15 seconds.
HOLDS = {
    "stuck-pod:1:60": "0+ 1! 2+",
    "no-room:60": "0+ 1 2+",
    "no-image:60": "0+ 1 2+",
    "slow-pods:60": "0+ 1 2+",
    "quota:60": "0+ 2+",
}


@pytest.mark.parametrize("text", HOLDS)
def test_what_holds_a_pod_back(text):
    with settled() as (loop, it):
        happen(it, None, *text.split(":"))
        happen(it, None, "delete-pod", "1")
        loop.run_until_complete(asyncio.sleep(15))

        assert pods(it) == HOLDS[text]
        assert it.troubled == 1


def test_a_claim_that_is_stuck_holds_back_its_pod():
    with settled() as (loop, it):
        happen(it, None, "claim-stuck", "1", "60")
        happen(it, None, "lose-claim", "1", "0")
        loop.run_until_complete(asyncio.sleep(50))
        assert (claims(it), pods(it)) == ("0 1! 2", "0+ 2+")

        _mend(loop, it)
        assert claims(it) == "0 1 2"


def test_who_takes_others_for_lost_keeps_nobody_from_being_replaced():
    with settled() as (loop, it):
        happen(it, None, "unaware", "leader")
        follower = next(n for n in range(3) if not _leads(it, n))
        was = {"", ids(it)[follower]}
        happen(it, None, "wipe", str(follower))

        def is_replaced() -> bool:
            return is_mended(it) and ids(it)[follower] not in was

        loop.run_until_complete(it.world.until("replaced", is_replaced, within=180))


def _leads(it: EtcdWorld, ordinal: int) -> bool:
    server = it.server(ObjectKey("ns", f"shop-{ordinal}"))
    assert server is not None
    return server.leader == server.member_id


def test_an_etcd_that_hangs_for_long_is_started_again():
    with settled() as (loop, it):
        happen(it, None, "edit", "paused=true", "80")  # or the operator would replace it
        happen(it, None, "hang", "1", "90")
        restarts = []
        for _ in range(2):
            loop.run_until_complete(asyncio.sleep(40 - 10 * len(restarts)))
            lodger = it.nodes.lodger(ObjectKey("ns", "shop-1"))
            restarts.append(lodger.restarts if lodger is not None else -1)

        assert restarts[1] == restarts[0] + 1
        assert servers(it) == "0+ 1+ 2+"


def test_who_takes_too_much_memory_is_killed_again_and_again_and_not_replaced():
    with settled() as (loop, it):
        before, lodger = ids(it), it.nodes.lodger(ObjectKey("ns", "shop-1"))
        assert lodger is not None
        restarts = lodger.restarts
        happen(it, None, "oom-pod", "1", "150")
        loop.run_until_complete(asyncio.sleep(145))
        assert lodger.restarts >= restarts + 2
        assert ended(it) == "OOMKilled"

        _mend(loop, it)
        assert ids(it) == before


def test_a_full_database_is_emptied():
    with settled() as (loop, it):
        happen(it, None, "full", "1")
        assert _alarms(it) == ["NO_SPACE"]
        _mend(loop, it)
        loop.run_until_complete(asyncio.sleep(60))

        assert _alarms(it) == []


def _alarms(it: EtcdWorld) -> list[str]:
    return [alarm.kind.name for alarm in it.universe.servers[0].state.alarms]


@pytest.mark.parametrize("text", ["wipe", "damage", "lose-claim", "corrupt"])
def test_a_majority_that_lost_its_data_is_noticed(text):
    with settled() as (_, it):
        happen(it, None, text, "0")
        assert not it.lost
        happen(it, None, text, "2")
        assert it.lost
        assert not it.hopeless, "who did that on purpose knows how to go on"
        HOME.close()  # nobody mends that


def test_a_budget_lets_one_go_and_refuses_the_next():
    with settled() as (_, it):
        happen(it, None, "evict-pod", "0", "0")
        happen(it, None, "evict-pod", "1", "0")

        assert pods(it) == "0+! 1+ 2+"
        assert any("eviction of ns/shop-1 is refused" in line for line in it.world.trace.lines)


@pytest.mark.parametrize(("text", "cut"), [("cut:1:30", "1"), ("cut-all:30", "0 1 2")])
def test_cuts_between_the_operator_and_pods(text, cut):
    with settled() as (loop, it):
        happen(it, None, *text.split(":"))
        loop.run_until_complete(asyncio.sleep(25))
        members = cluster(it).status.members
        assert " ".join(m.name[-1] for m in members if not m.healthy) == cut
        assert servers(it) == "0+ 1+ 2+", "they reach each other"

        _mend(loop, it)
        assert not it.unreachable


def test_a_stranger_has_the_address_of_a_pod_and_is_not_taken_for_it():
    with settled() as (loop, it):
        before, old = ids(it), it.server(ObjectKey("ns", "shop-1"))
        at_the_next_call(it, "act:stranger:1:40")
        loop.run_until_complete(asyncio.sleep(20))
        new = it.universe.at(old.start.address)
        assert new is not None
        assert new.speaks
        assert new.history is not old.history
        assert cluster(it).status.blockers[0].guard == "SplitBrain"
        assert servers(it) == "0+ 1+ 2+", "the pod is back elsewhere"

        _mend(loop, it)
        assert it.universe.at(old.start.address) is None
        assert ids(it) == before


def test_addresses_of_pods_that_are_gone_are_given_to_others():
    with settled() as (loop, it):
        addresses = [it.server(ObjectKey("ns", f"shop-{n}")).start.address for n in range(3)]
        happen(it, None, "reuse")
        it.nodes._freed.clear()
        for n in (1, 2):
            happen(it, None, "delete-pod", str(n))
            loop.run_until_complete(asyncio.sleep(1.5))
            _mend(loop, it)
        assert it.server(ObjectKey("ns", "shop-1")).start.address not in addresses
        assert it.server(ObjectKey("ns", "shop-2")).start.address == addresses[1]
        it.nodes.reuses = False


@pytest.mark.parametrize("target", ["1", "ConfigMap", "StatefulSet"])
def test_labels_are_taken_and_put_back(target):
    with settled() as (loop, it):
        labels = _labels(it)
        happen(it, None, "relabel", target, "30")
        assert _labels(it) != labels
        _mend(loop, it)

        assert _labels(it) == labels


def _labels(it: EtcdWorld) -> list[dict[str, str]]:
    kinds = (PODS.name, "configmaps", "statefulsets.apps")
    return [stored.labels for kind in kinds for stored in it.world.api.store.all(kind)]


def test_a_nonsense_config_is_written_anew():
    with settled() as (loop, it):
        before = it.world.api.store.all("configmaps")[0].document()["data"]
        happen(it, None, "edit-object", "ConfigMap")
        assert set(it.world.api.store.all("configmaps")[0].document()["data"].values()) == {
            "nonsense"
        }
        loop.run_until_complete(asyncio.sleep(10))

        assert it.world.api.store.all("configmaps")[0].document()["data"] == before


# -------------------------------------------------------------------------- at a call


def at_the_next_call(it: EtcdWorld, text: str) -> None:
    """Have a fault come at the next call."""
    it.world.weather.planned[it.world.weather.calls + 1] = [
        hit.fault for hit in Plan.parse(f"1={text}").hits
    ]


def test_a_second_operator_acts_without_the_lease_for_a_while():
    with settled() as (loop, it):
        heard: list[str] = []
        it.world.weather.listeners.append(lambda who, _: heard.append(who))
        at_the_next_call(it, "two-leaders:20")
        loop.run_until_complete(asyncio.sleep(15))
        assert {who.partition(".")[0] for who in heard} == {"op0", "twin1"}
        assert it.troubled == 1

        loop.run_until_complete(asyncio.sleep(15))
        heard.clear()
        loop.run_until_complete(asyncio.sleep(30))
        assert {who.partition(".")[0] for who in heard} == {"op0"}
        assert it.troubled == 0


def test_two_passes_over_one_key_run_at_once():
    with settled() as (loop, it):
        counts = []
        for text in ("calm", "1=two-passes"):
            calls: list[str] = []
            it.world.weather.listeners.append(lambda _, call, to=calls: to.append(str(call)))
            happen(it, None, "delete-object", "ConfigMap")
            while "configmaps" not in " ".join(calls):
                loop.run_until_complete(asyncio.sleep(0.01))
            if text != "calm":
                at_the_next_call(it, "two-passes")
            loop.run_until_complete(asyncio.sleep(5))
            counts.append(len(calls))

        assert counts[1] > counts[0]


@pytest.mark.parametrize("text", ["upgrade:older", "upgrade:newer"])
def test_another_version_wrote_the_status(text):
    with settled() as (loop, it):
        written = []
        store = it.world.api.store
        store.listen(lambda event: written.append(event.now.document()), ETCD_CLUSTERS.name)
        before = it.world.api.store.get(ETCD_CLUSTERS.name, KEY).document()["status"]
        at_the_next_call(it, text)
        loop.run_until_complete(asyncio.sleep(60))

        first = written[0]["status"]
        assert ("schedule" in first, "lastKnownMembers" in first) == (
            (True, True) if text == "upgrade:newer" else (False, False)
        )
        assert [m.name for m in cluster(it).status.members] == [
            m["name"] for m in before["members"]
        ]
        assert is_mended(it)


def test_a_clock_that_jumps_comes_back():
    with settled() as (loop, it):
        at_the_next_call(it, "act:skew:500")
        loop.run_until_complete(asyncio.sleep(30))
        assert it.world._slots[0].clock.skew == 500
        _mend(loop, it)
        assert it.world._slots[0].clock.skew == 0


def test_a_member_that_leads_can_be_meant():
    with settled() as (_, it):
        leader = next(s for s in it.universe.servers if s.leader == s.member_id)
        happen(it, None, "kill-pod", "leader")
        assert leader.ended


def test_every_act_is_tried():
    assert {it[0] for it in TYPICAL} == set(ALL)


def test_an_act_that_nobody_knows_is_refused():
    with settled() as (_, it), pytest.raises(UsageError, match="meteor"):
        happen(it, None, "meteor")
