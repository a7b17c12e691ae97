"""What all pods of a class are made from, complete but for what tells one of them from another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from msgspec.structs import replace

from stateward.fdb.api import questions
from stateward.fdb.api.pods import container_of
from stateward.fdb.api.processes import ClaimTemplate, PodTemplate, ProcessSettings
from stateward.fdb.build.basis import Basis
from stateward.fdb.build.containers import (
    BINARIES_VOLUME,
    CONFIG_VOLUME,
    DATA_VOLUME,
    DYNAMIC_VOLUME,
    LOGS_VOLUME,
    Kind,
    completed,
    named,
)
from stateward.fdb.build.metadata import Said, class_selector
from stateward.fdb.model import names
from stateward.fdb.model.classes import ProcessClass
from stateward.kube.codec import Json

#: Nodes with this label take pods that shall find none.
_ALLOWED: Final = f"{names.DOMAIN}/no-schedule-allowed"
_CRASH: Final = "crash-loop"
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


def settings(basis: Basis, process_class: ProcessClass) -> ProcessSettings:
    """Return what the groups of a class are made from, complete."""
    said = questions.settings_for(basis.spec, process_class)
    claim = said.volume_claim_template if questions.has_volume(basis.spec, process_class) else None
    return ProcessSettings(
        pod_template=_pod(basis, process_class, said.pod_template or PodTemplate()),
        volume_claim_template=claim and _claim(claim),
        custom_parameters=said.custom_parameters,
    )


def _claim(given: ClaimTemplate) -> ClaimTemplate:
    return ClaimTemplate(metadata=Said.by(given.metadata).document(), spec=given.spec)


def _pod(basis: Basis, process_class: ProcessClass, given: PodTemplate) -> PodTemplate:
    kind = Kind(basis, process_class, container_of(given, names.MAIN_CONTAINER))
    spec: Json = dict(given.spec)
    for name in ("initContainers", "containers"):
        if some := spec.get(name):
            spec[name] = [completed(kind, it) for it in some]
    spec["volumes"] = named([*_volumes(kind), *(spec.get("volumes") or ())])
    if (key := questions.spread_over(basis.spec)) is not None:
        term = _apart(class_selector(basis, process_class), key)
        spec["affinity"] = _spread(spec.get("affinity") or {}, term)
    return PodTemplate(metadata=Said.by(given.metadata).document(), spec=spec)


# ------------------------------------------------------------------ volumes
def _volumes(kind: Kind) -> list[Json]:
    split = kind.basis.image_type == "split"
    empty = [DYNAMIC_VOLUME if split else BINARIES_VOLUME, LOGS_VOLUME]
    if not questions.has_volume(kind.basis.spec, kind.process_class):
        empty.insert(0, DATA_VOLUME)
    return [_files(kind), *({"name": it, "emptyDir": {}} for it in empty)]


def _files(kind: Kind) -> Json:
    """Return the config map as a volume, with what pods of this class need and no more."""
    basis, process_class = kind.basis, kind.process_class
    items = [_item(names.CLUSTER_FILE_KEY, "fdb.cluster")]
    if basis.spec.trusted_cas:
        items.append(_item(names.CA_FILE_KEY, "ca.pem"))
    if basis.image_type == "split":
        items.append(_item(names.split_conf_key(process_class, kind.servers), "fdbmonitor.conf"))
        items.append(_item(names.SIDECAR_CONF_KEY, "config.json"))
    else:
        items.append(_item(names.unified_conf_key(process_class), "config.json"))
    config_map = {"name": names.config_map_name(basis.name), "items": items}
    return {"name": CONFIG_VOLUME, "configMap": config_map}


def _item(key: str, path: str) -> Json:
    return {"key": key, "path": path}


# ------------------------------------------------------------------ where pods go
def _apart(labels: dict[str, str], key: str) -> Json:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": labels}}
    return {"weight": 1, "podAffinityTerm": term}


def _spread(affinity: Json, term: Json) -> Json:
    apart = dict(affinity.get("podAntiAffinity") or {})
    apart[_PREFERRED] = [*(apart.get(_PREFERRED) or ()), term]
    return {**affinity, "podAntiAffinity": apart}


# ------------------------------------------------------------------ faults that are asked for
def unschedulable(settings: ProcessSettings) -> ProcessSettings:
    """Return settings of pods that find no node, unless one is labelled for it."""
    template = settings.pod_template or PodTemplate()
    affinity = dict(template.spec.get("affinity") or {})
    nodes = dict(affinity.get("nodeAffinity") or {})
    required = dict(nodes.get(_REQUIRED) or {})
    terms: list[Json] = required.get("nodeSelectorTerms") or [{}]
    # Any one of the terms is enough, so each must ask for it.
    required["nodeSelectorTerms"] = [
        {**it, "matchExpressions": [*(it.get("matchExpressions") or ()), _allowed()]}
        for it in terms
    ]
    affinity["nodeAffinity"] = {**nodes, _REQUIRED: required}
    return _with(settings, template, affinity=affinity)


def crashing(settings: ProcessSettings, containers: Iterable[str]) -> ProcessSettings:
    """Return settings of pods in which some containers do not start."""
    template, wanted = settings.pod_template or PodTemplate(), frozenset(containers)
    changed: dict[str, Any] = {}
    for name in ("initContainers", "containers"):
        if some := template.spec.get(name):
            changed[name] = [_crashed(it) if it.get("name") in wanted else it for it in some]
    return _with(settings, template, **changed)


def _allowed() -> Json:
    return {"key": _ALLOWED, "operator": "In", "values": ["true"]}


def _crashed(container: Json) -> Json:
    return {**container, "command": [_CRASH], "args": [_CRASH]}


def _with(settings: ProcessSettings, template: PodTemplate, **spec: Any) -> ProcessSettings:
    changed = replace(template, spec={**template.spec, **spec})
    return replace(settings, pod_template=changed)
