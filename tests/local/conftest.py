"""Local clusters with our own control plane, and in a run with ``--real`` with a real one too."""

from __future__ import annotations

from pathlib import Path

import pytest

from real import planes

#: What tells about a real control plane alone.
REAL_ALONE = "test_real_control_plane.py"


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out what cannot be asked in this run."""
    return True if collection_path.name == REAL_ALONE and not planes.kubeconfigs() else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "control_plane" in metafunc.fixturenames:
        metafunc.parametrize("control_plane", planes.kinds(), scope="module")
