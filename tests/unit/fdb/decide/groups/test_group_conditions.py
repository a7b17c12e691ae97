"""What is true of a process group. Each case says what differs from a group that is well."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from fakes.fdb_groups import NOW, VERSION, message, process
from stateward.core.facts import Known, Unknown
from stateward.core.moments import to_rfc3339
from stateward.core.version import Version
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.api.kind import FoundationDBProcessGroup
from stateward.fdb.decide.groups.conditions import GroupFacts, conditions, settles_in
from stateward.fdb.model import names
from stateward.fdb.model.names import CONFIG_HASH, LAUNCHER_CONFIGURATION, SPEC_HASH
from stateward.fdb.status.processes import Reporting
from stateward.kube.meta import Condition
from stateward.kube.objects.network import Service
from stateward.kube.objects.pods import Pod
from stateward.kube.objects.storage import PersistentVolumeClaim

LABELS = {"foundationdb.org/fdb-process-group-id": "storage-1"}
CONF = '{"version": "7.3.63", "arguments": [{"value": "--class"}]}'
SEEN = '{"arguments":[{"value":"--class"}],"version":"7.3.63"}'
EXPECTED = (("--locality_process_id=storage-1-1",),)
HASHES = {SPEC_HASH: "p1", LAUNCHER_CONFIGURATION: SEEN, CONFIG_HASH: "f1"}
RUNS = {
    "name": "foundationdb",
    "ready": True,
    "state": {"running": {"startedAt": to_rfc3339(NOW - 9000)}},
}


def same(expected: tuple[str, ...], told: str) -> bool:
    return tuple(told.split()[1:]) == expected


def lists(*entries: Reporting) -> Known[tuple[Reporting, ...]]:
    return Known(entries, NOW, "status json")


def group(
    *was: Kind, metadata: dict[str, Any] | None = None, zone: str = "z1", **said: Any
) -> FoundationDBProcessGroup:
    """Return a group that was so an hour ago."""
    told = [
        {"type": it, "status": "True", "lastTransitionTime": to_rfc3339(NOW - 3600)} for it in was
    ]
    spec = {"clusterName": "shop", "processGroupID": "storage-1", "processClass": "storage", **said}
    whole = {
        "metadata": {"labels": LABELS, **(metadata or {})},
        "spec": spec,
        "status": {"conditions": told, "faultDomain": zone},
    }
    return msgspec.convert(whole, FoundationDBProcessGroup)


def pod(phase: str = "Running", containers: Any = (RUNS,), **metadata: Any) -> Pod:
    status = {"phase": phase, "containerStatuses": list(containers)}
    whole = {"metadata": {"labels": LABELS, "annotations": HASHES, **metadata}, "status": status}
    return msgspec.convert(whole, Pod)


def container(**said: Any) -> dict[str, Any]:
    return {"name": "foundationdb", "ready": False, **said}


def claim(**metadata: Any) -> PersistentVolumeClaim:
    whole = {"metadata": {"annotations": {SPEC_HASH: "c1"}, **metadata}}
    return msgspec.convert(whole, PersistentVolumeClaim)


def gone(seconds: float) -> str:
    return to_rfc3339(NOW - seconds)


WELL = GroupFacts(
    group=group(), pod=pod(), claim=claim(), service=None, wants_claim=True, wants_service=False,
    pod_hash="p1", claim_hash="c1", conf=CONF, files_hash="f1", expected=EXPECTED, same=same,
    processes=lists(process()), version=VERSION, maintenance_zone="", sidecar_silent=False,
    now=NOW, failed_after=300.0,
)  # fmt: skip
STARTED = {"running": {"startedAt": gone(10)}}
WAITS = {"waiting": {"reason": "ContainerCreating"}}
LOOPS = {"waiting": {"reason": "CrashLoopBackOff"}}
ENDED = {"terminated": {"exitCode": 1}}

#: What differs, and what is true then.
TABLE: dict[str, tuple[dict[str, Any], str]] = {
    "nothing is wrong": ({}, "Ready"),
    "no pod": ({"pod": None}, "MissingPod"),
    "no pod, nobody reports": ({"pod": None, "processes": lists()}, "MissingPod MissingProcesses"),
    "no pod: arguments are not judged": ({"pod": None, "expected": (("x",),)}, "MissingPod"),
    "no claim": ({"claim": None}, "MissingPVC"),
    "the claim goes": ({"claim": claim(deletionTimestamp=gone(1))}, "MissingPVC"),
    "no claim is wanted": ({"claim": None, "wants_claim": False}, "Ready"),
    "another claim": ({"claim_hash": "c2"}, "IncorrectPodMetadata"),
    "no service": ({"wants_service": True}, "MissingService"),
    "a service": ({"wants_service": True, "service": Service()}, "Ready"),
    "pending": ({"pod": pod("Pending", ())}, "PodPending"),
    "pending with another spec": ({"pod": pod("Pending", ()), "pod_hash": "p2"}, "PodPending IncorrectPodSpec"),
    "pending, and has seen no files": ({"pod": pod("Pending", (), annotations={SPEC_HASH: "p1"})}, "PodPending"),
    "failed": ({"pod": pod("Failed", ())}, "PodFailing"),
    "ended": ({"pod": pod("Succeeded", ())}, "PodFailing"),
    "a container waits to be made": ({"pod": pod(containers=[container(state=WAITS)])}, "Ready"),
    "a container has just started": ({"pod": pod(containers=[container(state=STARTED)])}, "Ready"),
    "a container is not ready": ({"pod": pod(containers=[container(state=RUNS["state"])])}, "PodFailing"),
    "a container crashes": ({"pod": pod(containers=[container(state=LOOPS, restartCount=1)])}, "PodFailing"),
    "a container finds no image": ({"pod": pod(containers=[container(state={"waiting": {"reason": "ErrImagePull"}})])}, "PodFailing"),
    "a container ended": ({"pod": pod(containers=[container(state=ENDED)])}, "PodFailing"),
    "one of two containers": ({"pod": pod(containers=[RUNS, container(state=ENDED)])}, "PodFailing"),
    "terminating": ({"pod": pod(deletionTimestamp=gone(299))}, ""),
    "terminating, and its containers end": ({"pod": pod(containers=[container(state=ENDED)], deletionTimestamp=gone(1))}, ""),
    "terminating for too long": ({"pod": pod(deletionTimestamp=gone(301))}, "PodFailing"),
    "another spec": ({"pod_hash": "p2"}, "IncorrectPodSpec"),
    "no hash": ({"pod": pod(annotations={LAUNCHER_CONFIGURATION: SEEN})}, "IncorrectPodSpec"),
    "a label is missing": ({"pod": pod(labels={})}, "IncorrectPodMetadata"),
    "more labels": ({"pod": pod(labels={**LABELS, "more": "1"})}, "Ready"),
    "a label of the template is missing": ({"group": group(processSettings={"podTemplate": {"metadata": {"labels": {"a": "b"}}}})}, "IncorrectPodMetadata"),
    "an annotation of the template is missing": ({"group": group(processSettings={"podTemplate": {"metadata": {"annotations": {"a": "b"}}}})}, "IncorrectPodMetadata"),
    "the group's labels lie over its template's": ({"group": group(processSettings={"podTemplate": {"metadata": {"labels": dict.fromkeys(LABELS, "x")}}})}, "Ready"),
    "no template says our annotations": ({"group": group(processSettings={"podTemplate": {"metadata": {"annotations": {SPEC_HASH: "x"}}}})}, "Ready"),
    "old files": ({"conf": CONF.replace("63", "79")}, "IncorrectConfigMap"),
    "files not seen yet": ({"pod": pod(annotations={SPEC_HASH: "p1"})}, "IncorrectConfigMap"),
    "files that are no JSON": ({"pod": pod(annotations={**HASHES, LAUNCHER_CONFIGURATION: "{"})}, "IncorrectConfigMap"),
    "no config map yet": ({"conf": None}, "Ready"),
    "no config map yet, old files before": ({"conf": None, "group": group(Kind.INCORRECT_CONFIG_MAP)}, "IncorrectConfigMap"),
    "split with the files": ({"group": group(imageType="split"), "conf": None}, "Ready"),
    "split with old files": ({"group": group(imageType="split"), "files_hash": "f2"}, "IncorrectConfigMap"),
    "the sidecar is silent": ({"sidecar_silent": True}, "SidecarUnreachable"),
    "nobody reports": ({"processes": lists()}, "MissingProcesses"),
    "one of two reports": ({"group": group(serversPerPod=2)}, "MissingProcesses"),
    "a process has no arguments": ({"processes": lists(process(command_line=UNSET))}, "MissingProcesses"),
    "a process has no version": ({"processes": lists(process(version=UNSET))}, "MissingProcesses"),
    "nobody was asked": ({"processes": Unknown("no status")}, "Ready"),
    "nobody was asked, and one was missing": ({"processes": Unknown("no status"), "group": group(Kind.MISSING_PROCESSES)}, "MissingProcesses"),
    "other arguments": ({"expected": (("--knob_a=1",),)}, "IncorrectCommandLine"),
    "arguments of the second": ({"expected": (("--x",), *EXPECTED)}, "Ready"),
    "nobody knows the arguments": ({"expected": ()}, "Ready"),
    "nobody knows the arguments, and they were others": ({"expected": (), "group": group(Kind.INCORRECT_COMMAND_LINE)}, "IncorrectCommandLine"),
    "another version that does not fit": ({"version": Version(7, 4, 1)}, "IncorrectCommandLine"),
    "a version that is none": ({"processes": lists(process(version="new"))}, "IncorrectCommandLine"),
    "another patch, and the pod is as asked": ({"version": Version(7, 3, 79)}, "Ready"),
    "another patch, and the pod is not": ({"version": Version(7, 3, 79), "pod_hash": "p2"}, "IncorrectCommandLine IncorrectPodSpec"),
    "not released yet": ({"processes": lists(process(version=f"{VERSION}-PRERELEASE"))}, "Ready"),
    "excluded": ({"processes": lists(process(excluded=True))}, "ProcessIsMarkedAsExcluded"),
    "excluded, to go": ({"processes": lists(process(excluded=True)), "group": group(remove=True)}, "Ready"),
    "io_timeout": ({"processes": lists(process(messages=[message("io_timeout")]))}, "ProcessHasIOError"),
    "io_error": ({"processes": lists(process(messages=[message("io_error")]))}, "ProcessHasIOError"),
    "another message": ({"processes": lists(process(messages=[message("file_open_error")]))}, "Ready"),
    "removed and excluded": ({"group": group(remove=True, excluded=True), "pod": None, "claim": None, "processes": lists()}, "ResourcesTerminating"),
    "removed with what it holds": ({"group": group(remove=True, exclusionSkipped=True), "pod": pod(deletionTimestamp=gone(900))}, "ResourcesTerminating"),
    "removed, excluded, and its object goes": ({"group": group(remove=True, excluded=True, metadata={"deletionTimestamp": gone(1)})}, "ResourcesTerminating"),
    "removed, excluded, and nothing goes yet": ({"group": group(remove=True, excluded=True), "pod_hash": "p2"}, ""),
    "removed, not excluded": ({"group": group(remove=True), "pod": None}, "MissingPod"),
    "maintenance: what was stays": ({"group": group(Kind.READY), "maintenance_zone": "z1", "pod": None, "processes": lists()}, "Ready"),
    "maintenance: what was wrong stays": ({"group": group(Kind.MISSING_PROCESSES), "maintenance_zone": "z1"}, "MissingProcesses"),
    "maintenance: of the pod its object tells": ({"group": group(Kind.INCORRECT_POD_SPEC, Kind.MISSING_PROCESSES), "maintenance_zone": "z1"}, "MissingProcesses"),
    "maintenance: another spec": ({"group": group(Kind.READY), "maintenance_zone": "z1", "pod_hash": "p2"}, "IncorrectPodSpec"),
    "maintenance: images were changed": ({"group": group(Kind.INCORRECT_SIDECAR_IMAGE), "maintenance_zone": "z1"}, "Ready"),
    "maintenance: images were changed, and nobody reports": ({"group": group(Kind.INCORRECT_SIDECAR_IMAGE), "maintenance_zone": "z1", "processes": lists()}, ""),
    "maintenance: nobody knows who reports": ({"group": group(Kind.INCORRECT_SIDECAR_IMAGE), "maintenance_zone": "z1", "processes": Unknown("no status")}, ""),
    "maintenance: other arguments": ({"group": group(Kind.READY), "maintenance_zone": "z1", "same": lambda *_: False}, "IncorrectCommandLine"),
    "maintenance: as asked by now": ({"group": group(Kind.INCORRECT_COMMAND_LINE), "maintenance_zone": "z1"}, "Ready"),
    "maintenance: a sidecar answers again": ({"group": group(Kind.SIDECAR_UNREACHABLE), "maintenance_zone": "z1"}, "Ready"),
    "maintenance: a sidecar is silent yet": ({"group": group(Kind.SIDECAR_UNREACHABLE), "maintenance_zone": "z1", "sidecar_silent": True}, "SidecarUnreachable"),
    "maintenance of another zone": ({"group": group(Kind.READY), "maintenance_zone": "z2", "processes": lists()}, "MissingProcesses"),
    "maintenance, but no storage": ({"group": group(Kind.READY, processClass="log"), "maintenance_zone": "z1", "processes": lists()}, "MissingProcesses"),
    "no maintenance, no zone": ({"group": group(Kind.READY, zone=""), "processes": lists()}, "MissingProcesses"),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_what_is_true(name: str) -> None:
    differs, said = TABLE[name]
    assert sorted(conditions(replace(WELL, **differs))) == sorted(said.split())


def test_what_was_true_is_so_since_then() -> None:
    facts = replace(WELL, group=group(Kind.MISSING_POD, Kind.READY), pod=None, processes=lists())
    assert conditions(facts) == {Kind.MISSING_POD: NOW - 3600, Kind.MISSING_PROCESSES: NOW}


@pytest.mark.parametrize("text", [None, "", "yesterday", to_rfc3339(NOW + 100)])
def test_a_time_that_is_none_or_not_yet_is_now(text: str | None) -> None:
    was = group(Kind.MISSING_POD)
    told = tuple(
        msgspec.structs.replace(it, last_transition_time=text) for it in was.status.conditions
    )
    was = msgspec.structs.replace(was, status=msgspec.structs.replace(was.status, conditions=told))
    assert conditions(replace(WELL, group=was, pod=None)) == {Kind.MISSING_POD: NOW}


@pytest.mark.parametrize(("seconds", "said"), [(10, "PodFailing"), (61, "Ready")])
def test_one_that_crashes_again_and_again_fails_until_it_has_run_for_a_while(
    seconds: float, said: str
) -> None:
    runs = {"running": {"startedAt": gone(seconds)}}
    again = pod(containers=[container(ready=True, restartCount=5, state=runs)])
    assert list(conditions(replace(WELL, pod=again))) == ["Ready"]
    assert list(conditions(replace(WELL, pod=again, group=group(Kind.POD_FAILING)))) == [said]


MAIN, BESIDE = names.MAIN_CONTAINER, names.SIDECAR_CONTAINER
#: Which container is ready again; its id before that; with what it ended, and after how many
#: seconds. The sidecar ``old`` got another image in place.
BACK: dict[str, tuple[str, str, int, float, str]] = {
    "it broke soon after its start": (MAIN, "m", 1, 5, "PodFailing"),
    "so much memory was never there": (MAIN, "m", 137, 20, "PodFailing"),
    "it broke, and had run for long": (MAIN, "m", 1, 9000, "Ready"),
    "it ends soon, and nobody asks it to": (MAIN, "m", 0, 29, "PodFailing"),
    "it got another image": (BESIDE, "old", 143, 9000, "Ready"),
    "it got another image, and soon the first again": (BESIDE, "old", 143, 29, "Ready"),
    "the same, and it goes without a word": (BESIDE, "old", 0, 29, "Ready"),
    "the same, and it does not listen": (BESIDE, "old", 137, 29, "Ready"),
    "the same, and nobody says which one it was": (BESIDE, "", 0, 29, "Ready"),
    "a sidecar breaks soon after its start": (BESIDE, "new", 1, 5, "PodFailing"),
    "a sidecar ends soon, and says that all is well": (BESIDE, "new", 0, 5, "PodFailing"),
    "a sidecar ends soon, by a signal": (BESIDE, "new", 143, 5, "PodFailing"),
    "a sidecar ended, and had run for long": (BESIDE, "new", 0, 9000, "Ready"),
    "a container of the user ends soon": ("logger", "l", 0, 5, "PodFailing"),
}


@pytest.mark.parametrize("name", BACK)
def test_one_that_is_back_is_well_at_once_unless_it_breaks_again_and_again(name: str) -> None:
    which, id_, code, lasted, said = BACK[name]
    last = {"exitCode": code, "startedAt": gone(20 + lasted), "finishedAt": gone(20)}
    runs: dict[str, Any] = {
        "state": STARTED,
        "lastState": {"terminated": last | {"containerID": id_}},
    }
    back = pod(
        containers=[container(ready=True, restartCount=2, **runs) | {"name": which}],
        annotations={
            **HASHES,
            names.SIDECAR_BEFORE: "old foundationdb-kubernetes-sidecar:7.3.63-1",
        },
    )
    assert list(conditions(replace(WELL, pod=back, group=group(Kind.POD_FAILING)))) == [said]


# ------------------------------------------------------------------ what time alone changes
#: A pod, and in how many seconds it is judged otherwise.
SETTLING: dict[str, tuple[Pod, float | None]] = {
    "runs": (pod(containers=[RUNS]), None),
    "came back": (pod(containers=[container(ready=True, restartCount=5, state=STARTED)]), 50.0),
    "has just started": (pod(containers=[container(state=STARTED)]), 50.0),
    "the first of two": (pod(containers=[container(state=STARTED), container(state=ENDED)]), 50.0),
    "has ended": (pod(containers=[container(state=ENDED, restartCount=1)]), None),
    "goes": (pod(deletionTimestamp=gone(100)), 200.5),
    "does not go": (pod(deletionTimestamp=gone(301)), None),
}


@pytest.mark.parametrize("name", SETTLING)
def test_when_to_look_again_where_no_event_tells(name: str) -> None:
    it, after = SETTLING[name]
    assert settles_in(it, NOW, 300.0) == after


# ------------------------------------------------------------------ laws
moments = st.one_of(st.none(), st.sampled_from(["", "never", gone(10), gone(10_000)]))
kinds = st.lists(st.sampled_from(list(Kind)), unique=True)
states = st.sampled_from([{}, STARTED, WAITS, LOOPS, ENDED])
containers = st.lists(
    st.builds(container, state=states, restartCount=st.integers(0, 2), ready=st.booleans()),
    max_size=3,
)
texts = st.sampled_from(["", "p1", "c1", "f1", CONF, SEEN, "{", "[" * 100])
notes = st.dictionaries(st.sampled_from(list(HASHES)), texts)
pods = st.builds(
    pod, st.sampled_from(["", "Running", "Pending", "Failed", "Unknown"]), containers,
    deletionTimestamp=moments, annotations=notes, labels=st.sampled_from([{}, LABELS]),
)  # fmt: skip
entries = st.builds(
    process,
    command_line=st.sampled_from([UNSET, "", "fdbserver --locality_process_id=storage-1-1"]),
    version=st.sampled_from([UNSET, "", str(VERSION)]),
    excluded=st.sampled_from([UNSET, True, False]),
    messages=st.sampled_from([UNSET, [], [message("io_error")]]),
)
groups = st.builds(
    lambda was, **said: group(*was, **said), kinds, remove=st.booleans(), excluded=st.booleans(),
    exclusionSkipped=st.booleans(), serversPerPod=st.integers(1, 3),
    imageType=st.sampled_from(["split", "unified"]), zone=st.sampled_from(["", "z1"]),
)  # fmt: skip
everything = st.builds(
    GroupFacts,
    group=groups,
    pod=st.none() | pods,
    claim=st.none() | st.builds(claim, deletionTimestamp=moments, annotations=notes),
    service=st.none() | st.just(Service()),
    wants_claim=st.booleans(), wants_service=st.booleans(),
    pod_hash=texts, claim_hash=texts, conf=st.none() | texts, files_hash=texts,
    expected=st.sampled_from([(), EXPECTED, (("x",), *EXPECTED)]),
    same=st.just(same),
    processes=st.just(Unknown("no status")) | st.lists(entries, max_size=3).map(lambda it: lists(*it)),
    version=st.just(VERSION),
    maintenance_zone=st.sampled_from(["", "z1"]),
    sidecar_silent=st.booleans(),
    now=st.just(NOW),
    failed_after=st.sampled_from([0.0, 300.0]),
)  # fmt: skip


@given(everything)
def test_whatever_is_missing_something_is_said_and_said_twice_it_is_the_same(
    facts: GroupFacts,
) -> None:
    found = conditions(facts)
    assert all(it <= NOW for it in found.values())
    assert Kind.READY not in found or len(found) == 1
    if facts.holds_nothing:
        assert found.keys() <= {Kind.RESOURCES_TERMINATING}
    told = tuple(
        Condition(type=kind, status="True", last_transition_time=to_rfc3339(at))
        for kind, at in found.items()
    )
    status = msgspec.structs.replace(facts.group.status, conditions=told)
    again = replace(facts, group=msgspec.structs.replace(facts.group, status=status))
    assert conditions(again).keys() == found.keys()


def test_a_thousand_groups_take_no_time() -> None:
    facts = [replace(WELL, group=group(Kind.READY), pod=pod()) for _ in range(1000)]
    started = perf_counter()
    for it in facts:
        conditions(it)
    # Far more than it takes on any machine, and far less than anything quadratic would.
    assert perf_counter() - started < 1.0
