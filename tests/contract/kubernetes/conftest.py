"""A coroutine test that asks for ``wire`` is a story: it is told to every column, and they agree.

Where the embedded Kubernetes knowingly does otherwise, the story is marked ``differs`` with a
sentence of ``stateward local differences``; told to the embedded one it must then fail, so that a
difference which is gone is noticed.
"""

from __future__ import annotations

import inspect

import pytest

from contract.kubernetes.columns import EMBEDDED, Column, all_columns
from contract.kubernetes.wire import Wire
from stateward.cli.render.local import differences_text


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "wire" not in metafunc.fixturenames:
        return
    metafunc.parametrize(
        "wire", [_column(metafunc, name, column) for name, column in all_columns().items()]
    )


def _column(metafunc: pytest.Metafunc, name: str, column: Column) -> object:
    """Return a column for one story; the embedded one must fail where it is known to differ."""
    known = list(metafunc.definition.iter_markers("differs"))
    for mark in known:
        _check_said(mark.args[0])
    marks = (
        [
            pytest.mark.xfail(
                reason=f"differs: {known[0].args[0]}", raises=AssertionError, strict=True
            )
        ]
        if known and name == EMBEDDED
        else []
    )
    return pytest.param(column, id=name, marks=marks)


def _check_said(sentence: str) -> None:
    told = " ".join(differences_text().split())
    assert sentence in told, f"`stateward local differences` must say: {sentence}"


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    wanted = inspect.signature(pyfuncitem.obj).parameters
    if "wire" not in wanted:
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in wanted if name != "wire"}

    async def story(wire: Wire) -> None:
        await pyfuncitem.obj(wire=wire, **arguments)

    pyfuncitem.funcargs["wire"](story)
    return True
