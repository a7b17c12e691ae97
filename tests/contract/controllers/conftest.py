"""A coroutine test that asks for ``stage`` is a story: all controllers act it in the same way."""

from __future__ import annotations

import pytest

from contract.controllers.columns import SERVED, all_columns
from contract.telling import give_columns, tell


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    give_columns(metafunc, "stage", all_columns())


def pytest_sessionfinish() -> None:
    SERVED.close()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    return tell(pyfuncitem, "stage")
