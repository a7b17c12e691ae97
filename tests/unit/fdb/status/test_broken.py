"""No broken status answers "safe" where the whole one does not, and none takes long to read."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from fakes.fdb_statuses import (
    NAMES,
    alike,
    breaks,
    document,
    mangled,
    places,
    put,
    recorded,
    short,
    text,
)
from fakes.fdb_told import REGIONAL, told
from stateward.core.facts import Known, Unknown
from stateward.core.version import Version
from stateward.fdb.status import (
    clients,
    coordinators,
    exclusions,
    health,
    maintenance,
    movement,
    processes,
    recovery,
)
from stateward.fdb.status.reading import Status, read

NEXT = Version(7, 4, 0)


def _spare(status: Status) -> Any:
    found = health.tolerance(status)
    return found.value.spare if isinstance(found, Known) else "?"


def _gone(status: Status, whole: Status) -> Iterator[str]:
    """Yield who may go, by positive proof; each has as many processes as the whole status says."""
    roster, every = processes.roster(status), processes.roster(whole)
    left = exclusions.Leftovers(status)
    groups = every.value.groups if isinstance(every, Known) else {}
    for name in roster.value.groups if isinstance(roster, Known) else ():
        found = left.on(name, max(1, len(groups.get(name, ()))))
        if isinstance(found, Known) and found.value.is_gone:
            yield name


def _silent(status: Status) -> Any:
    found = coordinators.coordinators(status)
    if not isinstance(found, Known):
        return "?"
    return -sum(not it.reachable for it in found.value)


def _old_clients(status: Status) -> Any:
    found = clients.cut_off_by(status, NEXT)
    return -len(found.value) if isinstance(found, Known) else "?"


def _negative(question: Callable[[Status], Any]) -> Callable[[Status], Any]:
    def ask(status: Status) -> Any:
        found = short(question(status))
        return found if found == "?" else -found

    return ask


def _positive(question: Callable[[Status], Any]) -> Callable[[Status], Any]:
    return lambda status: short(question(status))


def _nobody_at_work(status: Status) -> Any:
    found = maintenance.maintenance(status)
    return found.value is None if isinstance(found, Known) else "?"


#: Each as a number that is greater the safer it is; "?" is never safe.
SAFETY: dict[str, Callable[[Status], Any]] = {
    "available": _positive(health.is_available),
    "replicated": _positive(health.is_fully_replicated),
    "replicas": _positive(health.fewest_replicas),
    "may go": _spare,
    "logs": _negative(health.log_shortage),
    "unlocked": _negative(health.is_locked),
    "configured": _negative(health.is_configured),
    "at rest": _negative(movement.is_moving),
    "recovered": _positive(recovery.age),
    "generations": _negative(recovery.old_generations),
    "restart": _positive(recovery.may_restart),
    "coordinators": _silent,
    "quorum": _positive(coordinators.quorum_is_reachable),
    "clients": _old_clients,
    "nobody at work": _nobody_at_work,
}


def _is_silent(whole: Status, broken: Status) -> bool:
    """Tell whether nothing at all is left that spoke of maintenance: a zone that is wholly away.

    Real ones say nothing of it where there is none, so this one cannot be told from those.
    """
    left, had = broken.document.cluster, whole.document.cluster
    if left is UNSET or had is UNSET or had.processes is UNSET:
        return False
    is_told = any(it.under_maintenance is True for it in had.processes.values())
    words = {"maintenance_zone", "maintenance_seconds_remaining"}
    is_there = any(getattr(left, it) is not UNSET or broken.flaw(f"cluster.{it}") for it in words)
    return not is_told and not is_there


@dataclass(frozen=True)
class Truth:
    """What a whole status says, asked once."""

    whole: Status
    said: dict[str, Any]
    gone: frozenset[str]
    excluded: Any

    @classmethod
    def of(cls, whole: Status) -> Truth:
        said = {name: ask(whole) for name, ask in SAFETY.items()}
        return cls(whole, said, frozenset(_gone(whole, whole)), short(exclusions.excluded(whole)))

    def judge(self, broken: Status) -> None:
        """Raise if the broken one says of anything that it is safer than the whole one says."""
        for name, ask in SAFETY.items():
            if name == "nobody at work" and _is_silent(self.whole, broken):
                continue
            said, truth = ask(broken), self.said[name]
            assert said == "?" or (truth != "?" and said <= truth), f"{name}: {truth} became {said}"
        assert {*_gone(broken, self.whole)} <= self.gone
        listed = exclusions.excluded(broken)
        assert not isinstance(listed, Known) or listed.value == self.excluded


@cache
def truth(name: str) -> Truth:
    """Return what a recorded status says."""
    return Truth.of(recorded(name))


@cache
def told_truth(name: str) -> Truth:
    """Return what one says that was told of a database in two regions."""
    return Truth.of(read(told(name), 0.0))


EXHAUSTED = [
    "excluded_done",
    "exclude_in_progress",
    "degraded_storage_lost",
    "log_lost_1s",
    "maintenance_zone_down",
]


@pytest.mark.parametrize("name", EXHAUSTED)
def test_nothing_that_breaks_makes_it_safe(name: str) -> None:
    """Every place that we read, missing or null or of another type."""
    tree, whole_truth = document(name), truth(name)
    for number, (around, key) in enumerate(list(places(tree))):
        every, whole = breaks(around, key), around[key]
        for value in (every[0], every[1], every[2 + number % (len(every) - 2)]):
            put(around, key, value)
            whole_truth.judge(read(json.dumps(tree), 0.0))
            around[key] = whole


@settings(max_examples=300)
@given(data=st.data(), name=st.sampled_from(NAMES))
def test_a_mangled_status_never_says_safe_where_the_whole_one_does_not(
    data: st.DataObject, name: str
) -> None:
    truth(name).judge(read(data.draw(mangled(text(name))), 0.0))


@settings(max_examples=300)
@given(data=st.data(), name=st.sampled_from(REGIONAL))
def test_nor_does_one_of_a_database_in_two_regions(data: st.DataObject, name: str) -> None:
    told_truth(name).judge(read(data.draw(mangled(told(name))), 0.0))


@pytest.mark.parametrize("name", [*EXHAUSTED, *REGIONAL])
def test_nothing_that_is_lost_together_makes_it_safe(name: str) -> None:
    """Any two parts of the same object: a number, and what says how large it should be."""
    is_told = name in REGIONAL
    tree = json.loads(told(name) if is_told else text(name))
    whole = told_truth(name) if is_told else truth(name)
    for around, keys in alike(tree):
        for pair in combinations(keys, 2):
            kept = dict(around)
            for key in pair:
                del around[key]
            whole.judge(read(json.dumps(tree), 0.0))
            around.clear()
            around.update(kept)


#: In two regions: what happened, what else is lost of the status, how many copies lack by it.
LOGS = [
    ("healthy", (), 0),
    ("satellite log lost", (), 1),
    ("satellite log lost", ("satellite",), "?"),
    ("satellite log lost", ("remote",), "?"),
    ("remote log lost", (), 1),
    ("remote log lost", ("remote",), "?"),
    ("remote log lost, no satellites", (), 1),
    ("remote log lost, no satellites", ("remote",), "?"),
    ("remote log lost, no satellites", ("regions",), "?"),
    ("satellite log lost", ("usable_regions",), "?"),
    ("satellite log lost", ("configuration",), "?"),
    ("satellite log lost", ("satellite", "active_primary_dc"), "?"),
    ("satellite log lost", ("satellite", "satellite_redundancy_mode"), "?"),
    ("satellite log lost", ("satellite", "datacenters"), "?"),
]


@pytest.mark.parametrize(("name", "lost", "lacking"), LOGS)
def test_copies_of_what_was_just_written_lack_or_nobody_knows(
    name: str, lost: tuple[str, ...], lacking: Any
) -> None:
    tree = json.loads(told(name))
    for around, key in list(places(tree)):
        if key in lost or any(str(key).startswith(f"{it}_log_") for it in lost):
            around.pop(key, None)
    assert short(health.log_shortage(read(json.dumps(tree), 0.0))) == lacking


def test_only_a_region_that_has_satellites_must_speak_of_their_logs() -> None:
    tree = json.loads(told("remote log lost, no satellites"))
    (second,) = (
        it
        for it in tree["cluster"]["configuration"]["regions"]
        if it["datacenters"][0]["id"] == "dc2"
    )
    second["satellite_redundancy_mode"] = "one_satellite_double"
    assert short(health.log_shortage(read(json.dumps(tree), 0.0))) == 1
    tree["cluster"]["active_primary_dc"] = "dc2"
    assert short(health.log_shortage(read(json.dumps(tree), 0.0))) == "?"


@settings(max_examples=100)
@given(name=st.sampled_from(NAMES), part=st.floats(0, 1))
def test_a_truncated_status_answers_nothing(name: str, part: float) -> None:
    whole = text(name).rstrip()
    broken = read(whole[: int(part * (len(whole) - 1))], 0.0)
    assert {ask(broken) for ask in SAFETY.values()} == {"?"}
    assert health.is_available(broken) == Unknown(f"the status cannot be read: {broken.flaws['']}")


@settings(max_examples=200)
@given(st.binary(max_size=200) | st.text(max_size=200))
def test_no_garbage_makes_the_reader_fall(garbage: bytes | str) -> None:
    broken = read(garbage, 0.0)
    assert {ask(broken) for ask in SAFETY.values()} == {"?"}


def test_warnings_around_a_status_are_left_away() -> None:
    noisy = b"\nWARNING: Long delay (Ctrl-C to interrupt)\n" + text("healthy") + b"\nbye\n"
    assert read(noisy, 0.0) == recorded("healthy")


def test_a_nest_without_end_is_garbage() -> None:
    assert read(b"[" * 100_000 + b"{}" + b"]" * 100_000, 0.0).document == Status(0.0).document
    assert "" in read(b'{"client":' * 5_000 + b"1" + b"}" * 5_000, 0.0).flaws


# -------------------------------------------------------------------------- no end of garbage


def logs(entry: str, count: int, last: str = "{}") -> str:
    return f'"logs":[{",".join([entry] * count)},{last}]'


def by_key(entry: str, count: int, last: str = "{}") -> str:
    every = ",".join(f'"{it}":{entry}' for it in range(count))
    return f'"processes":{{{every},"x":{last}}}'


_PROCESS = '{"locality":{"a":1},"roles":[1,1,1,1,1],"address":null}'
_ROLES = f'{{"roles":[{",".join(["{}"] * 400_000)},1]}}'
#: Each broken all over, or broken once and long; and what of it is given up.
ENDLESS: dict[str, tuple[Callable[[], str], str]] = {
    "broken processes": (lambda: by_key(_PROCESS, 20_000), "cluster.processes"),
    "fewer of them": (lambda: by_key(_PROCESS, 10_000), "cluster.processes"),
    "numbers for logs": (lambda: logs("1", 400_000), "cluster.logs"),
    "more numbers": (lambda: logs("1", 16_000_000), ""),
    "more logs": (lambda: logs("{}", 10_000_000), ""),
    "one log of many": (lambda: logs("{}", 400_000, "1"), "cluster.logs"),
    "one process of many": (lambda: by_key("{}", 400_000, "1"), "cluster.processes"),
    "one role of many": (lambda: by_key("{}", 1, _ROLES), "cluster.processes.x.roles"),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_garbage_without_end_is_given_up_in_time(name: str) -> None:
    make, path = ENDLESS[name]
    garbage = f'{{"cluster":{{"database_available":false,{make()}}}}}'
    began = time.process_time()
    status = read(garbage, 0.0)
    assert time.process_time() - began < 5.0  # it is a tenth of that; machines are slow at times
    assert list(status.flaws) == [path]
    assert not isinstance(processes.roster(status), Known)
    assert not isinstance(health.log_shortage(status), Known)
    found = status.document.cluster
    assert path == "" or (found is not UNSET and found.database_available is False)


@pytest.mark.parametrize("flaws", [1, 150, 199, 200, 201, 300])
def test_what_is_broken_all_over_is_given_up_and_the_rest_is_read(flaws: int) -> None:
    """A few broken processes are named; of more, all of them are unknown, and nothing else is."""
    tree = document("healthy")
    every = tree["cluster"]["processes"]
    one = next(iter(every.values()))
    every |= {f"p{it}": {**one, "excluded": "yes" if it < flaws else False} for it in range(300)}
    status = read(json.dumps(tree), 0.0)
    paths = {f"cluster.processes.p{it}.excluded" for it in range(flaws)}
    assert set(status.flaws) == (paths if flaws <= 200 else {"cluster.processes"})
    assert not isinstance(processes.roster(status), Known)
    assert short(health.is_available(status)) is True
    assert short(health.fewest_replicas(status)) == 2
    truth("healthy").judge(status)


@pytest.mark.parametrize(
    "where", ['"%s"', '{"maintenance_zone":"%s"}', '{"generation":1,"x":"%s"}']
)
def test_what_is_no_text_is_garbage(where: str) -> None:
    broken = read(f'{{"cluster":{where}}}'.encode().replace(b"%s", b"\xff\xfe"), 0.0)
    assert {ask(broken) for ask in SAFETY.values()} == {"?"}
