"""Give functions that live in this process other code, and their own back afterwards.

A function keeps its identity, so everybody who imported it, in whatever way, gets the other code;
no file is touched and no module is loaded anew.
"""

from __future__ import annotations

import gc
import importlib
import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType
from weakref import WeakKeyDictionary

from stateward.core.errors import HouseError
from stateward.sim.mutants.breaking import Place, broken

#: By what a function is known: its qualified name and its first line.
_Known = tuple[str, int]

_FOUND: WeakKeyDictionary[ModuleType, list[FunctionType]] = WeakKeyDictionary()


def source_of(module: str) -> str:
    """Return the text of a module."""
    return inspect.getsource(importlib.import_module(module))


@contextmanager
def running_broken(module: str, place: Place) -> Iterator[None]:
    """Run with a module that is broken in one place."""
    loaded = importlib.import_module(module)
    others = _codes(loaded, place)
    former = [(it, it.__code__) for it in _functions(loaded) if _known(it.__code__) in others]
    if not any(it.__qualname__ == place.function for it, _ in former):
        raise HouseError(f"{module} must have a function {place.function} to be broken")
    for function, code in former:
        function.__code__ = others[_known(code)]
    try:
        yield
    finally:
        for function, code in former:
            function.__code__ = code


def _codes(module: ModuleType, place: Place) -> Mapping[_Known, CodeType]:
    """Return the code of the broken function and of all functions in it."""
    filename = str(module.__file__)
    whole = compile(broken(inspect.getsource(module), place, filename), filename, "exec")
    inside = f"{place.function}."
    return {
        _known(it): it
        for it in _nested(whole)
        if it.co_qualname == place.function or it.co_qualname.startswith(inside)
    }


def _nested(code: CodeType) -> Iterator[CodeType]:
    for it in code.co_consts:
        if isinstance(it, CodeType):
            yield it
            yield from _nested(it)


def _functions(module: ModuleType) -> list[FunctionType]:
    """Return all functions that live and were made of a module's code.

    They are looked for once: those that are made later are made of what is broken then.
    """
    if module not in _FOUND:
        every = (it for it in gc.get_objects() if type(it) is FunctionType)
        _FOUND[module] = [it for it in every if it.__code__.co_filename == module.__file__]
    return _FOUND[module]


def _known(code: CodeType) -> _Known:
    return code.co_qualname, code.co_firstlineno
