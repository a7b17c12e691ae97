"""A process group as judgement sees it: made the same way by all who judge."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from msgspec import UNSET

from stateward.core.facts import Fact, Known, Unknown
from stateward.core.moments import from_rfc3339
from stateward.core.version import Version
from stateward.fdb.api import questions
from stateward.fdb.api.defaults import folded
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.build import config_map
from stateward.fdb.build.servers import commandlines, environment
from stateward.fdb.decide.groups.conditions import GroupFacts, conditions, settles_in
from stateward.fdb.decide.groups.taints import Ground, ripens_in
from stateward.fdb.decide.groups.troubles import trouble_of
from stateward.fdb.groups.decide import ordered_to_go, service_ip
from stateward.fdb.groups.memo import Memo
from stateward.fdb.groups.ownership import is_isolated
from stateward.fdb.groups.seen import GroupSeen, awaits_sidecar
from stateward.fdb.model import locality, names
from stateward.fdb.model.addresses import host_of
from stateward.fdb.model.names import ProcessGroupID
from stateward.fdb.status.processes import Reporting
from stateward.fdb.views import GroupView, PodSeen
from stateward.kube import conditions as kube
from stateward.kube.objects.pods import Pod

#: Seconds from which a terminating pod has failed, where no cluster says otherwise.
_FAILED: Final = 300.0
_ZONE_VARIABLE: Final = "FDB_ZONE_ID"
#: The hash of no pod: whatever it was made from, it must be made anew.
_OUTDATED: Final = "outdated"
_NO_VERSION: Final = Version(0, 0, 0)
_UNASKED: Final = Unknown("nobody has asked the database since this operator was started")


def view_of(seen: GroupSeen, memo: Memo) -> GroupView:
    """Return a group as judgement sees it.

    Of a thousand groups nearly all are well and as they were a moment ago: what was judged of such
    a one still holds, and is not judged again.
    """
    found, uid = reporting(seen), seen.group.metadata.uid
    asked = _judged_by(seen, found)
    kept = memo.calm.kept(uid, asked)
    if kept is not None:
        return kept.reporting(found.value if isinstance(found, Known) else ())
    view = _judged(seen, memo, found)
    if _is_calm(seen, view):
        memo.calm.keep(uid, asked, view.reporting(()))
    return view


def _judged_by(seen: GroupSeen, found: Fact[tuple[Reporting, ...]]) -> tuple[object, ...]:
    """Return all that a view follows from, but for the time: that alone changes nobody who is calm.

    Objects of caches are the very same for as long as nothing of them changes.
    """
    cluster, posted = seen.cluster, seen.posted
    told: tuple[object, ...] = ()
    if isinstance(found, Known):
        told = (_told_zone(found.value), *map(_words, found.value))
    return (
        seen.group,
        seen.pod,
        seen.claim,
        seen.service,
        seen.silent,
        None if cluster is None else (cluster.metadata.uid, cluster.metadata.generation),
        None if posted is None else posted.frame,
        told,
    )


def _words(process: Reporting) -> tuple[object, ...]:
    entry = process.entry
    return entry.command_line, entry.version, entry.excluded, entry.messages


def _is_calm(seen: GroupSeen, view: GroupView) -> bool:
    """Tell whether nothing becomes of a group by waiting: it is well, was so, and its pod stays."""
    pod, well = seen.pod, [GroupConditionType.READY]
    return (
        pod is not None
        and not pod.metadata.deleting
        and all(it.ready for it in pod.status.container_statuses)
        and [*view.conditions] == well
        and [it.type for it in seen.group.status.conditions if it.status == "True"] == well
    )


def _judged(seen: GroupSeen, memo: Memo, found: Fact[tuple[Reporting, ...]]) -> GroupView:
    group = seen.group
    spec, processes = group.spec, found.value if isinstance(found, Known) else ()
    return GroupView(
        name=group.metadata.name,
        uid=group.metadata.uid,
        id=ProcessGroupID.parse(spec.process_group_id),
        servers=spec.servers_per_pod,
        conditions=_conditions(seen, memo),
        marked=spec.remove,
        marked_since=_since(spec.removal_timestamp),
        excluded=spec.excluded,
        skipped=spec.exclusion_skipped,
        leaving=group.metadata.deleting,
        pod=None if seen.pod is None else pod_seen(seen.pod),
        obsolete_pod=ordered_to_go(spec, seen.now),
        has_claim=seen.claim is not None,
        has_service=seen.service is not None,
        addresses=addresses(seen),
        zone=zone(seen),
        processes=processes,
        proved_at=_since(spec.exclusion_timestamp),
        ordered_until=_since(spec.obsolete_until),
        created=_since(group.metadata.creation_timestamp) or 0.0,
        reported=bool(processes) or any(it.version for it in group.status.processes),
    )


def _conditions(seen: GroupSeen, memo: Memo) -> dict[GroupConditionType, float]:
    """Return what is true of a group; images that are changed in place are no other pod."""
    facts = facts_of(seen, memo)
    if seen.pod is None or seen.holds_nothing:
        return conditions(facts)
    if seen.old_images is not None:
        made_from = seen.pod.metadata.annotations.get(names.SPEC_HASH, "")
        facts = replace(facts, pod_hash=made_from)
    elif not awaits_sidecar(seen.pod):
        return conditions(facts)
    found = conditions(facts)
    found.pop(GroupConditionType.READY, None)
    kind = GroupConditionType.INCORRECT_SIDECAR_IMAGE
    before = kube.find(seen.group.status.conditions, kind)
    since = None if before is None else _since(before.last_transition_time)
    return {**found, kind: seen.now if since is None else since}


def facts_of(seen: GroupSeen, memo: Memo) -> GroupFacts:
    """Return what conditions of a group are judged by."""
    group, wanted, posted = seen.group, seen.wanted, seen.posted
    data = None if posted is None else posted.data
    is_split = group.spec.image_type == "split"
    lines = () if data is None or seen.pod is None else memo.command_lines(group, seen.pod, data)
    return GroupFacts(
        group=group,
        pod=seen.pod,
        claim=seen.claim,
        service=seen.service,
        wants_claim=wanted.claim is not None,
        wants_service=wanted.service is not None,
        pod_hash=_OUTDATED if _tells_old_address(seen) else wanted.pod_hash,
        claim_hash=wanted.claim_hash,
        conf=None if data is None else config_map.conf_text(data, group.spec),
        files_hash=memo.files_hash(group, data) if data is not None and is_split else "",
        expected=lines,
        same=commandlines.same,
        processes=reporting(seen),
        version=_NO_VERSION if posted is None else posted.version,
        maintenance_zone="" if posted is None else posted.maintenance_zone,
        sidecar_silent=seen.silent,
        now=seen.now,
        failed_after=failed_after(seen),
        ground=ground_of(seen),
    )


def _tells_old_address(seen: GroupSeen) -> bool:
    """Tell whether the processes of a pod tell an address that its service no longer has."""
    if seen.wanted.service is None or seen.pod is None or seen.service is None:
        return False
    now = service_ip(seen.service, seen.group.spec.service.pod_ip_family)
    return now not in {"", seen.pod.metadata.annotations.get(names.PUBLIC_IP)}


def reporting(seen: GroupSeen) -> Fact[tuple[Reporting, ...]]:
    """Return who of a group reports to the database."""
    if seen.posted is None:
        return _UNASKED
    return seen.posted.of_group(seen.group.spec.process_group_id)


def pod_seen(pod: Pod) -> PodSeen:
    """Return what matters of a pod."""
    metadata, status = pod.metadata, pod.status
    ips = tuple(it.ip for it in status.pod_ips) or ((status.pod_ip,) if status.pod_ip else ())
    return PodSeen(
        uid=metadata.uid,
        created=_since(metadata.creation_timestamp) or 0.0,
        phase=status.phase,
        ready=pod.ready,
        node=pod.spec.node_name,
        ips=ips,
        terminating_since=_since(metadata.deletion_timestamp),
        isolated=is_isolated(pod),
        trouble=trouble_of(pod),
    )


# ------------------------------------------------------------------ where it is
def addresses(seen: GroupSeen) -> tuple[str, ...]:
    """Return the hosts that a group has or had, the last one first.

    While it shall go, or nobody could tell the database of another one, none is forgotten: what is
    excluded by address must be excluded by all of them. Nor is one that is excluded still of who
    stays after all: by it that is taken back.
    """
    before, now = seen.group.status.addresses, _hosts(seen)
    available = seen.posted is not None and seen.posted.available
    if now and available and not seen.group.spec.remove:
        before = tuple(it for it in before if _is_to_be_included(seen, it))
    return (*now, *(it for it in before if it not in now))


def _is_to_be_included(seen: GroupSeen, host: str) -> bool:
    """Tell whether a group shall stay after all, and an address of it may be excluded still."""
    if seen.posted is None or seen.cluster is None:
        return True
    kept = folded(seen.cluster.spec).automation_options.cancel_replacements_for_process_groups
    if not questions.is_target(kept, ProcessGroupID.parse(seen.group.spec.process_group_id)):
        return False
    return seen.posted.excluded is None or host in seen.posted.excluded


def _hosts(seen: GroupSeen) -> tuple[str, ...]:
    spec = seen.group.spec.service
    if spec.public_ip_source == "service":
        told = "" if seen.pod is None else seen.pod.metadata.annotations.get(names.PUBLIC_IP, "")
        service = "" if seen.service is None else service_ip(seen.service, spec.pod_ip_family)
        return _written(told or service)
    if seen.pod is None:
        return ()
    family = spec.pod_ip_family
    every = pod_seen(seen.pod).ips
    fitting = [it for it in every if family is None or (family == 6) == (":" in it)]
    return _written(fitting[0]) if fitting else ()


def _written(host: str) -> tuple[str, ...]:
    try:
        return (host_of(host),) if host else ()
    except ValueError:
        return ()


def zone(seen: GroupSeen) -> str:
    """Return the fault domain of a group: by its own word, by its last one, or where its pod is."""
    found = reporting(seen)
    if isinstance(found, Known) and (said := _told_zone(found.value)):
        return said
    return seen.group.status.fault_domain or _expected_zone(seen)


def _told_zone(processes: tuple[Reporting, ...]) -> str:
    """Return what the process says that was started last: an older one may be of a pod before."""
    with_zone = [it for it in processes if it.localities.get(locality.ZONE)]
    last = min(with_zone, key=_uptime, default=None)
    return "" if last is None else last.localities[locality.ZONE]


def _uptime(process: Reporting) -> float:
    uptime = process.entry.uptime_seconds
    return 0.0 if uptime is UNSET else uptime


def _expected_zone(seen: GroupSeen) -> str:
    """Return the zone that the pod of a group will tell, as far as its object shows."""
    pod = seen.pod
    if pod is None or seen.cluster is None:
        return ""
    match questions.zone_of(seen.cluster.spec):
        case questions.Fixed(value=value):
            return value
        case questions.Variable(name=name):
            return environment.environment(seen.group, pod).get(name, "")
        case questions.FieldPath(path="metadata.name"):
            return pod.metadata.name
        case questions.FieldPath(path="spec.nodeName"):
            return pod.spec.node_name
        case _:
            return environment.environment(seen.group, pod).get(_ZONE_VARIABLE, "")


def ground_of(seen: GroupSeen) -> Ground:
    """Return what is known of the node that the pod of a group is on."""
    every = None if seen.posted is None else seen.posted.taints
    node = "" if seen.pod is None else seen.pod.spec.node_name
    options = None if seen.cluster is None else seen.cluster.spec.automation_options.replacements
    return Ground(
        taints=None if every is None else every.get(node, ()),
        options=None if options is None else options.taint_replacement_options,
        replaces=options is not None and options.enabled,
    )


def settles(seen: GroupSeen) -> float | None:
    """Return in how many seconds a group is judged otherwise, of which no event will tell."""
    if seen.pod is None:
        return None
    told = kube.find(seen.group.status.conditions, GroupConditionType.NODE_TAINT_DETECTED)
    since = None if told is None or told.status != "True" else _since(told.last_transition_time)
    detected = seen.now if since is None else since
    moments = (
        settles_in(seen.pod, seen.now, failed_after(seen)),
        ripens_in(ground_of(seen), detected, seen.now),
    )
    return min((it for it in moments if it is not None), default=None)


def failed_after(seen: GroupSeen) -> float:
    """Return from when a pod that does not end has failed, in seconds."""
    if seen.cluster is None:
        return _FAILED
    return float(seen.cluster.spec.automation_options.failed_pod_duration_seconds)


def _since(text: str | None) -> float | None:
    try:
        return from_rfc3339(text) if text else None
    except ValueError:
        return None
