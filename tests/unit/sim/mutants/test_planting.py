"""Bugs are planted in the product and taken out without a trace."""

from __future__ import annotations

import sys
from collections import Counter
from types import ModuleType

import pytest

from stateward.core.errors import UsageError
from stateward.etcd.decide import chart
from stateward.etcd.moves import step
from stateward.sim.mutants import crew, generated
from stateward.sim.mutants.breaking import Way
from stateward.sim.mutants.named import NAMED
from stateward.sim.mutants.planting import Mind, Patch
from stateward.sim.process import PROCESS, SimProcess

#: Those that can be had with etcd, and those of FoundationDB; M39 is of both.
OF_ETCD = [f"M{it}" for it in range(21, 40) if it != 37]
OF_FDB = [
    f"M{it:02}"
    for it in (
        *(1, 2, *range(4, 21), 37, *range(40, 60), *range(70, 74), *range(80, 83), *range(90, 99)),
    )
] + ["M39-fdb"]
NUMBERS = sorted((*OF_ETCD, *OF_FDB))
PAINTED = ("stateward.etcd", "stateward.fdb", "stateward.runtime", "stateward.emulate")


def picture() -> dict[str, object]:
    """Everything that a patch could change: modules, classes, tables, and the code of functions."""
    found: dict[str, object] = {}
    for name, module in sorted(sys.modules.items()):
        if name.startswith(PAINTED):
            _paint(found, name, module)
    return found | {f"verb {it.__name__}": verb for it, verb in step.VERBS.items()}


def _paint(found: dict[str, object], name: str, thing: ModuleType | type) -> None:
    for key, value in sorted(vars(thing).items()):
        found[f"{name}.{key}"] = (value, getattr(value, "__code__", None))
        if isinstance(value, type) and value.__module__ == name:
            _paint(found, f"{name}.{key}", value)


def changed(before: dict[str, object], after: dict[str, object]) -> list[str]:
    names = sorted(before.keys() | after.keys())
    return [
        it
        for it in names
        if before.get(it) is not after.get(it) and before.get(it) != after.get(it)
    ]


def test_every_number_has_a_bug():
    assert list(NAMED) == NUMBERS


@pytest.mark.parametrize("number", NUMBERS)
def test_a_named_bug_changes_the_product_and_leaves_no_trace(number):
    before = picture()
    with NAMED[number].plant():
        during = picture()

    assert changed(before, during)
    assert changed(before, picture()) == []


def test_a_generated_bug_changes_one_function_and_leaves_no_trace():
    mutant = generated.named("G-etcd.decide.guards.keeps_quorum_without:off-by-one.1")
    before = picture()
    with mutant.plant():
        during = picture()

    assert set(changed(before, during)) >= {"stateward.etcd.decide.guards.keeps_quorum_without"}
    assert changed(before, picture()) == []


def test_the_choice_is_large_fair_and_the_same_every_time():
    chosen = generated.chosen()
    ids = [it.id for it in chosen]
    ways = Counter(it.place.way for it in chosen)
    modules = {it.module for it in chosen}

    assert len(chosen) >= 100
    assert ids == [it.id for it in generated.chosen()]
    assert len(set(ids)) == len(ids)
    assert set(ways) == set(Way)
    assert {"etcd", "runtime"} == {it.partition(".")[0] for it in modules}
    assert len(modules) >= 0.8 * len(
        [it for it in generated.MODULES if len(generated.every(it)) > 4]
    )


def test_every_chosen_bug_can_be_planted():
    for it in generated.chosen():
        with it.plant():
            pass


def test_what_one_process_has_in_mind_is_not_in_anothers():
    mind: Mind[list[int]] = Mind(list)
    one, other = (SimProcess.__new__(SimProcess) for _ in range(2))

    def within(process, act):
        token = PROCESS.set(process)
        try:
            return act()
        finally:
            PROCESS.reset(token)

    within(one, lambda: mind.now().append(1))

    assert within(one, mind.now) == [1]
    assert within(other, mind.now) == []


def test_a_patch_gives_back_the_newest_first():
    patch, rows = Patch(), chart.QUORUM
    patch.put_row("QUORUM", "13", lambda _: None)
    patch.put_row("QUORUM", "14", lambda _: None)
    assert [name for name, row in chart.QUORUM if (name, row) not in rows] == ["13", "14"]

    patch.take_out()

    assert chart.QUORUM is rows


def test_a_row_that_is_not_there_is_noticed():
    with pytest.raises(LookupError, match="QUORUM has no row 99"):
        Patch().put_row("QUORUM", "99", lambda _: None)


@pytest.mark.parametrize(
    "word", ["M03", "G-etcd.nowhere:negate.1", "G-etcd.decide.guards.x:negate.1", ""]
)
def test_who_asks_for_a_bug_that_is_not_there_is_told(word):
    with pytest.raises(UsageError, match="mutant"):
        crew.find(word)
