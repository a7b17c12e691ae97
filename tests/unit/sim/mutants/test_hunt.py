"""A bug is convicted by a life that goes wrong with it and well without it, and by nothing else."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache

import pytest

from stateward.core.errors import HouseError, UsageError
from stateward.etcd.build import budget
from stateward.sim.etcd.life import Ask, Site, Violation
from stateward.sim.faults import Plan
from stateward.sim.mutants import crew, generated, known
from stateward.sim.mutants import hunt as hunting
from stateward.sim.mutants.clues import Clue
from stateward.sim.mutants.crew import Chase
from stateward.sim.mutants.ground import Ground, ground
from stateward.sim.mutants.hunt import Hunt, Verdict
from stateward.sim.mutants.named import NAMED
from stateward.sim.mutants.planting import Look

ONE = Ask("one")


@cache
def short() -> Ground:
    return ground(["one"])


@dataclass(frozen=True)
class Toy:
    """A bug that does something to the product."""

    do: object
    id: str = "T1"
    sentence: str = "something is wrong"

    @contextmanager
    def plant(self):
        with pytest.MonkeyPatch.context() as patch:
            self.do(patch)
            yield


def nothing(_):
    pass


def no_budget(patch):
    patch.setattr(budget, "_WORTHWHILE", 1)


def hang(patch):
    def for_ever(*_):
        while True:
            pass

    patch.setattr(budget, "budget", for_ever)


def impossible(_):
    raise LookupError("there is no such place")


def test_a_bug_that_changes_what_comes_of_a_life_is_convicted():
    verdict = Hunt(Toy(no_budget), short(), budget=3).run()

    assert (verdict.law, verdict.ask, verdict.lives) == ("E-S13", str(ONE), 1)
    assert str(verdict) == "T1 killed by E-S13 in --scenario one --plan calm --seed 1"
    assert verdict.clue == "one"


def test_a_bug_that_changes_nothing_lives():
    verdict = Hunt(Toy(nothing), short(), budget=2).run()

    assert verdict == Verdict("T1", "something is wrong", lives=2)
    assert str(verdict) == "T1 alive after 2 lives, all the same: something is wrong"


WRONG = {
    # laws broken with the bug, without it: the law that convicts
    "both": (["K1"], ["K1"], ""),
    "with it": (["K1"], [], "K1"),
    "another with it": (["K1", "E-S4"], ["K1"], "E-S4"),
    "without it": ([], ["K1"], ""),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_goes_wrong_without_the_bug_convicts_nobody(case, monkeypatch):
    planted, anyway, law = WRONG[case]
    laws = {"now": anyway}

    def live(ask):
        found = tuple(Violation(it, "op", 1.0, "so") for it in laws["now"])
        return replace(short().calm[0].life, ask=ask, violations=found)

    monkeypatch.setattr(hunting, "live", live)
    toy = Toy(lambda patch: patch.setitem(laws, "now", planted))

    assert Hunt(toy, short(), budget=1).run().law == law


def test_a_life_that_breaks_convicts():
    toy = Toy(lambda patch: patch.setattr(hunting, "live", lambda _: 1 / 0))

    assert Hunt(toy, short(), budget=1).run().law == "BROKEN"


# -------------------------------------------------------------------------- where it is looked for


def test_generated_bugs_are_looked_for_where_they_run():
    there, nowhere = "etcd.build.budget", "etcd.moves.membership"
    line = next(it for it in generated.every(there) if it.place.function == "budget")
    unused = next(it for it in generated.every(nowhere) if it.place.function == "defragment")

    assert short().reaching(line.lines).calm == short().calm
    assert short().reaching(unused.lines).calm == ()


def trail(hunt: Hunt) -> list[str]:
    return [str(ask) for ask, _ in zip(hunt.trail(), range(60), strict=False)]


def test_each_life_is_lived_once():
    line = next(it for it in generated.every("etcd.build.budget") if it.place.function == "budget")
    asks = trail(Hunt(line, short(), budget=60, first=(Clue("one"), Clue("one")), others=1))

    assert asks[0] == str(ONE)
    assert len(set(asks)) == len(asks) == 60


def test_a_bug_that_changes_no_life_is_not_looked_for_without_end():
    line = next(it for it in generated.every("etcd.build.budget") if it.place.function == "budget")

    assert trail(Hunt(line, short(), budget=60)) == [str(ONE)]


def test_what_operators_share_is_looked_for_where_there_are_two():
    line = next(
        it for it in generated.every("runtime.holder") if it.place.function == "Holder.note"
    )

    assert trail(Hunt(line, short(), budget=60)) == [str(ONE), f"{ONE} --operators 2"]


def test_looks_lead_to_calls_of_a_kind():
    mutant = replace(NAMED["M36"], looks=(Look("one", "A", "services"),))
    asks = list(zip(Hunt(mutant, short(), budget=9).trail(), range(20), strict=False))
    numbers = {hit.call for ask, _ in asks for hit in ask.plan.hits}
    calls = {it.number for it in short().calm[0].life.calls if "services" in it.text}

    assert numbers
    assert numbers <= calls


def test_a_clue_to_a_call_that_is_made_no_more_leads_nowhere_and_the_hunt_goes_on():
    gone = Clue("one", "services", "409", nth=999)
    trail = Hunt(Toy(nothing), short(), budget=9, first=(gone,)).trail()

    assert next(trail) == short().calm[0].ask


# -------------------------------------------------------------------------- many at once


def judged(*mutants: Toy, jobs: int = 1, lives: int = 1) -> list[str]:
    how = Chase(budget=lives, jobs=jobs)
    return sorted(f"{it.id} {it.law}".strip() for _, it in crew.hunts(mutants, how, short()))


def test_hunts_in_processes_of_their_own_come_to_the_same():
    toys = [Toy(nothing, "T1"), Toy(no_budget, "T2"), Toy(nothing, "T3")]

    assert judged(*toys, jobs=2) == ["T1", "T2 E-S13", "T3"]


def test_a_bug_that_hangs_is_convicted(monkeypatch):
    monkeypatch.setattr(crew, "PATIENCE", 1.0)

    assert judged(Toy(hang)) == ["T1 HANGS"]


def test_a_hunt_that_fails_is_no_verdict():
    with pytest.raises(
        HouseError, match="the hunt for T1 failed: LookupError: there is no such place"
    ):
        judged(Toy(impossible))


def test_who_was_found_before_is_looked_for_there_first():
    law, clue = known.NAMED_KILLS["M36"]

    [verdict] = crew.chase([NAMED["M36"]], Chase(budget=1, known={"M36": clue}))

    assert (verdict.law, verdict.lives) == (law, 1)


CLUES = {
    Clue("one"): "calm",
    Clue("one", "services", "409"): "3=409",
    Clue("one", "services", "409", nth=2): "5=409",
    Clue("one", "services", "409", nth=-1): "9=409",
    Clue("one", "services", "409 + crash-after:4", nth=2): "5=409,5=crash-after:4",
    Clue("one", "services", "409", nth=4): None,
    Clue("one", "services", "409", nth=-4): None,
    Clue("one", "nothing", "409"): None,
}


@pytest.mark.parametrize("clue", CLUES, ids=repr)
def test_clues_lead_to_calls_of_a_kind(clue):
    texts = {3: "list services", 4: "get pods", 5: "patch services", 9: "delete services"}
    calls = tuple(Site(number, "op", text, "", writes=False) for number, text in texts.items())
    life = replace(short().calm[0].life, calls=calls)

    if CLUES[clue] is None:
        with pytest.raises(UsageError, match="must have"):
            clue.ask(life)
    else:
        assert str(clue.ask(life).plan) == CLUES[clue]


def test_a_life_with_a_fault_is_found_again_by_the_kind_of_its_call():
    texts = ("get pods", "etcd status at 10.0.0.1", "etcd status at 10.0.0.2")
    calls = tuple(Site(n, "op", it, "", writes=False) for n, it in enumerate(texts, start=1))
    calm = replace(short().calm[0].life, calls=calls)
    ask = Ask("one", Plan.parse("3=429"), operators=2)

    clue = Clue.to(ask, calm)

    assert str(clue) == "one x2 | etcd status | 2 | 429"
    assert Clue.parse(str(clue)) == clue
    assert clue.ask(calm) == ask


TOO_LONG = ("1=429,2=429", "9=429")


@pytest.mark.parametrize("plan", TOO_LONG)
def test_nothing_short_leads_to_some_lives(plan):
    life = replace(short().calm[0].life, calls=short().calm[0].life.calls[:3])

    assert Clue.to(Ask("one", Plan.parse(plan)), life) is None
