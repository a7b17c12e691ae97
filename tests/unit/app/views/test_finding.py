"""Which objects a name means, and what is said where there is none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from stateward.app.views.finding import Wanted, find
from stateward.app.views.told import Told
from stateward.core.errors import UsageError
from stateward.kube.errors import ApiError, Forbidden, NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import Resource


@dataclass
class Shelf:
    """A cluster that has one object of each of these kinds, and hides others."""

    has: Sequence[str] = ()
    hides: Sequence[str] = ()
    lacks: Sequence[str] = ()
    asked: list[ObjectKey] = field(default_factory=list)

    async def get(self, resource: Resource[Any], key: ObjectKey) -> Any:
        self.asked.append(key)
        if resource.kind in self.hides:
            raise Forbidden(f"may not get {resource}")
        if resource.kind in self.lacks:
            raise ApiError("404 page not found", code=404)
        if resource.kind not in self.has:
            raise NotFound(f"there is no {resource} {key}")
        return Told()


async def kinds(shelf: Shelf, text: str = "shop") -> list[str]:
    return [it.kind for it in await find(shelf, Wanted.parse(text, "trade"))]


async def test_all_objects_of_a_name_are_meant_unless_a_kind_is_named() -> None:
    shelf = Shelf(has=("EtcdCluster", "FoundationDBCluster", "FoundationDBRestore"))
    assert await kinds(shelf) == list(shelf.has)
    assert set(shelf.asked) == {ObjectKey("trade", "shop")}
    for word in ("fdb", "foundationdbclusters", "FoundationDBCluster"):
        assert await kinds(shelf, f"{word}/shop") == ["FoundationDBCluster"]


async def test_a_kind_that_may_not_be_viewed_hides_no_other() -> None:
    assert await kinds(Shelf(has=("EtcdCluster",), hides=("FoundationDBCluster",))) == [
        "EtcdCluster"
    ]
    with pytest.raises(Forbidden):
        await kinds(Shelf(hides=("FoundationDBCluster",)))


async def test_a_kind_that_the_cluster_does_not_know_hides_no_other() -> None:
    shelf = Shelf(has=("FoundationDBCluster",), lacks=("EtcdCluster",))
    assert await kinds(shelf) == ["FoundationDBCluster"]
    with pytest.raises(UsageError, match=r"must have shop, of kind FoundationDBCluster, "):
        await kinds(Shelf(lacks=("EtcdCluster",)))
    with pytest.raises(UsageError, match="the cluster must know EtcdCluster, and does not"):
        await kinds(Shelf(lacks=("EtcdCluster",)), "etcd/shop")


async def test_what_is_not_there_is_said_with_where_it_was_looked_for() -> None:
    with pytest.raises(
        UsageError, match="namespace trade must have shop, of kind FoundationDBCluster"
    ):
        await kinds(Shelf(), "fdb/shop")
    with pytest.raises(UsageError, match=r"of kind EtcdCluster, .* or FoundationDBRestore"):
        await kinds(Shelf())


@pytest.mark.parametrize(
    ("text", "namespace", "said"),
    [
        ("pods/shop", "trade", "the kind in KIND/NAME must be one of etcd, fdb, fdbpg, fdbbackup"),
        ("/shop", "trade", "the kind in KIND/NAME must be one of"),
        ("Shop", "trade", "NAME must be"),
        ("fdb/", "trade", "NAME must"),
        ("shop", "a/b", "--namespace must be"),
    ],
)
def test_bad_words_are_refused(text: str, namespace: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        Wanted.parse(text, namespace)
