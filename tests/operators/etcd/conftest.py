"""Stories of etcd clusters take ``plane``: the embedded Kubernetes, and with --real a real one."""

from __future__ import annotations

import pytest

from real import planes


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "plane" in metafunc.fixturenames:
        kinds = ("embedded", "real") if planes.kubeconfigs() else ("embedded",)
        metafunc.parametrize("plane", kinds)
