"""The stories: what is done, chapter by chapter, and what must become true of it."""

from __future__ import annotations

from stateward.app.demo.chapters import Chapter
from stateward.app.demo.picture import Holds, Picture, has, is_ready
from stateward.app.demo.play import Play

#: An option that changes nothing for the audience, and every pod.
OPTION = "max-txn-ops"
#: Seconds between two looks at the cluster.
_LOOK = 0.05


def whole(play: Play) -> tuple[Chapter, ...]:
    """Return the chapters of the demonstration."""
    return (
        _bootstrap(play, span=3.0),
        _lose_operator(play),
        _scale(play, 3, 5, span=10.0),
        _scale(play, 5, 1, span=3.0),
        _sleep(play, 1),
        _wake(play, 3, span=8.0),
        _kill_leader(play, span=3.0),
        _wipe_disk(play, span=12.0),
        _roll(play, "256", span=8.0),
    )


def short(play: Play) -> tuple[Chapter, ...]:
    """Return the chapters that are told for each of many seeds: those in which kills hurt most."""
    return (
        _bootstrap(play, span=2.0),
        _kill_leader(play, span=3.0),
        _roll(play, "256", span=6.0),
        _scale(play, 3, 1, span=2.0),
        _sleep(play, 1),
        _wake(play, 1, span=2.0),
    )


def _bootstrap(play: Play, span: float) -> Chapter:
    async def act() -> Holds:
        await play.create(replicas=3)
        play.writer.go_on()
        await _look(play, lambda picture: bool(picture.running()))  # a kill is to hit somebody
        return has(3)

    return Chapter("bootstrap", "three members from nothing", "3 healthy members", act, span)


def _lose_operator(play: Play) -> Chapter:
    async def act() -> Holds:
        lost = play.pull_cable()
        return lambda picture: picture.operator not in {"", lost} and has(3)(picture)

    title = "the leading operator loses its network, the other takes over"
    return Chapter("lose-operator", title, "another operator to lead", act)


def _scale(play: Play, old: int, new: int, span: float) -> Chapter:
    async def act() -> Holds:
        await play.edit(replicas=new)
        return has(new)

    title, wanted = f"{old} → {new} members", f"{new} healthy members and no other pod"
    return Chapter(f"scale-{old}-to-{new}", title, wanted, act, span)


def _sleep(play: Play, old: int) -> Chapter:
    async def act() -> Holds:
        play.writer.rest()
        await play.edit(replicas=0)
        return has(0)

    title = f"{old} → 0: asleep on its volume"
    return Chapter(f"scale-{old}-to-0", title, "no pod, and a cluster that says so", act)


def _wake(play: Play, new: int, span: float) -> Chapter:
    async def act() -> Holds:
        cluster_id = play.picture().cluster_id
        await play.edit(replicas=new)
        play.writer.go_on()

        def holds(picture: Picture) -> bool:
            return picture.cluster_id == cluster_id and has(new)(picture)

        return holds

    title, wanted = f"0 → {new}: the same cluster awakes", f"{new} healthy members of the same id"
    return Chapter(f"scale-0-to-{new}", title, wanted, act, span)


def _kill_leader(play: Play, span: float) -> Chapter:
    async def act() -> Holds:
        picture = await _with_leader(play)
        leader, size = picture.leader, len(picture.pods)
        before = picture.restarts(leader)
        play.kill(leader)
        written = play.writer.acknowledged

        def holds(now: Picture) -> bool:
            has_restarted = now.restarts(leader) > before
            return has_restarted and play.writer.acknowledged > written and has(size)(now)

        return holds

    wanted = "the killed member to be back, and writes to go through"
    return Chapter("kill-leader", "kill the leader of etcd", wanted, act, span)


def _wipe_disk(play: Play, span: float) -> Chapter:
    async def act() -> Holds:
        picture = await _with_leader(play)
        size, ids = len(picture.pods), picture.ids()
        victim = max(name for name in ids if name != picture.leader)
        await play.wipe(victim)
        return lambda now: now.ids().get(victim, ids[victim]) != ids[victim] and has(size)(now)

    title = "wipe a member's disk: replaced after 10 s of grace"
    return Chapter("wipe-disk", title, "a new member in its place", act, span)


def _roll(play: Play, value: str, span: float) -> Chapter:
    async def act() -> Holds:
        before = play.picture().uids()
        await play.edit(options={OPTION: value})

        def holds(now: Picture) -> bool:
            fresh = all(before.get(name) != uid for name, uid in now.uids().items())
            return fresh and has(len(before))(now)

        return holds

    title = f"roll the option {OPTION} through all members"
    return Chapter("roll-option", title, "every pod to be a new one", act, span)


async def _with_leader(play: Play) -> Picture:
    """Return the first picture of a cluster that is well: a kill just before may yet be felt."""
    return await _look(play, lambda picture: is_ready(picture) and bool(picture.leader))


async def _look(play: Play, holds: Holds) -> Picture:
    while not holds(picture := play.picture()):
        await play.stage.ports.clock.sleep(_LOOK)
    return picture
