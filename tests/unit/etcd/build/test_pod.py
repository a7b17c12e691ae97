"""The pod: its command line, its probes, its certificates, and what users lay over it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.core.version import Version
from stateward.etcd.api import options
from stateward.etcd.api.settings import settings_of
from stateward.etcd.build import config
from stateward.etcd.build.flags import quota
from stateward.etcd.build.pod import TRUST_ANNOTATION, pod_template
from stateward.etcd.build.probes import probes
from stateward.kube.codec import Json
from stateward.kube.patch import PatchError
from unit.etcd.build.examples import EXAMPLES, FLEETING, MINIMAL, SECURE, cluster, flags, outside

NOBODY = {
    "runAsNonRoot": True,
    "runAsUser": 65532,
    "runAsGroup": 65532,
    "fsGroup": 65532,
    "fsGroupChangePolicy": "OnRootMismatch",
    "seccompProfile": {"type": "RuntimeDefault"},
}

ANYBODY = {name: it for name, it in NOBODY.items() if name != "runAsNonRoot"}


def said(**spec: Any) -> dict[str, str]:
    """The flags of the smallest cluster with more in its spec, by name."""
    pairs = (flag.removeprefix("--").partition("=") for flag in flags(cluster(MINIMAL, **spec)))
    return {name: value for name, _, value in pairs}


def template(text: str = MINIMAL, **spec: Any) -> Json:
    of = cluster(text, **spec)
    return pod_template(of, settings_of(of), outside(of))


def etcd_with(**fields: Any) -> Json:
    return {"spec": {"containers": [{"name": "etcd"} | fields]}}


def sized(size: str) -> Json:
    spec = {"resources": {"requests": {"storage": size}}}
    return {"volumeClaimTemplate": {"spec": spec}}


@pytest.mark.parametrize(
    ("wanted", "there", "quota_of"),
    [("2k", 0, 1900), ("2k", 1000, 950), ("2k", 2000, 1900), ("2k", 3000, 1900)],
)
def test_a_database_may_grow_as_far_as_the_volume_that_is_there(wanted, there, quota_of):
    of = cluster(MINIMAL, storage=sized(wanted))
    among = replace(outside(of), smallest_volume=there)
    pod = pod_template(of, settings_of(of), among)["spec"]

    assert quota(pod["containers"][0]) == quota_of


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "default"),
        ({"serviceAccountName": "etcd"}, "etcd"),
        ({"serviceAccount": "etcd"}, "etcd"),
        ({"serviceAccount": "old", "serviceAccountName": "new"}, "new"),
    ],
)
def test_the_account_is_always_said_so_that_it_can_be_taken_back(given, expected):
    assert template(podTemplate={"spec": given})["spec"]["serviceAccountName"] == expected


# ------------------------------------------------------------------ flags
@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, {"auto-compaction-mode": "periodic", "auto-compaction-retention": "5m"}),
        ({"options": {"auto-compaction-retention": "1h"}}, {"auto-compaction-mode": "periodic", "auto-compaction-retention": "1h"}),
        ({"options": {"auto-compaction-mode": "revision"}}, {"auto-compaction-mode": "revision", "auto-compaction-retention": None}),
        ({"version": "3.5.21"}, {"snapshot-count": "10000"}),
        ({"version": "3.6.1"}, {"snapshot-count": None}),
        ({"version": "3.5.21", "options": {"snapshot-count": "7"}}, {"snapshot-count": "7"}),
        ({"podTemplate": etcd_with(image="x/etcd:latest")}, {"snapshot-count": None}),
        ({}, {"quota-backend-bytes": str(4 * 2**30 * 95 // 100)}),
        ({"storage": sized("1000")}, {"quota-backend-bytes": "950"}),
        ({"storage": sized("1k"), "options": {"quota-backend-bytes": "5"}}, {"quota-backend-bytes": "5"}),
        ({"storage": {"emptyDir": {"sizeLimit": "1k"}}}, {"quota-backend-bytes": "950"}),
        ({"storage": {"emptyDir": {}}}, {"quota-backend-bytes": None}),
        ({"podTemplate": etcd_with(env=[{"name": "ETCD_QUOTA_BACKEND_BYTES", "value": "1"}])}, {"quota-backend-bytes": None}),
        ({"options": {"pre-vote": ""}}, {"pre-vote": ""}),
        ({"options": {"data-dir": "/elsewhere", "name": "x"}}, {"data-dir": "/var/run/etcd/default.etcd", "name": "$(POD_NAME)"}),
        ({"options": {"initial-cluster-state": "new", "config-file": "/x"}}, {"initial-cluster-state": None, "config-file": None}),
    ],
)  # fmt: skip
def test_a_user_s_option_stands_in_for_our_default(
    spec: Json, expected: dict[str, str | None]
) -> None:
    found = said(**spec)
    assert {name: found.get(name) for name in expected} == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"storage": sized("1000")}, 950),
        ({"options": {"quota-backend-bytes": "5"}}, 5),
        ({"storage": {"emptyDir": {}}}, 0),
        ({"podTemplate": etcd_with(env=[{"name": "ETCD_QUOTA_BACKEND_BYTES", "value": "7"}])}, 7),
        ({"podTemplate": etcd_with(env=[{"name": "ETCD_QUOTA_BACKEND_BYTES"}])}, 0),
        ({"options": {"quota-backend-bytes": "-1"}}, 0),
    ],
)
def test_the_quota_is_read_back_from_a_container(spec: Json, expected: int) -> None:
    (container,) = template(**spec)["spec"]["containers"]
    assert quota(container) == expected


def test_a_bare_option_is_a_bare_flag_and_options_come_by_name() -> None:
    given = {"pre-vote": "", "cors": "*", "max-wals": "3"}
    found = flags(cluster(MINIMAL, storage={"emptyDir": {}}, options=given))
    assert found[-5:] == [
        "--auto-compaction-mode=periodic",
        "--auto-compaction-retention=5m",
        "--cors=*",
        "--max-wals=3",
        "--pre-vote",
    ]


names = st.one_of(st.sampled_from(options.OWNED), st.from_regex(options.FLAG, fullmatch=True))


@given(st.dictionaries(names, st.sampled_from(["", "1", "x"]), max_size=6))
def test_nothing_is_said_twice(given: dict[str, str]) -> None:
    found = [flag.removeprefix("--").partition("=")[0] for flag in flags(cluster(MINIMAL, options=given))]  # fmt: skip
    assert len(found) == len(set(found))
    said = (config.CLUSTER, config.STATE, config.TOKEN, config.FORCE)
    variables = {it.removeprefix("ETCD_").lower().replace("_", "-") for it in said}
    # What a variable says must never be said by a flag too: etcd would not start.
    assert not variables & set(found)
    assert {name for name in given if not options.owned(name)} <= set(found)


@pytest.mark.parametrize("text", EXAMPLES.values(), ids=EXAMPLES)
def test_all_that_we_say_ourselves_is_ours_to_say_or_there_to_be_set(text: str) -> None:
    of = cluster(text)
    for flag in flags(of):
        name = flag.removeprefix("--").partition("=")[0]
        assert options.owned(name) or options.flag_problem(name, settings_of(of).version) is None


@pytest.mark.parametrize(
    ("tls", "expected", "schemes"),
    [
        ({}, {"peer-auto-tls"}, ("https", "http")),
        ({"peerSecret": "a", "peerTrustedCASecret": "b"}, {"peer-cert-file", "peer-key-file", "peer-trusted-ca-file", "peer-client-cert-auth"}, ("https", "http")),
        ({"serverSecret": "a", "serverTrustedCASecret": "b"}, {"peer-auto-tls", "cert-file", "key-file"}, ("https", "https")),
        ({"serverSecret": "a", "clientTrustedCASecret": "b", "clientSecret": "c"}, {"peer-auto-tls", "cert-file", "key-file", "trusted-ca-file", "client-cert-auth"}, ("https", "https")),
    ],
)  # fmt: skip
def test_who_has_certificates_uses_them(
    tls: Json, expected: set[str], schemes: tuple[str, str]
) -> None:
    found = said(security={"tls": tls})
    assert {name for name in found if "tls" in name or "cert" in name or name.endswith("-file")} == expected  # fmt: skip
    urls = (found["listen-peer-urls"], found["listen-client-urls"])
    assert tuple(url.partition(":")[0] for url in urls) == schemes
    assert found["listen-metrics-urls"].startswith("http:")


@pytest.mark.parametrize("text", [MINIMAL, SECURE])
def test_every_file_of_a_flag_lies_in_a_mounted_secret(text: str) -> None:
    spec = template(text)["spec"]
    container = spec["containers"][0]
    secrets = {it["name"]: it["secret"] for it in spec.get("volumes", ())}
    there = {
        f"{mount['mountPath']}/{item['path']}"
        for mount in container["volumeMounts"]
        for item in secrets.get(mount["name"], {}).get("items", ())
    }
    named = {flag.partition("=")[2] for flag in container["args"] if "-file=" in flag}
    assert named == there


def test_the_key_of_an_authority_is_not_given_to_members() -> None:
    volumes = {it["name"]: it for it in template(SECURE)["spec"]["volumes"]}
    bundle = volumes["client-trusted-ca-certificate"]["secret"]["items"]
    assert bundle == [{"key": "ca.crt", "path": "ca.crt"}]


# ------------------------------------------------------------------ probes
@pytest.mark.parametrize(
    ("version", "alive", "ready"),
    [
        (Version(3, 6, 16), "/livez", "/readyz"),
        (Version(3, 5, 11), "/livez", "/readyz"),
        (Version(3, 5, 10), "/metrics", "/health?exclude=NOSPACE"),
        (Version(3, 4, 30), "/metrics", "/health?exclude=NOSPACE"),
        (None, "/metrics", "/health?exclude=NOSPACE"),
    ],
)
def test_a_member_is_asked_what_its_version_answers(
    version: Version | None, alive: str, ready: str
) -> None:
    found = probes(version)
    paths = {name: it["httpGet"]["path"] for name, it in found.items()}
    assert paths == {"startupProbe": alive, "livenessProbe": alive, "readinessProbe": ready}
    start = found["startupProbe"]
    assert start["periodSeconds"] * start["failureThreshold"] == 30 * 60
    assert found["readinessProbe"]["timeoutSeconds"] >= 5


# ------------------------------------------------------------------ what is laid over
@pytest.mark.parametrize(
    ("laid", "place", "expected"),
    [
        ({"terminationGracePeriodSeconds": 5}, "terminationGracePeriodSeconds", 5),
        ({"securityContext": {"runAsUser": 7}}, "securityContext", {**NOBODY, "runAsUser": 7}),
        ({"securityContext": {"$patch": "replace", "runAsUser": 0}}, "securityContext", {"runAsUser": 0}),
        ({"securityContext": {"runAsUser": 0}}, "securityContext", {**ANYBODY, "runAsUser": 0}),
        ({"securityContext": {"runAsUser": 0, "runAsNonRoot": True}}, "securityContext", {**NOBODY, "runAsUser": 0}),
        ({"containers": [{"name": "etcd", "securityContext": {"runAsUser": 0}}]}, "securityContext", ANYBODY),
        ({"securityContext": {"runAsUser": None, "runAsGroup": None, "fsGroup": None}}, "securityContext",
         {it: NOBODY[it] for it in NOBODY if it not in ("runAsUser", "runAsGroup", "fsGroup")}),
        ({"affinity": None}, "affinity", None),
        ({"affinity": {"$patch": "replace", "nodeAffinity": {}}}, "affinity", {"nodeAffinity": {}}),
        ({"automountServiceAccountToken": True}, "automountServiceAccountToken", True),
        ({"tolerations": [{"key": "a"}]}, "tolerations", [{"key": "a"}]),
    ],
)  # fmt: skip
def test_a_user_s_word_about_the_pod_counts(laid: Json, place: str, expected: Any) -> None:
    assert template(podTemplate={"spec": laid})["spec"].get(place) == expected


def test_a_container_beside_etcd_leaves_it_whole() -> None:
    beside = {"spec": {"containers": [{"name": "side", "image": "x"}]}}
    found = {it["name"]: it for it in template(podTemplate=beside)["spec"]["containers"]}
    assert found["etcd"] == template()["spec"]["containers"][0]
    assert found["side"] == {"name": "side", "image": "x"}


def test_a_container_without_a_name_is_refused() -> None:
    with pytest.raises(PatchError, match="merge key 'name'"):
        template(podTemplate={"spec": {"containers": [{"image": "x"}]}})


def test_pods_cannot_be_labelled_away_from_their_cluster() -> None:
    given = {"metadata": {"labels": {"app.kubernetes.io/instance": "other", "team": "a"}}}
    labels = template(podTemplate=given)["metadata"]["labels"]
    assert labels["app.kubernetes.io/instance"] == "tiny"
    assert labels["team"] == "a"


def test_another_authority_makes_another_pod() -> None:
    of = cluster(SECURE)
    settings = settings_of(of)
    one, same, other = (pod_template(of, settings, outside(of, ca=it)) for it in ("1", "1", "2"))
    assert one == same
    assert one["metadata"]["annotations"][TRUST_ANNOTATION] != other["metadata"]["annotations"][TRUST_ANNOTATION]  # fmt: skip
    assert one["spec"] == other["spec"]
    assert TRUST_ANNOTATION not in template()["metadata"]["annotations"]


def test_data_in_the_pod_s_own_folder_needs_a_volume_and_no_claim() -> None:
    spec = template(FLEETING)["spec"]
    assert spec["volumes"] == [{"name": "data", "emptyDir": {"sizeLimit": "1Gi", "medium": "Memory"}}]  # fmt: skip
    assert spec["containers"][0]["volumeMounts"] == [{"name": "data", "mountPath": "/var/run/etcd"}]
