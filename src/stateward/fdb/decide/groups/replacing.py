"""Which process groups must be replaced by others, because their own cannot become as asked.

Whatever else changes is done in place: the pod is made anew and finds its volume again. How data
lies on a disk, what a process is called, and by which address it is known cannot change that way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from stateward.core.quantity import ZERO, Quantity
from stateward.fdb.api.group import FoundationDBProcessGroupSpec as GroupSpec
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.api.processes import ClaimTemplate
from stateward.fdb.api.questions import is_target
from stateward.fdb.decide.groups.faults import fault_changes
from stateward.fdb.decide.groups.staging import with_programs_of
from stateward.fdb.decide.held import Held
from stateward.fdb.decide.layouts.lasting import coordinators_are_found_again
from stateward.fdb.guards.transport import certificates_are_good
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.views import ClusterView, GroupView

#: Of the others, one that is made anew stops all commits for a moment; replaced, they do at once.
_WITH_DATA: Final = frozenset({ProcessClass.STORAGE, ProcessClass.UNSET})
_AMOUNTS: Final = {"cpu": "CPU", "memory": "memory"}
#: A group, what it is made from, and what it would be made from now.
Pair: TypeAlias = tuple[GroupView, GroupSpec, GroupSpec]


# ------------------------------------------------------------------ one group
def why_replace(now: GroupSpec, wanted: GroupSpec, *, strategy: str, resources_too: bool) -> str:
    """Return why a group cannot become as it is wanted; nothing: it can, in place.

    For another image beside fdbserver alone a pod need not even be made anew.
    """
    now = with_programs_of(now, wanted)
    return next(_reasons(now, wanted, strategy, resources_too=resources_too), "")


def _reasons(
    now: GroupSpec, wanted: GroupSpec, strategy: str, *, resources_too: bool
) -> Iterator[str]:
    if now.process_group_id_prefix != wanted.process_group_id_prefix:
        yield _changed(
            "the prefix of its id", now.process_group_id_prefix, wanted.process_group_id_prefix
        )
    yield from _volume_reasons(now, wanted)
    if now.service.public_ip_source != wanted.service.public_ip_source:
        yield _changed(
            "whose address it tells", now.service.public_ip_source, wanted.service.public_ip_source
        )
    if now.servers_per_pod != wanted.servers_per_pod:
        yield _changed("how many servers its pod has", now.servers_per_pod, wanted.servers_per_pod)
    if resources_too:
        yield from _grown(now, wanted)
    if _is_another_pod(now, wanted):
        yield from _pod_reasons(now, wanted, strategy)


def _changed(what: str, now: object, wanted: object) -> str:
    return f"{what} changes from {now or 'nothing'} to {wanted or 'nothing'}"


def _volume_reasons(now: GroupSpec, wanted: GroupSpec) -> Iterator[str]:
    mine, other = (it.process_settings.volume_claim_template for it in (now, wanted))
    if (mine is None) != (other is None):
        yield "it shall have a volume" if mine is None else "it shall have no volume"
    elif mine is not None and other is not None and mine.spec != other.spec:
        before, after = _volume(mine), _volume(other)
        differing = sorted(
            it for it in before.keys() | after.keys() if before.get(it) != after.get(it)
        )
        if differing:
            yield f"its volume changes: {', '.join(differing)}"


def _volume(template: ClaimTemplate) -> dict[str, Any]:
    """Return what a claim asks for, amounts as numbers: 1Gi and 1024Mi are the same."""
    found = dict(template.spec)
    resources = found.pop("resources", None)
    for name, amounts in (resources or {}).items():
        for key, it in (amounts if isinstance(amounts, dict) else {}).items():
            found[f"{name}.{key}"] = _amount(it)
    return found


def _is_another_pod(now: GroupSpec, wanted: GroupSpec) -> bool:
    """Tell whether a pod of now would not do; what is only said of it does not matter."""
    return (
        _pod_spec(now) != _pod_spec(wanted)
        or now.image_type != wanted.image_type
        or now.service != wanted.service
        or now.log_group != wanted.log_group
        or now.sidecar_variables != wanted.sidecar_variables
    )


def _pod_reasons(now: GroupSpec, wanted: GroupSpec, strategy: str) -> Iterator[str]:
    if (_pod_spec(now).get("nodeSelector") or {}) != (_pod_spec(wanted).get("nodeSelector") or {}):
        yield "it shall be on other nodes, where its volume may not be"
    has_volume = wanted.process_settings.volume_claim_template is not None
    if now.image_type != wanted.image_type and has_volume and wanted.servers_per_pod == 1:
        # With several servers, each has its own folder with images of both types.
        yield _changed(
            "its image type, and so where data is on its disk,", now.image_type, wanted.image_type
        )
    if now.service.pod_ip_family != wanted.service.pod_ip_family:
        yield _changed(
            "the family of its address", now.service.pod_ip_family, wanted.service.pod_ip_family
        )
    if fault_changes(now, wanted):
        return
    if strategy == "Replace":
        yield "its pod changes, and podUpdateStrategy is Replace"
    elif strategy == "ReplaceTransactionSystem" and wanted.process_class not in _WITH_DATA:
        yield f"its pod changes, and podUpdateStrategy is {strategy}"


def _grown(now: GroupSpec, wanted: GroupSpec) -> Iterator[str]:
    for part in ("containers", "initContainers"):
        for resource, spoken in _AMOUNTS.items():
            before, after = (_requested(_pod_spec(it), part, resource) for it in (now, wanted))
            if after > before:
                yield f"it asks for more {spoken}: {after} instead of {before}"


def _pod_spec(spec: GroupSpec) -> dict[str, Any]:
    template = spec.process_settings.pod_template
    return template.spec if template is not None else {}


def _requested(pod: dict[str, Any], part: str, resource: str) -> Quantity:
    found = ZERO
    for it in pod.get(part) or ():
        said = ((it.get("resources") or {}).get("requests") or {}).get(resource)
        amount = ZERO if said is None else _amount(said)
        found += amount if isinstance(amount, Quantity) else ZERO
    return found


def _amount(said: object) -> Quantity | str:
    try:
        return Quantity.parse(str(said))
    except ValueError:
        return str(said)


# ------------------------------------------------------------------ all of them
@dataclass(frozen=True, slots=True)
class Misfit:
    """A group that must be replaced, and why."""

    group: GroupView
    why: str


@dataclass(frozen=True, slots=True)
class Misfits:
    """Whom to mark now, who has to wait for what, and who waits for ever: it shall stay."""

    to_mark: tuple[Misfit, ...] = ()
    waiting: tuple[Held, ...] = ()
    kept: tuple[Held, ...] = ()

    @property
    def held(self) -> tuple[Held, ...]:
        """All who must be replaced and are not marked now."""
        return (*self.kept, *self.waiting)


def misfits(view: ClusterView, pairs: Iterable[Pair]) -> Misfits:
    """Return which groups are marked now because they must be replaced; not well ones first.

    Those above the limit wait, and are not changed in place meanwhile.
    """
    found = [it for it in _found(view, pairs) if it.why]
    if not found:
        return Misfits()
    if why := not_now(view) or _uncertified(view):
        return Misfits(waiting=tuple(Held(it.group.name, why) for it in found))
    kept = view.spec.automation_options.cancel_replacements_for_process_groups
    held = [
        Held(it.group.name, f"{it.why}, but it is never to be replaced")
        for it in found
        if is_target(kept, it.group.id)
    ]
    free = sorted((it for it in found if not is_target(kept, it.group.id)), key=_order)
    many = _budget(view, len(free))
    waiting = [Held(it.group.name, f"{it.why}; others are replaced first") for it in free[many:]]
    return Misfits(tuple(free[:many]), tuple(waiting), tuple(held))


def _uncertified(view: ClusterView) -> str:
    """Return that those who would come could not start; nothing: they could."""
    refused = certificates_are_good(view) if view.configured else None
    return f"others could not take their place: {refused.message}" if refused is not None else ""


def not_now(view: ClusterView) -> str:
    """Return what is under way that no pod must change in; nothing: nothing is."""
    if view.staging:
        return "an upgrade is under way, in which all processes change at once"
    told = view.status.required_addresses
    if view.transport.converts or (told.tls and told.non_tls):
        return "processes go over to other addresses, with or without TLS"
    return ""


def _found(view: ClusterView, pairs: Iterable[Pair]) -> Iterator[Misfit]:
    strategy = view.spec.automation_options.pod_update_strategy
    resources_too = view.spec.replace_instances_when_resources_change
    prefix = view.spec.process_group_id_prefix
    looked = set()
    for group, now, wanted in pairs:
        looked.add(group.name)
        if group.marked:
            continue
        why = why_replace(now, wanted, strategy=strategy, resources_too=resources_too)
        if group.id.prefix != prefix:  # what it is made from may follow its own id
            why = why or _changed("the prefix of its id", group.id.prefix, prefix)
        yield Misfit(group, why or _lost_with_its_pod(view, group, now, wanted))
    # Who was told what it shall be, and was made coordinator before its pod was made anew.
    for group in view.unwell:
        if group.name not in looked and _has_old_pod(group):
            yield Misfit(group, _lost(view, group))


def _has_old_pod(group: GroupView) -> bool:
    """Tell whether the pod of a group that stays shall be made anew, and nobody has said when."""
    if group.marked or group.leaving or group.pod is None:
        return False
    is_old = group.has(GroupConditionType.INCORRECT_POD_SPEC)
    return is_old and group.obsolete_pod != group.pod.uid


def _lost_with_its_pod(
    view: ClusterView, group: GroupView, now: GroupSpec, wanted: GroupSpec
) -> str:
    """Return that nobody would find who coordinates, once its pod was made anew."""
    if not _is_another_pod(with_programs_of(now, wanted), wanted) or fault_changes(now, wanted):
        return ""
    return _lost(view, group)


def _lost(view: ClusterView, group: GroupView) -> str:
    if coordinators_are_found_again(view, (group,)) is None:
        return ""
    return "its pod changes, and with its address the only way to the coordinators would be lost"


def _order(it: Misfit) -> tuple[bool, str, int]:
    return it.group.has(GroupConditionType.READY), it.group.process_class, it.group.id.number


def _budget(view: ClusterView, asked: int) -> int:
    limit = view.spec.automation_options.max_concurrent_replacements
    if limit is None:
        return asked
    under_way = sum(1 for it in view.groups if it.marked and not it.holds_nothing)
    return max(0, limit - under_way)
