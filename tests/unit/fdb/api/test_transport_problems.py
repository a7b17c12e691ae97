"""What people get wrong with TLS: each is said where it is, before anything starts."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes import fdb_tls
from fakes.fdb_tls import FOLDER, ON
from operators.fdb_manifests import manifest, spec
from stateward.core.errors import UsageError
from stateward.core.peers import rules
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.api.papers import ALTERNATIVES
from stateward.fdb.api.validation import problems
from stateward.kube.codec import Json
from stateward.sim.kube.papers import CERTIFICATE, KEY

POD = "spec.processes.general.podTemplate.spec"
MAIN = f"{POD}.containers[foundationdb]"
SIDECAR = "foundationdb-kubernetes-sidecar"
SPLIT = {"imageType": "split", "sidecarContainer": {"enableTls": True}}


class Wrong(NamedTuple):
    """A spec, where we say what is wrong with it, and words that we say."""

    spec: Json
    field: str
    says: str


def pod(*containers: Json, secret: Json | None = None, volumes: Any = None, **more: Any) -> Json:
    template = fdb_tls.template(*containers, secret=secret)
    if volumes is not None:
        template["spec"]["volumes"] = volumes
    return spec(processes={"general": {"podTemplate": template}}, **{**ON, **more})


def named(**paths: str) -> Json:
    """Return a container that is told of other paths."""
    found = fdb_tls.container()
    env = [it for it in found["env"] if it["name"].split("_")[2] not in paths]
    env += [{"name": f"FDB_TLS_{it}_FILE", "value": path} for it, path in paths.items() if path]
    return {**found, "env": env}


def env(kind: str) -> str:
    return f"{MAIN}.env[FDB_TLS_{kind}_FILE]"


WRONG: dict[str, Wrong] = {
    "no template at all": Wrong(spec(**ON), f"{MAIN}.env", "must have FDB_TLS_CERTIFICATE_FILE"),
    "no certificate": Wrong(pod(named(CERTIFICATE="")), f"{MAIN}.env", "where its certificate is"),
    "no key": Wrong(pod(named(KEY="")), f"{MAIN}.env", "must have FDB_TLS_KEY_FILE"),
    "a class without": Wrong(
        spec(
            processes={
                "general": {"podTemplate": fdb_tls.template()},
                "log": {"podTemplate": {"spec": {"containers": [{"name": "foundationdb"}]}}},
            },
            **ON,
        ),
        "spec.processes.log.podTemplate.spec.containers[foundationdb].env",
        "it never runs without",
    ),
    "a path that is not absolute": Wrong(
        pod(named(KEY="tls.key")), env("KEY"), "must be an absolute path, got 'tls.key'"
    ),
    "a path where nothing is mounted": Wrong(
        pod(named(CERTIFICATE="/etc/tls.crt")), env("CERTIFICATE"), "must name a file in a volume"
    ),
    "a folder whose name begins alike": Wrong(
        pod(named(CA=f"{FOLDER}-of-others/ca.crt")), env("CA"), "must name a file in a volume"
    ),
    "a volume that is not there": Wrong(
        pod(volumes=[]), f"{MAIN}.volumeMounts", "must be a volume of the template, got 'certs'"
    ),
    "a secret without a name": Wrong(
        pod(secret={"defaultMode": 256}), f"{POD}.volumes[certs].secret.secretName", "must name"
    ),
    "a secret that may be missing": Wrong(
        pod(secret={"secretName": "x", "optional": True}),
        f"{POD}.volumes[certs].secret.optional",
        "must not be true: pods would start before there is a certificate",
    ),
    "a key that is not shown": Wrong(
        pod(secret={"secretName": "x", "items": [{"key": "a", "path": "tls.crt"}]}),
        f"{POD}.volumes[certs].secret.items",
        "must show 'tls.key'",
    ),
    "a folder of a secret": Wrong(
        pod(named(KEY=f"{FOLDER}/private/tls.key")),
        f"{POD}.volumes[certs].secret.items",
        "must show 'private/tls.key'",
    ),
    "the whole folder": Wrong(
        pod(named(KEY=FOLDER)), f"{POD}.volumes[certs].secret.items", "is told to be the key"
    ),
    "an argument with another path": Wrong(
        spec(
            processes={
                "general": {
                    "podTemplate": fdb_tls.template(),
                    "customParameters": ["tls_key_file=/nowhere/tls.key"],
                }
            },
            **ON,
        ),
        f"{POD}.customParameters",
        "must name a file in a volume",
    ),
    "a sidecar without": Wrong(
        pod(fdb_tls.container(), {"name": SIDECAR}, **SPLIT),
        f"{POD}.containers[{SIDECAR}].env",
        "must have FDB_TLS_",
    ),
    "a sidecar without an authority": Wrong(
        pod(fdb_tls.container(), {**named(CA=""), "name": SIDECAR}, **SPLIT),
        f"{POD}.containers[{SIDECAR}].env",
        "must have FDB_TLS_CA_FILE",
    ),
    "rules in other words": Wrong(
        spec(mainContainer={"peerVerificationRules": "everybody"}),
        "spec.mainContainer.peerVerificationRules",
        "must be conditions like S.CN=name between ',', got 'everybody'",
    ),
    "a comma in a name": Wrong(
        spec(mainContainer={"peerVerificationRules": "S.O=Shop, Inc"}),
        "spec.mainContainer.peerVerificationRules",
        "got 'Inc'",
    ),
    "a rule that ends too soon": Wrong(
        spec(sidecarContainer={"peerVerificationRules": "S.CN=a,"}),
        "spec.sidecarContainer.peerVerificationRules",
        "got ''",
    ),
    "alternatives of sidecars for processes": Wrong(
        spec(mainContainer={"peerVerificationRules": "Check.Valid=1;S.CN=a"}),
        "spec.mainContainer.peerVerificationRules",
        "must part alternatives by '|', got ';'",
    ),
    "alternatives of processes for sidecars": Wrong(
        spec(sidecarContainer={"peerVerificationRules": "S.CN=a|S.CN=b"}),
        "spec.sidecarContainer.peerVerificationRules",
        "must part alternatives by ';', got '|'",
    ),
    "a rule on two lines": Wrong(
        spec(mainContainer={"peerVerificationRules": "S.CN=a\nkill all"}),
        "spec.mainContainer.peerVerificationRules",
        "must be conditions",
    ),
    "an authority that is a path": Wrong(
        spec(trustedCAs=["/etc/ca.crt"]), "spec.trustedCAs[0]", "must be a certificate, as PEM"
    ),
    "an authority that is a key": Wrong(
        spec(trustedCAs=[CERTIFICATE, KEY]), "spec.trustedCAs[1]", "must be a certificate, as PEM"
    ),
    "an authority that is cut": Wrong(
        spec(trustedCAs=[CERTIFICATE[:200]]), "spec.trustedCAs[0]", "must be certificates in PEM"
    ),
    "coordinators of two kinds": Wrong(
        spec(seedConnectionString="a:b@10.0.0.1:4500:tls,10.0.0.2:4501"),
        "spec.seedConnectionString",
        "must all be with :tls, or all without",
    ),
    "first coordinators of two kinds": Wrong(
        spec(partialConnectionString={"coordinators": ["10.0.0.1:4500:tls", "10.0.0.2:4501"]}),
        "spec.partialConnectionString.coordinators",
        "must all be with :tls",
    ),
}


def said(body: Json) -> dict[str, str]:
    cluster = msgspec.convert(manifest(body), FoundationDBCluster)
    found: dict[str, str] = {}
    for it in problems(cluster):
        found[it.field] = f"{found.get(it.field, '')}{it}\n"
    return found


@pytest.mark.parametrize("title", WRONG)
def test_what_is_wrong_is_said_where_it_is(title: str) -> None:
    wrong = WRONG[title]

    found = said(wrong.spec)

    assert wrong.says in found.get(wrong.field, f"nothing of {wrong.field}: {found}")


PROJECTED = [{"name": "certs", "projected": {"sources": [{"secret": {"name": "x"}}]}}]
DRIVEN = [{"name": "certs", "csi": {"driver": "csi.example.org"}}]
FINE: dict[str, Json] = {
    "a secret": pod(),
    "no TLS, no certificate": spec(mainContainer={"enableTls": False}),
    "authorities from the spec": pod(named(CA=""), trustedCAs=[CERTIFICATE]),
    "their place by name": pod(named(CA="/var/dynamic-conf/ca.pem"), trustedCAs=[CERTIFICATE]),
    "a projected secret": pod(volumes=PROJECTED),
    "a driver": pod(volumes=DRIVEN),
    "variables from elsewhere": pod({**fdb_tls.container(env=[]), "envFrom": [{"prefix": "A"}]}),
    "only in classes": spec(processes={"storage": {"podTemplate": fdb_tls.template()}}, **ON),
    "items": pod(
        secret={
            "secretName": "x",
            "items": [{"key": it, "path": it} for it in fdb_tls.FILES.values()],
        }
    ),
    "rules": pod(
        mainContainer=ON["mainContainer"] | {"peerVerificationRules": r"S.O=Shop\, Inc|I.CN>=a"}
    ),
    "a sidecar of a unified image": spec(sidecarContainer={"enableTls": True}),
}


@pytest.mark.parametrize("title", FINE)
def test_nothing_is_said_of_what_is_fine(title: str) -> None:
    assert said(FINE[title]) == {}


WORDS = st.sampled_from(
    ["S.CN=a", "I.O<=b", "OU>=c", "Check.Valid=1", r"S.O=a\,b", "R.CN=x", "S.XX=1", "", "Root.C=d"]
)
SIGNS = st.sampled_from([",", "|", ";", r"\;"])


@pytest.mark.parametrize(
    ("field", "container"), [("mainContainer", "foundationdb"), ("sidecarContainer", SIDECAR)]
)
@given(parts=st.lists(st.tuples(WORDS, SIGNS), min_size=1, max_size=4))
def test_rules_that_are_fine_can_be_read(
    field: str, container: str, parts: list[tuple[str, str]]
) -> None:
    """Who judges certificates by them reads them in the same way."""
    text = "".join(word + sign for word, sign in parts[:-1]) + parts[-1][0]
    told = said(spec(**{field: {"peerVerificationRules": text}}))
    try:
        rules.parse(text, ALTERNATIVES[container])
    except UsageError:
        assert told
