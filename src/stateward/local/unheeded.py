"""What may be written and changes nothing here: writers are warned, and events tell of it."""

from __future__ import annotations

from typing import Any, Final

from stateward.kube.codec import Json

_OF_JOBS: Final = (
    *("backoffLimitPerIndex", "maxFailedIndexes", "podFailurePolicy", "podReplacementPolicy"),
    "successPolicy",
)
_FIELDS: Final = {
    "jobs.batch": tuple(("spec", name) for name in _OF_JOBS),
    "cronjobs.batch": tuple(("spec", "jobTemplate", "spec", name) for name in _OF_JOBS),
    "statefulsets.apps": (("spec", "updateStrategy", "rollingUpdate", "maxUnavailable"),),
}


#: What is done anyhow may be asked for.
_ANYHOW: Final = (None, "TerminatingOrFailed")


def unheeded(resource: str, document: Json) -> list[str]:
    """Return the warnings of an object that asks for what nobody here looks at."""
    ways = [way for way in _FIELDS.get(resource, ()) if _at(document, way) not in _ANYHOW]
    return [f"{'.'.join(way)} has no effect in the embedded Kubernetes" for way in ways]


def _at(value: Any, way: tuple[str, ...]) -> Any:
    for name in way:
        value = value.get(name) if isinstance(value, dict) else None
    return value
