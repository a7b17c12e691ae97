"""What we say ourselves about an EtcdCluster: what the door asks, and what no door can see."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.etcd_manifests import BAD, COMPATIBLE, Bad, budget, claim, manifest, tls
from stateward.app import validation as app
from stateward.core.version import Version
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.settings import settings_of
from stateward.etcd.api.validation import problems, step_problem
from stateward.kube.codec import Json
from stateward.kube.manifests import Manifest

#: Names that mean something somewhere in a template.
WORDS = st.sampled_from(
    ["name", "labels", "annotations", "containers", "env", "volumes", "args", "image", "type",
     "ports", "port", "resources", "requests", "limits", "storage", "volumeMode", "$patch",
     "$retainKeys", "$setElementOrder/containers", "restartPolicy", "x"]
)  # fmt: skip


def cluster(spec: Any, name: str = "shop", **status: Any) -> EtcdCluster:
    return msgspec.convert(manifest(spec, name) | {"status": status}, EtcdCluster)


def said(spec: Any, name: str = "shop", **status: Any) -> list[str]:
    return [str(it) for it in problems(cluster(spec, name, **status))]


def pod(**spec: Any) -> Json:
    return {"podTemplate": {"spec": spec}}


def etcd(**container: Any) -> Json:
    return pod(containers=[{"name": "etcd", **container}])


def service(**spec: Any) -> Json:
    return {"serviceTemplate": {"spec": spec}}


def named(client: str = "", headless: str = "") -> Json:
    return {
        "serviceTemplate": {"metadata": {"name": client}},
        "headlessServiceTemplate": {"metadata": {"name": headless}},
    }


POD = "spec.podTemplate.spec"
CLAIM = "spec.storage.volumeClaimTemplate"
NONE_SUCH = "there is no such field"

UNSEEN_AT_THE_DOOR: list[tuple[str, Json, str, str]] = [
    # ------------------------------------------------------------ options
    ("a mistyped flag", {"options": {"snapshot-cuont": "1"}}, "spec.options.snapshot-cuont",
     "etcd 3.6 has no such flag; did you mean snapshot-count?"),
    ("a flag of nobody", {"options": {"fast": "1"}}, "spec.options.fast", "no such flag"),
    ("a flag that 3.6 dropped", {"options": {"enable-v2": "true"}}, "spec.options.enable-v2", "etcd 3.6"),
    ("a flag that 3.5 lacks", {"version": "3.5.30", "options": {"feature-gates": "A=true"}},
     "spec.options.feature-gates", "etcd 3.5 has no such flag"),
    # ------------------------------------------------------------ pods
    ("a mistyped field of a pod", pod(nodeSelectr={"a": "b"}), f"{POD}.nodeSelectr",
     "did you mean nodeSelector?"),
    ("a mistyped field of a container", etcd(imagePullPolcy="Always"), f"{POD}.containers[0].imagePullPolcy",
     "did you mean imagePullPolicy?"),
    ("containers as an object", pod(containers={"name": "etcd"}), f"{POD}.containers", "must be a list"),
    ("a container that is a text", pod(containers=["etcd"]), f"{POD}.containers[0]", "must be an object"),
    ("a container without a name", pod(containers=[{"image": "x"}]), f"{POD}.containers", "merge key 'name'"),
    ("a grace time as a text", pod(terminationGracePeriodSeconds="30"),
     f"{POD}.terminationGracePeriodSeconds", "must be a whole number"),
    ("a switch as a text", pod(hostNetwork="yes"), f"{POD}.hostNetwork", "must be true or false"),
    ("memory in words", etcd(resources={"limits": {"memory": "lots"}}),
     f"{POD}.containers[0].resources.limits.memory", "a quantity must look like"),
    ("a node's label as a number", pod(nodeSelector={"a": 1}), f"{POD}.nodeSelector.a", "must be a text"),
    ("an unknown directive", pod(**{"$patch": "reeplace"}), POD, "$patch must be replace or delete"),
    ("the whole pod replaced", pod(**{"$patch": "replace"}), f"{POD}.containers", "must leave the container etcd"),
    ("etcd taken away", etcd(**{"$patch": "delete"}), f"{POD}.containers", "must leave the container etcd"),
    ("all containers replaced by others", pod(containers=[{"$patch": "replace", "name": "x"}, {"name": "y"}]),
     f"{POD}.containers", "must leave the container etcd"),
    ("no containers", pod(containers=None), f"{POD}.containers", "must leave the container etcd"),
    ("another hostname", pod(hostname="a"), f"{POD}.hostname", "the operator decides it"),
    ("another subdomain", pod(subdomain="a"), f"{POD}.subdomain", "the operator decides it"),
    ("pods that end", pod(restartPolicy="Never"), f"{POD}.restartPolicy", "must be Always"),
    ("other arguments", etcd(args=["--name=x"]), f"{POD}.containers[etcd].args", "put flags of etcd into spec.options"),
    ("a variable for an owned flag", etcd(env=[{"name": "ETCD_INITIAL_CLUSTER", "value": "x"}]),
     f"{POD}.containers[etcd].env[ETCD_INITIAL_CLUSTER]", "the operator itself sets initial-cluster"),
    ("another volume of data", pod(volumes=[{"name": "data", "emptyDir": {}}]), f"{POD}.volumes[0].name",
     "where the member's data lies"),
    ("another instance", {"podTemplate": {"metadata": {"labels": {"app.kubernetes.io/instance": "x"}}}},
     "spec.podTemplate.metadata.labels.app.kubernetes.io/instance", "must be left as it is, shop"),
    ("a label with a blank", {"podTemplate": {"metadata": {"labels": {"a": "b c"}}}},
     "spec.podTemplate.metadata.labels.a", "must be of letters"),
    ("an annotation without a name", {"podTemplate": {"metadata": {"annotations": {"a/": "b"}}}},
     "spec.podTemplate.metadata.annotations.a/", "must be of letters"),
    ("another namespace", {"podTemplate": {"metadata": {"namespace": "x"}}},
     "spec.podTemplate.metadata.namespace", "that of the cluster"),
    # ------------------------------------------------------------ images and versions
    ("an image of another version", {"version": "3.6.1"} | etcd(image="quay.io/coreos/etcd:v3.5.9"),
     f"{POD}.containers[etcd].image", "must be an image of the version, 3.6.1, got one of 3.5.9"),
    ("an image of etcd 3.4", etcd(image="etcd:3.4.1"), f"{POD}.containers[etcd].image", "must be 3.5.0"),
    # ------------------------------------------------------------ services
    ("a mistyped field of a service", service(loadBalancerIp="1.2.3.4"),
     "spec.serviceTemplate.spec.loadBalancerIp", "did you mean loadBalancerIP?"),
    ("a port as a text", service(ports=[{"port": "2379"}]),
     "spec.serviceTemplate.spec.ports[0].port", "must be a whole number"),
    ("a port without a number", service(ports=[{"name": "client"}]), "spec.serviceTemplate.spec.ports", "'port'"),
    ("a service of elsewhere", service(type="ExternalName"), "spec.serviceTemplate.spec.type", "must lead to"),
    ("a service in capitals", named("Client"), "spec.serviceTemplate.metadata.name", "must be of a-z"),
    ("a service with a digit first", named("2go"), "spec.serviceTemplate.metadata.name", "begin with a letter"),
    ("a service with a dot", named(headless="a.b"), "spec.headlessServiceTemplate.metadata.name", "must be of"),
    ("one name for both services", named("same", "same"), "spec.serviceTemplate.metadata.name", "must differ"),
    ("the headless one's name", named("shop-headless"), "spec.serviceTemplate.metadata.name", "must differ"),
    ("the other one's name", named(headless="shop"), "spec.headlessServiceTemplate.metadata.name", "must differ"),
    # ------------------------------------------------------------ storage
    ("a claim in capitals", {"storage": {"volumeClaimTemplate": {"metadata": {"name": "Data"}}}},
     f"{CLAIM}.metadata.name", "must be of a-z"),
    ("a folder of no size", {"storage": {"emptyDir": {"sizeLimit": "0"}}},
     "spec.storage.emptyDir.sizeLimit", "more than nothing"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "field", "words"),
    [pytest.param(*row[1:], id=row[0]) for row in UNSEEN_AT_THE_DOOR],
)
def test_what_no_door_can_see(spec: Json, field: str, words: str) -> None:
    found = said(spec)

    assert [it for it in found if it.startswith(f"{field}: ") and words in it], found


def readable(bad: Bad) -> bool:
    """Tell whether a manifest can be read into our types: what cannot is refused by that."""
    try:
        cluster(bad.spec, bad.name)
    except msgspec.ValidationError:
        return False
    return True


@pytest.mark.parametrize(
    "bad",
    [it for it in BAD if readable(it) and "unknown field" not in it.says],
    ids=lambda it: it.title,
)
def test_what_the_door_refuses_we_refuse(bad: Bad) -> None:
    if bad.title in {"a field inside tls that is none", "65 options"}:
        assert cluster(bad.spec)  # skipped when it is read; a door that knows the field counts them
    else:
        assert said(bad.spec, bad.name) != []


@pytest.mark.parametrize("bad", BAD, ids=lambda it: it.title)
def test_the_command_refuses_it_too(bad: Bad) -> None:
    body = manifest(bad.spec, bad.name)
    assert list(app.problems(Manifest(body, "f", 1))) != []


@pytest.mark.parametrize("spec", COMPATIBLE.values(), ids=COMPATIBLE)
def test_what_is_written_for_the_compatible_operator_is_fine(spec: Json) -> None:
    assert said(spec) == []
    assert list(app.problems(Manifest(manifest(spec), "f", 1))) == []


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"storage": {}},
        pod(**{"$retainKeys": ["tolerations"]}, tolerations=[]),
        pod(**{"$setElementOrder/volumes": [{"name": "a"}]}, volumes=[{"name": "a", "emptyDir": {}}]),
        pod(tolerations=None),
        pod(containers=[{"name": "beside", "$patch": "delete"}]),
        etcd(command=["wrapped", "etcd"]),
        etcd(env=[{"name": "ETCD_LOG_LEVEL", "value": "debug"}, {"name": "GOGC", "value": "50"}]),
        etcd(image="mirror/etcd@sha256:aa") | {"version": "3.6.1"},
        etcd(image="mirror/etcd:v3.6.1-0") | {"version": "3.6.1"},
        {"version": "3.7.0", "options": {"a-flag-of-the-future": "1"}},
        etcd(image="mirror/etcd:ours") | {"options": {"a-flag-of-ours": ""}},
        {"version": "3.5.30", "options": {"enable-v2": "true"}},
        budget(minAvailable="100%"),
        budget(maxUnavailable=0),
        {"replicas": 0} | budget(minAvailable=2),
        {"quorumRecovery": {"acceptDataLoss": True, "survivor": "shop-2"}},
        claim(10737418240, volumeAttributesClassName="gold"),
        tls("serverTrustedCASecret"),
    ],
)  # fmt: skip
def test_what_is_fine(spec: Json) -> None:
    assert said(spec) == []


@pytest.mark.parametrize(
    ("runs", "version", "words"),
    [
        ("3.5.30", "3.6.0", ""),
        ("3.6.16", "3.6.1", ""),
        ("3.5.30", "3.5.9", ""),
        ("", "3.5.9", ""),
        ("?", "3.5.9", ""),
        ("3.6.16", "3.5.30", "cannot go back"),
        ("3.5.30", "3.7.0", "one minor release at a time"),
        ("3.5.10", "3.6.0", "must be 3.5.26 or a later 3.5"),
    ],
)
def test_which_versions_what_runs_can_become(runs: str, version: str, words: str) -> None:
    found = step_problem(runs, Version.parse(version))

    assert bool(found) == bool(words)
    assert words in (found or "")


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
ODD_OBJECTS = st.dictionaries(WORDS, ODD, max_size=4)


@settings(max_examples=200)
@given(ODD_OBJECTS, ODD_OBJECTS, ODD_OBJECTS)
def test_whatever_is_in_a_template_it_is_judged(metadata: Json, spec: Json, claim: Json) -> None:
    """No nonsense that a server keeps may stop us from saying what is wrong with it."""
    templates = ("podTemplate", "serviceTemplate")
    body = {it: {"metadata": metadata, "spec": spec} for it in templates}
    storage = {"volumeClaimTemplate": {"metadata": metadata, "spec": claim}}
    found = said(body | {"storage": storage})

    if not found:
        assert settings_of(cluster(body | {"storage": storage})).storage_bytes


def test_a_problem_says_where_what_and_what_to_do() -> None:
    (problem,) = problems(cluster(etcd(args=["x"])))

    assert (problem.field, bool(problem.message), bool(problem.hint)) == (
        "spec.podTemplate.spec.containers[etcd].args",
        True,
        True,
    )
