"""A coroutine test that asks for ``wire`` or ``stage`` is a story: embedded and real clusters hear it.

``wire`` is a cluster without nodes, which many share; ``stage`` is one whose nodes a story adds.
"""

from __future__ import annotations

from functools import partial

import pytest

from contract import telling
from contract.controllers.columns import SERVED
from contract.kubernetes.columns import tell
from contract.scheduling.columns import REAL, Clusters
from real import planes

#: Seconds after which a silent node is lost.
_CLUSTERS = Clusters(lost_after=5.0)


def pytest_sessionfinish() -> None:
    _CLUSTERS.close()
    SERVED.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    telling.give_columns(metafunc, "stage", _CLUSTERS.columns())
    shared = planes.shared()
    real = {REAL: partial(tell, shared[REAL])} if REAL in shared else {}
    embedded = {telling.EMBEDDED: lambda story: tell(SERVED(), story)}
    telling.give_columns(metafunc, "wire", planes.columns(embedded, real))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    return telling.tell(pyfuncitem, "stage") or telling.tell(pyfuncitem, "wire")
