"""Stories of etcd clusters take ``plane``: the embedded Kubernetes, or with --real a real one.

Those about upgrades take ``both_minors`` too, and run only where ``make real`` has been; what this
machine lacks is said at the end of the run.
"""

from __future__ import annotations

import pytest

from real import planes
from stateward.app.etcd import available


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "plane" in metafunc.fixturenames:
        # Never both: `make test` has told them to the embedded one.
        metafunc.parametrize("plane", ("real",) if planes.kubeconfigs() else ("embedded",))


@pytest.fixture
def both_minors() -> None:
    """Make sure of an etcd 3.5 that may become 3.6, and of that."""
    assert not lacking()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give stories time, and drop what this machine has no etcd for, visibly."""
    for it in items:
        if "plane" in getattr(it, "fixturenames", ()):
            it.add_marker(pytest.mark.patient(300))
    idle = [it for it in items if "both_minors" in getattr(it, "fixturenames", ())]
    if idle and lacking():
        items[:] = [it for it in items if it not in idle]
        config.hook.pytest_deselected(items=idle)


def lacking() -> list[str]:
    """Return which etcd is missing for an upgrade: 3.5.26 is the first that may become 3.6."""
    versions = [it.version for it in available.available()]
    there = {
        "etcd 3.5.26 or later": any((it.minor == 5 and it.patch >= 26) for it in versions),
        "etcd 3.6": any(it.minor == 6 for it in versions),
    }
    return [name for name, found in there.items() if not found]
