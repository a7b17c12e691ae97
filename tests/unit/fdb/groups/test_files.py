"""Pods have the files that the config map says: copied by sidecars, or shown by nodes that are woken."""

from __future__ import annotations

import hashlib

from stateward.core.errors import PeerUnreachable
from stateward.core.outcome import Retry
from stateward.fdb.build import config_map
from stateward.fdb.groups.syncing import substituted, synchronize
from stateward.fdb.model import names
from stateward.kube.client import MergePatch
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, PODS
from unit.fdb.groups.desks import SHOP, STORAGE, Desk, Sidecar, conditions, wrong

SPLIT = {"imageType": "split"}
CONFIG = ObjectKey(SHOP.namespace, names.config_map_name(SHOP.name))


def shown(desk: Desk, connection: str | None = None) -> dict[str, str]:
    """The hashes of what a node shows of the config map, with variables written as values."""
    data = desk.data()
    spec = desk.wanted.group(names.ProcessGroupID.parse("storage-1"))
    conf = substituted(config_map.conf_text(data, spec) or "", {"FDB_INSTANCE_ID": "storage-1"})
    files = {"fdb.cluster": connection or data[names.CLUSTER_FILE_KEY], "fdbmonitor.conf": conf}
    return {name: hashlib.sha256(it.encode()).hexdigest() for name, it in files.items()}


async def running(desk: Desk) -> None:
    await desk.cluster(**SPLIT)
    await desk.config()
    await desk.group()
    await desk.passes()
    await desk.run_pod()
    await desk.report("storage-1")
    desk.doorman.writes.clear()


async def test_files_that_are_copied_are_told_on_the_pod() -> None:
    desk = Desk()
    await running(desk)
    desk.sidecar.mounted = shown(desk)
    await desk.passes()
    pod = await desk.pod()
    assert pod is not None
    assert desk.sidecar.copies == 1
    spec = (await desk.now()).spec
    assert pod.metadata.annotations[names.CONFIG_HASH] == config_map.files_hash(desk.data(), spec)
    assert conditions(await desk.now())["Ready"] == "True"
    assert len(desk.doorman.writes) == 2  # the pod and the status
    await desk.passes()
    assert desk.sidecar.copies == 1


async def test_files_that_are_as_they_shall_be_are_not_copied() -> None:
    desk = Desk()
    await running(desk)
    desk.sidecar.copied = shown(desk)
    await desk.passes()
    assert desk.sidecar.copies == 0
    assert len(desk.wrote("patch pods")) == 1


async def test_a_node_that_is_slow_is_woken_now_and_then() -> None:
    desk = Desk()
    await running(desk)
    desk.sidecar.mounted = shown(desk, "shop:old@10.0.0.9:4501")
    outcome = await desk.once()
    assert isinstance(outcome, Retry)
    assert outcome.reason == "ConfigMapOutdated"
    pod = await desk.pod()
    assert pod is not None
    assert pod.metadata.annotations[names.OUTDATED] == str(int(desk.clock.now()))
    for _ in range(5):
        desk.clock.advance(5)
        await desk.once()
    assert len(desk.wrote("patch pods")) == 2  # after 0 and 15 seconds
    assert wrong(await desk.now()) == ["IncorrectConfigMap"]
    desk.sidecar.mounted = shown(desk)
    await desk.passes()
    assert conditions(await desk.now()) == {"Ready": "True"}


async def test_a_sidecar_that_does_not_answer_is_told_of() -> None:
    desk = Desk()
    await running(desk)
    desk.sidecar.silent = PeerUnreachable("nobody is there")
    outcome = await desk.once()
    assert isinstance(outcome, Retry)
    assert outcome.reason == "SidecarUnreachable"
    desk.clock.advance(15)
    await desk.once()
    assert wrong(await desk.now()) == ["SidecarUnreachable", "IncorrectConfigMap"]
    desk.sidecar.silent, desk.sidecar.mounted = None, shown(desk)
    await desk.passes()
    assert conditions(await desk.now()) == {"Ready": "True"}


async def test_a_sidecar_that_cannot_copy_is_no_silent_one() -> None:
    desk = Desk()
    await running(desk)
    outcome = await desk.once()
    assert isinstance(outcome, Retry)
    assert outcome.reason == "SidecarRefused"
    desk.clock.advance(15)
    await desk.once()
    assert wrong(await desk.now()) == ["IncorrectConfigMap"]
    assert "fdb.cluster must not be empty" in (await desk.now()).status.doing


async def test_a_config_map_that_changes_is_copied_again() -> None:
    desk = Desk()
    await running(desk)
    desk.sidecar.mounted = shown(desk)
    await desk.passes()
    other = "shop:new@10.0.0.9:4501"
    change = {"data": {names.CLUSTER_FILE_KEY: other}}
    await desk.user.patch(CONFIG_MAPS, CONFIG, MergePatch(change))
    desk.sidecar.mounted = shown(desk, other)
    await desk.passes()
    assert desk.sidecar.copies == 2
    assert desk.sidecar.copied == desk.sidecar.mounted


async def test_groups_that_shall_go_and_unified_images_are_not_asked() -> None:
    desk = Desk()
    await running(desk)
    desk.sidecar.silent = PeerUnreachable("nobody is there")
    await desk.edit(remove=True)
    outcome = await desk.passes()
    assert not isinstance(outcome, Retry)
    unified = Desk()
    await unified.settled()
    assert unified.sidecar.copies == 0


async def test_without_a_database_there_is_nothing_to_copy() -> None:
    desk = Desk()
    await desk.cluster(**SPLIT)
    empty = {
        "namespace": CONFIG.namespace,
        "name": CONFIG.name,
        "labels": names.instance_labels("shop"),
    }
    await desk.user.create(CONFIG_MAPS, {"metadata": empty, "data": {names.CLUSTER_FILE_KEY: ""}})
    await desk.group()
    await desk.passes()
    await desk.run_pod()
    await desk.passes()
    assert desk.sidecar.copies == 0


async def test_every_file_is_compared() -> None:
    data = {names.CLUSTER_FILE_KEY: "a:b@10.0.0.1:4501", names.CA_FILE_KEY: "trust"}
    sidecar = Sidecar(mounted={"other": ""})
    desk = Desk()
    await desk.cluster(**SPLIT)
    spec = desk.wanted.group(names.ProcessGroupID.parse("storage-1"))
    assert await synchronize(sidecar, data, spec) == ["ca.pem", "fdb.cluster"]
    assert sidecar.copies == 1


# -------------------------------------------------------------------------- unified images


async def lacking(desk: Desk) -> None:
    """Have a pod whose monitor has read something else than the config map says now."""
    await desk.cluster()
    await desk.config()
    await desk.group()
    await desk.passes()
    await desk.run_pod()
    await desk.report("storage-1")
    await desk.passes()
    note = {"metadata": {"annotations": {names.LAUNCHER_CONFIGURATION: '{"version":"7.3.62"}'}}}
    await desk.user.patch(PODS, STORAGE, MergePatch(note))
    desk.doorman.writes.clear()


async def test_a_node_that_is_slow_is_woken_for_a_monitor_too() -> None:
    desk = Desk()
    await lacking(desk)
    outcome = await desk.once()
    assert isinstance(outcome, Retry)
    assert outcome.after == 3.0
    assert not desk.wrote("patch pods"), "it has some seconds to see it by itself"
    for _ in range(5):
        desk.clock.advance(4)
        await desk.once()
    assert len(desk.wrote("patch pods")) == 2  # after 4 and 20 seconds
    assert not desk.wrote("create events"), "of a thousand pods a thousand would be told"
    pod = await desk.pod()
    assert pod is not None
    assert names.OUTDATED in pod.metadata.annotations
    desk.clock.advance(60)
    await desk.once()
    assert "IncorrectConfigMap" in wrong(await desk.now())
    await desk.run_pod()
    desk.clock.advance(60)
    await desk.once()
    assert "IncorrectConfigMap" not in wrong(await desk.now())
    assert len(desk.wrote("patch pods")) == 3


async def test_each_change_gives_a_monitor_its_seconds() -> None:
    desk = Desk()
    await lacking(desk)
    await desk.once()
    desk.clock.advance(2)
    key = config_map.conf_key((await desk.now()).spec)
    other = {"data": {key: "{}"}}
    await desk.user.patch(CONFIG_MAPS, CONFIG, MergePatch(other))
    outcome = await desk.once()
    assert isinstance(outcome, Retry)
    assert outcome.after == 3.0


async def test_a_monitor_that_may_not_speak_is_not_woken() -> None:
    desk = Desk()
    await lacking(desk)
    note = {"metadata": {"annotations": {names.LAUNCHER_CONFIGURATION: None}}}
    await desk.user.patch(PODS, STORAGE, MergePatch(note))
    for _ in range(3):
        desk.clock.advance(10)
        await desk.once()
    assert not desk.wrote("patch pods")
