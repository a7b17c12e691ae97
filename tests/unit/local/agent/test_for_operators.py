"""What operators of databases rely on: addresses beforehand, fresh variables, volumes that vanish."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from stateward.core.errors import UsageError
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.resources import CONFIG_MAPS, VOLUME_CLAIMS
from stateward.local.catalog import VOLUMES
from stateward.local.documents import loosely
from unit.local.agent.stage import key
from unit.local.agent.theatre import Theatre, one, quits

pytestmark = pytest.mark.virtual


async def test_an_address_is_known_before_its_pod_exists_and_stays(tmp_path: Path) -> None:
    stage = Theatre(tmp_path)
    async with stage.running() as agent:
        foretold = {name: agent.address_of(key(name)) for name in ("p", "q")}
        assert len(set(foretold.values())) == 2
        await stage.make("p", one("server"))
        assert (await stage.ready("p"))["podIP"] == foretold["p"]
        await stage.delete("p", 0)
        await stage.gone("p")
        assert agent.address_of(key("p")) == foretold["p"]
    async with stage.running() as later:
        assert {name: later.address_of(key(name)) for name in foretold} == foretold


async def test_variables_are_read_again_at_every_start(tmp_path: Path) -> None:
    stage = Theatre(tmp_path, job=quits(1, 1.0))
    await stage.config_map("state", CLUSTER="new")
    async with stage.running():
        await stage.make("p", one("job", envFrom=[{"configMapRef": {"name": "state"}}]))
        await stage.until("p", lambda it: it["phase"] == "Running")
        await stage.client.patch(
            CONFIG_MAPS, key("state"), MergePatch({"data": {"CLUSTER": "existing"}})
        )
        await asyncio.sleep(30)

    assert [it.launch.env["CLUSTER"] for it in stage.named("job")][:3] == [
        "new",
        "existing",
        "existing",
    ]


@pytest.mark.parametrize(("code", "reason"), [(0, "Completed"), (1, "Error")])
async def test_a_container_that_ends_is_started_again_later_and_later(
    tmp_path: Path, code: int, reason: str
) -> None:
    stage = Theatre(tmp_path, job=quits(code, 1.0))
    async with stage.running():
        await stage.make("p", one("job"), restartPolicy="Always")
        await asyncio.sleep(40)  # runs of 1 s, at once and 10 and 20 s after each other
        status = (await stage.status("p"))["containerStatuses"][0]

    assert (len(stage.named("job")), status["restartCount"]) == (4, 3)
    assert status["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    last = status["lastState"]["terminated"]
    assert (last["reason"], last["exitCode"]) == (reason, code)


async def claimed(stage: Theatre, name: str) -> Json:
    """Give a claim a volume; return the part of a pod that uses it."""
    where = {"namespace": "ns", "name": name}
    size = {"storage": "1Gi"}
    volume = {
        "metadata": {"name": f"pv-{name}", "annotations": {"pv.kubernetes.io/provisioned-by": "stateward.dev/local"}},
        "spec": {"capacity": size, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}},
    }  # fmt: skip
    claim = {
        "metadata": where,
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": size}, "volumeName": f"pv-{name}"},
    }  # fmt: skip
    await stage.client.create(loosely(VOLUMES), volume)
    await stage.client.create(loosely(VOLUME_CLAIMS), claim)
    bound = MergePatch({"status": {"phase": "Bound"}})
    await stage.client.patch(loosely(VOLUME_CLAIMS), key(name), bound, subresource="status")
    return {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]}


async def test_the_volume_of_a_claim_is_emptied_whether_its_pod_runs_or_not(tmp_path: Path) -> None:
    stage = Theatre(tmp_path)
    async with stage.running() as agent:
        await stage.make("p", one("server"), **await claimed(stage, "data"))
        await stage.ready("p")
        place = tmp_path / "volumes" / "pv-data"
        for is_running in (True, False):
            (place / "member" / "wal").mkdir(parents=True)
            (place / "member" / "wal" / "0.wal").write_text("entries")
            (place / "note").symlink_to("nowhere")
            await agent.faults.wipe(key("data"))
            assert list(place.iterdir()) == []
            assert len(stage.actors.running) == is_running
            if is_running:
                await stage.delete("p", 2)
                await stage.gone("p")


async def test_a_claim_without_a_volume_cannot_be_emptied(tmp_path: Path) -> None:
    stage = Theatre(tmp_path)
    async with stage.running() as agent:
        with pytest.raises(UsageError, match='persistentvolumeclaim "data" not found'):
            await agent.faults.wipe(key("data"))
