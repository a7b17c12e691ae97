"""The operator ends at every call that it makes: what comes of it is the same, and only once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from stateward.core.moments import to_rfc3339
from stateward.fdb.api.kind import PROCESS_GROUPS
from stateward.kube.resources import PODS, SERVICES, VOLUME_CLAIMS
from unit.fdb.groups.desks import DATA, STORAGE, Desk, Killed, kinds

BY_SERVICE = {"routing": {"publicIPSource": "service"}}
#: More calls than any of the stories makes.
LIMIT = 80


async def created(desk: Desk) -> None:
    await desk.cluster(**BY_SERVICE)
    await desk.config()
    await desk.group()


async def recreated(desk: Desk) -> None:
    await desk.settled(**BY_SERVICE)
    pod = await desk.pod()
    assert pod is not None
    await desk.edit(obsoletePod=pod.metadata.uid)


async def removed(desk: Desk) -> None:
    await desk.settled(**BY_SERVICE)
    proved = to_rfc3339(desk.clock.now())
    await desk.edit(remove=True, excluded=True, exclusionTimestamp=proved)
    await desk.delete(PROCESS_GROUPS, STORAGE)


Story = Callable[[Desk], Awaitable[None]]
STORIES: dict[str, tuple[Story, list[str], tuple[bool, bool, bool]]] = {
    "created": (created, [], (True, True, True)),
    "recreated": (recreated, ["delete pods"], (True, True, True)),
    "removed": (
        removed,
        ["delete pods", "delete persistentvolumeclaims", "delete services"],
        (False, False, False),
    ),
}


async def tick(desk: Desk) -> None:
    """What nodes and the database do between two passes."""
    desk.clock.advance(1)
    if (pod := await desk.pod()) is not None:
        if pod.metadata.deleting:
            await desk.end(PODS, STORAGE)
        elif pod.status.phase != "Running":
            await desk.run_pod()
        else:
            await desk.report("storage-1")
    claim = await desk.there(VOLUME_CLAIMS, DATA)
    if claim is not None and claim.metadata.deleting:
        await desk.end(VOLUME_CLAIMS, DATA)


async def told(desk: Desk, story: Story, kill_at: int | None, *, after: bool) -> bool:
    """Play a story to its end; tell whether the operator was ended in it."""
    await story(desk)
    desk.doorman.writes.clear()
    desk.doorman.calls, desk.doorman.kill_at, desk.doorman.kill_after = 0, kill_at, after
    killed = False
    for _ in range(25):
        try:
            await desk.once()
        except Killed:
            killed = True
            desk.doorman.kill_at = None
            desk.start()
        await tick(desk)
    desk.doorman.kill_at = None
    return killed


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("name", STORIES)
async def test_whenever_it_ends_the_same_comes_of_it(name: str, after: bool) -> None:
    story, deletes, there = STORIES[name]
    for kill_at in range(LIMIT):
        desk = Desk()
        if not await told(desk, story, kill_at, after=after):
            assert kill_at > 3
            return
        where = f"ended at call {kill_at}: {desk.doorman.writes}"
        assert kinds(desk.wrote("delete")) == deletes, where
        found = [
            await desk.there(resource, key) is not None
            for resource, key in ((PODS, STORAGE), (VOLUME_CLAIMS, DATA), (SERVICES, STORAGE))
        ]
        assert tuple(found) == there, where
        made = kinds(desk.wrote("create"))
        assert len(made) == len(set(made)), where
        assert (await desk.there(PROCESS_GROUPS, STORAGE) is None) == (name == "removed")
        if name != "removed":
            ready = next(it for it in (await desk.now()).status.conditions if it.type == "Ready")
            assert ready.status == "True", where
    raise AssertionError("the story has more calls than were tried")
