"""Nodes are listed for all clusters of an operator: not too often, and a hiccup is no news."""

from __future__ import annotations

from typing import Any

from fakes.hand_clock import HandClock
from stateward.core.facts import Known
from stateward.fdb.api.automation import AutomationOptions, ReplacementOptions, TaintOption
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.cluster.grounds import Grounds
from stateward.kube.client import Listing
from stateward.kube.errors import Forbidden, Unavailable
from stateward.kube.meta import ObjectMeta
from stateward.kube.objects.pods import Node, NodeSpec, Taint
from stateward.kube.resources import Resource

WORK = Taint(key="work", time_added="2026-01-01T00:00:00Z")


class Server:
    """Has one node, and may not say so."""

    def __init__(self) -> None:
        self.taints: tuple[Taint, ...] = (WORK,)
        self.trouble: Exception | None = None
        self.asked = 0

    async def list(self, _resource: Resource[Node], *_: Any, **__: Any) -> Listing[Node]:
        self.asked += 1
        if self.trouble is not None:
            raise self.trouble
        node = Node(metadata=ObjectMeta(name="node-1"), spec=NodeSpec(taints=self.taints))
        return Listing([node], "7")


def asking(*keys: str) -> FoundationDBClusterSpec:
    options = tuple(map(TaintOption, keys))
    said = AutomationOptions(replacements=ReplacementOptions(taint_replacement_options=options))
    return FoundationDBClusterSpec(version="7.3.63", automation_options=said)


async def test_whoever_names_no_taints_has_nobody_asked() -> None:
    server = Server()
    found = await Grounds(server, HandClock(0)).look(asking())
    assert isinstance(found, Known)
    assert (found.value, server.asked) == ({}, 0)


async def test_one_list_is_for_all_and_for_a_while() -> None:
    server, clock = Server(), HandClock(0)
    grounds = Grounds(server, clock)
    for _ in range(10):
        found = await grounds.look(asking("work"))
        assert isinstance(found, Known)
        assert [it.key for it in found.value["node-1"]] == ["work"]
    assert server.asked == 1
    clock.advance(16)
    server.taints = ()
    found = await grounds.look(asking("*"))
    assert isinstance(found, Known)
    assert (found.value, server.asked) == ({}, 2)


async def test_who_may_not_look_does_not_ask_again_and_again() -> None:
    server, clock = Server(), HandClock(0)
    server.trouble = Forbidden("nodes is forbidden")
    grounds = Grounds(server, clock)
    for _ in range(10):
        assert not isinstance(await grounds.look(asking("work")), Known)
    assert server.asked == 1
    clock.advance(16)
    server.trouble = None
    assert isinstance(await grounds.look(asking("work")), Known)


async def test_a_server_that_is_away_for_a_moment_is_no_news() -> None:
    server, clock = Server(), HandClock(0)
    grounds = Grounds(server, clock)
    before = await grounds.look(asking("work"))
    server.trouble = Unavailable("try later")
    known = []
    for _ in range(5):
        clock.advance(16)
        known.append(await grounds.look(asking("work")) == before)
    assert known == [True, True, True, False, False]
