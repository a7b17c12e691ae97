"""A coroutine test that asks for ``kube`` is a truth: it is run over every backend."""

from __future__ import annotations

import inspect

import pytest

from contract import telling
from contract.backends import Kube, all_backends


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "kube" in metafunc.fixturenames:
        backends = all_backends()
        metafunc.parametrize("kube", backends.values(), ids=backends)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Spare older releases what Kubernetes does only since a newer one."""
    spared = {it for it in items if telling.is_too_old_for(it)}
    if spared:
        items[:] = [it for it in items if it not in spared]
        config.hook.pytest_deselected(items=list(spared))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    wanted = inspect.signature(pyfuncitem.obj).parameters
    if "kube" not in wanted:
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in wanted if name != "kube"}

    async def truth(kube: Kube) -> None:
        await pyfuncitem.obj(kube=kube, **arguments)

    pyfuncitem.funcargs["kube"](truth)
    return True
