"""Sidecars are found at the addresses of their pods, with TLS where they were started so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stateward.core.errors import PeerUnreachable
from stateward.fdb.admin.pod_agent.pods import by_pod
from stateward.fdb.admin.session import Tls
from stateward.fdb.model.names import MAIN_CONTAINER, SIDECAR_CONTAINER
from stateward.kube.codec import encode
from stateward.kube.objects.pods import Pod
from stateward.kube.resources import PODS


class Reached:
    """Notes who is reached, and how."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, bool]] = []

    def reach(self, host: str, *, tls: bool = False) -> Any:
        self.asked.append((host, tls))

    async def close(self) -> None:
        """Nothing is open."""


def pod(address: str, main: list[str], sidecar: list[str]) -> Pod:
    containers = [
        {"name": MAIN_CONTAINER, "args": main},
        {"name": SIDECAR_CONTAINER, "args": sidecar},
    ]
    body = {
        "metadata": {"name": "shop-storage-1", "namespace": "default"},
        "spec": {"containers": containers},
        "status": {"podIP": address} if address else {},
    }
    return PODS.read(encode(body))


@pytest.mark.parametrize(
    ("main", "sidecar", "tls"),
    [([], [], False), ([], ["--copy-file", "x", "--tls"], True), (["--tls"], [], False)],
)
def test_a_sidecar_is_reached_as_it_was_started(
    main: list[str], sidecar: list[str], tls: bool
) -> None:
    agents = Reached()
    by_pod(agents)(pod("10.0.0.1", main, sidecar))
    assert agents.asked == [("10.0.0.1", tls)]


def test_a_pod_without_an_address_has_none() -> None:
    with pytest.raises(PeerUnreachable, match="shop-storage-1 must have an address"):
        by_pod(Reached())(pod("", [], []))


def test_files_of_tls_are_named_by_the_variables_of_foundationdb() -> None:
    whole = {f"FDB_TLS_{it}_FILE": f"/{it}" for it in ("CERTIFICATE", "KEY", "CA")}
    assert Tls.told(whole) == Tls(Path("/CERTIFICATE"), Path("/KEY"), Path("/CA"))
    rules = whole | {"FDB_TLS_VERIFY_PEERS": "S.CN=me"}
    assert Tls.told(rules) == Tls(Path("/CERTIFICATE"), Path("/KEY"), Path("/CA"), "S.CN=me")
    for name in whole:
        assert Tls.told({it: path for it, path in whole.items() if it != name}) is None
