"""How a test becomes a story that every column is told, and how it may say that one differs.

Where the embedded Kubernetes knowingly does otherwise, the story is marked ``differs`` with a
sentence of ``stateward local differences``; told to the embedded one it must then fail, so that a
difference which is gone is noticed.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any, Final

import pytest

from stateward.cli.render.local import differences_text
from stateward.local.real import programs

EMBEDDED: Final = "embedded"
_RELEASE: Final = re.compile(r"1\.\d+")


def give_columns(metafunc: pytest.Metafunc, argument: str, columns: Mapping[str, Any]) -> None:
    """Have a test that asks for an argument told to every column."""
    if argument in metafunc.fixturenames:
        metafunc.parametrize(
            argument, [_column(metafunc, name, column) for name, column in columns.items()]
        )


def tell(pyfuncitem: pytest.Function, argument: str) -> bool | None:
    """Tell a story to its column, which provides the argument; None when the test is no story."""
    wanted = inspect.signature(pyfuncitem.obj).parameters
    if argument not in wanted:
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in wanted if name != argument}

    async def story(provided: Any) -> None:
        await pyfuncitem.obj(**{argument: provided}, **arguments)

    pyfuncitem.funcargs[argument](story)
    return True


def is_too_old_for(item: pytest.Item) -> bool:
    """Tell whether a test is about something that the release of its column does not have yet."""
    mark = item.get_closest_marker("since")
    spec = getattr(item, "callspec", None)
    if mark is None or spec is None:
        return False
    releases = [it for it in spec.id.split("-") if _RELEASE.fullmatch(it)]
    return any(programs.order(it) < programs.order(mark.args[0]) for it in releases)


def _column(metafunc: pytest.Metafunc, name: str, column: Any) -> object:
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
