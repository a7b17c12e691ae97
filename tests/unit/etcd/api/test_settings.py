"""What a spec comes to, where it says something and where it does not."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from operators.etcd_manifests import claim, manifest, tls
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.settings import DEFAULT_VERSION, REPOSITORY, Settings, settings_of
from stateward.kube.codec import Json


def settings(spec: Json) -> Settings:
    return settings_of(msgspec.convert(manifest(spec), EtcdCluster))


def image(name: str) -> Json:
    return {"podTemplate": {"spec": {"containers": [{"name": "etcd", "image": name}]}}}


def certificates(found: Settings) -> tuple[bool, bool, bool]:
    return found.peers_have_secrets, found.clients_use_tls, found.clients_show_certificates


def test_a_cluster_that_says_nothing() -> None:
    found = settings({})

    assert found.image == f"{REPOSITORY}:v{DEFAULT_VERSION}"
    assert (found.version, found.headless_service) == (DEFAULT_VERSION, "shop-headless")
    assert (found.claim_name, found.empty_dir, found.storage_bytes) == ("data", None, 4 * 2**30)
    assert found.claim_spec == {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "4Gi"}},
    }
    assert certificates(found) == (False, False, False)


@pytest.mark.parametrize(
    ("spec", "runs", "version"),
    [
        ({"version": "3.5.30"}, f"{REPOSITORY}:v3.5.30", "3.5.30"),
        (image("me/etcd:v3.5.12"), "me/etcd:v3.5.12", "3.5.12"),
        (image("host:5000/etcd:3.6.1-debian-r0@sha256:a"), "host:5000/etcd:3.6.1-debian-r0@sha256:a", "3.6.1"),
        (image("host:5000/etcd"), "host:5000/etcd", "None"),
        (image("me/etcd:latest"), "me/etcd:latest", "None"),
        (image("me/etcd:latest") | {"version": "3.6.1"}, "me/etcd:latest", "3.6.1"),
    ],
)  # fmt: skip
def test_image_and_version(spec: Json, runs: str, version: str) -> None:
    found = settings(spec)

    assert (found.image, str(found.version)) == (runs, version)


@pytest.mark.parametrize(
    ("storage", "claim_spec", "size"),
    [
        ({"emptyDir": {}}, None, None),
        ({"emptyDir": {"sizeLimit": "1Gi"}}, None, 2**30),
        ({}, {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "4Gi"}}}, 2**32),
        (
            {"volumeClaimTemplate": {"spec": {"storageClassName": "fast", "resources": {"limits": {"storage": 9}}}}},
            {
                "storageClassName": "fast",
                "accessModes": ["ReadWriteOnce"],
                "resources": {"limits": {"storage": 9}, "requests": {"storage": "4Gi"}},
            },
            2**32,
        ),
        (
            claim(10, accessModes=["ReadWriteOncePod"])["storage"],
            {"accessModes": ["ReadWriteOncePod"], "resources": {"requests": {"storage": 10}}},
            10,
        ),
    ],
)  # fmt: skip
def test_storage(storage: Json, claim_spec: Any, size: int | None) -> None:
    found = settings({"storage": storage})

    assert (found.claim_spec, found.storage_bytes) == (claim_spec, size)
    assert found.empty_dir == storage.get("emptyDir")


def test_reading_settings_changes_no_spec() -> None:
    body = manifest(claim("8Gi"))
    cluster = msgspec.convert(body, EtcdCluster)
    found = settings_of(cluster)
    assert found.claim_spec is not None
    found.claim_spec["resources"]["requests"]["storage"] = "1Gi"

    assert settings_of(cluster).storage_bytes == 8 * 2**30


def test_names_certificates_and_the_rest() -> None:
    found = settings(
        {
            "headlessServiceTemplate": {"metadata": {"name": "peers"}},
            "storage": {"volumeClaimTemplate": {"metadata": {"name": "disk"}}},
            "retainVolumesOnDelete": True,
        }
        | tls("peerSecret", "peerTrustedCASecret", "serverSecret", "clientSecret", "clientTrustedCASecret", enableAuth=True)
    )  # fmt: skip

    assert (found.headless_service, found.claim_name) == ("peers", "disk")
    assert (found.retain_volumes, found.auth) == (True, True)
    assert certificates(found) == (True, True, True)
