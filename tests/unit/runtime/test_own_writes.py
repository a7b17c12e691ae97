"""What we wrote and have not yet seen come back.

The notation: ``a1@5`` is the object named a, of incarnation (UID) 1, in version 5; ``a1@5-`` is
being deleted. ``W``, ``D`` and ``?`` before it are notes: written, deleted, in doubt.
"""

from __future__ import annotations

import re

import pytest

from stateward.kube.meta import ObjectKey, ObjectMeta
from stateward.kube.objects.configs import ConfigMap
from stateward.kube.resources import CONFIG_MAPS
from stateward.runtime.cache import Cache
from stateward.runtime.own_writes import Deleted, Doubtful, OwnWrites, Written

NOTES = {"W": Written, "D": Deleted, "?": Doubtful}
A = ObjectKey("ns", "a")


def thing(word: str) -> ConfigMap:
    name, uid, version, going = re.fullmatch(r"(\w)(\d*)@(\d*)(-?)", word).groups()
    metadata = ObjectMeta(
        namespace="ns",
        name=name,
        uid=f"{name}{uid}" if uid else "",
        resource_version=version,
        deletion_timestamp="2026-01-01T00:00:00Z" if going else None,
    )
    return ConfigMap(metadata=metadata)


def note(word: str) -> Written[ConfigMap] | Deleted[ConfigMap] | Doubtful[ConfigMap]:
    return NOTES[word[0]](thing(word[1:]))


def own_writes(notes: str, cached: str = "") -> OwnWrites[ConfigMap]:
    cache: Cache[ConfigMap] = Cache(CONFIG_MAPS)
    for word in cached.split():
        cache.put(thing(word))
    writes = OwnWrites(cache)
    for word in notes.split():
        writes.note(note(word))
    return writes


def test_the_cache_is_the_one_given():
    assert own_writes("", "a1@1").known(A) == thing("a1@1")


def objects(notes) -> list[ConfigMap]:
    return [note.object for note in notes]


@pytest.mark.parametrize(
    ("noted", "cached", "revision", "settled"),
    [
        pytest.param("Wa1@5", "", 4, False, id="not there yet"),
        pytest.param("Wa1@5", "a1@4", 4, False, id="there in an old version"),
        pytest.param("Wa1@5", "a1@5", 5, True, id="there"),
        pytest.param("Wa1@5", "a1@7", 7, True, id="there, and somebody wrote since"),
        pytest.param("Wa1@5", "", 5, True, id="came and went unseen"),
        pytest.param("Wa1@5", "a2@9", 9, True, id="came, went and came again"),
        pytest.param("Wa1@9", "", 10, True, id="versions are numbers"),
        pytest.param("Da1@3", "a1@3", 9, False, id="still there"),
        pytest.param("Da1@3", "a1@4", 9, False, id="still there, changed"),
        pytest.param("Da1@3", "a1@4-", 4, True, id="on its way out"),
        pytest.param("Da1@3", "", 4, True, id="gone"),
        pytest.param("Da1@3", "a2@5", 5, True, id="gone, and its name taken"),
        pytest.param("Da1@3", "b1@5", 5, True, id="gone, and another is there"),
        pytest.param("Da1@8", "", 5, False, id="deleted before it was seen: not there yet"),
        pytest.param("Da1@8", "a1@8", 8, False, id="deleted before it was seen: there"),
        pytest.param("Da1@8", "", 9, True, id="deleted before it was seen: gone"),
        pytest.param("?a1@3", "a1@9", 9, False, id="in doubt: there"),
        pytest.param("?a1@3", "", 9, False, id="in doubt: not there"),
    ],
)
def test_a_note_is_settled_when_the_cache_shows_its_effect(noted, cached, revision, settled):
    writes = own_writes(noted, cached)
    concerned = objects(writes.settle(str(revision)))

    assert concerned == ([note(noted).object] if settled else [])
    assert len(writes) == (0 if settled else 1)
    assert objects(writes.unseen()) == ([] if settled else [note(noted).object])


def test_the_last_write_to_an_object_is_the_one_that_counts():
    writes = own_writes("Wa1@5 Wb1@6 Wa1@9", "a1@5 b1@6")

    assert objects(writes.settle("6")) == [thing("b1@6")]
    assert objects(writes.settle("8")) == []
    assert objects(writes.settle("9")) == [thing("a1@9")]


def resolved(noted: str, found: str | None, cached: str = "") -> OwnWrites[ConfigMap]:
    writes = own_writes(noted, cached)
    (doubt,) = writes.doubtful()
    writes.resolve(doubt, thing(found) if found else None)
    return writes


def test_a_doubt_becomes_a_version_to_wait_for():
    writes = resolved("?a1@3", "a1@7", cached="a1@3")

    assert not writes.doubtful()
    assert objects(writes.settle("6")) == []
    assert objects(writes.settle("7")) == [thing("a1@7")]


def test_a_doubt_about_what_does_not_exist_is_no_more():
    writes = resolved("?a@", None)

    assert not writes.doubtful()
    assert objects(writes.settle("1")) == [thing("a@")], "whoever waits is told"
    assert len(writes) == 0


def test_a_doubt_about_what_is_gone_waits_until_the_cache_shows_that():
    writes = resolved("?a1@3", None, cached="a1@3")
    assert objects(writes.settle("9")) == [], "the cache still shows what a quorum says is gone"

    writes._cache.remove(A)
    assert objects(writes.settle("10")) == [thing("a1@3")]


def test_a_doubt_about_what_is_gone_does_not_wait_for_its_successor():
    assert objects(resolved("?a1@3", None, cached="a2@5").settle("5")) == [thing("a1@3")]


@pytest.mark.parametrize("newer", ["?a1@3", "Wa1@8", "Da1@3"])
def test_a_look_up_says_nothing_about_a_later_write(newer):
    writes = own_writes("?a1@3", "a1@3")
    (doubt,) = writes.doubtful()
    later = note(newer)
    writes.note(later)  # while the look-up was under way

    writes.resolve(doubt, thing("a1@4"))
    assert writes._notes[A] is later
    writes.resolve(doubt, None)
    assert writes._notes[A] is later


@pytest.mark.parametrize(
    ("noted", "cached", "uid", "known"),
    [
        ("", "", "", None),
        ("", "a1@3", "", "a1@3"),
        ("", "a1@3", "a1", "a1@3"),
        ("", "a1@3", "a2", None),
        ("Wa1@5", "", "", "a1@5"),
        ("Wa1@5", "a1@3", "a1", "a1@5"),
        ("Wa1@5", "a2@7", "a2", "a2@7"),
        ("?a1@5", "", "", None),
        ("Da1@5", "", "", None),
    ],
)
def test_what_we_know_of_an_object(noted, cached, uid, known):
    assert own_writes(noted, cached).known(A, uid) == (thing(known) if known else None)
