"""Decisions about Jobs and CronJobs, as tables."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from stateward.core.calendar.schedule import Schedule
from stateward.core.errors import SpecInvalid
from stateward.core.moments import from_rfc3339, to_rfc3339
from stateward.kube.meta import ObjectMeta, OwnerReference
from stateward.local.controllers.workloads.batch import cron_plan, job_status
from stateward.local.controllers.workloads.batch.cron_plan import Run
from stateward.local.controllers.workloads.batch.job_plan import (
    Rules,
    View,
    delay_after_failures,
    plan,
)
from stateward.local.controllers.workloads.batch.job_pods import TRACKING, job_of
from stateward.local.controllers.workloads.batch.ledger import (
    Ledger,
    read_indexes,
    written_indexes,
)
from stateward.local.controllers.workloads.pods import Seen

NOW = 1_800_000_000.0
PHASES = {"r": "Running", "s": "Succeeded", "f": "Failed", "d": "Running"}


def pod(number: int, word: str) -> Seen:
    """``r`` runs, ``s`` succeeded, ``f`` failed, ``d`` leaves; ``-`` after it: let go; ``@1``: index."""
    state, _, index = word.partition("@")
    metadata = ObjectMeta(
        name=f"p{number}",
        uid=f"u{number}",
        creation_timestamp=to_rfc3339(NOW),
        finalizers=() if "-" in state else (TRACKING,),
        deletion_timestamp=to_rfc3339(NOW) if state[0] == "d" else None,
        annotations={"batch.kubernetes.io/job-completion-index": index} if index else {},
    )
    phase = PHASES[state[0]]
    return Seen(
        metadata, phase, "n", ended=NOW - 1000 if phase in {"Succeeded", "Failed"} else None
    )


def pods(picture: str) -> list[Seen]:
    return [pod(number, word) for number, word in enumerate(picture.split())]


def view(picture: str, ledger: Ledger | None = None, *, started: float = NOW, **rules) -> View:
    seen = pods(picture)
    asked = Rules(**rules)
    before = ledger or Ledger(indexes=frozenset() if asked.indexed else None)
    return View(asked, before.after(seen), seen, started, NOW)


def drawn(seen: View) -> str:
    decided = plan(seen)
    words = [f"+{'' if it is None else it}" for it in decided.make]
    words += [f"-{it.name}" for it in decided.drop]
    if decided.verdict:
        words.append(decided.verdict.reason)
    return " ".join(words)


@pytest.mark.parametrize(
    ("picture", "rules", "moves"),
    [
        ("", {}, "+"),
        ("r", {}, ""),
        ("s", {}, "CompletionsReached"),
        ("f", {}, "+"),
        ("d", {}, "+"),
        ("", {"completions": 5, "parallelism": 2}, "+ +"),
        ("r s", {"completions": 5, "parallelism": 2}, "+"),
        ("s s s s", {"completions": 5, "parallelism": 2}, "+"),
        ("s s s r r", {"completions": 4, "parallelism": 2}, "-p3"),
        ("r r r", {"completions": 5, "parallelism": 1}, "-p0 -p1"),
        ("", {"completions": 0}, "CompletionsReached"),
        ("", {"completions": None, "parallelism": 2}, "+ +"),
        ("s r", {"completions": None, "parallelism": 2}, ""),
        ("s s", {"completions": None, "parallelism": 2}, "CompletionsReached"),
        (
            "f f r",
            {"backoff_limit": 1, "parallelism": 3, "completions": 3},
            "-p2 BackoffLimitExceeded",
        ),
        ("f", {"backoff_limit": 0}, "BackoffLimitExceeded"),
        ("r r", {"suspended": True}, "-p0 -p1"),
        ("", {"suspended": True}, ""),
        ("r", {"deadline": 10}, ""),
        ("r", {"parallelism": 0}, "-p0"),
    ],
)
def test_next_moves_of_a_job(picture, rules, moves):
    assert drawn(view(picture, **rules)) == moves


@pytest.mark.parametrize(
    ("picture", "moves"),
    [
        ("", "+0 +1"),
        ("r@0", "+1"),
        ("s@0 r@1", "+2"),
        ("f@0 r@1", "+0"),
        ("r@1 r@1", "-p1"),
        ("r@7 r@1", "-p0"),
        ("s@0 s@2 s@1", "CompletionsReached"),
        ("s@0 s@0", "+1 +2"),
    ],
)
def test_next_moves_of_an_indexed_job(picture, moves):
    assert drawn(view(picture, indexed=True, completions=3, parallelism=2)) == moves


def test_a_deadline_counts_from_the_start():
    assert drawn(view("r", started=NOW - 10, deadline=10)) == "-p0 DeadlineExceeded"
    assert plan(view("r", started=NOW - 4, deadline=10)).wake == 6
    assert drawn(view("s", started=NOW - 99, deadline=10)) == "CompletionsReached"


def test_restarts_of_containers_count_where_they_may():
    seen = [Seen(ObjectMeta(name="p"), "Running", restarts=3)]
    for limit, restarts, reason in (
        (3, True, "BackoffLimitExceeded"),
        (4, True, ""),
        (3, False, ""),
    ):
        rules = Rules(backoff_limit=limit, restarts=restarts)
        verdict = plan(View(rules, Ledger(), seen, NOW, NOW)).verdict
        assert (verdict.reason if verdict else "") == reason


@pytest.mark.parametrize(
    ("ends", "delay"),
    [
        ("", 0),
        ("f3", 7),
        ("f20", 0),
        ("f25 f3", 17),
        ("f90 f50 f3", 37),
        ("f90 s50 f3", 7),
        ("f9 s3", 0),
        ("f9 f8 f7 f6 f5 f4 f3 f2", 358),
    ],
)
def test_how_long_a_failure_is_waited_after(ends, delay):
    seen = [
        Seen(ObjectMeta(name=word), PHASES[word[0]], ended=NOW - float(word[1:]))
        for word in ends.split()
    ]
    assert delay_after_failures(seen, NOW) == delay


@pytest.mark.parametrize(
    ("before", "picture", "after"),
    [
        (Ledger(), "r", Ledger()),
        (
            Ledger(),
            "s f d",
            Ledger(noted_succeeded=frozenset({"u0"}), noted_failed=frozenset({"u1", "u2"})),
        ),
        (Ledger(noted_succeeded=frozenset({"u0"})), "s", Ledger(noted_succeeded=frozenset({"u0"}))),
        (Ledger(noted_succeeded=frozenset({"u0"})), "s-", Ledger(succeeded=1)),
        (Ledger(noted_failed=frozenset({"u0"})), "", Ledger(failed=1)),
        (Ledger(succeeded=1), "s-", Ledger(succeeded=1)),
        (Ledger(failed=2), "f- f", Ledger(failed=2, noted_failed=frozenset({"u1"}))),
        (Ledger(noted_failed=frozenset({"u0"})), "s", Ledger(noted_failed=frozenset({"u0"}))),
    ],
)
def test_each_end_is_counted_once(before, picture, after):
    assert before.after(pods(picture)) == after


def test_a_ledger_is_what_a_status_says():
    ledger = Ledger(2, 1, frozenset({"b", "a"}), frozenset(), frozenset({0, 1, 2, 5}))
    said = {name: it for name, it in ledger.status().items() if it is not None}
    assert said == {
        "succeeded": 2,
        "failed": 1,
        "uncountedTerminatedPods": {"succeeded": ["a", "b"]},
        "completedIndexes": "0-2,5",
    }
    assert Ledger.of(said, indexed=True) == ledger
    assert Ledger.of({}, indexed=False) == Ledger()


@pytest.mark.parametrize("text", ["", "0", "0,1", "0-2", "1,3-5,7", "0-9,11,12,14-16"])
def test_indexes_are_written_as_they_are_read(text):
    assert written_indexes(read_indexes(text)) == text


@pytest.mark.parametrize(
    ("spec", "completions", "parallelism"),
    [
        ({}, 1, 1),
        ({"parallelism": 3}, None, 3),
        ({"completions": 4}, 4, 1),
        ({"parallelism": 2, "completionMode": "Indexed"}, 1, 2),
    ],
    ids=str,
)
def test_what_a_job_asks_for(spec, completions, parallelism):
    rules = Rules.of(spec)
    assert (rules.completions, rules.parallelism) == (completions, parallelism)


def test_a_job_is_over_when_nobody_is_at_work_and_all_is_counted():
    busy = view("s r", completions=1)
    decided = plan(busy)
    assert not job_status.is_finished(job_status.status(busy, {}, decided.verdict))
    noted = view("s", completions=1)
    assert not job_status.is_finished(job_status.status(noted, {}, plan(noted).verdict))
    counted = view("s-", Ledger(noted_succeeded=frozenset({"u0"})), completions=1)
    said = job_status.status(counted, {}, plan(counted).verdict)
    assert job_status.is_finished(said)
    assert said["completionTime"] == job_status.finished_at(said) == to_rfc3339(NOW)


def test_a_failed_job_stays_failed_when_the_pods_that_showed_it_are_gone():
    failing = view("f r", backoff_limit=0, completions=2, parallelism=2)
    decided = plan(failing)
    assert decided.counts_dropped, "what a failed job ends has failed, too"
    said = job_status.status(failing, {}, decided.verdict)
    assert [it["type"] for it in said["conditions"]] == ["FailureTarget"]
    assert not job_status.is_finished(said)

    later = replace(view("", Ledger(failed=2)), verdict=job_status.verdict_in(said))
    said = job_status.status(later, said, plan(later).verdict)
    assert [it["type"] for it in said["conditions"]] == ["FailureTarget", "Failed"]
    assert said["completionTime"] is None


@pytest.mark.parametrize(
    ("began", "was_suspended", "suspended", "said"),
    [
        (None, False, False, "now"),
        (None, False, True, None),
        ("before", False, False, "before"),
        ("before", False, True, "before"),
        ("before", True, True, "before"),
        ("before", True, False, "now"),
    ],
)
def test_when_a_job_began(began, was_suspended, suspended, said):
    old = {
        "startTime": began,
        "conditions": [{"type": "Suspended", "status": str(was_suspended)}],
    }
    found = job_status.started(old, NOW, suspended=suspended)
    assert found == (to_rfc3339(NOW) if said == "now" else said)


VIENNA = ZoneInfo("Europe/Vienna")


def at(text: str, zone: ZoneInfo | None = None) -> float:
    if zone is None:
        return from_rfc3339(f"{text}:00Z")
    return datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()


@pytest.mark.parametrize(
    ("schedule", "zone", "now", "last", "upcoming"),
    [
        ("*/5 * * * *", None, "2026-03-01T10:07", "2026-03-01T10:05", "2026-03-01T10:10"),
        ("*/5 * * * *", None, "2026-03-01T10:05", "2026-03-01T10:05", "2026-03-01T10:10"),
        ("@hourly", None, "2026-03-01T10:07", "2026-03-01T10:00", "2026-03-01T11:00"),
        ("@daily", None, "2026-03-01T10:07", "2026-03-01T00:00", "2026-03-02T00:00"),
        ("0 12 * * MON-FRI", None, "2026-03-01T10:07", "2026-02-27T12:00", "2026-03-02T12:00"),
        ("0 0 29 2 ?", None, "2026-03-01T10:07", None, "2028-02-29T00:00"),
        ("@every 7m", None, "2026-02-01T00:15", "2026-02-01T00:14", "2026-02-01T00:21"),
        ("@every 7m", None, "2026-02-01T00:05", None, "2026-02-01T00:07"),
        ("30 2 * * *", "Europe/Vienna", "2026-03-28T12:00", "2026-03-28T01:30", "2026-03-29T01:00"),
        (
            "0 9 * * *",
            "America/New_York",
            "2026-07-01T14:00",
            "2026-07-01T13:00",
            "2026-07-02T13:00",
        ),
    ],
)
def test_when_a_schedule_is_due(schedule, zone, now, last, upcoming):
    read = Schedule.parse(schedule, zone)
    since = at("2026-02-01T00:00")
    assert read.last(since, at(now)) == (at(last) if last else None)
    assert read.next(since, at(now)) == at(upcoming)


def test_a_moment_is_due_once():
    read = Schedule.parse("*/5 * * * *")
    assert read.last(at("2026-03-01T10:05"), at("2026-03-01T10:09")) is None
    assert read.last(at("2026-03-01T10:05"), at("2026-03-01T10:10")) == at("2026-03-01T10:10")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "* * * *",
        "* * * * * *",
        "a b c d e",
        "99 * * * *",
        "@never",
        "0 0 30 2 *",
        "@every soon",
        "@every 0s",
        "*/0 * * * *",
    ],
)
def test_what_is_no_schedule(text):
    with pytest.raises(SpecInvalid, match="unparseable schedule"):
        Schedule.parse(text)


@pytest.mark.parametrize("zone", ["Nowhere/City", "../etc/passwd", "/etc/passwd"])
def test_what_is_no_time_zone(zone):
    with pytest.raises(SpecInvalid, match="unknown time zone"):
        Schedule.parse("@daily", zone)


def run(minute: int, *, state: str = "done", ended: float | None = None) -> Run:
    name = f"tick-{minute}"
    at = minute * 60.0
    meta = ObjectMeta(name=name, uid=name)
    return Run(meta, state != "active", state == "done", ended, due=at, began=at)


def cron(runs: list[Run], minute: float, **spec) -> cron_plan.Plan:
    owner = ObjectMeta(name="tick", creation_timestamp=to_rfc3339(0))
    seen = cron_plan.View(
        owner, spec, spec.pop("status", {}), runs, Schedule.parse("*/10 * * * *"), minute * 60
    )
    return cron_plan.plan(seen)


@pytest.mark.parametrize(
    ("runs", "minute", "spec", "start", "ended"),
    [
        ([], 9, {}, None, ""),
        ([], 10, {}, 10, ""),
        ([], 35, {}, 30, ""),
        ([run(30)], 35, {}, None, ""),
        ([], 35, {"status": {"lastScheduleTime": to_rfc3339(1800)}}, None, ""),
        ([run(10, state="active")], 20, {}, 20, ""),
        ([run(10, state="active")], 20, {"concurrencyPolicy": "Forbid"}, None, ""),
        ([run(10)], 20, {"concurrencyPolicy": "Forbid"}, 20, ""),
        ([run(10, state="active")], 20, {"concurrencyPolicy": "Replace"}, 20, "tick-10"),
        ([], 35, {"startingDeadlineSeconds": 60}, None, ""),
        ([], 31, {"startingDeadlineSeconds": 60}, 30, ""),
        ([], 35, {"suspend": True}, None, ""),
    ],
)
def test_when_a_cron_job_starts(runs, minute, spec, start, ended):
    decided = cron(runs, minute, **spec)
    assert decided.start == (start * 60 if start else None)
    assert " ".join(it.name for it in decided.end) == ended


def test_who_is_forgotten():
    runs = [
        run(10),
        run(20, state="failed"),
        run(30),
        run(40, state="failed"),
        run(50),
        run(60),
        run(70, state="active"),
    ]
    names = [it.name for it in cron(runs, 71).forget]
    assert names == ["tick-10", "tick-20"]
    assert cron(runs, 71, successfulJobsHistoryLimit=9, failedJobsHistoryLimit=9).forget == ()
    assert len(cron(runs, 71, successfulJobsHistoryLimit=0, failedJobsHistoryLimit=0).forget) == 6


def test_a_job_that_was_started_by_hand_is_as_old_as_it_is():
    by_hand = replace(run(65), due=None)
    names = [it.name for it in cron([by_hand, run(30), run(50), run(60)], 71).forget]
    assert names == ["tick-30"]


def test_a_job_that_was_started_by_hand_holds_nothing_up():
    by_hand = replace(run(65, state="active"), due=None)
    decided = cron([by_hand], 71, concurrencyPolicy="Forbid")
    assert decided.start == 70 * 60
    assert decided.status["active"] is None
    known = {"active": [{"uid": "tick-65"}]}
    assert cron([by_hand], 71, concurrencyPolicy="Forbid", status=known).start is None


@pytest.mark.parametrize(
    ("owner", "labels", "name"),
    [
        (OwnerReference(kind="Job", name="work", controller=True), {}, "work"),
        (OwnerReference(kind="ReplicaSet", name="web", controller=True), {}, ""),
        (None, {"batch.kubernetes.io/job-name": "work"}, "work"),
        (None, {}, ""),
    ],
)
def test_whose_a_pod_is(owner, labels, name):
    owners = (owner,) if owner else ()
    assert job_of(ObjectMeta(owner_references=owners, labels=labels)) == name


def test_what_a_cron_job_says():
    said = cron([run(10, ended=650.0), run(20, state="active")], 21).status
    assert said["lastScheduleTime"] == to_rfc3339(1200)
    assert said["lastSuccessfulTime"] == to_rfc3339(650)
    assert [it["name"] for it in said["active"]] == ["tick-20"]
    before = {"lastScheduleTime": to_rfc3339(9000), "lastSuccessfulTime": to_rfc3339(9000)}
    later = cron([run(10, ended=650.0)], 151, status=before).status
    assert {name: later[name] for name in before} == before


def test_a_job_is_named_for_its_minute():
    assert cron_plan.job_name("tick", 1_800_000_059.0) == cron_plan.job_name(
        "tick", 1_800_000_000.0
    )
