"""The garbage collector: pictures of who owns whom, what is deleted, and who is left."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.widgets import WIDGETS
from fakes.bench import running
from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.kube.client import MergePatch, Propagation
from stateward.kube.codec import Json
from stateward.kube.errors import ServerFailed
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import BUILT_IN, CONFIG_MAPS, NAMESPACES, NODES, PODS, Registry
from stateward.local.collector import Collector
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.sim.loop import SimClock
from unit.local.pictures import api, named

LAW = settings(max_examples=40)
US = Author("us")
HOW = {
    "background": Propagation.BACKGROUND,
    "foreground": Propagation.FOREGROUND,
    "orphan": Propagation.ORPHAN,
}
_ONE = re.compile(r"(?P<name>\w+)(?P<held>~?)(<(?P<owners>[\w!,]+))?")


class Family:
    """Widgets as a picture shows them.

    ``b<a`` is owned by a, ``b<a!`` also holds up a's end, ``b<a,c`` has two owners, ``b~`` has a
    finalizer. An owner that is in no picture never was.
    """

    def __init__(self, picture: str) -> None:
        self.api = api()
        self.collector = Collector(self.api, Registry((*BUILT_IN, WIDGETS)))
        ones = [found for word in picture.split() if (found := _ONE.fullmatch(word))]
        for one in ones:
            body = named(one["name"])
            body["metadata"]["finalizers"] = ["example.com/hold"] if one["held"] else []
            self.api.create(WIDGETS, "shop", body, US)
        for one in ones:
            if one["owners"]:
                self.owned(one["name"], *map(self.reference, one["owners"].split(",")))

    def reference(self, word: str) -> Json:
        name = word.removesuffix("!")
        stored = self.api.store.get(WIDGETS.name, ObjectKey("shop", name))
        return {
            "apiVersion": WIDGETS.api_version,
            "kind": WIDGETS.kind,
            "name": name,
            "uid": stored.uid if stored else f"ghost-{name}",
            "blockOwnerDeletion": word.endswith("!"),
        }

    def owned(self, name: str, *owners: Json) -> None:
        patch = MergePatch({"metadata": {"ownerReferences": list(owners)}})
        self.api.patch(WIDGETS, ObjectKey("shop", name), patch, US)

    def delete(self, words: str) -> Family:
        """``foreground a``: ask for the end of a."""
        how, name = words.split()
        stored = self.api.store.get(WIDGETS.name, ObjectKey("shop", name))
        assert stored is not None
        options = DeleteOptions(uid=stored.uid, propagation=HOW[how])
        self.api.delete(WIDGETS, stored.key, options)
        return self

    def release(self, name: str) -> Family:
        """Let go what a finalizer held."""
        document = self.document(name)["metadata"]
        rest = [f for f in document.get("finalizers", []) if not f.startswith("example.com")]
        patch = MergePatch({"metadata": {"finalizers": rest}})
        self.api.patch(WIDGETS, ObjectKey("shop", name), patch, US)
        return self

    def settle(self, limit: int = 200) -> Family:
        """Have the collector do all that is due; it must come to an end."""
        for _ in range(limit):
            if not self.collector.step():
                return self
        raise AssertionError(f"the collector still finds something to do after {limit} acts")

    def document(self, name: str) -> Json:
        stored = self.api.store.get(WIDGETS.name, ObjectKey("shop", name))
        assert stored is not None
        return stored.document()

    @property
    def picture(self) -> str:
        """Who is left: ``a``, or ``a-`` if it is on its way out."""
        found = [stored.document()["metadata"] for stored in self.api.store.all(WIDGETS.name)]
        return " ".join(m["name"] + ("-" if "deletionTimestamp" in m else "") for m in found)


@pytest.mark.parametrize(
    ("family", "act", "left"),
    [
        # owners that are there, and owners that are not
        ("a b<a", "", "a b"),
        ("b<ghost", "", ""),
        ("b<ghost!", "", ""),
        ("a b<a,ghost", "", "a b"),
        ("a b<ghost,phantom c", "", "a c"),
        # the three ways
        ("a b<a c", "background a", "c"),
        ("a b<a! c", "foreground a", "c"),
        ("a b<a c", "foreground a", "c"),
        ("a b<a! c", "orphan a", "b c"),
        ("a", "foreground a", ""),
        ("a", "orphan a", ""),
        # two owners
        ("a b c<a,b", "background a", "b c"),
        ("a b c<a!,b!", "foreground a", "b c"),
        ("a b c<a,b", "orphan a", "b c"),
        # chains and diamonds
        ("a b<a c<b d<c", "background a", ""),
        ("a b<a! c<b! d<c!", "foreground a", ""),
        ("a b<a c<b d<c", "orphan a", "b c d"),
        ("a b<a c<a d<b,c", "background a", ""),
        ("a b<a! c<a! d<b!,c!", "foreground a", ""),
        # held by a finalizer
        ("a b~<a", "background a", "b-"),
        ("a b~<a!", "foreground a", "a- b-"),
        ("a b~<a", "foreground a", "b-"),
        ("a~ b<a", "background a", "a- b"),
        ("a~ b<a!", "foreground a", "a-"),
        ("a b<a! c~<b!", "foreground a", "a- b- c-"),
        ("a b<a c~<b!", "background a", "c-"),
        # circles
        ("a<b b<a", "", "a b"),
        ("a<b! b<a!", "foreground a", ""),
        ("a<b b<a", "background a", ""),
        ("a<c! b<a! c<b!", "foreground a", ""),
        ("a<b b<a", "orphan a", "b"),
    ],
)
def test_who_is_left(family: str, act: str, left: str) -> None:
    world = Family(family)
    if act:
        world.delete(act)

    assert world.settle().picture == left


def test_one_act_a_step() -> None:
    world = Family("a b<a c<b").delete("background a")
    seen = [world.picture]
    while world.collector.step():
        seen.append(world.picture)

    assert seen == ["b c", "c", ""]


def test_a_step_with_nothing_to_do_writes_nothing() -> None:
    world = Family("a b<a c<a! d~").settle()
    before = world.api.store.revision

    assert not world.collector.step()
    assert world.api.store.revision == before


def test_when_the_last_hold_is_gone_all_go() -> None:
    world = Family("a b<a! c~<b!").delete("foreground a").settle()

    assert world.release("c").settle().picture == ""


def test_of_several_owners_the_ones_gone_are_forgotten() -> None:
    world = Family("a b<a,ghost").settle()

    assert [it["name"] for it in world.document("b")["metadata"]["ownerReferences"]] == ["a"]


def test_who_is_orphaned_has_no_owners_at_all() -> None:
    world = Family("a b<a!").delete("orphan a").settle()

    assert "ownerReferences" not in world.document("b")["metadata"]


def test_an_owner_goes_by_uid_and_not_by_name() -> None:
    world = Family("a b")
    old = world.reference("a")
    world.delete("background a")
    world.api.create(WIDGETS, "shop", named("a"), US)
    world.owned("b", old)

    assert world.settle().picture == "a"


@pytest.mark.parametrize(
    ("wrong", "left"),
    [
        ({"kind": "ConfigMap", "apiVersion": "v1"}, "a"),  # there is none of that name
        ({"name": "other"}, "a"),
        ({"kind": "Stranger"}, "a b"),  # nobody knows where to look
        ({"apiVersion": "unheard.of/v1"}, "a b"),
    ],
    ids=str,
)
def test_a_reference_that_does_not_fit(wrong: Json, left: str) -> None:
    world = Family("a b")
    world.owned("b", world.reference("a") | wrong)

    assert world.settle().picture == left


def test_an_owner_in_another_namespace_is_none() -> None:
    world = Family("b")
    made = world.api.create(WIDGETS, "elsewhere", named("a", "elsewhere"), US)
    world.owned("b", world.reference("a") | {"uid": made.uid})

    assert world.settle().picture == "a"


def test_an_owner_in_no_namespace_owns_everywhere() -> None:
    world = Family("b c")
    node = world.api.create(NODES, "", {"metadata": {"name": "n1"}}, US)
    reference = {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": node.uid}
    world.owned("b", reference)
    assert world.settle().picture == "b c"

    world.api.delete(NODES, node.key, DeleteOptions(uid=node.uid))

    assert world.settle().picture == "c"


def test_what_is_in_no_namespace_cannot_be_owned_from_one() -> None:
    world = Family("a")
    body: Json = {"metadata": {"name": "n1", "ownerReferences": [world.reference("a")]}}
    node = world.api.create(NODES, "", body, US)
    world.delete("background a").settle()

    assert world.api.store.get(NODES.name, node.key) is not None


def test_what_nobody_told_the_collector_about_is_left_alone() -> None:
    world = Family("")
    world.collector = Collector(world.api, Registry((CONFIG_MAPS, PODS, NAMESPACES)))
    ghost = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "ghost"}
    world.api.create(WIDGETS, "shop", named("a"), US)
    world.owned("a", ghost)

    assert world.settle().picture == "a"


# ------------------------------------------------------------------ who listens need not search
def test_a_kind_that_is_served_later_is_seen() -> None:
    world = Family("a b<a")
    served = [PODS]
    world.collector = Collector(world.api, lambda: served)
    assert world.delete("background a").settle().picture == "b"

    served.append(WIDGETS)
    world.api.create(WIDGETS, "shop", named("c"), US)
    world.owned("c", world.reference("ghost"))

    assert world.settle().picture == ""


def test_what_was_there_before_is_seen_too() -> None:
    world = Family("a b<a~ c<ghost")
    world.collector = Collector(world.api, Registry((*BUILT_IN, WIDGETS)))

    assert world.delete("background a").settle().picture == ""


def test_a_step_looks_at_nothing_that_did_not_change(monkeypatch: pytest.MonkeyPatch) -> None:
    world = Family("a " + " ".join(f"b{number}<a" for number in range(50))).settle()
    looked: list[str] = []
    judge = Collector._judge
    monkeypatch.setattr(Collector, "_judge", lambda *args: looked.append("") or judge(*args))  # type: ignore[func-returns-value]
    for _ in range(10):
        assert not world.collector.step()
    assert not looked

    world.api.patch(WIDGETS, ObjectKey("shop", "b7"), MergePatch({"spec": {"size": 1}}), US)
    assert not world.collector.step()
    assert len(looked) == 1


@pytest.mark.virtual
async def test_left_alone_it_collects_by_itself() -> None:
    world = Family("a " + " ".join(f"b{number}<a" for number in range(50)))
    ports = Ports(SimClock(asyncio.get_running_loop()), Chance(1))  # type: ignore[arg-type]
    async with running(world.collector.run(ports)):
        await asyncio.sleep(1)
        assert len(world.picture.split()) == 51
        world.delete("background a")
        await asyncio.sleep(1)
        assert world.picture == ""


@pytest.mark.virtual
async def test_an_object_that_nobody_can_write_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = Family("a b<a c<a")
    delete = world.api.delete

    def stubborn(resource: Any, key: ObjectKey, options: DeleteOptions) -> None:
        if key.name == "b":
            raise ServerFailed("no room on the disk")
        delete(resource, key, options)

    world.delete("background a")
    monkeypatch.setattr(world.api, "delete", stubborn)
    ports = Ports(SimClock(asyncio.get_running_loop()), Chance(1))  # type: ignore[arg-type]
    async with running(world.collector.run(ports)):
        await asyncio.sleep(1)
        assert world.picture == "b"


# ------------------------------------------------------------------ all families
names = st.sampled_from("abcdef")
owners = st.dictionaries(names, st.booleans(), max_size=2)
families = st.dictionaries(names, owners, min_size=1, max_size=6)


def _picture(family: dict[str, dict[str, bool]]) -> str:
    return " ".join(
        name + ("<" + ",".join(o + ("!" if b else "") for o, b in its.items()) if its else "")
        for name, its in family.items()
    )


@LAW
@given(families, st.data())
def test_every_family_comes_to_rest(
    family: dict[str, dict[str, bool]], data: st.DataObject
) -> None:
    """Whoever has a chain of living owners up to somebody free stays; the collector always ends."""
    world = Family(_picture(family)).settle()
    left = world.picture.split()
    if left:
        how = data.draw(st.sampled_from(sorted(HOW)))
        world.delete(f"{how} {data.draw(st.sampled_from(left))}")
    world.settle()

    for stored in world.api.store.all(WIDGETS.name):
        metadata: dict[str, Any] = stored.document()["metadata"]
        alive = {it.uid for it in world.api.store.all(WIDGETS.name)}
        references = metadata.get("ownerReferences", [])
        assert not references or any(it["uid"] in alive for it in references)
