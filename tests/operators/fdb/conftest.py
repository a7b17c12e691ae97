"""Stories of FoundationDB take ``plane``: the embedded Kubernetes, or with --real a real one."""

from __future__ import annotations

import pytest

from real import planes


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "plane" in metafunc.fixturenames:
        # Never both: `make test` has told them to the embedded one.
        metafunc.parametrize("plane", ("real",) if planes.kubeconfigs() else ("embedded",))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give stories time."""
    for it in items:
        if {"plane", "patience"} & set(getattr(it, "fixturenames", ())):
            it.add_marker(pytest.mark.patient(1800))


@pytest.fixture
def patience() -> None:
    """Be asked for by a story that takes its time."""
