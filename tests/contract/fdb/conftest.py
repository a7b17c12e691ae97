"""Scenarios of FoundationDB are played on the model, on its programs, and on real ones if named.

A coroutine test that takes ``bare`` has processes and no database yet; one that takes ``fresh`` has a
database that was just made; one that takes ``lab`` has one that is healthy; one that takes ``keyed``
has that with each way to its keys.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import cache
from pathlib import Path

import pytest

from contract.fdb.labs import DOUBLE, Lab, bound_lab, model_lab, program_lab
from contract.fdb.process_labs import process_lab
from fakes import loops
from stateward.app.fdb import available
from stateward.core.errors import UsageError
from stateward.core.version import Version

Opened = Callable[[], AbstractAsyncContextManager[Lab]]
_NAMES = {"bare", "fresh", "lab", "keyed"}
#: Ways to keys beside those that are the backends' own.
_WAYS: dict[str, Opened] = {"binding": bound_lab, "fdbkeys": program_lab}
#: Seconds that a scenario may take: real databases take their time.
_LIMIT, _REAL_LIMIT = 120.0, 900.0


_HERE, _SHARE = Path(__file__).parent, 3


def backends() -> dict[str, Opened]:
    """Return by name what scenarios are played on."""
    found: dict[str, Opened] = {"model": model_lab, "programs": process_lab}
    if (named := _named()) is not None:
        found["real"] = lambda: process_lab(named)
    return found


@cache
def _named() -> Path | None:
    """Return where real programs of 7.3 are that somebody named; those named in vain are an error."""
    if not os.environ.get(available.NAMED):
        return None
    try:
        every = asyncio.run(available.available())
        chosen = available.choose(Version(7, 3, 79), every)
    except UsageError as error:
        raise pytest.UsageError(error.sentence()) from error
    if isinstance(chosen, available.Emulated) or chosen.emulated:
        raise pytest.UsageError(f"{available.NAMED} must name real programs, and names {chosen}")
    return chosen.programs["fdbserver"].parent


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for name in _NAMES & set(metafunc.fixturenames):
        found = backends() | (_WAYS if name == "keyed" else {})
        metafunc.parametrize(name, found.values(), ids=found)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Play a third on programs, which are the model, too: the others are long.

    They are ten processes each; that they are asked over wires is the same with all of them.
    """
    played = [it for it in items if it.path.parent == _HERE and "[programs" in it.name]
    for number, it in enumerate(sorted(played, key=lambda it: it.nodeid)):
        if number % _SHARE:
            it.add_marker("long")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    wanted = inspect.signature(pyfuncitem.obj).parameters
    mine = _NAMES & set(wanted)
    if not mine:
        return None
    (name,) = mine
    rest = {it: pyfuncitem.funcargs[it] for it in wanted if it != name}

    async def play() -> None:
        async with pyfuncitem.funcargs[name]() as lab:
            if name == "fresh":
                await lab.admin.create(DOUBLE)
            elif name != "bare":
                await lab.create()
            await pyfuncitem.obj(**{name: lab}, **rest)

    loops.run(play(), _REAL_LIMIT if "real" in pyfuncitem.name else _LIMIT)
    return True
