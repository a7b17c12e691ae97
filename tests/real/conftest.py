"""Tests that ask for ``opened`` run on a server that they may break: an embedded and a real one."""

from __future__ import annotations

import pytest

from real import servers


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "opened" in metafunc.fixturenames:
        real = {"1.35": servers.real} if metafunc.config.getoption("--real") else {}
        columns = {"embedded": servers.embedded, **real}
        metafunc.parametrize("opened", columns.values(), ids=columns)
