"""Images beside fdbserver change in place: the pod stays, and the sidecar starts anew."""

from __future__ import annotations

from dataclasses import fields

import msgspec
import pytest

from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.build.pod import pod_hash
from stateward.fdb.build.wanted import Wanted
from stateward.fdb.groups.viewing import view_of
from stateward.fdb.model import names
from stateward.kube.codec import Json, plain
from unit.fdb.groups.desks import Desk, wrong


async def upgraded(desk: Desk, version: str) -> None:
    """Ask for another version, as the cluster's controller does of its groups."""
    spec = msgspec.structs.replace(desk.wanted.spec, version=version)
    basis = {it.name: getattr(desk.wanted, it.name) for it in fields(desk.wanted) if it.init}
    desk.wanted = Wanted(**{**basis, "spec": spec})
    wanted = desk.wanted.group(names.ProcessGroupID.parse("storage-1"))
    await desk.edit(processSettings=plain(wanted.process_settings))


@pytest.mark.parametrize("kind", ["unified", "split"])
async def test_a_new_sidecar_comes_in_place(kind: str) -> None:
    desk = Desk()
    await desk.settled(imageType=kind)
    before = await desk.pod()
    await upgraded(desk, "7.4.1")
    await desk.see()
    view = view_of(desk.eyes.glance(await desk.now()), desk.eyes.memo)
    assert Kind.INCORRECT_SIDECAR_IMAGE in view.conditions
    assert Kind.INCORRECT_POD_SPEC not in view.conditions
    await desk.once()
    pod = await desk.pod()
    assert before is not None
    assert pod is not None
    assert pod.metadata.uid == before.metadata.uid
    images = {it.name: it.image for it in (*pod.spec.containers, *pod.spec.init_containers)}
    assert "7.4.1" in images.pop(names.SIDECAR_CONTAINER)
    assert all("7.3.63" in it for it in images.values()), "a pod starts with what runs"
    assert pod.metadata.annotations[names.SPEC_HASH] == pod_hash(await desk.now())
    assert not desk.wrote("delete")
    await desk.once()
    assert len(desk.wrote("patch pods")) == 1


def beside(container_id: str, **state: Json) -> list[Json]:
    state = state or {"running": {}}
    common = {"ready": "running" in state, "restartCount": 0, "state": state}
    return [{"name": names.SIDECAR_CONTAINER, "containerID": container_id, **common}]


@pytest.mark.parametrize(
    ("told", "waits"),
    [
        (beside("c://1"), True),
        (beside("c://1", waiting={"reason": "ImagePullBackOff"}), True),
        (beside("c://2", terminated={"exitCode": 1}), True),
        (beside("c://2"), False),
    ],
    ids=["the old one runs on", "no image", "it ended", "the new one runs"],
)
async def test_a_new_sidecar_is_there_when_it_runs(told: list[Json], waits: bool) -> None:
    """What the one before has brought may be of the same version."""
    desk = Desk()
    await desk.settled()
    await desk.say(containerStatuses=beside("c://1"))
    await upgraded(desk, "7.4.1")
    await desk.passes()
    await desk.say(containerStatuses=told)
    await desk.passes()
    view = view_of(desk.eyes.glance(await desk.now()), desk.eyes.memo)
    assert (Kind.INCORRECT_SIDECAR_IMAGE in view.conditions) == waits


async def test_a_sidecar_whose_image_was_set_back_before_its_node_looked_is_there() -> None:
    """Its node sees the image that runs, and starts nothing anew: nobody would come."""
    desk = Desk()
    await desk.settled()
    await desk.say(containerStatuses=beside("c://1"))
    for version in ("7.4.1", "7.4.2", "7.3.63"):
        await upgraded(desk, version)
        await desk.passes()
    view = view_of(desk.eyes.glance(await desk.now()), desk.eyes.memo)
    assert Kind.INCORRECT_SIDECAR_IMAGE not in view.conditions


@pytest.mark.parametrize(("runs", "waits"), [("c://1", True), ("c://2", True), ("c://3", False)])
async def test_a_sidecar_whose_image_changes_twice_starts_twice(runs: str, waits: bool) -> None:
    """The second one runs what was asked for in between."""
    desk = Desk()
    await desk.settled()
    await desk.say(containerStatuses=beside("c://1"))
    await upgraded(desk, "7.4.1")
    await desk.passes()
    if runs != "c://1":
        await desk.say(containerStatuses=beside("c://2"))
    await upgraded(desk, "7.4.2")
    await desk.passes()
    await desk.say(containerStatuses=beside(runs))
    await desk.passes()
    view = view_of(desk.eyes.glance(await desk.now()), desk.eyes.memo)
    assert (Kind.INCORRECT_SIDECAR_IMAGE in view.conditions) == waits


async def test_another_image_of_the_init_container_starts_no_sidecar_anew() -> None:
    desk = Desk()
    await desk.settled(imageType="split")
    await desk.say(containerStatuses=beside("c://1"))
    await with_image(desk, "initContainers", names.INIT_CONTAINER, "elsewhere/sidecar:7.3.63-1")
    await desk.passes()
    pod = await desk.pod()
    assert pod is not None
    assert "elsewhere/sidecar:7.3.63-1" in {it.image for it in pod.spec.init_containers}
    view = view_of(desk.eyes.glance(await desk.now()), desk.eyes.memo)
    assert Kind.INCORRECT_SIDECAR_IMAGE not in view.conditions


async def with_image(desk: Desk, part: str, name: str, image: str) -> None:
    settings = plain((await desk.now()).spec.process_settings)
    for it in settings["podTemplate"]["spec"][part]:
        if it["name"] == name:
            it["image"] = image
    await desk.edit(processSettings=settings)


async def test_a_pod_that_differs_otherwise_is_not_changed_in_place() -> None:
    desk = Desk()
    await desk.settled()
    await upgraded(desk, "7.3.64")
    await desk.passes()
    assert not desk.wrote("patch pods", "delete pods")
    assert "IncorrectPodSpec" in wrong(await desk.now())
