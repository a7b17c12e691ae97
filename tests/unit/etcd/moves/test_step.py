"""Moves are made only by a leader, after a second look at the user's mind, and not in vain."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import pytest

from fakes.etcd_views import peer_url, picture
from stateward.core.errors import NotLeader, OutcomeUnknown, PeerConfused, PeerUnreachable
from stateward.core.outcome import Blocked, Outcome, Retry
from stateward.etcd.api.kind import ETCD_CLUSTERS, EtcdCluster
from stateward.etcd.build.config import config_map
from stateward.etcd.decide import moves
from stateward.etcd.decide.chart import Judgement
from stateward.etcd.members.errors import EtcdPacing, EtcdRefused
from stateward.etcd.model.members import Alarm, AlarmKind
from stateward.etcd.model.names import config_key
from stateward.etcd.model.view import Config, View
from stateward.etcd.moves import step
from stateward.etcd.moves.fence import Fence
from stateward.etcd.moves.rescue import Rescue
from stateward.etcd.moves.step import MakeNextMove
from stateward.etcd.moves.tools import Tools
from stateward.etcd.moves.writing import Applier
from stateward.etcd.objects import WHOLE_CONFIG_MAPS
from stateward.etcd.seen import Seen
from stateward.kube.client import MergePatch
from stateward.kube.errors import Forbidden, ServerFailed, Unavailable
from stateward.kube.resources import PODS, VOLUME_CLAIMS
from stateward.runtime.election import Leadership, Terms
from unit.etcd.moves.places import Place

pytestmark = pytest.mark.virtual
FORCED = Config((("shop-0", peer_url(0)),), existing=True, force_new_cluster=True)
NEW = Config((("shop-0", peer_url(0)),), existing=False)
VIEW = picture("3: L f f")
LEADER, OTHER, *_ = VIEW.replicas

#: Every move that asks etcd, and what it asks.
ASKING: dict[str, tuple[moves.Act, list[str]]] = {
    "AddLearner": (moves.AddLearner(2, "shop-2", peer_url(2)), ["add_learner"]),
    "Promote": (moves.Promote(0xA2, "shop-2"), ["promote"]),
    "RemoveMember": (moves.RemoveMember(0xA2, "shop-2", "it is broken"), ["remove"]),
    "MoveLeader": (moves.MoveLeader(LEADER, OTHER, "it restarts"), ["move_leader"]),
    "Compact": (moves.Compact(7), ["compact"]),
    "Defragment": (moves.Defragment(OTHER), ["defragment"]),
    "Disarm": (moves.Disarm(Alarm(0xA1, AlarmKind.NO_SPACE)), ["disarm"]),
    "SetAuth": (moves.SetAuth(enabled=True), ["add_root", "enable_auth"]),
}


@dataclass(slots=True)
class Door:
    """An etcd that takes note, and then does what it is told to do."""

    asked: list[str] = field(default_factory=list)
    then: Callable[[], Any] = lambda: None

    def __getattr__(self, name: str) -> Any:
        async def ask(*_: Any) -> None:
            self.asked.append(name)
            answer = self.then()
            if answer is not None:
                await answer

        return ask

    async def snapshot(self) -> Any:
        yield b"no snapshot at all"


class Room(Place):
    """A leader with a step, and an etcd that it asks."""

    def __init__(self, rescue: Any = None) -> None:
        super().__init__()
        self.leadership = Leadership(self.clock, Terms())
        self.leadership.renewed(self.clock.monotonic())
        self.door = Door()
        fence = Fence(self.leadership)
        self.tools = Tools(self.client, Applier(self.client), rescue or Rescue(None), fence)
        self.step = MakeNextMove(self.tools, self.clock)
        self.live: EtcdCluster | None = None

    async def make(
        self, move: moves.Move, view: View = VIEW, doors: dict[int, Door] | None = None
    ) -> Outcome:
        """Run the step on a judgement about the cluster as it was when we first looked."""
        if self.live is None:
            self.live = await self.cluster(replicas=3)
        about = msgspec.structs.replace(view.cluster, metadata=self.live.metadata)
        about = msgspec.structs.replace(about, spec=self.live.spec)
        asked = doors or {0: self.door, 1: self.door, 2: self.door}
        return await self.step.run(judged(replace(view, cluster=about), move, asked))


def judged(view: View, move: moves.Move, doors: Any) -> Seen:
    """Return what was seen, with a judgement of our own."""
    seen = Seen(view, doors)
    vars(seen)["judgement"] = Judgement(move, "1")
    return seen


def fails(error: BaseException) -> Callable[[], Any]:
    def answer() -> Any:
        raise error

    return answer


# -------------------------------------------------------------------------- the fence


@pytest.mark.parametrize("name", ASKING)
async def test_a_leader_asks(name: str) -> None:
    room = Room()
    move, asked = ASKING[name]
    assert await room.make(move) == Retry(0.0, name, move.message)
    assert room.door.asked == asked
    assert room.leadership.may_be_let_go


@pytest.mark.parametrize("name", ASKING)
async def test_who_no_longer_leads_does_not_ask(name: str) -> None:
    room = Room()
    room.leadership.lost()
    with pytest.raises(NotLeader):
        await room.make(ASKING[name][0])
    assert room.door.asked == []


async def test_each_call_of_a_move_is_checked() -> None:
    room = Room()
    room.door.then = room.leadership.lost
    with pytest.raises(NotLeader):
        await room.make(moves.SetAuth(enabled=True))
    assert room.door.asked == ["add_root"]


#: Whom a move of members may ask, and who of them wants quiet: who is asked in the end.
ASKED = {
    ("AddLearner", ""): "0",
    ("AddLearner", "0"): "0 1",
    ("AddLearner", "0 1"): "0 1 2",
    ("AddLearner", "0 1 2"): "0 1 2",
    ("RemoveMember", "0"): "0 1",
    ("RemoveMember", "0 1"): "0 1",
    ("Promote", "0"): "0",
}


@pytest.mark.parametrize(("name", "pacing"), ASKED)
async def test_who_takes_another_for_lost_is_not_the_only_one_asked(name: str, pacing: str) -> None:
    """But nobody is asked about itself: shop-2 is the one that is removed."""
    room = Room()
    doors = {
        n: Door(then=fails(EtcdPacing("lost")) if str(n) in pacing else _well) for n in (0, 1, 2)
    }
    said = await room.make(ASKING[name][0], doors=doors)
    assert " ".join(str(n) for n, door in doors.items() if door.asked) == ASKED[name, pacing]
    assert isinstance(said, Retry)
    assert (said.reason == "EtcdPacing") == (str(ASKED[name, pacing])[-1] in pacing)


def _well() -> None:
    """Answer that it is done."""


DOUBTS = {
    "the answer was lost": (OutcomeUnknown("lost"), False),
    "it was never sent": (PeerUnreachable("away"), True),
    "etcd refused": (EtcdRefused("no"), True),
    "etcd wants a pause": (EtcdPacing("not yet"), True),
}


@pytest.mark.parametrize("case", DOUBTS)
async def test_a_lease_is_kept_while_a_change_may_still_arrive(case: str) -> None:
    room = Room()
    error, lets_go = DOUBTS[case]
    room.door.then = fails(error)
    said = await room.make(ASKING["AddLearner"][0])
    assert isinstance(said, Retry)
    assert room.leadership.may_be_let_go == lets_go


async def test_a_lease_is_kept_when_a_change_is_cut_short() -> None:
    room = Room()
    sent, answered = asyncio.Event(), asyncio.Event()

    def hang() -> Any:
        sent.set()
        return answered.wait()

    room.door.then = hang
    task = asyncio.create_task(room.make(ASKING["AddLearner"][0]))
    await sent.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert not room.leadership.may_be_let_go


@pytest.mark.parametrize(("name", "ends"), [("AddLearner", True), ("Defragment", False)])
async def test_a_change_is_given_up_before_another_can_lead(name: str, ends: bool) -> None:
    room = Room()
    room.door.then = lambda: asyncio.sleep(40)
    began = room.clock.monotonic()
    said = await room.make(ASKING[name][0])
    assert isinstance(said, Retry)
    assert (said.reason == "OutcomeUnknown") == ends
    assert room.clock.monotonic() - began == pytest.approx(Terms().margin if ends else 40)


# -------------------------------------------------------------------------- the user's mind

ASKED_AGAIN = [
    ASKING["AddLearner"][0],
    ASKING["Promote"][0],
    ASKING["RemoveMember"][0],
    ASKING["SetAuth"][0],
    moves.WriteConfig(FORCED, "by force"),
    moves.WriteConfig(NEW, "all at once"),
    moves.WriteWorkload(1, "fewer"),
]


@pytest.mark.parametrize("move", ASKED_AGAIN, ids=lambda it: it.name)
async def test_what_cannot_be_taken_back_is_not_done_for_a_mind_that_changed(
    move: moves.Act,
) -> None:
    room = Room()
    await room.make(moves.Rest())
    await room.edit(replicas=5)
    said = await room.make(move)
    assert isinstance(said, Retry)
    assert said.reason == "Changed"
    assert (room.door.asked, room.doorman.writes) == ([], [])


@pytest.mark.parametrize("move", ["DeletePod", "RemoveMember"])
@pytest.mark.parametrize("there", [True, False], ids=["there", "gone"])
async def test_who_goes_off_a_claim_goes_only_while_that_is_there(
    move: str, *, there: bool
) -> None:
    """Pods are seen sooner than claims at times: this one has a new claim of the same name."""
    room = Room()
    await room.make(moves.Rest())
    metadata = {"name": "data-shop-1", "namespace": "default"}
    size = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = await room.user.create(VOLUME_CLAIMS, {"metadata": metadata, "spec": size})
    pod, off = OTHER.pod, OTHER.claim
    assert pod is not None
    assert off is not None
    off = replace(off, name="data-shop-1", uid=claim.metadata.uid if there else "of-before")
    each = {
        "DeletePod": moves.DeletePod(pod, "its volume goes", off=off),
        "RemoveMember": moves.RemoveMember(0xA2, "shop-1", "its volume goes", off=off),
    }
    said = await room.make(each[move])
    assert bool(room.doorman.writes or room.door.asked) == there
    assert isinstance(said, Retry)
    assert (said.reason == "Changed") != there


#: What became of the pod that did not answer, and whether something is done about that one.
SILENT = {"it is the same": True, "it was made anew": False, "it is ready": False, "it went": False}


@pytest.mark.parametrize("move", ["RemoveMember", "DeleteClaim"])
@pytest.mark.parametrize("case", SILENT)
async def test_who_is_silent_is_asked_for_past_the_cache(move: str, case: str) -> None:
    """A pod that was made anew has another address, of which a watch may tell late."""
    room = Room()
    await room.make(moves.Rest())
    assert OTHER.pod is not None
    assert OTHER.claim is not None
    uid = await _other_pod(room, case)
    pod = replace(OTHER.pod, name="shop-1", ready=False, uid=uid)
    each = {
        "RemoveMember": moves.RemoveMember(0xA2, "shop-1", "it is silent", silent=pod),
        "DeleteClaim": moves.DeleteClaim(OTHER.claim, "it cannot start", under=pod),
    }
    said = await room.make(each[move])
    assert isinstance(said, Retry)
    assert bool(room.doorman.writes or room.door.asked) == SILENT[case]
    assert (said.reason == "Changed") != SILENT[case]


async def _other_pod(room: Room, case: str) -> str:
    """Make the pod as it is now; return the UID of the one that did not answer."""
    if case == "it went":
        return "of-before"
    containers = [{"name": "etcd", "image": "etcd"}]
    metadata = {"name": "shop-1", "namespace": "default"}
    body = {"metadata": metadata, "spec": {"containers": containers}}
    made = (await room.user.create(PODS, body)).metadata
    if case == "it is ready":
        ready = {"conditions": [{"type": "Ready", "status": "True"}]}
        await room.user.patch(PODS, made.key, MergePatch({"status": ready}), subresource="status")
    return "of-before" if case == "it was made anew" else made.uid


@pytest.mark.parametrize("config", [FORCED, NEW], ids=["force", "new"])
async def test_nobody_begins_by_a_record_of_the_past(config: Config) -> None:
    room = Room()
    await room.make(moves.Rest())
    assert room.live is not None
    latched = MergePatch({"status": {"clusterID": "cafe"}})
    await room.user.patch(ETCD_CLUSTERS, room.live.metadata.key, latched, subresource="status")
    said = await room.make(moves.WriteConfig(config, "all at once"))
    assert isinstance(said, Retry)
    assert said.reason == "Changed"
    assert room.doorman.writes == []


async def test_nobody_begins_beside_volumes_that_were_not_seen() -> None:
    room = Room()
    await room.make(moves.Rest())
    assert room.live is not None
    await room.claim(room.live, 0)
    about = msgspec.structs.replace(VIEW.cluster, status=room.live.status)
    said = await room.make(moves.WriteConfig(NEW, "all at once"), replace(VIEW, cluster=about))
    assert isinstance(said, Retry)
    assert said.reason == "VolumesUnseen"
    assert room.doorman.writes == []


@pytest.mark.parametrize("kept", [True, False], ids=["exist", "begin"])
async def test_members_that_were_seen_are_not_told_to_begin(*, kept: bool) -> None:
    """A config that no watch has told of, or that lost its labels, is read before it is written."""
    room = Room()
    await room.make(moves.Rest())
    assert room.live is not None
    there = config_map(room.live, Config(NEW.initial_cluster, existing=kept))
    await room.user.create(WHOLE_CONFIG_MAPS, there)
    new = Config((("shop-0", peer_url(0)), ("shop-1", peer_url(1))), existing=False)
    about = msgspec.structs.replace(VIEW.cluster, status=room.live.status)
    await room.make(
        moves.WriteConfig(new, "all at once"), replace(VIEW, cluster=about, config=None)
    )
    now = await room.user.get(WHOLE_CONFIG_MAPS, config_key(room.live.metadata.key))
    assert (
        now.data
        == config_map(room.live, Config(NEW.initial_cluster, existing=True) if kept else new)[
            "data"
        ]
    )


async def test_a_config_without_labels_and_owner_is_known_by_what_is_in_it() -> None:
    room = Room()
    await room.make(moves.Rest())
    assert room.live is not None
    config, key = Config(NEW.initial_cluster, existing=True), config_key(room.live.metadata.key)
    wanted = config_map(room.live, config)
    await room.user.create(WHOLE_CONFIG_MAPS, wanted)
    bare = MergePatch({"metadata": {"labels": None, "ownerReferences": None}})
    await room.user.patch(WHOLE_CONFIG_MAPS, key, bare)
    await room.make(moves.WriteConfig(config, "the list"), replace(VIEW, config=None))
    again = await room.user.get(WHOLE_CONFIG_MAPS, key)
    assert again.metadata.controller is not None
    assert again.metadata.labels == wanted["metadata"]["labels"]


def test_a_config_without_force_is_written_without_asking() -> None:
    kind = Config(FORCED.initial_cluster, existing=True)
    assert not step.is_taking(moves.WriteConfig(kind, "the list"))


# -------------------------------------------------------------------------- troubles

REFUSED = {
    "a right is missing": (Forbidden("you may not"), "ObjectRefused"),
    "a webhook is broken": (ServerFailed("failed calling webhook"), "ObjectRefused"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_what_kubernetes_refuses_is_told(case: str) -> None:
    room = Room()
    error, reason = REFUSED[case]
    room.doorman.refusals["patch configmaps"] = error
    said = await room.make(moves.WriteConfig(Config((), existing=True), "the list"))
    assert isinstance(said, Blocked)
    assert said.reason == reason
    assert error.message in said.message


async def test_a_server_that_is_away_is_the_pass_to_fail_by() -> None:
    room = Room()
    room.doorman.refusals["patch configmaps"] = Unavailable("not now")
    with pytest.raises(Unavailable):
        await room.make(moves.WriteConfig(Config((), existing=True), "the list"))


class ReadToTheEnd:
    """A place for snapshots that needs no disk."""

    async def save(self, _: str, pieces: Any) -> str:
        return str([piece async for piece in pieces])


async def test_a_snapshot_that_is_not_whole_is_taken_again() -> None:
    room = Room(ReadToTheEnd())
    said = await room.make(moves.SaveSurvivor(LEADER))
    assert isinstance(said, Retry)
    assert said.reason == PeerConfused.reason
    assert room.doorman.writes == [], "nobody is recorded as saved"


# -------------------------------------------------------------------------- in vain


async def test_what_somebody_undoes_each_time_is_done_ever_more_rarely() -> None:
    room = Room()
    waits = []
    for _ in range(40):
        said = await room.make(ASKING["Disarm"][0])
        assert isinstance(said, Retry)
        if said.reason == "DoneInVain":
            waits.append(said.after)
            await asyncio.sleep(said.after)
            room.leadership.renewed(room.clock.monotonic())
    assert waits[:7] == pytest.approx([1, 2, 4, 8, 16, 30, 30])
    assert len(room.door.asked) == 40 - len(waits)


async def test_two_moves_that_undo_each_other_are_made_ever_more_rarely() -> None:
    """A webhook that changes a claim template has us delete the workload and write it, for ever."""
    room, rounds = Room(), 0
    for _ in range(100):
        for name in ("Disarm", "Compact"):
            said = await room.make(ASKING[name][0])
            if isinstance(said, Retry) and said.reason == "DoneInVain":
                await asyncio.sleep(said.after)
                room.leadership.renewed(room.clock.monotonic())
                rounds += 1
    assert rounds > 90
    assert len(room.door.asked) < 110


async def test_what_helped_may_be_done_at_once_another_time() -> None:
    room = Room()
    for _ in range(10):
        await room.make(ASKING["Disarm"][0])
        await asyncio.sleep(60)
        room.leadership.renewed(room.clock.monotonic())
        await room.make(moves.Rest())
    assert len(room.door.asked) == 10


async def test_what_only_seemed_to_help_is_done_ever_more_rarely_too() -> None:
    """An alarm is back with the next write of a client; between them there is nothing to do."""
    room = Room()
    for _ in range(600):
        await room.make(ASKING["Disarm"][0])
        await asyncio.sleep(1)
        room.leadership.renewed(room.clock.monotonic())
        await room.make(moves.Rest())
    assert len(room.door.asked) < 30


async def test_another_move_does_not_wait() -> None:
    room = Room()
    for _ in range(5):
        await room.make(ASKING["Disarm"][0])
    assert await room.make(ASKING["Compact"][0]) == Retry(0.0, "Compact", moves.Compact(7).message)


async def test_a_compaction_waits_for_the_newest_status_in_which_it_is_noted() -> None:
    """With an old one it could not be noted, and would be done again and again."""
    room = Room()
    room.live = await room.cluster(replicas=3)
    note = MergePatch({"status": {"doing": "something else"}})
    await room.user.patch(ETCD_CLUSTERS, room.live.metadata.key, note, subresource="status")
    said = await room.make(moves.Compact(7))
    assert isinstance(said, Retry)
    assert said.reason == "Changed"
    assert room.door.asked == []
