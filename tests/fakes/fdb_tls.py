"""Certificates for clusters of tests, and templates of pods that have them."""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime, timedelta

from stateward.kube.codec import Json
from stateward.local.issuing import Authority, Term, new_authority

FOLDER = "/var/certs"
SECRET = "shop-certs"
FILES = {"CERTIFICATE": "tls.crt", "KEY": "tls.key", "CA": "ca.crt"}
ON = {"mainContainer": {"enableTls": True}}
OFF = {"mainContainer": {"enableTls": False}}
#: Stories in memory begin here.
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def container(name: str = "foundationdb", **over: object) -> Json:
    """Return a container that is told where its certificates are, and has them."""
    env = [
        {"name": f"FDB_TLS_{it}_FILE", "value": f"{FOLDER}/{file}"} for it, file in FILES.items()
    ]
    mounts = [{"name": "certs", "mountPath": FOLDER}]
    return {"name": name, "env": env, "volumeMounts": mounts, **over}


def template(*containers: Json, secret: Json | None = None) -> Json:
    """Return a template of pods whose containers have certificates from a secret."""
    volume = {"name": "certs", "secret": secret or {"secretName": SECRET}}
    return {"spec": {"containers": [*(containers or (container(),))], "volumes": [volume]}}


def authority(since: datetime = BEGIN, days: int = 3650) -> Authority:
    """Return who signs."""
    return new_authority("tests", Term(since - timedelta(days=2), timedelta(days=days)))


def files(
    signer: Authority, since: datetime = BEGIN, days: float = 365, name: str = "shop"
) -> dict[str, bytes]:
    """Return what a secret holds: a certificate that is good for so long, its key, the authority."""
    papers = signer.issue(name, ["localhost", "127.0.0.1"], Term(since, timedelta(days=days)))
    return {
        "tls.crt": papers.certificate,
        "tls.key": papers.key,
        "ca.crt": signer.papers.certificate,
    }


def secret(held: dict[str, bytes], namespace: str = "default", name: str = SECRET) -> Json:
    """Return a secret."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace},
        "data": {key: b64encode(it).decode() for key, it in held.items()},
    }
