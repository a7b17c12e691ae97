"""A cache that was changed little by little is the same as one that was filled at once."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.core.errors import SpecInvalid
from stateward.kube.client import Listing, Malformed
from stateward.kube.meta import ObjectKey, ObjectMeta, OwnerReference
from stateward.kube.objects.configs import ConfigMap
from stateward.kube.resources import CONFIG_MAPS
from stateward.runtime.cache import Cache, Delta, by_label, by_owner

LAW = settings(max_examples=150)
NAMES, OWNERS = "abc", "xyz"

Thing = ConfigMap | Malformed
World = dict[ObjectKey, Thing]


def metadata(name: str, uid: int, version: int, owners: list[str]) -> ObjectMeta:
    return ObjectMeta(
        namespace="ns",
        name=name,
        uid=f"{name}{uid}",
        resource_version=str(version),
        labels={"team": owners[-1]} if owners else {},
        owner_references=tuple(OwnerReference(uid=owner) for owner in owners),
    )


#: One thing that happens: what, to which name, whether as a new incarnation, with which owners.
EVENTS = st.tuples(
    st.sampled_from(["put", "put", "put", "garble", "remove", "list"]),
    st.sampled_from(NAMES),
    st.booleans(),
    st.lists(st.sampled_from(OWNERS), max_size=3),
)


def empty() -> Cache[ConfigMap]:
    return Cache(CONFIG_MAPS, (by_owner(), by_label("team")))


def listing(world: World) -> Listing[ConfigMap]:
    return Listing(
        items=tuple(it for it in world.values() if isinstance(it, ConfigMap)),
        malformed=tuple(it for it in world.values() if isinstance(it, Malformed)),
        revision="0",
    )


def answers(cache: Cache[ConfigMap]) -> dict[str, object]:
    """Everything that can be asked of a cache, with its answer or the fact that it refuses."""
    said: dict[str, object] = {"all": {it.metadata.key: it for it in cache}}
    for name in NAMES:
        said[name] = _asked(lambda name=name: cache.get(ObjectKey("ns", name)))
    for index in ("owner", "label:team"):
        for owner in OWNERS:
            said[f"{index}={owner}"] = _asked(lambda i=index, o=owner: cache.find(i, o))
    said["malformed"] = {it.metadata.key for it in cache.malformed}
    return said


def _asked(question):
    try:
        return question()
    except SpecInvalid as refusal:
        return str(refusal)


def happen(event, world: World, uids: dict[str, int], version: int) -> None:
    what, name, anew, owners = event
    key = ObjectKey("ns", name)
    if what == "remove":
        world.pop(key, None)
        uids[name] += 1
    elif what in {"put", "garble"}:
        uids[name] += anew
        made = metadata(name, uids[name], version, owners)
        world[key] = ConfigMap(metadata=made) if what == "put" else Malformed(made, "a mess")


def hear(cache: Cache[ConfigMap], event, world: World) -> list[Delta[ConfigMap]]:
    """Tell the cache about an event as an informer would."""
    what, name, _, _ = event
    now = world.get(ObjectKey("ns", name))
    if what == "list":
        return cache.replace(listing(world))
    if what == "remove":
        delta = cache.remove(ObjectKey("ns", name))
    elif isinstance(now, Malformed):
        delta = cache.put_malformed(now)
    else:
        delta = cache.put(now)
    return [delta] if delta else []


@LAW
@given(events=st.lists(EVENTS, max_size=25))
def test_little_by_little_is_the_same_as_at_once(events):
    cache, world, uids = empty(), {}, dict.fromkeys(NAMES, 0)
    for version, event in enumerate(events, 1):
        happen(event, world, uids, version)
        hear(cache, event, world)

    rebuilt = empty()
    rebuilt.replace(listing(world))
    assert answers(cache) == answers(rebuilt)
    assert {n: set(d) for n, d in cache._filed.items()} == {
        n: set(d) for n, d in rebuilt._filed.items()
    }


@LAW
@given(
    events=st.lists(EVENTS, max_size=25), hears=st.lists(st.booleans(), min_size=25, max_size=25)
)
def test_the_deltas_tell_the_whole_story_even_with_a_deaf_time_before_a_list(events, hears):
    """Whoever keeps a copy by the deltas alone has, after a list, exactly the readable objects."""
    cache, world, uids = empty(), {}, dict.fromkeys(NAMES, 0)
    copy: dict[ObjectKey, ConfigMap] = {}
    for version, (event, heard) in enumerate(zip(events, hears, strict=False), 1):
        happen(event, world, uids, version)
        if heard:
            _follow(copy, hear(cache, event, world), cache)
    _follow(copy, cache.replace(listing(world)), cache)

    assert copy == {key: it for key, it in world.items() if isinstance(it, ConfigMap)}


def _follow(
    copy: dict[ObjectKey, ConfigMap], deltas: list[Delta[ConfigMap]], cache: Cache[ConfigMap]
) -> None:
    for delta in deltas:
        if delta.now is not None:
            copy[delta.key] = delta.now
        else:
            copy.pop(delta.key, None)
    for malformed in cache.malformed:  # these have no version to tell about
        copy.pop(malformed.metadata.key, None)
