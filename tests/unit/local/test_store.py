"""The store: one counter, one history for each resource, and listeners who hear everything at once."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.kube.client import Change
from stateward.kube.errors import Gone, TooLarge
from stateward.kube.meta import ObjectKey
from stateward.local import store as module
from stateward.local.store import LARGEST, Store, StoreEvent, rehearsed, stamped
from unit.local.pictures import drawn, named

LAW = settings(max_examples=100)


def told(store: Store, *words: str) -> Store:
    """Have a story happen: ``+a`` puts the object a, ``-a`` removes it; ``pods+a`` is of another resource."""
    for word in words:
        resource, sign, name = word.partition("+") if "+" in word else word.partition("-")
        where = resource or "things"
        if sign == "+":
            store.put(where, named(name, data={"at": store.revision}))
        else:
            store.remove(where, ObjectKey("shop", name))
    return store


def picture(events: list[StoreEvent]) -> str:
    """Write events as ``2+a 3~a 4-a``: added, modified and deleted at a revision."""
    signs = {Change.ADDED: "+", Change.MODIFIED: "~", Change.DELETED: "-"}
    return " ".join(f"{e.revision}{signs[e.change]}{e.now.key.name}" for e in events)


# ------------------------------------------------------------------ revisions
def test_every_write_takes_the_next_revision() -> None:
    store = told(Store(), "+a", "+b", "+a", "pods+a", "-b")

    assert store.revision == 6
    assert picture(store.events_since("things", 0)) == "2+a 3+b 4~a 6-b"
    assert picture(store.events_since("pods", 0)) == "5+a"


def test_a_version_carries_its_revision() -> None:
    store = Store()
    stored = store.put("things", named("a"))

    assert stored.revision == store.revision
    assert stored.document()["metadata"]["resourceVersion"] == str(store.revision)
    assert store.get("things", ObjectKey("shop", "a")) is stored


def test_the_last_version_carries_the_revision_of_the_end() -> None:
    store = told(Store(), "+a", "+b")
    last = store.remove("things", ObjectKey("shop", "a"))

    assert last.revision == store.revision == 4
    assert last.document()["metadata"]["resourceVersion"] == "4"
    assert store.get("things", ObjectKey("shop", "a")) is None


def test_an_event_knows_what_it_replaced() -> None:
    store = told(Store(), "+a", "+a", "-a")
    came, changed, went = store.events_since("things", 0)

    assert came.before is None
    assert changed.before is came.now
    assert went.before is changed.now


def test_what_is_handed_out_changes_nothing() -> None:
    store = Store()
    document = named("a", data={"x": 1})
    stored = store.put("things", document)

    document["data"]["x"] = 2
    stored.document()["data"]["x"] = 3

    assert stored.document()["data"] == {"x": 1}


def test_a_rehearsed_version_has_no_revision() -> None:
    assert "resourceVersion" not in rehearsed(named("a")).document()["metadata"]
    assert stamped(named("a"), 7).document()["metadata"]["resourceVersion"] == "7"


# ------------------------------------------------------------------ lists
def test_a_list_is_in_the_order_of_paths() -> None:
    store = Store()
    for namespace, name in (("b", "x"), ("a", "x"), ("a-b", "x"), ("a", "a.b"), ("a", "a-b")):
        store.put("things", named(name, namespace))

    paths = [str(stored.key) for stored in store.all("things")]

    assert paths == ["a-b/x", "a/a-b", "a/a.b", "a/x", "b/x"]
    assert [str(stored.key) for _, stored in store] == paths


def test_a_list_of_one_namespace() -> None:
    store = Store()
    for namespace in ("a", "b"):
        store.put("things", named("x", namespace))

    assert [stored.key.namespace for stored in store.all("things", "b")] == ["b"]
    assert store.all("nothing") == []


def test_resources_are_those_that_ever_had_an_object() -> None:
    assert told(Store(), "+a", "pods+a", "-a").resources() == ("things", "pods")


# ------------------------------------------------------------------ history
@pytest.mark.parametrize(
    ("since", "events"),
    [
        (0, "2+a 3+b 4~a 5-b"),
        (1, "2+a 3+b 4~a 5-b"),
        (2, "3+b 4~a 5-b"),
        (4, "5-b"),
        (5, ""),
        (9, ""),
    ],
)
def test_history_begins_after_a_revision(since: int, events: str) -> None:
    store = told(Store(), "+a", "+b", "+a", "-b")

    assert picture(store.events_since("things", since)) == events


def test_compaction_forgets_what_happened_and_not_what_is() -> None:
    store = told(Store(), "+a", "+b", "pods+p")
    store.compact("things")

    assert drawn(store.all("things")) == "a b"
    with pytest.raises(Gone):
        store.events_since("things", 3)
    assert store.events_since("things", store.revision) == []
    assert picture(store.events_since("pods", 0)) == "4+p"


def test_compaction_of_everything() -> None:
    store = told(Store(), "+a", "pods+p")
    store.compact()
    told(store, "+b")

    for resource in ("things", "pods"):
        with pytest.raises(Gone):
            store.events_since(resource, 2)
    assert picture(store.events_since("things", 3)) == "4+b"


def test_a_long_history_is_cut_and_says_so() -> None:
    store = told(Store(history=4), "+a", "+b", "+c", "+d")
    assert picture(store.events_since("things", 1)) == "2+a 3+b 4+c 5+d"

    told(store, "+e")

    with pytest.raises(Gone):
        store.events_since("things", 1)
    with pytest.raises(Gone):
        store.events_since("things", 2)
    assert picture(store.events_since("things", 3)) == "4+c 5+d 6+e"


@LAW
@given(
    writes=st.lists(st.sampled_from(["+a", "+b", "pods+a"]), max_size=40),
    history=st.integers(2, 8),
)
def test_history_is_complete_or_gone(writes: list[str], history: int) -> None:
    """Whoever gets an answer gets everything since, however often the history was cut."""
    store, everything = Store(history=history), Store()
    told(store, *writes)
    told(everything, *writes)

    for since in range(1, store.revision + 1):
        try:
            events = store.events_since("things", since)
        except Gone:
            continue
        assert picture(events) == picture(everything.events_since("things", since))
    assert store.events_since("things", store.revision) == []


def test_history_is_bounded_in_bytes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HISTORY_BYTES", 1_000)
    store = Store()
    for _ in range(100):
        store.put("things", named("a", data="x" * 300))

    with pytest.raises(Gone):
        store.events_since("things", 1)
    kept = store.events_since("things", store.revision - 1)
    assert [event.revision for event in kept] == [store.revision]
    assert sum(len(it.now.text) for it in store.events_since("things", store.revision - 2)) <= 1_000


def test_an_object_that_is_too_large_is_not_kept() -> None:
    store = told(Store(), "+a")

    with pytest.raises(TooLarge, match="must be at most 1572864 bytes"):
        store.put("things", named("a", data="x" * LARGEST))

    assert store.revision == 2
    assert picture(store.events_since("things", 0)) == "2+a"


@given(
    st.lists(st.sampled_from(["+a", "+b", "+c", "-a", "-b", "-c"]), max_size=12), st.integers(0, 12)
)
@LAW
def test_the_past_can_be_listed_as_it_was(words: list[str], cut: int) -> None:
    store, then = Store(), ""
    revision = store.revision
    for number, word in enumerate(words):
        if number == cut:
            then, revision = drawn(store.all("things")), store.revision
        if word[0] == "+" or store.get("things", ObjectKey("shop", word[1])):
            told(store, word)
    if cut >= len(words):
        then, revision = drawn(store.all("things")), store.revision

    assert drawn(store.all_at("things", revision)) == then


# ------------------------------------------------------------------ listeners
def test_listeners_hear_everything_at_once_and_in_order() -> None:
    store, heard = Store(), list[StoreEvent]()
    store.listen(heard.append)

    told(store, "+a", "pods+p", "-a")

    assert picture(heard) == "2+a 3+p 4-a"


def test_who_has_had_enough_hears_no_more() -> None:
    store, heard = Store(), list[StoreEvent]()
    end = store.listen(heard.append)
    told(store, "+a")
    end()
    end()

    told(store, "+b")

    assert picture(heard) == "2+a"


def test_a_listener_may_end_others_and_itself_while_it_hears() -> None:
    store, heard = Store(), list[str]()

    def once(event: StoreEvent) -> None:
        heard.append("once")
        end_once()

    end_once = store.listen(once)
    store.listen(lambda _: heard.append("always"))

    told(store, "+a", "+b")

    assert heard == ["once", "always", "always"]


def test_a_listener_sees_the_store_as_it_is_after_the_event() -> None:
    store, seen = Store(), list[str]()
    store.listen(lambda event: seen.append(f"{event.revision}:{drawn(store.all('things'))}"))

    told(store, "+a", "+b", "-a")

    assert seen == ["2:a", "3:a b", "4:b"]
