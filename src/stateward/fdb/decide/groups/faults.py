"""Faults that are asked for: which of them the pods of a group have, by what they are made from.

A fault is brought about, and taken away again, in the same pod and without asking whether that is
safe: with all processes down, whoever waited for a healthy database could never end it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from stateward.fdb.api.group import FoundationDBProcessGroupSpec as GroupSpec
from stateward.fdb.model.names import DOMAIN

#: What a container is told that shall not start; and what no node has.
CRASHES: Final = ["crash-loop"]
NOWHERE: Final = f"{DOMAIN}/no-schedule-allowed"
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


def faults(spec: GroupSpec) -> frozenset[str]:
    """Return the containers that do not start, and with ``NOWHERE`` that the pod finds no node."""
    template = spec.process_settings.pod_template
    return frozenset(_faults(template.spec)) if template is not None else frozenset()


def fault_changes(now: GroupSpec, wanted: GroupSpec) -> bool:
    """Tell whether a group shall have another fault, or one no more: its pod is then made anew."""
    return now != wanted and faults(now) != faults(wanted)


def _faults(pod: dict[str, Any]) -> Iterator[str]:
    for it in (*(pod.get("initContainers") or ()), *(pod.get("containers") or ())):
        if CRASHES in (it.get("args"), it.get("command")):
            yield str(it.get("name"))
    affinity = (pod.get("affinity") or {}).get("nodeAffinity") or {}
    for term in (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ():
        if any(it.get("key") == NOWHERE for it in term.get("matchExpressions") or ()):
            yield NOWHERE
