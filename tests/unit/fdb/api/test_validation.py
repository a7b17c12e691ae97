"""What we say ourselves about a FoundationDBCluster: what the door asks, and what no door can see."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.fdb_compatible import COMPATIBLE
from operators.fdb_manifests import BAD, POD, Bad, main, manifest, pod, spec
from stateward.fdb.api.checks.templates import ANYTHING, PodPolicy
from stateward.fdb.api.defaults import normalized
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.api.validation import problems
from stateward.kube.codec import Json

#: What our own types cannot even read is said by the schema alone.
SEEN = [bad for bad in BAD if bad.field]
STRICT = PodPolicy(
    host_network=False,
    host_pid=False,
    host_ipc=False,
    automount_token=False,
    service_accounts=frozenset({"fdb"}),
    volume_sources=frozenset({"secret"}),
    volume_mounts=frozenset({"tls"}),
)
WORDS = st.sampled_from(
    ["name", "labels", "annotations", "containers", "initContainers", "env", "volumes", "image",
     "resources", "requests", "limits", "storage", "volumeMode", "restartPolicy", "foundationdb", "x"]
)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=12,
)


def cluster(said: Any, name: str = "shop") -> FoundationDBCluster:
    return msgspec.convert(manifest(said, name), FoundationDBCluster)


def said(body: Any, policy: PodPolicy = ANYTHING, name: str = "shop") -> dict[str, str]:
    return {it.field: str(it) for it in problems(cluster(body, name), policy)}


@pytest.mark.parametrize("bad", SEEN, ids=lambda bad: bad.title)
def test_a_problem_is_said_where_it_is(bad: Bad) -> None:
    found = said(bad.spec, name=bad.name)

    assert bad.says in found.get(bad.field, f"nothing of {bad.field}: {found}")


@pytest.mark.parametrize("bad", SEEN, ids=lambda bad: bad.title)
def test_a_problem_says_what_must_be(bad: Bad) -> None:
    for problem in problems(cluster(bad.spec, bad.name)):
        assert "must" in problem.message or "there is no such field" in problem.message


@pytest.mark.parametrize("body", COMPATIBLE.values(), ids=COMPATIBLE)
def test_what_is_written_for_the_compatible_operator_has_no_problems(body: Json) -> None:
    assert said(body) == {}


def test_there_are_enough_bad_manifests() -> None:
    assert len({bad.title for bad in BAD}) == len(BAD) >= 100


@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        (pod(hostNetwork=True), f"{POD}.hostNetwork", "must be false"),
        (pod(hostPID=True), f"{POD}.hostPID", "must be false"),
        (pod(hostIPC=True), f"{POD}.hostIPC", "must be false"),
        (pod(automountServiceAccountToken=True), f"{POD}.automountServiceAccountToken", "must be false"),
        (pod(serviceAccountName="root"), f"{POD}.serviceAccountName", "must be one that this operator allows (fdb)"),
        (pod(volumes=[{"name": "a", "hostPath": {"path": "/"}}]), f"{POD}.volumes[0].hostPath", "must be of a kind"),
        (main(volumeMounts=[{"name": "a", "mountPath": "/a"}]), f"{POD}.containers[0].volumeMounts[0].name",
         "must be a volume that this operator allows"),
    ],
)  # fmt: skip
def test_whoever_runs_the_operator_may_allow_less(body: Json, field: str, words: str) -> None:
    assert said(body) == {}
    assert words in said(body, STRICT)[field]


def test_what_is_allowed_is_allowed() -> None:
    fine = pod(
        serviceAccountName="fdb",
        hostNetwork=False,
        volumes=[{"name": "tls", "secret": {"secretName": "x"}}],
        containers=[
            {"name": "foundationdb", "volumeMounts": [{"name": "tls", "mountPath": "/tls"}]}
        ],
    )
    assert said(fine, STRICT) == {}


def test_a_short_name_has_room_for_every_class() -> None:
    counts = {"cluster_controller": 1, "data_distributor": 1, "storage": 1}

    assert said(spec(processCounts=counts), name="a" * 38) == {}


@given(JSON)
@settings(max_examples=300, deadline=None)
def test_no_template_is_too_odd_to_be_judged(template: Any) -> None:
    """Whatever has no problems can be normalized; nothing raises."""
    body = spec(
        processes={
            "general": {
                "podTemplate": {
                    "spec": {"a": template} if not isinstance(template, dict) else template
                }
            }
        }
    )
    it = cluster(body)
    if not problems(it):
        normalized(it.spec)
