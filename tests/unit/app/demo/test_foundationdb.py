"""The demonstration offers a real FoundationDB where one can be had, and goes on in any case."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.fdb_site import VERSION, Site, serving
from stateward.app.demo.foundationdb import prepare
from stateward.app.fdb import releases


class Person:
    """Somebody who is asked."""

    def __init__(self, *, agrees: bool) -> None:
        self._agrees = agrees
        self.asked: list[str] = []

    async def __call__(self, question: str) -> bool:
        self.asked.append(question)
        return self._agrees


def machine(tmp_path: Path, site: str) -> dict[str, str]:
    return {
        "PATH": str(tmp_path / "nothing"),
        "XDG_CACHE_HOME": str(tmp_path / ".cache"),
        "STATEWARD_FDB_DOWNLOAD": site,
    }


@pytest.fixture(autouse=True)
def usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "USUAL", VERSION)


async def told(person: Person | None, environment: dict[str, str]) -> list[str]:
    said: list[str] = []
    await prepare(person, said.append, environment)
    return said


async def test_who_cannot_be_asked_is_not_and_it_is_emulated(tmp_path: Path) -> None:
    with serving() as site:
        site.offer()
        said = await told(None, machine(tmp_path, site.url))
        assert site.asked == []
    assert said == ["images of FoundationDB are run by FoundationDB 7.3.99, EMULATED"]


async def test_without_a_network_nobody_is_asked(tmp_path: Path) -> None:
    person = Person(agrees=True)
    said = await told(person, machine(tmp_path, "http://127.0.0.1:9"))
    assert (person.asked, "EMULATED" in said[-1]) == ([], True)


async def test_who_does_not_agree_has_the_stand_in(tmp_path: Path) -> None:
    person = Person(agrees=False)
    with serving() as site:
        site.offer()
        said = await told(person, machine(tmp_path, site.url))
    assert len(person.asked) == 1
    assert "Fetch the real FoundationDB 7.3.99 (" in person.asked[0]
    assert "EMULATED" in said[-1]
    assert not (tmp_path / ".cache").exists()


async def test_who_agrees_has_the_real_one_and_is_not_asked_again(tmp_path: Path) -> None:
    person = Person(agrees=True)
    with serving() as site:
        site.offer()
        environment = machine(tmp_path, site.url)
        said = await told(person, environment)
        again = await told(person, environment)
    assert len(person.asked) == 1
    assert (
        said
        == again
        == ["images of FoundationDB are run by FoundationDB 7.3.99 from `stateward local get-fdb`"]
    )


async def test_what_cannot_be_fetched_is_said_and_it_goes_on(tmp_path: Path) -> None:
    with serving() as site:
        site.offer()
        _lie_about(site)
        said = await told(Person(agrees=True), machine(tmp_path, site.url))
    assert said[0].startswith("FoundationDB was not fetched:")
    assert "EMULATED" in said[-1]


def _lie_about(site: Site) -> None:
    name = next(it for it in site.pages if it.endswith("fdbcli.x86_64") or "fdbcli.aarch64" in it)
    site.say(name.rpartition("/")[2], "0" * 64)
