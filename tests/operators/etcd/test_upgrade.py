"""Etcd 3.5 becomes 3.6 under writes; a step that etcd does not allow is never taken."""

from __future__ import annotations

import pytest

from operators.etcd.test_rolling import rolled
from operators.etcd.witness import Witness, told, uids
from operators.etcd.worlds import said, version_of, world
from stateward.kube.errors import Invalid


def image(version: str) -> dict[str, object]:
    """A pod template with an image, of which the door knows nothing."""
    etcd = {"name": "etcd", "image": f"quay.io/coreos/etcd:v{version}"}
    return {"spec": {"containers": [etcd]}}


@pytest.mark.usefixtures("both_minors")
async def test_19_three_members_go_from_3_5_to_3_6_under_writes(plane: str) -> None:
    async with world(plane, etcd="3.5") as it:
        witness = Witness(it)
        async with it.operating(wrap=witness.between):
            await it.create("shop", replicas=3)
            old = await it.ready("shop")
            assert old.status.version == version_of("3.5")
            await rolled(it, witness, {"version": version_of("3.6")})
            new = await it.ready("shop")
            assert new.status.version == version_of("3.6")
            assert {it.version for it in new.status.members} == {version_of("3.6")}
            assert new.status.cluster_id == old.status.cluster_id
            with pytest.raises(Invalid, match="version cannot go back by a minor release"):
                await it.edit("shop", version=version_of("3.5"))
            with pytest.raises(Invalid, match="one minor release at a time"):
                await it.edit("shop", version="3.8.0")
            assert set(await told(it, "shop")) >= {"DeletePod", "MoveLeader"}


@pytest.mark.usefixtures("both_minors")
async def test_19_what_the_door_cannot_see_is_held_back_and_scaling_goes_on(plane: str) -> None:
    async with world(plane, etcd="3.6") as it, it.operating():
        await it.create("shop", replicas=1)
        await it.ready("shop")
        before = uids(await it.pods("shop"))
        await it.edit("shop", version=None, podTemplate=image(version_of("3.5")))
        held = await it.until("shop", lambda its: said(its, "Ready") == ("False", "UpgradeRefused"))
        assert "must not follow" in held.status.blockers[0].message
        await it.edit("shop", replicas=2)
        grown = await it.until("shop", lambda its: its.status.replicas == 2)
        assert grown.status.version == version_of("3.6")
        pods = await it.pods("shop")
        assert uids(pods)["shop-0"] == before["shop-0"], "nobody was restarted"
        images = {one.image for pod in pods for one in pod.spec.containers}
        assert images == {f"quay.io/coreos/etcd:v{version_of('3.6')}"}
        assert said(grown, "Available") == ("True", "QuorumAgrees")
        await it.edit("shop", version=version_of("3.6"), podTemplate=None)
        await it.ready("shop")
        assert "UpgradeRefused" in await told(it, "shop")
