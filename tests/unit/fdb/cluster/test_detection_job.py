"""The step that keeps the job: few calls, and no quarrel with a server that knows better."""

from __future__ import annotations

from typing import Any, cast

import pytest

from fakes.hand_clock import HandClock
from operators.fdb_manifests import spec
from stateward.app.products import PRODUCTS
from stateward.core.chance import Chance
from stateward.core.outcome import DONE, Blocked, Outcome
from stateward.core.ports import Ports
from stateward.fdb.api.kind import CLUSTERS, FoundationDBCluster
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.build.detection import (
    WHOLE_CRON_JOBS,
    Detector,
    WholeCronJob,
    detection_job,
)
from stateward.fdb.cluster.hands.applying import apply, create
from stateward.fdb.cluster.hands.intent import CHANGED
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.cluster.steps.making.update_detection_job import UpdateDetectionJob
from stateward.fdb.model.names import FIELD_MANAGER
from stateward.kube.client import Apply
from stateward.kube.codec import Json, decode, encode
from stateward.kube.errors import AlreadyExists, Forbidden, NotFound
from stateward.kube.meta import ObjectKey, ObjectMeta
from stateward.kube.resources import NAMESPACES, Resource
from stateward.local.api import Api
from stateward.local.client import MemoryClient
from stateward.local.rules.writes import Author
from unit.fdb.build.clusters import wanted

ENABLED: Json = {"automationOptions": {"replacements": {"enabled": True}}}
OFF: Json = {"automationOptions": {"replacements": {"enabled": False}}}


class Server:
    """One CronJob, as a server keeps it that changes what it is told."""

    def __init__(self, changes: Json | None = None) -> None:
        self.changes = changes or {}
        self.there: Json | None = None
        self.generation = 1
        self.calls: list[str] = []
        self.trouble: Exception | None = None
        self.cluster_generation = 1

    def _kept(self, body: Json) -> None:
        before = self.there
        spec = {**body["spec"], **self.changes}
        if before is not None and before["spec"] != spec:
            self.generation += 1
        told = {"uid": "job-uid", "resourceVersion": "7", "generation": self.generation}
        self.there = {**body, "spec": spec, "metadata": {**body["metadata"], **told}}

    def _said(self, verb: str) -> None:
        self.calls.append(verb)
        if self.trouble is not None:
            raise self.trouble

    async def create(self, resource: Resource[Any], body: Json) -> Any:
        self._said("create")
        if self.there is not None:
            raise AlreadyExists("it is there")
        self._kept(body)
        return decode(encode(self.there), resource.type)

    async def patch(self, resource: Resource[Any], _key: ObjectKey, patch: Any) -> Any:
        self._said("apply" if isinstance(patch, Apply) else "patch")
        self._kept(patch.body)
        return decode(encode(self.there), resource.type)

    async def get(self, resource: Resource[Any], key: ObjectKey) -> Any:
        self._said(f"get {resource.plural}")
        if resource.kind == "FoundationDBCluster":
            return cluster(self.cluster_generation)
        if self.there is None:
            raise NotFound(f"{key} is not there")
        return decode(encode(self.there), resource.type)

    async def delete(self, _resource: Resource[Any], _key: ObjectKey, *, uid: str) -> None:
        self._said(f"delete {uid}")
        self.there = None


def cluster(generation: int = 1) -> FoundationDBCluster:
    return FoundationDBCluster(
        metadata=ObjectMeta(
            name="shop", namespace="prod", uid="cluster-uid", generation=generation
        ),
        spec=FoundationDBClusterSpec(version="7.3.63"),
    )


def step(server: Server) -> UpdateDetectionJob:
    it = cast("Any", server)
    detector = Detector("stateward:1.2.3", "stateward")
    return UpdateDetectionJob(Tools(client=it, turn=it, fence=it, chance=it, detector=detector))


async def run(
    it: UpdateDetectionJob, server: Server, said: Json, *, blind: bool = False, unseen: str = ""
) -> Outcome:
    live = None if server.there is None or blind else decode(encode(server.there), WholeCronJob)
    nothing = cast("Any", None)
    seen = Seen(
        cluster(), nothing, {}, wanted(spec(**said)), frozenset(), {}, None, None, None,
        detection_job=live, jobs_unseen=unseen,
    )  # fmt: skip
    return await it.run(seen)


async def test_at_rest_nobody_is_asked() -> None:
    server = Server()
    it = step(server)
    assert await run(it, server, ENABLED) == DONE
    server.calls.clear()
    for again in (it, step(server)):
        assert await run(again, server, ENABLED) == DONE
    assert server.calls == []


async def test_where_there_shall_be_none_nobody_is_asked() -> None:
    server = Server()
    assert await run(step(server), server, OFF) == DONE
    assert server.calls == []


async def test_a_server_that_makes_something_else_of_it_is_told_once() -> None:
    server = Server({"concurrencyPolicy": "Allow"})
    it = step(server)
    for _ in range(5):
        assert await run(it, server, ENABLED) == DONE
    assert server.calls == ["get foundationdbclusters", "create"]
    server.calls.clear()
    newer = step(server)  # who starts knows nothing of it
    for _ in range(5):
        assert await run(newer, server, ENABLED) == DONE
    assert server.calls == ["apply"]


async def test_one_that_is_not_seen_is_written_if_it_is_ours() -> None:
    server = Server()
    it = step(server)
    await run(it, server, ENABLED)
    assert await run(it, server, ENABLED, blind=True) == DONE
    asked = ["get foundationdbclusters", "create"]
    assert server.calls == [*asked, *asked, "get cronjobs", "apply"]
    assert server.there is not None
    server.there["metadata"]["ownerReferences"][0]["uid"] = "another"
    found = await run(it, server, ENABLED, blind=True)
    assert isinstance(found, Blocked)
    assert found.reason == "NameTaken"


async def test_by_a_spec_of_before_none_is_made() -> None:
    server = Server()
    server.cluster_generation = 2
    assert await run(step(server), server, ENABLED) == CHANGED
    assert server.calls == ["get foundationdbclusters"]


async def test_it_is_deleted_by_its_uid_after_the_spec_was_read_again() -> None:
    server = Server()
    it = step(server)
    await run(it, server, ENABLED)
    server.calls.clear()
    assert await run(it, server, OFF) == DONE
    assert server.calls == ["get foundationdbclusters", "delete job-uid"]


@pytest.mark.parametrize("there", [False, True])
async def test_who_may_not_write_it_says_so_and_goes_on(there: bool) -> None:
    server = Server()
    if there:
        await run(step(server), server, ENABLED)
    server.trouble = Forbidden("cronjobs.batch is forbidden")
    later: Json = {"replacements": {"enabled": True, "failureDetectionTimeSeconds": 60}}
    found = await run(step(server), server, {"automationOptions": later})
    assert isinstance(found, Blocked)
    assert found.reason == "ObjectRefused"
    assert "shop-detect-missing" in found.message


@pytest.mark.parametrize(
    ("said", "there", "told"),
    [
        (ENABLED, False, True),
        (ENABLED, True, True),
        (OFF, False, False),  # it concerns nobody
        (OFF, True, True),
    ],
)
async def test_where_jobs_cannot_be_seen_none_is_touched(
    said: Json, there: bool, told: bool
) -> None:
    server = Server()
    if there:
        await run(step(server), server, ENABLED)
    server.calls.clear()
    found = await run(step(server), server, said, unseen="cronjobs is forbidden")
    assert server.calls == []
    assert [it.reason for it in (found,) if isinstance(it, Blocked)] == ["JobsUnreadable"] * told


# -------------------------------------------------------------------------- on a server of ours


def with_schedule(schedule: str, **more: Any) -> Json:
    job = {"spec": {"schedule": schedule, **more}}
    said = spec(automationOptions={"replacements": {"enabled": True, "cronJob": job}})
    found = detection_job(wanted(said), Detector("stateward:1.2.3"))
    assert found is not None
    return found


@pytest.mark.parametrize("halfway", [False, True], ids=["made", "ended halfway"])
async def test_what_is_no_longer_said_goes_also_if_we_ended_while_we_made_it(halfway: bool) -> None:
    api = Api(Ports(HandClock(0), Chance(0)))
    api.create(NAMESPACES, "", {"metadata": {"name": "prod"}}, Author("user"))
    client = MemoryClient(api, field_manager=FIELD_MANAGER)
    first, later = with_schedule("@daily", suspend=True), with_schedule("@hourly")
    if halfway:
        made: ObjectMeta = (await client.create(WHOLE_CRON_JOBS, first)).metadata
    else:
        made = await create(client, WHOLE_CRON_JOBS, first)
    await apply(client, WHOLE_CRON_JOBS, later, made)
    found = await client.get(WHOLE_CRON_JOBS, made.key)
    assert (found.spec["schedule"], found.spec.get("suspend", False)) == ("@hourly", False)


def test_a_process_calls_itself_as_it_applies() -> None:
    """Else what it made, and ended before that counted as applied, could not be taken back."""
    (name,) = (it.name for it in PRODUCTS.values() if it.kind is CLUSTERS)
    assert f"stateward-{name}" == FIELD_MANAGER
