"""A story that takes ``way`` is told to every way of speaking, over every etcd of this machine, and to
the stand-in, which plays each of them. One that takes ``wire`` is about wires, and told to etcd alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from contract.etcd.stage import WAYS, WIRES, Cluster
from contract.etcd.standin import StandIns
from fakes import etcds
from fakes.etcds import Etcds, Release


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "release" in metafunc.fixturenames:
        metafunc.parametrize("release", etcds.releases(), ids=str, scope="session", indirect=True)
    if "way" in metafunc.fixturenames:
        metafunc.parametrize("way", WAYS)
    if "wire" in metafunc.fixturenames:
        metafunc.parametrize("wire", WIRES)


@pytest.fixture(scope="session")
def release(request: pytest.FixtureRequest) -> Release:
    return request.param


@pytest.fixture(scope="session")
def shared_trio(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Etcds]:
    with etcds.running(release, tmp_path_factory.mktemp("trio"), "abc") as found:
        yield found


@pytest.fixture
def trio(request: pytest.FixtureRequest, release: Release) -> Cluster:
    """Three healthy members that stories share: whoever breaks them mends them."""
    if request.node.get_closest_marker("virtual"):
        return StandIns(release)  # they begin with the story, when its time begins
    shared: Etcds = request.getfixturevalue("shared_trio")
    for member in shared.members.values():
        member.wait()
    return shared
