"""A coroutine test that asks for ``stage`` is a story: the embedded cluster and a real one hear it."""

from __future__ import annotations

import pytest

from contract import telling
from contract.scheduling.columns import Clusters

#: Nodes in these stories send no heartbeat, and stay.
_CLUSTERS = Clusters(lost_after=36000.0)


def pytest_sessionfinish() -> None:
    _CLUSTERS.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    telling.give_columns(metafunc, "stage", _CLUSTERS.columns())


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    return telling.tell(pyfuncitem, "stage")
