"""The roles that we install allow what the operator does in simulated lives: no less, and no more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stateward.app.install.rights import LEASES, OPERATOR, Right
from stateward.kube.interception import Call
from stateward.sim.etcd.life import Ask, live
from stateward.sim.etcd.scenarios import SCENARIOS
from stateward.sim.network import Network

#: A verb, a group and a resource, as roles have them.
Used = tuple[str, str, str]


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> set[Used]:
    """Every call that any operator sends to Kubernetes while this test lives."""
    found: set[Used] = set()

    def noting(way: Callable[..., Any]) -> Callable[..., Any]:
        def noted(self: Network, call: object, *rest: Any) -> Any:
            if isinstance(call, Call):
                it = call.resource
                part = f"{it.plural}/{call.subresource}" if call.subresource else it.plural
                found.add((call.verb, it.group, part))
            return way(self, call, *rest)

        return noted

    for name in ("send", "around_watch"):
        monkeypatch.setattr(Network, name, noting(getattr(Network, name)))
    return found


def allowed(rights: tuple[Right, ...]) -> set[Used]:
    return {(verb, it.group, it.resource) for it in rights for verb in it.verbs}


def test_the_operator_uses_all_its_rights_and_needs_no_other(used: set[Used]) -> None:
    for name in SCENARIOS:
        live(Ask(name))
    assert used == allowed((*OPERATOR, *LEASES))
