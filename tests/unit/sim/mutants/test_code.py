"""Functions that live run other code for a while, whoever holds them."""

from __future__ import annotations

import sys

import pytest

from stateward.core.errors import HouseError
from stateward.sim.mutants.breaking import Place, Way
from stateward.sim.mutants.code import running_broken

TOY = """
from functools import cached_property

def is_small(number):
    return number < 3

def only(ask):
    return lambda number: ask(number) or number > 9

class Box:
    def __init__(self, number):
        self.number = number

    @property
    def fits(self):
        return self.number < 3

    @cached_property
    def fits_for_ever(self):
        return self.number < 3

    async def opened(self):
        return self.number < 3

ROWS = (only(is_small), is_small)
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    (tmp_path / "toy_module.py").write_text(TOY)
    monkeypatch.syspath_prepend(tmp_path)
    import toy_module  # noqa: PLC0415 - made just now

    yield toy_module
    del sys.modules["toy_module"]


def awaited(work):
    with pytest.raises(StopIteration) as ended:
        work.send(None)
    return ended.value.value


ASKED = {
    "is_small": lambda toy: toy.is_small(3),
    "Box.fits": lambda toy: toy.Box(3).fits,
    "Box.fits_for_ever": lambda toy: toy.Box(3).fits_for_ever,
    "Box.opened": lambda toy: awaited(toy.Box(3).opened()),
}


@pytest.mark.parametrize("function", ASKED)
def test_the_broken_code_runs_until_the_end_of_the_block(toy, function):
    ask = ASKED[function]

    with running_broken("toy_module", Place(function, Way.OFF_BY_ONE, 1)):
        assert ask(toy) is True
    assert ask(toy) is False


def test_who_kept_a_function_runs_the_broken_code_too(toy):
    kept = toy.ROWS

    with running_broken("toy_module", Place("is_small", Way.OFF_BY_ONE, 1)):
        assert [it(3) for it in kept] == [True, True]
    assert [it(3) for it in kept] == [False, False]


def test_a_function_that_was_made_by_the_broken_one_is_broken_too(toy):
    with running_broken("toy_module", Place("only", Way.OFF_BY_ONE, 1)):
        assert toy.ROWS[0](9) is True
    assert toy.ROWS[0](9) is False


def test_the_code_is_put_back_also_when_something_goes_wrong(toy):
    with (
        pytest.raises(ZeroDivisionError),
        running_broken("toy_module", Place("is_small", Way.OFF_BY_ONE, 1)),
    ):
        raise ZeroDivisionError
    assert toy.is_small(3) is False


def test_nothing_is_broken_silently(toy):
    del toy.is_small, toy.ROWS

    with (
        pytest.raises(HouseError, match="must have a function is_small"),
        running_broken("toy_module", Place("is_small", Way.OFF_BY_ONE, 1)),
    ):
        pass
