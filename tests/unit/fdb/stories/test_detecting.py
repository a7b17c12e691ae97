"""Somebody looks for missing processes beside the operator: its job, and what that comes to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from fakes.fdb_stories import KEY, NAME, NAMESPACE, OURSELVES, USER, Story, operator, played, spec
from stateward.fdb.api.kind import CLUSTERS
from stateward.fdb.build.detection import NOBODY
from stateward.fdb.cluster.detecting import Detected, Means, detect
from stateward.fdb.model.names import ISOLATED, MISSING_DETECTED, detection_job_name
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CRON_JOBS, PODS
from stateward.sim.fdb.databases import FdbCall
from stateward.sim.fdb.world import Surroundings

JOB = ObjectKey(NAMESPACE, detection_job_name(NAME))


def replacing(job: Json | None = None, **more: Any) -> Json:
    options = {"enabled": True, **({} if job is None else {"cronJob": job}), **more}
    return {"automationOptions": {"replacements": options}}


def job_of(it: Story) -> Json | None:
    stored = it.it.world.api.store.get(CRON_JOBS.name, JOB)
    return None if stored is None else stored.document()


def schedule(it: Story) -> str:
    found = job_of(it)
    return "" if found is None else found["spec"]["schedule"]


def patch(it: Story, body: Json) -> None:
    it.it.world.api.patch(CRON_JOBS, JOB, MergePatch(body), USER)


def isolate(it: Story, group: str, value: str | None = "true") -> None:
    """Have the processes of a group end, while its pod stays; or no longer."""
    body = {"metadata": {"annotations": {ISOLATED: value}}}
    it.it.world.api.patch(PODS, it.pod(group), MergePatch(body), USER)


def is_marked(it: Story, group: str) -> bool:
    found = it.groups().get(group)
    return found is not None and bool(found["spec"].get("remove"))


def conditions(it: Story, group: str) -> set[str]:
    return {one["type"] for one in it.groups()[group]["status"]["conditions"]}


def blocker(it: Story) -> str:
    return " ".join(f"{one['guard']}: {one['message']}" for one in it.status.get("blockers", ()))


class Looker:
    """The job itself: it looks once, and ends."""

    def __init__(self, around: Surroundings) -> None:
        self._means = Means(around.client, around.databases, around.ports.clock)
        self.found: Detected | None = None

    async def run(self, stop: asyncio.Event) -> None:
        self.found = await detect(self._means, KEY)
        await stop.wait()


async def looked(it: Story) -> Detected:
    """Run the job once; return what it found."""
    made: list[Looker] = []

    def assembly(around: Surroundings) -> Looker:
        made.append(Looker(around))
        return made[-1]

    (slot,) = it.it.operate(assembly)
    await it.until("looked", lambda: bool(made) and made[-1].found is not None, 120)
    slot.lasts = False
    assert slot.process is not None
    slot.process.crash()
    found = made[-1].found
    assert found is not None
    return found


# -------------------------------------------------------------------------- the job


def test_an_operator_with_roles_that_know_no_jobs_does_all_else() -> None:
    verbs = ("list", "watch", "get", "create", "patch", "delete")

    async def story(it: Story) -> None:
        weather = it.it.world.weather
        for verb in verbs:
            weather.forbidden[verb, CRON_JOBS.name, ""] += 1
        await it.create(spec())  # whoever asks for no replacements does not notice
        await it.at_rest()
        it.change(**replacing())
        await it.until("told", lambda: "JobsUnreadable" in blocker(it))
        it.change(processCounts={"stateless": 4})
        await it.until("more", lambda: sum("stateless" in one for one in it.groups()) == 4)
        await it.rest(600)
        ready = it.condition("Ready")
        assert (ready["status"], ready["reason"]) == ("False", "JobsUnreadable")
        assert job_of(it) is None
        for verb in verbs:
            weather.forbidden[verb, CRON_JOBS.name, ""] -= 1
        await it.reconciled()
        assert job_of(it) is not None
        await it.at_rest()

    played(story)


def test_it_is_there_while_replacements_are_enabled_and_says_when() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        assert job_of(it) is None
        it.change(**replacing())
        await it.reconciled()
        assert schedule(it) == "*/30 * * * *"
        await it.at_rest()
        it.change(**replacing(failureDetectionTimeSeconds=7200))
        await it.reconciled()
        assert schedule(it) == "0 */2 * * *"
        it.change(**replacing({"spec": {"schedule": "@daily", "suspend": True}}))
        await it.reconciled()
        assert schedule(it) == "@daily"
        await it.at_rest()
        it.change(automationOptions={"replacements": {"cronJob": None}})
        await it.reconciled()
        found = job_of(it)
        assert found is not None
        assert found["spec"].get("suspend", False) is False, "what is no longer said goes"
        it.change(automationOptions={"replacements": {"enabled": False}})
        await it.reconciled()
        assert job_of(it) is None
        await it.at_rest()

    played(story)


def test_it_goes_with_its_cluster() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(deletionPolicy="Delete", **replacing()))
        assert job_of(it) is not None
        it.delete(CLUSTERS, NAME)
        await it.until("all is gone", lambda: it.left() == [])

    played(story, whole=False)


def test_what_others_make_of_it_is_mended_and_what_they_add_stays() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(**replacing()))
        patch(it, {"spec": {"schedule": "@yearly", "suspend": True}})
        await it.until("mended", lambda: schedule(it) == "*/30 * * * *", 60)
        found = job_of(it)
        assert found is not None
        assert found["spec"]["suspend"] is True, "who stops it for a while may do so"
        before = found["metadata"]["uid"]
        it.delete(CRON_JOBS, JOB.name)
        await it.until("anew", lambda: (job_of(it) or found)["metadata"]["uid"] != before, 60)
        await it.at_rest()

    played(story)


#: What is said of the job, what of it, and what is told.
WRONG: dict[str, tuple[Json, str, str]] = {
    "a schedule that is none": ({"spec": {"schedule": "every now and then"}}, "ObjectRefused", "schedule"),
    "a field that is none": ({"spec": {"shedule": "@daily"}}, "JobInvalid", "did you mean schedule?"),
    "an amount that is none": (
        {"spec": {"jobTemplate": {"spec": {"template": {"spec": {"containers": [
            {"name": "detect-missing", "resources": {"requests": {"cpu": "lots"}}}]}}}}}},
        "JobInvalid", "cpu"),
    "a container that is nothing": (
        {"spec": {"jobTemplate": {"spec": {"template": {"spec": {"containers": [{"$patch": "replace"}, None]}}}}}},
        "JobInvalid", "containers[1]: must not be null"),
    "a container without a name": (
        {"spec": {"jobTemplate": {"spec": {"template": {"spec": {"containers": [{"image": "a:1"}]}}}}}},
        "JobInvalid", "cronJob"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_it_is_told_and_all_else_goes_on(name: str) -> None:
    job, reason, words = WRONG[name]

    async def story(it: Story) -> None:
        await it.create(spec())
        it.change(processCounts={"stateless": 4}, **replacing(job))
        await it.until("others go on", lambda: len(it.pods("stateless")) == 4)
        await it.until("told", lambda: reason in blocker(it), 60)
        assert words in blocker(it)
        await it.rest(600)
        ready, generations = it.condition("Ready"), it.status["generations"]
        assert (ready["status"], ready["reason"]) == ("False", reason)
        assert generations["needsDetectionJobUpdate"] == it.cluster["metadata"]["generation"]
        assert len(generations) == 2, "all else is as asked, and reconciled"
        it.change(automationOptions={"replacements": {"cronJob": None}})
        await it.reconciled()
        assert schedule(it) == "*/30 * * * *"

    played(story)


def test_a_job_of_somebody_else_is_left_alone() -> None:
    async def story(it: Story) -> None:
        theirs = {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": {"name": JOB.name, "namespace": NAMESPACE},
            "spec": {
                "schedule": "@daily",
                "jobTemplate": {"spec": {"template": {"spec": {
                    "restartPolicy": "Never", "containers": [{"name": "a", "image": "b"}],
                }}}},
            },
        }  # fmt: skip
        it.it.world.api.create(CRON_JOBS, NAMESPACE, theirs, USER)
        it.apply(spec(**replacing()))
        await it.until("told", lambda: "NameTaken" in blocker(it))
        assert schedule(it) == "@daily"
        it.delete(CRON_JOBS, JOB.name)
        await it.reconciled()
        assert schedule(it) == "*/30 * * * *"
        it.write()

    played(story)


def test_who_does_not_know_its_own_image_makes_none_and_says_so_if_one_is_asked_for() -> None:
    async def story(it: Story) -> None:
        it.stop()
        it.start(partial(operator, detector=NOBODY))
        await it.create(spec(**replacing()))
        assert job_of(it) is None
        it.change(**replacing({"spec": {"schedule": "@daily"}}))
        await it.until("told", lambda: "JobImageUnknown" in blocker(it), 60)
        pod = {"containers": [{"name": "detect-missing", "image": "mine:1"}]}
        job = {"spec": {"jobTemplate": {"spec": {"template": {"spec": pod}}}}}
        it.change(**replacing(job))
        await it.reconciled()
        assert schedule(it) == "@daily"

    played(story)


def test_a_newer_operator_brings_its_own_image() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(**replacing()))
        newer = type(OURSELVES)("stateward:9.9.9", OURSELVES.account)
        it.stop()
        it.start(partial(operator, detector=newer))

        def is_newer() -> bool:
            found = job_of(it)
            return found is not None and newer.image in str(found["spec"])

        await it.until("newer", is_newer, 300)
        await it.at_rest()

    played(story)


# -------------------------------------------------------------------------- what it finds


def test_who_is_missing_is_found_and_the_operator_woken() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(**replacing(failureDetectionTimeSeconds=60)))
        assert await looked(it) == Detected(())
        assert MISSING_DETECTED not in it.cluster["metadata"].get("annotations", {})
        lost = min(it.groups("storage"))
        isolate(it, lost)
        await it.rest(5)
        found = await looked(it)
        assert [one.group for one in found.missing] == [lost]
        assert it.cluster["metadata"]["annotations"][MISSING_DETECTED] == found.told
        await it.until("marked", lambda: is_marked(it, lost))
        isolate(it, lost, None)
        await it.until("replaced", lambda: lost not in it.groups(), 1800)
        await it.reconciled()
        assert await looked(it) == Detected(())

    played(story)


def test_an_annotation_is_looked_after_at_once() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        await it.at_rest()
        looks: list[float] = []
        it.it.world.weather.listeners.append(_noting(it, looks))
        for _ in range(10):
            looks.clear()
            began = it.it.world.loop.time()
            said = {"metadata": {"annotations": {MISSING_DETECTED: str(began)}}}
            it.it.world.api.patch(CLUSTERS, KEY, MergePatch(said), USER)
            await it.rest(3)  # by itself it looks once in twenty seconds
            assert looks
            assert looks[0] - began < 2
        await it.at_rest()

    played(story)


def _noting(it: Story, looks: list[float]) -> Callable[[str, object], None]:
    def note(_who: str, call: object) -> None:
        if isinstance(call, FdbCall) and "status" in call.line:
            looks.append(it.it.world.loop.time())

    return note


def test_whoever_goes_anyway_is_not_missing() -> None:
    async def story(it: Story) -> None:
        await it.create(spec())
        lost = min(it.groups("stateless"))
        isolate(it, lost)
        await it.rest(5)
        assert [one.group for one in (await looked(it)).missing] == [lost]
        it.change(processGroupsToRemove=[lost])
        await it.until("marked", lambda: is_marked(it, lost))
        assert (await looked(it)).missing == ()
        isolate(it, lost, None)
        await it.until("gone", lambda: lost not in it.groups())
        await it.reconciled()

    played(story)


def test_a_database_that_says_nothing_is_no_sign_that_all_is_well() -> None:
    async def story(it: Story) -> None:
        it.stop()
        it.apply(spec())
        found = await looked(it)
        assert (found.missing, found.told) == ((), "")
        assert "no coordinators were chosen yet" in found.unheard
        it.start()
        await it.reconciled()
        it.write()

    played(story)


def test_who_was_missed_before_an_outage_has_time_to_come_back_with_the_others() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(**replacing(failureDetectionTimeSeconds=600)))
        first, *others = [*it.groups("storage"), *it.groups("log"), *it.groups("stateless")]
        isolate(it, first)
        await it.until("missed", lambda: "MissingProcesses" in conditions(it, first))
        for one in others:
            isolate(it, one)
        await it.rest(3600)
        assert it.condition("Available")["status"] == "False"
        for one in others:
            isolate(it, one, None)
        await it.until("back", lambda: it.condition("Available")["status"] == "True")
        await it.rest(30)
        assert not is_marked(it, first), "for an hour nobody could see whether it was there"
        isolate(it, first, None)
        await it.reconciled()
        assert {*it.groups()} == {first, *others}

    played(story)


def test_so_has_who_was_missed_before_an_outage_of_which_no_operator_knows() -> None:
    """A whole site is dark, the operator first: by what it wrote one has failed for an hour."""

    async def story(it: Story) -> None:
        await it.create(spec(**replacing(failureDetectionTimeSeconds=600)))
        first, *others = [*it.groups("storage"), *it.groups("log"), *it.groups("stateless")]
        isolate(it, first)
        await it.until("missed", lambda: "MissingProcesses" in conditions(it, first))
        it.stop()
        for one in others:
            isolate(it, one)
        await it.rest(3600)
        for one in others:
            isolate(it, one, None)
        await it.rest(20)
        it.start()
        await it.rest(90)
        assert it.condition("Available")["status"] == "True"
        assert not is_marked(it, first)
        await it.until("it does not come back", lambda: is_marked(it, first), 120)
        isolate(it, first, None)
        await it.until("replaced", lambda: first not in it.groups())
        await it.reconciled()

    played(story)
