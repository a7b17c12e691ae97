"""What is true of one process group, and since when.

Of what nobody could look at, the last word counts: a condition that was true stays true until
somebody sees that it is not, and none comes from not seeing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import msgspec
from msgspec import UNSET

from stateward.core.facts import Fact, Known
from stateward.core.moments import from_rfc3339
from stateward.core.version import Version
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.api.kind import FoundationDBProcessGroup
from stateward.fdb.decide.groups.taints import TAINTED, Ground, tainted
from stateward.fdb.model import names
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.names import CONFIG_HASH, LAUNCHER_CONFIGURATION, SPEC_HASH
from stateward.fdb.model.versions import PRERELEASE, are_compatible
from stateward.fdb.status.document import Process
from stateward.fdb.status.processes import Reporting
from stateward.kube.meta import Object
from stateward.kube.objects.network import Service
from stateward.kube.objects.pods import ContainerStatus, Pod, Terminated
from stateward.kube.objects.storage import PersistentVolumeClaim

#: For how long a container that is not ready may just be starting, in seconds.
STARTING: Final = 60.0
#: Seconds after which something lasts longer than it may, rather than just as long.
_AFTER: Final = 0.5
#: What a process says of itself when its disk fails it.
_IO_ERRORS: Final = frozenset({"io_timeout", "io_error"})
#: Why a container waits that was never started.
_COMING: Final = frozenset({"", "ContainerCreating", "PodInitializing"})
_ENDED: Final = frozenset({"Failed", "Succeeded"})
#: With what a container ends that is asked to, where nobody says which one that was.
_AS_ASKED: Final = frozenset({0, 143})
#: Judged by what processes say; of all others objects tell.
_OF_PROCESSES: Final = (
    Kind.MISSING_PROCESSES,
    Kind.INCORRECT_COMMAND_LINE,
    Kind.PROCESS_IS_MARKED_AS_EXCLUDED,
    Kind.PROCESS_HAS_IO_ERROR,
)
#: Told by the object of a pod, whoever is at work in its zone.
_OF_THE_POD: Final = frozenset({
    Kind.INCORRECT_POD_SPEC, Kind.INCORRECT_POD_METADATA, Kind.INCORRECT_CONFIG_MAP,
    Kind.INCORRECT_SIDECAR_IMAGE,
})  # fmt: skip
#: Annotations that are not a template's to say.
_OURS: Final = frozenset({
    names.SPEC_HASH, names.CONFIG_HASH, names.IMAGE_TYPE, names.PUBLIC_IP, names.PUBLIC_IP_SOURCE,
    names.IP_FAMILY, names.LAUNCHER_CONFIGURATION, names.LAUNCHER_ENVIRONMENT, names.OUTDATED,
    names.SIDECAR_CERTIFICATE, names.SIDECAR_BEFORE,
})  # fmt: skip
_KINDS: Final = {it.value: it for it in Kind}


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """What is known of a group: its objects, what they shall be, and who of it reports."""

    group: FoundationDBProcessGroup
    pod: Pod | None
    claim: PersistentVolumeClaim | None
    service: Service | None
    wants_claim: bool
    wants_service: bool
    pod_hash: str
    claim_hash: str
    #: The monitor's configuration, as the config map shall have it; None: nobody knows yet.
    conf: str | None
    #: The same for a split image, with all other files; empty: nobody knows yet.
    files_hash: str
    #: The arguments of each process; empty: nobody knows.
    expected: tuple[tuple[str, ...], ...]
    same: Callable[[tuple[str, ...], str], bool]
    processes: Fact[tuple[Reporting, ...]]
    #: What processes shall report.
    version: Version
    maintenance_zone: str
    sidecar_silent: bool
    now: float
    #: From when a terminating pod has failed, in seconds.
    failed_after: float
    #: Its node.
    ground: Ground = field(default_factory=Ground)

    @property
    def holds_nothing(self) -> bool:
        """Whether the group shall go and nothing keeps it."""
        spec = self.group.spec
        return spec.remove and (spec.excluded or spec.exclusion_skipped)

    @property
    def under_maintenance(self) -> bool:
        """Whether its processes may be away: somebody is at work in its zone."""
        group, zone = self.group, self.maintenance_zone
        is_storage = group.spec.process_class == ProcessClass.STORAGE
        return bool(zone) and is_storage and group.status.fault_domain == zone


def conditions(facts: GroupFacts) -> dict[Kind, float]:
    """Return what is true of a group, since when; Ready where nothing is wrong."""
    before = _persisted(facts)
    if facts.holds_nothing:
        found = {Kind.RESOURCES_TERMINATING} if _is_going(facts) else set()
        return {it: before.get(it, facts.now) for it in found}
    # Whoever is on a tainted node serves all the same.
    taints = tainted(facts.ground, before, facts.now)
    if facts.under_maintenance:
        kept = before.keys() - _OF_THE_POD - {*TAINTED}
        if not facts.sidecar_silent:  # it has answered since
            kept -= {Kind.SIDECAR_UNREACHABLE}
        found = kept | (set(_wrong_with_objects(facts, before)) & _OF_THE_POD)
        found = _while_maintained(facts, before, found)
    else:
        found = {*_wrong_with_objects(facts, before), *_wrong_with_processes(facts, before)}
        # A pod that is on its way out is nothing to rely on, though nothing is wrong with it yet.
        if not found and facts.pod is not None and not facts.pod.metadata.deleting:
            found.add(Kind.READY)
    return {it: before.get(it, facts.now) for it in found} | taints


def _while_maintained(
    facts: GroupFacts, before: Mapping[Kind, float], found: set[Kind]
) -> set[Kind]:
    """Return what is true of one whose processes may be away: who reports all the same is judged.

    So a restart of all is one for it, too, and who is back is known to be.
    """
    wrong = {*_wrong_with_processes(facts, before)}
    if Kind.MISSING_PROCESSES not in wrong and isinstance(facts.processes, Known):
        found = found - {Kind.INCORRECT_COMMAND_LINE} | wrong & {Kind.INCORRECT_COMMAND_LINE}
        is_there = facts.pod is not None and not facts.pod.metadata.deleting
        if not found and not wrong and is_there:
            return {Kind.READY}
    return found - {Kind.READY} if len(found) > 1 else found


def _persisted(facts: GroupFacts) -> dict[Kind, float]:
    """Return what was true when it was written last, since when."""
    found = {}
    for it in facts.group.status.conditions:
        if it.status == "True" and it.type in _KINDS:
            found[_KINDS[it.type]] = _moment(it.last_transition_time, facts.now)
    return found


def _moment(text: str | None, otherwise: float) -> float:
    try:
        return min(from_rfc3339(text), otherwise) if text else otherwise
    except (ValueError, OverflowError):
        return otherwise


def _is_going(facts: GroupFacts) -> bool:
    spec = facts.group.spec
    may = spec.excluded or spec.exclusion_timestamp is not None  # else it waits for its turn
    return (may and facts.group.metadata.deleting) or _is_gone(facts.pod)


def _is_gone(it: Object | None) -> bool:
    """Tell whether an object is not there, or is about not to be."""
    return it is None or it.metadata.deleting


# ------------------------------------------------------------------ objects
def _wrong_with_objects(facts: GroupFacts, before: Mapping[Kind, float]) -> Iterator[Kind]:
    if facts.wants_claim and _is_gone(facts.claim):
        yield Kind.MISSING_PVC
    if facts.wants_service and _is_gone(facts.service):
        yield Kind.MISSING_SERVICE
    if facts.pod is None:
        yield Kind.MISSING_POD
        return
    yield from _wrong_by_wish(facts, facts.pod)
    if facts.pod.metadata.deleting:
        gone = _moment(facts.pod.metadata.deletion_timestamp, facts.now)
        if facts.now - gone > facts.failed_after:
            yield Kind.POD_FAILING
    elif facts.pod.status.phase == "Pending":
        yield Kind.POD_PENDING
    else:
        yield from _wrong_with_running(facts, facts.pod, before)


def _wrong_by_wish(facts: GroupFacts, pod: Pod) -> Iterator[Kind]:
    """Yield how a pod differs from the one that would be made now."""
    if pod.metadata.annotations.get(SPEC_HASH) != facts.pod_hash:
        yield Kind.INCORRECT_POD_SPEC
    if not _has_metadata(facts, pod):
        yield Kind.INCORRECT_POD_METADATA


def _has_metadata(facts: GroupFacts, pod: Pod) -> bool:
    """Tell whether all is said of a pod, and of a claim that is made as asked, that shall be."""
    template = facts.group.spec.process_settings.pod_template
    said = template.metadata if template is not None else {}
    # What is said of the group lies over what its template says.
    labels = {**(said.get("labels") or {}), **facts.group.metadata.labels}
    notes = {it: text for it, text in (said.get("annotations") or {}).items() if it not in _OURS}
    claim = facts.claim if facts.wants_claim else None
    return (
        labels.items() <= pod.metadata.labels.items()
        and notes.items() <= pod.metadata.annotations.items()
        and (claim is None or claim.metadata.annotations.get(SPEC_HASH) == facts.claim_hash)
    )


def _wrong_with_running(
    facts: GroupFacts, pod: Pod, before: Mapping[Kind, float]
) -> Iterator[Kind]:
    is_flapping = Kind.POD_FAILING in before
    # Its image, of which it is said too, is nothing to us.
    ended = pod.metadata.annotations.get(names.SIDECAR_BEFORE, "").partition(" ")[0]
    if pod.status.phase in _ENDED or any(
        _fails(it, facts.now, ended, is_flapping=is_flapping)
        for it in pod.status.container_statuses
    ):
        yield Kind.POD_FAILING
    if not _has_files(facts, pod, before):
        yield Kind.INCORRECT_CONFIG_MAP
    if facts.sidecar_silent:
        yield Kind.SIDECAR_UNREACHABLE


def _fails(it: ContainerStatus, now: float, ended: str, *, is_flapping: bool) -> bool:
    """Tell whether a container does not do what it shall; ``ended``: which one we had end, by id.

    One that ends again and again runs for moments in between, and fails nevertheless: until it has
    run for a while. One that ran for long before, or ended because it was asked to, is well when it
    is back.
    """
    running, waiting = it.state.running, it.state.waiting
    is_new = running is not None and now - _moment(running.started_at, now) < STARTING
    if it.ready:
        return is_flapping and is_new and it.restart_count > 0 and _broke_soon(it, now, ended)
    if it.restart_count > 0 or it.state.terminated is not None:
        return True
    return not (is_new or (waiting is not None and waiting.reason in _COMING))


def _broke_soon(it: ContainerStatus, now: float, ended: str) -> bool:
    """Tell whether a container ended by itself soon after its last start; so it is if none says."""
    last = it.last_state.terminated
    if last is None:
        return True
    at = _moment(last.finished_at, now)
    return not _as_asked(it, last, ended) and at - _moment(last.started_at, at) < STARTING


def _as_asked(it: ContainerStatus, last: Terminated, ended: str) -> bool:
    """Tell whether a container ended for another image: the sidecar alone does, and once for it.

    One that ends by itself may well say that all went well, each time.
    """
    if it.name != names.SIDECAR_CONTAINER:
        return False
    return last.container_id == ended if last.container_id else last.exit_code in _AS_ASKED


def settles_in(pod: Pod, now: float, failed_after: float) -> float | None:
    """Return in how many seconds a pod is judged otherwise, by the time alone; None: it is not."""
    if pod.metadata.deleting:
        ends = _moment(pod.metadata.deletion_timestamp, now) + failed_after
        return ends - now + _AFTER if ends >= now else None
    started = [
        _moment(it.state.running.started_at, now)
        for it in pod.status.container_statuses
        if it.state.running is not None and (it.restart_count > 0 or not it.ready)
    ]
    left = [STARTING - (now - it) for it in started]
    return min((it for it in left if it > 0), default=None)


def _has_files(facts: GroupFacts, pod: Pod, before: Mapping[Kind, float]) -> bool:
    """Tell whether a pod has seen what is in the config map; of what nobody knows, as before."""
    annotations = pod.metadata.annotations
    if facts.group.spec.image_type == "split":
        if facts.files_hash:
            return annotations.get(CONFIG_HASH) == facts.files_hash
    elif facts.conf is not None:
        return runs_with(pod, facts.conf)
    return Kind.INCORRECT_CONFIG_MAP not in before


def runs_with(pod: Pod, conf: str) -> bool:
    """Tell whether the monitor of a unified pod says that it has a configuration."""
    seen = pod.metadata.annotations.get(LAUNCHER_CONFIGURATION)
    return seen == conf or (seen is not None and _alike(seen, conf))


def _alike(a: str, b: str) -> bool:
    """Tell whether two texts are the same JSON; texts that are none are never."""
    one = _canonical(a)
    return one is not None and one == _canonical(b)


@lru_cache(maxsize=512)  # all pods of a class have seen the same
def _canonical(text: str) -> bytes | None:
    try:
        return msgspec.json.encode(msgspec.json.decode(text), order="sorted")
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


# ------------------------------------------------------------------ processes
def _wrong_with_processes(facts: GroupFacts, before: Mapping[Kind, float]) -> Iterator[Kind]:
    if not isinstance(facts.processes, Known):
        yield from (it for it in _OF_PROCESSES if it in before)
        return
    entries = [it.entry for it in facts.processes.value]
    whole = [it for it in entries if it.command_line is not UNSET and it.version is not UNSET]
    if len(whole) < facts.group.spec.servers_per_pod:
        yield Kind.MISSING_PROCESSES
    if facts.pod is not None and _runs_otherwise(facts, whole, before):
        yield Kind.INCORRECT_COMMAND_LINE
    if not facts.group.spec.remove and any(it.excluded is True for it in entries):
        yield Kind.PROCESS_IS_MARKED_AS_EXCLUDED
    if any(map(_has_io_error, entries)):
        yield Kind.PROCESS_HAS_IO_ERROR


def _runs_otherwise(
    facts: GroupFacts, entries: list[Process], before: Mapping[Kind, float]
) -> bool:
    """Tell whether a process has other arguments, or is another version, than it shall be."""
    if any(_is_wrong_version(facts, str(it.version)) for it in entries):
        return True
    if not facts.expected:
        return Kind.INCORRECT_COMMAND_LINE in before
    # Arguments say which of the processes it is, so whichever fits is the right one.
    return any(
        not any(facts.same(it, str(entry.command_line)) for it in facts.expected)
        for entry in entries
    )


def _is_wrong_version(facts: GroupFacts, told: str) -> bool:
    """Tell whether a process is a version that it must leave.

    Where a pod is as asked, its image has no other program: another release of the same line would
    come back after each restart, so it is told elsewhere and nobody is restarted for it.
    """
    told = told.removesuffix(PRERELEASE)
    if told == str(facts.version):
        return False
    if facts.pod is None or facts.pod.metadata.annotations.get(SPEC_HASH) != facts.pod_hash:
        return True
    try:
        return not are_compatible(Version.parse(told), facts.version)
    except ValueError:
        return True


def _has_io_error(entry: Process) -> bool:
    return entry.messages is not UNSET and any(it.name in _IO_ERRORS for it in entry.messages)
