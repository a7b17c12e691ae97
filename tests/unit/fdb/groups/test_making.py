"""A group that stays has its claim, its service and its pod, in this order, and as few writes."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.core.errors import OutcomeUnknown
from stateward.core.moments import to_rfc3339
from stateward.core.outcome import Retry
from stateward.fdb.api.kind import PROCESS_GROUPS
from stateward.fdb.model import names
from stateward.fdb.status.document import Role
from stateward.kube.client import MergePatch
from stateward.kube.errors import Forbidden, Invalid, Unavailable
from stateward.kube.managed import owned
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS, SERVICES, VOLUME_CLAIMS
from unit.fdb.groups.desks import DATA, MANAGER, STORAGE, Desk, conditions, kinds, wrong

BY_SERVICE = {"routing": {"publicIPSource": "service"}}


async def test_a_group_comes_up_with_three_writes() -> None:
    desk = Desk()
    await desk.cluster()
    await desk.config()
    await desk.group()
    for step in range(8):  # each of these wakes it, as events would
        await desk.once()
        match step:
            case 1:
                await desk.say(phase="Pending")
            case 2:
                desk.clock.advance(3)
                await desk.run_pod()
            case 4:
                await desk.report()
            case 5:
                await desk.report("storage-1")
    assert kinds(desk.doorman.writes) == [
        "create persistentvolumeclaims",
        "create pods",
        "patch foundationdbprocessgroups.apps.foundationdb.org/status",
    ]
    group = await desk.now()
    assert conditions(group) == {"Ready": "True"}
    status = group.status
    assert (status.addresses, status.node_name, status.fault_domain, status.doing) == (
        ("10.0.0.7",),
        "node-a",
        "node-a",
        "",
    )
    assert status.observed_generation == group.metadata.generation
    assert [(it.process_id, it.reporting) for it in status.processes] == [("storage-1-1", True)]


async def test_a_group_without_data_has_no_claim() -> None:
    desk = Desk()
    await desk.cluster()
    await desk.group("stateless-1")
    await desk.passes(ObjectKey("default", "shop-stateless-1"))
    assert kinds(desk.doorman.writes) == ["create pods"]


async def test_a_group_at_rest_is_not_written() -> None:
    desk = Desk()
    await desk.settled()
    desk.clock.advance(1000)
    await desk.report("storage-1", roles=[Role(role="log")], uptime_seconds=1000.0)
    await desk.once()
    assert desk.doorman.writes == []


async def test_what_takes_long_is_told() -> None:
    desk = Desk()
    await desk.cluster()
    await desk.group()
    await desk.passes()
    await desk.say(phase="Pending")
    outcome = await desk.passes()
    assert isinstance(outcome, Retry)
    assert outcome.after <= 60
    assert not desk.wrote("patch")
    desk.clock.advance(61)
    await desk.passes()
    assert wrong(await desk.now()) == ["PodPending"]
    assert (await desk.now()).status.doing == "its pod has not started"


async def test_a_pod_that_came_back_is_looked_at_when_it_has_run_for_a_while() -> None:
    desk = Desk()
    await desk.settled()
    ended = {"name": "foundationdb", "ready": False, "restartCount": 1, "image": "", "imageID": ""}
    gone = ended | {"state": {"terminated": {"exitCode": 1}}}
    await desk.say(phase="Running", containerStatuses=[gone])
    await desk.passes()
    assert "PodFailing" in wrong(await desk.now())
    started = {"running": {"startedAt": to_rfc3339(desk.clock.now())}}
    back = ended | {"ready": True, "state": started}
    await desk.say(phase="Running", containerStatuses=[back])
    outcome = await desk.passes()
    assert "PodFailing" in wrong(await desk.now()), "it may end again"
    assert isinstance(outcome, Retry), "and nothing but a timer tells when that is over"
    assert outcome.after <= 60
    desk.clock.advance(outcome.after)
    await desk.passes()
    assert wrong(await desk.now()) == []


async def test_pods_do_not_wait_for_the_database_or_the_config_map() -> None:
    desk = Desk()
    await desk.cluster()
    await desk.group()
    await desk.passes()
    assert await desk.pod() is not None


async def test_with_services_the_pod_tells_the_address_of_its_own() -> None:
    desk = Desk()
    await desk.cluster(**BY_SERVICE)
    await desk.group()
    await desk.once()
    assert kinds(desk.doorman.writes) == ["create persistentvolumeclaims", "create services"]
    await desk.passes()
    pod, service = await desk.pod(), await desk.there(SERVICES, STORAGE)
    assert pod is not None
    assert pod.metadata.annotations[names.PUBLIC_IP] == service.spec.cluster_ip


async def test_a_service_that_was_lost_has_its_address_again() -> None:
    desk = Desk()
    await desk.settled(**BY_SERVICE)
    before = await desk.there(SERVICES, STORAGE)
    await desk.delete(SERVICES, STORAGE)
    await desk.passes()
    after = await desk.there(SERVICES, STORAGE)
    assert after.metadata.uid != before.metadata.uid
    assert after.spec.cluster_ip == before.spec.cluster_ip
    assert conditions(await desk.now()) == {"Ready": "True"}


async def test_a_pod_that_tells_an_address_of_nobody_must_be_made_anew() -> None:
    desk = Desk()
    await desk.settled(**BY_SERVICE)
    before = await desk.there(SERVICES, STORAGE)
    await desk.delete(SERVICES, STORAGE)
    # The embedded server gives an address twice, so the refusal of a real one is played.
    desk.doorman.first["create services"] = Invalid("provided IP is already allocated")
    reserved = {"namespace": STORAGE.namespace, "name": "reserved"}
    await desk.user.create(SERVICES, {"metadata": reserved, "spec": {"ports": [{"port": 1}]}})
    await desk.passes()
    after = await desk.there(SERVICES, STORAGE)
    assert after.spec.cluster_ip not in {"", before.spec.cluster_ip}
    assert wrong(await desk.now()) == ["IncorrectPodSpec"]


async def test_the_claim_goes_with_the_cluster_only_if_that_is_asked_for() -> None:
    desk = Desk()
    cluster = await desk.cluster()
    await desk.group()
    await desk.passes()
    claim = await desk.there(VOLUME_CLAIMS, DATA)
    assert claim.metadata.owner_references == ()
    assert claim.metadata.labels[names.CLUSTER_UID_LABEL] == cluster.metadata.uid
    await desk.edit(deletionPolicy="Delete")
    await desk.passes()
    (owner,) = (await desk.there(VOLUME_CLAIMS, DATA)).metadata.owner_references
    assert (owner.uid, owner.controller) == (cluster.metadata.uid, False)
    await desk.edit(deletionPolicy="Retain")
    await desk.passes()
    assert (await desk.there(VOLUME_CLAIMS, DATA)).metadata.owner_references == ()


async def test_labels_that_are_asked_for_are_put_on_and_others_stay() -> None:
    desk = Desk()
    await desk.settled()
    pod = await desk.pod()
    assert pod is not None
    note = {"metadata": {"labels": {"mine": "1", names.GROUP_ID_LABEL: None}}}
    await desk.user.patch(PODS, STORAGE, MergePatch(note))
    hashed = pod.metadata.annotations[names.SPEC_HASH]
    await desk.edit(logGroup="other")
    await desk.passes()
    found = await desk.pod()
    assert found is not None
    assert found.metadata.uid == pod.metadata.uid
    assert found.metadata.labels["mine"] == "1"
    assert found.metadata.labels[names.GROUP_ID_LABEL] == "storage-1"
    assert found.metadata.annotations[names.SPEC_HASH] == hashed


async def test_somebody_who_takes_labels_off_again_and_again_is_not_fought() -> None:
    desk = Desk()
    await desk.settled()
    for _ in range(8):
        note = {"metadata": {"labels": {names.GROUP_ID_LABEL: None}}}
        await desk.user.patch(PODS, STORAGE, MergePatch(note))
        outcome = await desk.once()
    assert isinstance(outcome, Retry)
    assert outcome.reason == "DoneInVain"
    assert len(desk.wrote("patch pods")) == 3


# ------------------------------------------------------------------ pods that are made anew


async def test_a_pod_that_is_obsolete_is_made_anew() -> None:
    desk = Desk()
    await desk.settled()
    pod = await desk.pod()
    assert pod is not None
    await desk.edit(obsoletePod=pod.metadata.uid)
    await desk.passes()
    assert wrong(await desk.now()) == []
    assert conditions(await desk.now())["Ready"] == "False"
    assert len(desk.wrote("delete pods")) == 1
    assert not desk.wrote("create")
    await desk.end(PODS, STORAGE)
    await desk.passes()
    found = await desk.pod()
    assert found is not None
    assert found.metadata.uid != pod.metadata.uid
    assert not desk.wrote("delete persistentvolumeclaims", "create persistentvolumeclaims")
    await desk.run_pod()
    await desk.report("storage-1")
    await desk.passes()
    assert conditions(await desk.now())["Ready"] == "True"
    assert len(desk.wrote("delete pods")) == 1


async def test_the_uid_of_an_earlier_pod_deletes_nothing() -> None:
    desk = Desk()
    await desk.settled()
    await desk.edit(obsoletePod="another-uid")
    await desk.passes()
    assert not desk.wrote("delete")


async def test_a_pod_that_is_isolated_is_not_made_anew() -> None:
    desk = Desk()
    await desk.settled()
    pod = await desk.pod()
    assert pod is not None
    await desk.edit(obsoletePod=pod.metadata.uid)
    await desk.see()
    note = {"metadata": {"annotations": {names.ISOLATED: "true"}}}
    await desk.user.patch(PODS, STORAGE, MergePatch(note))
    await desk.reconciler.reconcile(STORAGE)  # the cache does not show it yet
    await desk.passes()
    assert not desk.wrote("delete")


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
async def test_a_pod_that_has_ended_is_made_anew_after_a_while(phase: str) -> None:
    desk = Desk()
    await desk.cluster()
    await desk.group()
    await desk.passes()
    pod = await desk.run_pod()
    await desk.say(phase=phase)
    outcome = await desk.once()
    assert isinstance(outcome, Retry)
    assert outcome.after == 30
    desk.clock.advance(31)
    await desk.once()
    assert len(desk.wrote("delete pods")) == 1
    if await desk.pod() is not None:
        await desk.end(PODS, STORAGE)
    await desk.passes()
    found = await desk.pod()
    assert found is not None
    assert found.metadata.uid != pod.metadata.uid


# ------------------------------------------------------------------ groups that shall go


async def test_a_group_that_shall_go_and_holds_data_has_its_pod_made_again() -> None:
    desk = Desk()
    await desk.settled()
    await desk.edit(remove=True)
    await desk.delete(PODS, STORAGE)
    await desk.end(PODS, STORAGE)
    await desk.passes()
    assert len(desk.wrote("create pods")) == 1


@pytest.mark.parametrize("how", ["excluded", "exclusionSkipped"])
async def test_for_a_group_that_holds_nothing_nothing_is_made(how: str) -> None:
    desk = Desk()
    await desk.cluster(**BY_SERVICE)
    await desk.group(remove=True, **{how: True})
    await desk.passes()
    assert not desk.wrote("create")


async def test_addresses_are_kept_while_a_group_shall_go() -> None:
    desk = Desk()
    await desk.settled()
    await desk.edit(remove=True)
    await desk.run_pod(ip="10.0.0.8")
    await desk.report("storage-1")
    await desk.passes()
    assert (await desk.now()).status.addresses == ("10.0.0.8", "10.0.0.7")


async def test_addresses_are_replaced_else() -> None:
    desk = Desk()
    await desk.settled()
    await desk.run_pod(ip="10.0.0.8")
    await desk.report("storage-1")
    await desk.passes()
    assert (await desk.now()).status.addresses == ("10.0.0.8",)


async def test_a_cluster_that_is_skipped_is_looked_at_only() -> None:
    desk = Desk()
    await desk.cluster(skip=True)
    await desk.group()
    desk.clock.advance(20)
    await desk.passes()
    assert kinds(desk.doorman.writes) == [
        "patch foundationdbprocessgroups.apps.foundationdb.org/status"
    ]
    assert "skip" in (await desk.now()).status.doing


# ------------------------------------------------------------------ trouble

TROUBLES: dict[str, tuple[str, Exception, list[str]]] = {
    "a quota": ("create pods", Forbidden("exceeded quota"), ["create persistentvolumeclaims"]),
    "no claims": ("create persistentvolumeclaims", Forbidden("exceeded quota"), []),
    "a busy server": ("create pods", Unavailable("later"), ["create persistentvolumeclaims"]),
}


@pytest.mark.parametrize("case", TROUBLES)
async def test_trouble_with_one_object_keeps_others_from_nothing(case: str) -> None:
    desk = Desk()
    await desk.cluster()
    await desk.group()
    beginning, error, made = TROUBLES[case]
    desk.doorman.refusals[beginning] = error
    assert isinstance(await desk.once(), Retry)
    assert kinds(desk.wrote("create")) == made
    desk.clock.advance(6)
    await desk.once()
    assert str(error) in (await desk.now()).status.doing
    desk.doorman.refusals.clear()
    await desk.passes()
    assert await desk.pod() is not None


async def test_a_refusal_is_told_at_once_and_trouble_that_goes_away_is_not() -> None:
    desk = Desk()
    await desk.cluster()
    await desk.group()
    desk.doorman.refusals["create pods"] = Unavailable("later")
    await desk.once()
    assert not desk.wrote("patch")
    desk.doorman.refusals["create pods"] = Forbidden("exceeded quota: pods")
    await desk.once()
    status = (await desk.now()).status
    assert "exceeded quota: pods" in status.doing
    assert "QuotaExceeded" in [it.reason for it in status.conditions if it.type == "Ready"]


async def test_an_answer_that_is_lost_makes_nothing_twice() -> None:
    desk = Desk()
    await desk.cluster()
    await desk.group()
    inner = desk.client.create

    async def lost(*args: Any, **kwargs: Any) -> Any:
        await inner(*args, **kwargs)
        raise OutcomeUnknown("no answer came")

    desk.client.create = lost  # type: ignore[method-assign]
    await desk.once()
    desk.client.create = inner  # type: ignore[method-assign]
    await desk.passes()
    assert kinds(desk.wrote("create")) == ["create persistentvolumeclaims", "create pods"]


# ------------------------------------------------------------------ who writes what


async def test_the_spec_of_a_group_is_never_written() -> None:
    desk = Desk()
    await desk.settled()
    await desk.edit(deletionPolicy="Delete", remove=True, excluded=True)
    await desk.passes()
    found = await desk.user.get(owned(PROCESS_GROUPS), STORAGE)
    mine = [it for it in found.metadata.managed_fields if it["manager"] == MANAGER]
    assert [it.get("subresource") for it in mine] == ["status"]
    assert [set(it["fieldsV1"]) for it in mine] == [{"f:status"}]
