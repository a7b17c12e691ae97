"""A story that takes ``way`` is told to every way of speaking, over every etcd of this machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from contract.etcd.stage import WAYS
from fakes import etcds
from fakes.etcds import Etcds, Release


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "release" in metafunc.fixturenames:
        metafunc.parametrize("release", etcds.releases(), ids=str, scope="session", indirect=True)
    if "way" in metafunc.fixturenames:
        metafunc.parametrize("way", WAYS)


@pytest.fixture(scope="session")
def release(request: pytest.FixtureRequest) -> Release:
    return request.param


@pytest.fixture(scope="session")
def shared_trio(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Etcds]:
    with etcds.running(release, tmp_path_factory.mktemp("trio"), "abc") as found:
        yield found


@pytest.fixture
def trio(shared_trio: Etcds) -> Etcds:
    """Three healthy members that stories share: whoever breaks them mends them."""
    for member in shared_trio.members.values():
        member.wait()
    return shared_trio
