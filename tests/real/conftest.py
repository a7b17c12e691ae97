"""Tests that ask for ``opened`` run on a server that they may break: an embedded and a real one.

Those that ask for ``release`` run on the shared real ones alone, of every release; those that ask
for ``real_programs`` run where ``make real`` has been.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from real import planes, servers

_HERE: Final = Path(__file__).parent


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "opened" in metafunc.fixturenames:
        real = {"1.35": servers.real} if metafunc.config.getoption("--real") else {}
        columns = planes.columns({"embedded": servers.embedded}, real)
        metafunc.parametrize("opened", columns.values(), ids=columns)
    if "real_programs" in metafunc.fixturenames:
        metafunc.parametrize("real_programs", ["there"] if planes.kubeconfigs() else [])
    if "release" in metafunc.fixturenames:
        releases = planes.shared()
        metafunc.parametrize("release", releases.values(), ids=releases)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Drop what has nobody to ask, or pytest would skip it with a puzzling word."""
    idle = {it for it in items if _has_nobody_to_ask(it)}
    if idle:
        items[:] = [it for it in items if it not in idle]
        config.hook.pytest_deselected(items=list(idle))


def _has_nobody_to_ask(item: pytest.Item) -> bool:
    if not item.path.is_relative_to(_HERE):  # pytest shows us everybody's
        return False
    wanted = {"release", "real_programs"} & set(getattr(item, "fixturenames", ()))
    return bool(wanted) and not planes.kubeconfigs()
