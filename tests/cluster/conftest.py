"""Stories on real nodes: with ``--cluster`` a Kubernetes of three comes up, and goes afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from cluster import table
from cluster.site import Site, brought_up

_HERE: Final = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave stories out that nobody asked for; the end of a run says how they are told."""
    if config.getoption("--cluster"):
        return
    ours = {it for it in items if it.path.is_relative_to(_HERE) and "site" in _fixtures(it)}
    if ours:
        items[:] = [it for it in items if it not in ours]
        config.hook.pytest_deselected(items=list(ours))


def _fixtures(item: pytest.Item) -> tuple[str, ...]:
    return tuple(getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The cluster that all stories share, with the operator installed by Helm."""
    with brought_up(tmp_path_factory.mktemp("cluster")) as found:
        yield found


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how long each story took, beside what others take."""
    for line in table.lines():
        terminalreporter.write_line(line)
