"""Objects as last seen.

The notation: ``a1@5`` is the object named a, of incarnation (UID) 1, in version 5; ``a1@5/x`` is
owned by x, ``a1@5!`` cannot be read.
"""

from __future__ import annotations

import re

import msgspec
import pytest

from stateward.core.errors import SpecInvalid
from stateward.kube.client import Listing, Malformed
from stateward.kube.meta import Object, ObjectKey, ObjectMeta, OwnerReference
from stateward.kube.objects.configs import ConfigMap
from stateward.kube.objects.pods import Pod, PodSpec
from stateward.kube.resources import CONFIG_MAPS, PODS, Resource
from stateward.runtime.cache import Cache, Delta, Index, by_label, by_node, by_owner

WORD = re.compile(r"(\w)(\d)@(\d+)((?:/\w)*)(!?)")


def meta(word: str) -> ObjectMeta:
    name, uid, version, owners, _ = WORD.fullmatch(word).groups()
    return ObjectMeta(
        namespace="ns",
        name=name,
        uid=f"{name}{uid}",
        resource_version=version,
        labels={"team": owners[-1]} if owners else {},
        owner_references=tuple(OwnerReference(uid=owner) for owner in owners.split("/")[1:]),
    )


def thing(word: str) -> ConfigMap | Malformed:
    if word.endswith("!"):
        return Malformed(meta(word), "what a mess")
    return ConfigMap(metadata=meta(word))


def listing(words: str) -> Listing[ConfigMap]:
    things = [thing(word) for word in words.split()]
    return Listing(
        items=tuple(it for it in things if isinstance(it, ConfigMap)),
        malformed=tuple(it for it in things if isinstance(it, Malformed)),
        revision="99",
    )


def cache(words: str = "") -> Cache[ConfigMap]:
    made = Cache(CONFIG_MAPS, (by_owner(), by_label("team")))
    made.replace(listing(words))
    return made


def key(name: str) -> ObjectKey:
    return ObjectKey("ns", name)


def word_of(item: Object | None) -> str:
    return f"{item.metadata.uid}@{item.metadata.resource_version}" if item else "-"


def told(delta: Delta[ConfigMap] | None) -> str:
    return f"{word_of(delta.before)}>{word_of(delta.now)}" if delta else "nothing"


def content(of: Cache[ConfigMap]) -> str:
    return " ".join(sorted(word_of(item) for item in of))


@pytest.mark.parametrize(
    ("known", "seen", "tells", "holds"),
    [
        pytest.param("", "a1@1", "->a1@1", "a1@1", id="new"),
        pytest.param("a1@1", "a1@2", "a1@1>a1@2", "a1@2", id="newer"),
        pytest.param("a1@9", "a1@10", "a1@9>a1@10", "a1@10", id="newer as a number"),
        pytest.param("a1@2", "a1@2", "nothing", "a1@2", id="the same"),
        pytest.param("a1@2", "a1@1", "nothing", "a1@2", id="older"),
        pytest.param("a1@2", "a2@7", "a1@2>a2@7", "a2@7", id="successor of the same name"),
        pytest.param("a2@7", "a1@5", "nothing", "a2@7", id="predecessor of the same name"),
        pytest.param("a1@2!", "a1@3", "->a1@3", "a1@3", id="readable again"),
        pytest.param("b1@1", "a1@3", "->a1@3", "a1@3 b1@1", id="another"),
    ],
)
def test_put(known, seen, tells, holds):
    of = cache(known)

    assert told(of.put(thing(seen))) == tells
    assert content(of) == holds
    assert not of.malformed


@pytest.mark.parametrize(
    ("known", "last", "tells", "holds"),
    [
        pytest.param("a1@1", "a1@2", "a1@2>-", "", id="gone, in its last version"),
        pytest.param("a1@1", None, "a1@1>-", "", id="gone, as we knew it"),
        pytest.param("", "a1@2", "a1@2>-", "", id="gone before we knew it"),
        pytest.param("", None, "nothing", "", id="never was there"),
        pytest.param("a2@5", "a1@3", "nothing", "a2@5", id="the predecessor's end is late"),
        pytest.param("a1@3!", None, "a1@3>-", "", id="unreadable"),
        pytest.param("a1@1 b1@1", "a1@2", "a1@2>-", "b1@1", id="others stay"),
    ],
)
def test_remove(known, last, tells, holds):
    of = cache(known)

    assert told(of.remove(key("a"), thing(last) if last else None)) == tells
    assert content(of) == holds
    assert key("a") not in of or holds


@pytest.mark.parametrize(
    ("known", "listed", "tells"),
    [
        ("", "", ""),
        ("", "a1@1 b1@2", "->a1@1 ->b1@2"),
        ("a1@1 b1@2", "a1@1 b1@2", ""),
        ("a1@1 b1@2", "a1@1 b1@3", "b1@2>b1@3"),
        ("a1@1 b1@2", "b1@2", "a1@1>-"),
        ("a1@1", "a2@7", "a1@1>a2@7"),
        ("a1@1 b1@2", "b1@2!", "a1@1>- b1@2>b1@2"),
        ("a1@1!", "a1@2", "->a1@2"),
        ("a1@1!", "", "a1@1>-"),
        # A server that was restored from a backup has older versions, and they are the truth.
        ("a1@8 b1@9", "a1@5 b1@9", "a1@8>a1@5"),
    ],
)
def test_replacing_all_tells_exactly_what_changed(known, listed, tells):
    of = cache(known)

    assert sorted(told(delta) for delta in of.replace(listing(listed))) == sorted(tells.split())
    assert content(of) == content(cache(listed))
    assert {bad.metadata.key for bad in of.malformed} == {
        bad.metadata.key for bad in listing(listed).malformed
    }


def found(of: Cache[ConfigMap], index: str, value: str) -> str:
    return " ".join(word_of(item) for item in of.find(index, value))


def test_indexes_follow_every_change():
    of = cache("c1@1/x a1@2/x b1@3/y")
    assert found(of, "owner", "x") == "a1@2 c1@1", "in the order of names"

    of.put(thing("a1@4/y"))
    assert (found(of, "owner", "x"), found(of, "owner", "y")) == ("c1@1", "a1@4 b1@3")

    of.put(thing("b1@5/x/y"))
    assert (found(of, "owner", "x"), found(of, "owner", "y")) == ("b1@5 c1@1", "a1@4 b1@5")

    of.remove(key("b"))
    of.put(thing("c2@6"))
    assert (found(of, "owner", "x"), found(of, "owner", "y")) == ("", "a1@4")
    assert found(of, "label:team", "y") == "a1@4"
    assert set(of._filed["owner"]) == {"y"}, "empty drawers are not kept"


def test_an_object_may_name_an_owner_twice():
    of = cache("a1@1/x/x")
    assert found(of, "owner", "x") == "a1@1"

    of.put(thing("a1@2/x/y/x"))
    of.remove(key("a"))
    assert not of._filed["owner"]


def test_objects_of_other_namespaces_are_others():
    of = cache("a1@1/x")
    far = ConfigMap(metadata=msgspec.structs.replace(meta("a2@2/x"), namespace="far"))
    of.put(far)

    assert found(of, "owner", "x") == "a2@2 a1@1"
    assert word_of(of.get(key("a"))) == "a1@1"


def test_what_cannot_be_read_never_looks_absent():
    of = cache("a1@1/x b1@2/x c1@3/y")
    of.put_malformed(thing("a1@4/x!"))

    for ask in (lambda: of.get(key("a")), lambda: of.find("owner", "x")):
        with pytest.raises(SpecInvalid, match="configmaps ns/a: must be readable: what a mess"):
            ask()
    assert key("a") in of
    assert found(of, "owner", "y") == "c1@3", "a group that it does not belong to can be asked for"
    assert (of.peek(key("a")), len(of), len(of.malformed)) == (None, 2, 1)

    of.put(thing("a1@5/y"))
    assert (found(of, "owner", "x"), found(of, "owner", "y")) == ("b1@2", "a1@5 c1@3")


def pod(name: str, node: str) -> Pod:
    return Pod(
        metadata=ObjectMeta(namespace="ns", name=name, resource_version="1"),
        spec=PodSpec(node_name=node),
    )


def test_what_cannot_be_read_may_belong_to_any_group_that_metadata_does_not_tell():
    of: Cache[Pod] = Cache(PODS, (by_node(),))
    of.put(pod("a", "n1"))
    of.put(pod("b", ""))
    assert [it.metadata.name for it in of.find("node", "n1")] == ["a"]
    assert of.find("node", "") == []

    of.put_malformed(Malformed(ObjectMeta(namespace="ns", name="c"), "no spec"))
    with pytest.raises(SpecInvalid):
        of.find("node", "n1")


class Picky(Object, kw_only=True):
    """A kind with a field that must be there."""

    size: int


def test_what_cannot_be_read_may_lack_what_its_type_demands():
    picky = Resource("example.org", "v1", "Picky", "pickies", Picky)
    of = Cache(picky, (by_owner(), Index("size", lambda it: (str(it.size),))))
    of.put_malformed(Malformed(meta("a1@1/x"), "size is missing"))

    for index, value in (("owner", "x"), ("size", "3")):
        with pytest.raises(SpecInvalid, match="size is missing"):
            of.find(index, value)
    assert of.find("owner", "y") == []


def test_whoever_walks_through_may_change_it_meanwhile():
    of = cache("a1@1 b1@2")
    for item in of:
        of.remove(item.metadata.key)

    assert len(of) == 0
