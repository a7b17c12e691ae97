"""What to do next for a Job: pods to make, pods to end, and whether it is over. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from stateward.kube.codec import Json
from stateward.local.controllers.workloads.batch.job_pods import has_failed, index_of
from stateward.local.controllers.workloads.batch.ledger import Ledger
from stateward.local.controllers.workloads.pods import Seen, number, template_of
from stateward.local.controllers.workloads.replica_sets import BURST, dispensable_first

#: Seconds between a failure and the next try: doubled with each failure in a row.
_FIRST_DELAY, _LONGEST_DELAY = 10.0, 360.0


@dataclass(frozen=True, slots=True)
class Rules:
    """What a job asks for."""

    parallelism: int = 1
    #: How many must succeed; None: as soon as one has, no more are begun.
    completions: int | None = 1
    indexed: bool = False
    backoff_limit: int = 6
    deadline: int | None = None
    suspended: bool = False
    restarts: bool = False

    @classmethod
    def of(cls, spec: Json) -> Rules:
        """Read the spec of a job."""
        completions, indexed = spec.get("completions"), spec.get("completionMode") == "Indexed"
        if completions is None and (indexed or spec.get("parallelism") is None):
            completions = 1
        template = template_of(spec).get("spec") or {}
        return cls(
            parallelism=number(spec, "parallelism", 1),
            completions=completions,
            indexed=indexed,
            backoff_limit=number(spec, "backoffLimit", 6),
            deadline=spec.get("activeDeadlineSeconds"),
            suspended=bool(spec.get("suspend")),
            restarts=template.get("restartPolicy") == "OnFailure",
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a job ends: the condition, and why."""

    condition: str
    reason: str
    message: str


FAILED = "Failed"
COMPLETE = Verdict("Complete", "CompletionsReached", "Reached expected number of succeeded pods")
_TOO_MANY_FAILURES = Verdict(
    FAILED, "BackoffLimitExceeded", "Job has reached the specified backoff limit"
)
_TOO_LATE = Verdict(FAILED, "DeadlineExceeded", "Job was active longer than specified deadline")


@dataclass(frozen=True, slots=True)
class View:
    """All that a decision depends on; ``ledger`` has seen the pods."""

    rules: Rules
    ledger: Ledger
    pods: Sequence[Seen]
    started: float | None
    now: float
    #: How the job was said to end before: that is not judged again, its pods may be gone by now.
    verdict: Verdict | None = None

    @property
    def active(self) -> list[Seen]:
        """The pods that work, or are about to."""
        return [pod for pod in self.pods if pod.active]


@dataclass(frozen=True, slots=True)
class Plan:
    """Indexes to make a pod for (None: no index), pods to end, the verdict, and when to look."""

    make: tuple[int | None, ...] = ()
    drop: tuple[Seen, ...] = ()
    verdict: Verdict | None = None
    wake: float | None = None

    @property
    def counts_dropped(self) -> bool:
        """Tell whether pods that are ended count as failed: those that a failed job ends do."""
        return self.verdict is not None and self.verdict.condition == FAILED


def plan(view: View) -> Plan:
    """Decide what to do now."""
    active = view.active
    if (verdict := judge(view)) is not None:
        return Plan(drop=tuple(active), verdict=verdict)
    if view.rules.suspended:
        return Plan(drop=tuple(active))
    deadline = _until_deadline(view)
    surplus = _surplus(view)
    if surplus:
        return Plan(drop=surplus, wake=deadline)
    missing = min(_wanted(view) - len(active), BURST)
    if missing <= 0:
        return Plan(wake=deadline)
    if (delay := delay_after_failures(view.pods, view.now)) > 0:
        return Plan(wake=min(delay, deadline) if deadline is not None else delay)
    return Plan(make=_missing(view, missing), wake=deadline)


def judge(view: View) -> Verdict | None:
    """Tell whether the job is over, and how."""
    if view.verdict is not None:
        return view.verdict
    rules, ledger = view.rules, view.ledger
    if ledger.failures > rules.backoff_limit or _restarts_too_often(view):
        return _TOO_MANY_FAILURES
    if rules.completions is None:
        is_done = bool(ledger.successes) and not view.active
    else:
        is_done = ledger.successes >= rules.completions
    if is_done:
        return COMPLETE
    rest = _until_deadline(view)
    return _TOO_LATE if rest is not None and rest <= 0 else None


def delay_after_failures(pods: Sequence[Seen], now: float) -> float:
    """Return the seconds to wait before another try: longer with every failure since a success."""
    ended = sorted((pod for pod in pods if pod.ended is not None), key=lambda it: it.ended or 0.0)
    in_a_row: list[Seen] = []
    for pod in ended:
        in_a_row = [*in_a_row, pod] if has_failed(pod) else []
    if not in_a_row:
        return 0.0
    delay = min(_FIRST_DELAY * 2.0 ** (len(in_a_row) - 1), _LONGEST_DELAY)
    return max(0.0, (in_a_row[-1].ended or 0.0) + delay - now)


def _restarts_too_often(view: View) -> bool:
    if not view.rules.restarts:
        return False
    restarts = sum(pod.restarts for pod in view.active)
    return restarts > 0 and restarts >= view.rules.backoff_limit


def _until_deadline(view: View) -> float | None:
    if view.rules.deadline is None or view.started is None or view.rules.suspended:
        return None
    return view.started + view.rules.deadline - view.now


def _wanted(view: View) -> int:
    rules, done = view.rules, view.ledger.successes
    if rules.completions is None:
        return len(view.active) if done else rules.parallelism
    return min(rules.parallelism, rules.completions - done)


def _surplus(view: View) -> tuple[Seen, ...]:
    """Return the pods that are too many, or do what another does or has done."""
    idle: list[Seen] = []
    useful: list[Seen] = []
    taken = set(view.ledger.indexes or ())
    for pod in view.active:
        index = index_of(pod) if view.rules.indexed else None
        if view.rules.indexed and (index is None or index in taken or not _is_asked(view, index)):
            idle.append(pod)
            continue
        useful.append(pod)
        if index is not None:
            taken.add(index)
    too_many = max(0, len(useful) - _wanted(view))
    return (*idle, *dispensable_first(useful)[:too_many])


def _is_asked(view: View, index: int) -> bool:
    return index < (view.rules.completions or 0)


def _missing(view: View, count: int) -> tuple[int | None, ...]:
    if not view.rules.indexed:
        return (None,) * count
    taken = {index_of(pod) for pod in view.active} | set(view.ledger.indexes or ())
    free = (index for index in range(view.rules.completions or 0) if index not in taken)
    return tuple(islice(free, count))
