"""How a pod finds the cluster it is in."""

from __future__ import annotations

from pathlib import Path

import pytest

from stateward.core.errors import UsageError
from stateward.kube.http.access import PemFile, TokenFile
from stateward.kube.http.kubeconfig import find_access

POD = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def account(tmp_path: Path) -> Path:
    for name in ("token", "ca.crt"):
        (tmp_path / name).write_text(name)
    return tmp_path


def test_in_a_pod(account: Path) -> None:
    (account / "namespace").write_text("shop\n")
    environment = {**POD, "HTTPS_PROXY": "http://p:1"}

    found = find_access(environment, service_account=account)

    assert (found.server, found.namespace) == ("https://10.96.0.1:443", "shop")
    assert found.tls.authority == PemFile(account / "ca.crt")
    assert found.credentials == TokenFile(account / "token")
    assert found.proxy == "http://p:1"
    assert found.origin == "in-cluster"


def test_in_a_pod_of_an_ipv6_cluster(account: Path) -> None:
    environment = {**POD, "KUBERNETES_SERVICE_HOST": "fd00::1"}

    found = find_access(environment, service_account=account)

    assert (found.server, found.namespace) == ("https://[fd00::1]:443", "default")


@pytest.mark.parametrize("missing", ["token", "ca.crt"])
def test_a_pod_without_a_service_account(account: Path, missing: str) -> None:
    (account / missing).unlink()

    with pytest.raises(UsageError, match="must exist"):
        find_access(POD, service_account=account)


@pytest.mark.parametrize("port", ["", "x", "99999"])
def test_a_pod_that_is_told_nonsense(account: Path, port: str) -> None:
    with pytest.raises(UsageError, match="KUBERNETES_SERVICE_PORT must name"):
        find_access({**POD, "KUBERNETES_SERVICE_PORT": port}, service_account=account)


def test_a_context_needs_a_kubeconfig(account: Path) -> None:
    with pytest.raises(UsageError, match="no kubeconfig"):
        find_access(POD, context="dev", service_account=account)
