"""What makes no sense in a job, or in the mold of one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stateward.core import naming
from stateward.kube.codec import Json
from stateward.kube.errors import Cause
from stateward.local.schema import causes
from stateward.local.schema.builtin.pod_checks import (
    at_least_zero,
    one_of,
    pod_problems,
    selector_problems,
    template_problems,
)
from stateward.local.schema.builtin.schedules import schedule_problem, zone_problem

_ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
_REPLACING: Final = ("Failed", "TerminatingOrFailed")
_MOST_RULES: Final = 20
_INDEXED: Final = "requires indexed completion mode"


def job_problems(document: Json) -> Iterator[Cause]:
    """Yield what is wrong with a job."""
    spec = document["spec"]
    labels = (spec.get("template") or {}).get("metadata", {}).get("labels") or {}
    if spec.get("selector"):
        yield from selector_problems(spec["selector"], labels)
    else:
        yield causes.required("spec.selector")
    yield from _work_problems(spec, "spec")


def cron_job_problems(document: Json) -> Iterator[Cause]:
    """Yield what is wrong with a cron job."""
    spec = document["spec"]
    if not (schedule := spec.get("schedule")):
        yield causes.required("spec.schedule")
    elif problem := schedule_problem(schedule):
        yield causes.invalid("spec.schedule", schedule, problem)
    if (zone := spec.get("timeZone")) is not None and (problem := zone_problem(zone)):
        yield causes.invalid("spec.timeZone", zone, problem)
    yield from one_of(spec, "concurrencyPolicy", ("Allow", "Forbid", "Replace"), "spec")
    yield from at_least_zero(spec, "spec", "startingDeadlineSeconds", "successfulJobsHistoryLimit")
    yield from at_least_zero(spec, "spec", "failedJobsHistoryLimit")
    work, path = spec["jobTemplate"]["spec"], "spec.jobTemplate.spec"
    if work.get("manualSelector"):
        yield causes.unsupported(f"{path}.manualSelector", work["manualSelector"], ("nil", "false"))
    if (selector := work.get("selector")) is not None:
        yield causes.invalid(f"{path}.selector", selector, "`selector` will be auto-generated")
    yield from _work_problems(work, path)


def _work_problems(spec: Json, path: str) -> Iterator[Cause]:
    yield from at_least_zero(spec, path, "parallelism", "completions", "backoffLimit")
    yield from at_least_zero(spec, path, "activeDeadlineSeconds", "ttlSecondsAfterFinished")
    yield from at_least_zero(spec, path, "backoffLimitPerIndex", "maxFailedIndexes")
    yield from one_of(spec, "completionMode", ("NonIndexed", "Indexed"), path)
    template = spec.get("template") or {}
    pod = template.get("spec") or {}
    yield from template_problems(template, f"{path}.template")
    yield from pod_problems(pod, f"{path}.template.spec")
    where = f"{path}.template.spec.restartPolicy"
    if pod.get("restartPolicy") not in {"OnFailure", "Never"}:
        yield causes.required(where, 'valid values: "OnFailure", "Never"')
    elif spec.get("podFailurePolicy") and pod["restartPolicy"] != "Never":
        why = 'only "Never" is supported when podFailurePolicy is specified'
        yield causes.invalid(where, pod["restartPolicy"], why)
    yield from _index_problems(spec, path)
    yield from _policy_problems(spec, path)


def _index_problems(spec: Json, path: str) -> Iterator[Cause]:
    """Look at what counts for jobs whose pods have numbers."""
    if spec.get("completionMode") == "Indexed":
        if spec.get("completions") is None:
            yield causes.required(f"{path}.completions", "when completion mode is Indexed")
    else:
        for name in ("backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"):
            if (value := spec.get(name)) is not None:
                yield causes.invalid(f"{path}.{name}", value, _INDEXED)
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        why = "when maxFailedIndexes is specified"
        yield causes.required(f"{path}.backoffLimitPerIndex", why)


def _policy_problems(spec: Json, path: str) -> Iterator[Cause]:
    """Look at what becomes of a job when its pods fail."""
    policy = spec.get("podFailurePolicy")
    replacing = _REPLACING if policy is None else _REPLACING[:1]
    yield from one_of(spec, "podReplacementPolicy", replacing, path)
    rules, where = (policy or {}).get("rules") or (), f"{path}.podFailurePolicy.rules"
    if len(rules) > _MOST_RULES:
        yield causes.too_many(where, f"{len(rules)}: must have at most {_MOST_RULES} items")
    pod = (spec.get("template") or {}).get("spec") or {}
    names = [
        it.get("name") for kind in ("containers", "initContainers") for it in pod.get(kind) or ()
    ]
    for place, rule in enumerate(rules):
        by_index = spec.get("backoffLimitPerIndex") is not None
        yield from _action_problems(rule, f"{where}[{place}].action", by_index=by_index)
        yield from _rule_problems(rule, f"{where}[{place}]", names)


def _action_problems(rule: Json, path: str, *, by_index: bool) -> Iterator[Cause]:
    action = rule.get("action")
    if not action:
        yield causes.required(path, f"valid values: {', '.join(_ACTIONS)}")
    elif action not in _ACTIONS:
        yield causes.unsupported(path, action, _ACTIONS)
    elif action == "FailIndex" and not by_index:
        yield causes.invalid(path, action, "requires the backoffLimitPerIndex to be set")


def _rule_problems(rule: Json, path: str, names: list[str]) -> Iterator[Cause]:
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
    if codes is not None and conditions:
        why = "specifying both OnExitCodes and OnPodConditions is not supported"
        yield causes.invalid(path, rule, why)
    if codes is None and not conditions:
        why = "specifying one of OnExitCodes and OnPodConditions is required"
        yield causes.invalid(path, rule, why)
    if codes is not None:
        yield from _code_problems(codes, f"{path}.onExitCodes", names)
    for place, condition in enumerate(conditions or ()):
        where, kind = f"{path}.onPodConditions[{place}]", condition.get("type", "")
        if problem := naming.label_key_problem(kind):
            yield causes.invalid(f"{where}.type", kind, problem)
        yield from one_of(condition, "status", ("False", "True", "Unknown"), where)


def _code_problems(codes: Json, path: str, names: list[str]) -> Iterator[Cause]:
    operator, values = codes.get("operator"), codes.get("values") or []
    if not operator:
        yield causes.required(f"{path}.operator", "valid values: In, NotIn")
    yield from one_of(codes, "operator", ("In", "NotIn"), path) if operator else ()
    if (name := codes.get("containerName")) is not None and name not in names:
        why = "must be one of the container or initContainer names in the pod template"
        yield causes.invalid(f"{path}.containerName", name, why)
    if not values:
        yield causes.invalid(f"{path}.values", values, "at least one value is required")
    for place, value in enumerate(values):
        if value == 0 and operator == "In":
            why = "must not be 0 for the In operator"
            yield causes.invalid(f"{path}.values[{place}]", value, why)
        if value in values[:place]:
            yield causes.duplicate(f"{path}.values[{place}]", value)
    if values != sorted(values):
        yield causes.invalid(f"{path}.values", values, "must be ordered")
