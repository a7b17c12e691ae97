"""Any verbs in any order: the embedded Kubernetes against a model of a few lines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from contract.widgets import WIDGETS
from stateward.kube.client import Apply, Change, MergePatch, Propagation, Selection
from stateward.kube.codec import Json
from stateward.kube.errors import AlreadyExists, ApiError, Conflict, Invalid, NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import BUILT_IN, CONFIG_MAPS, Registry, Resource
from stateward.local.apply.fields import differences
from stateward.local.apply.paths import from_fields_v1
from stateward.local.collector import Collector
from stateward.local.kinds import built_in
from stateward.local.rules.deletion import FOREGROUND, ORPHAN, DeleteOptions
from stateward.local.rules.writes import Author
from stateward.local.store import StoreEvent
from stateward.local.watching import Filter, sighting
from unit.local.pictures import api, named

HOLD = "example.com/hold"
EVERYTHING = Filter.of(Selection(), built_in(CONFIG_MAPS))

resources = st.sampled_from([CONFIG_MAPS, WIDGETS])
names = st.sampled_from("abc")
values = st.integers(0, 2)
specs = st.fixed_dictionaries(
    {},
    optional={
        "size": values,
        "tags": st.lists(st.sampled_from("xy"), min_size=1, max_size=2, unique=True),
        "backup": st.dictionaries(st.sampled_from(["store", "keep"]), st.sampled_from("pq")),
    },
)


@dataclass
class Known:
    """What the model knows of one object."""

    uid: str
    generation: int
    finalizers: set[str] = field(default_factory=set)
    deleting: bool = False
    revisions: list[str] = field(default_factory=list)


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.api = api()
        self.collector = Collector(self.api, Registry((*BUILT_IN, WIDGETS)))
        self.events: list[StoreEvent] = []
        self.api.store.listen(self.events.append)
        self.known: dict[tuple[str, str], Known] = {}
        self.uids: set[str] = set()

    # -------------------------------------------------------------- the verbs
    @rule(resource=resources, name=names, value=values, held=st.booleans())
    def create(self, resource: Resource[Any], name: str, value: int, held: bool) -> None:
        body = _body(resource, name, value)
        body["metadata"]["finalizers"] = [HOLD] if held else []
        with self.expecting(AlreadyExists if self.find(resource, name) else None):
            made = self.api.create(resource, "shop", body, Author("us"))
            assert made.uid not in self.uids
            self.uids.add(made.uid)
            counted = 1 if resource is WIDGETS else 0
            self.known[resource.name, name] = Known(made.uid, counted, {HOLD} if held else set())
            self.saw(resource, name)

    @rule(resource=resources, name=names, value=values, seen=st.sampled_from(["new", "old", ""]))
    def update(self, resource: Resource[Any], name: str, value: int, seen: str) -> None:
        known = self.find(resource, name)
        body = _body(resource, name, value)
        refusal: type[ApiError] | None = None
        if known is None:
            refusal = NotFound
        elif seen:
            body["metadata"]["resourceVersion"] = known.revisions[-1 if seen == "new" else 0]
            refusal = Conflict if seen == "old" and len(known.revisions) > 1 else None
        elif resource is WIDGETS:
            refusal = Invalid
        if known:
            body["metadata"]["finalizers"] = sorted(known.finalizers)
        with self.expecting(refusal), self.counting(resource, name):
            self.api.update(resource, ObjectKey("shop", name), body, Author("them"))

    @rule(resource=resources, name=names, value=values)
    def patch(self, resource: Resource[Any], name: str, value: int) -> None:
        part = "spec" if resource is WIDGETS else "data"
        self.patched(resource, name, {part: _body(resource, name, value)[part]})

    @rule(resource=resources, name=names, value=values)
    def label(self, resource: Resource[Any], name: str, value: int) -> None:
        self.patched(resource, name, {"metadata": {"labels": {"n": str(value)}}})

    @rule(name=names, value=values)
    def tell(self, name: str, value: int) -> None:
        patch = MergePatch({"status": {"phase": str(value)}, "spec": {"size": 9}})
        missing = None if self.find(WIDGETS, name) else NotFound
        with self.expecting(missing), self.counting(WIDGETS, name):
            where = ObjectKey("shop", name)
            self.api.patch(WIDGETS, where, patch, Author("us"), subresource="status")

    @rule(name=names, spec=specs, by=st.sampled_from(["us", "them"]), force=st.booleans())
    def apply(self, name: str, spec: Json, by: str, force: bool) -> None:
        key = ObjectKey("shop", name)
        before = self.find(WIDGETS, name)
        body = Apply(named(name, spec=spec), by, force)
        with suppress(Conflict), self.counting(WIDGETS, name):
            made = self.api.patch(WIDGETS, key, body, Author(by))
            if before is None:
                self.known[WIDGETS.name, name] = Known(made.uid, 1)
                self.uids.add(made.uid)
            for part, value in spec.items():
                if not isinstance(value, dict | list):
                    assert made.document()["spec"][part] == value

    @rule(resource=resources, name=names, how=st.sampled_from(Propagation))
    def delete(self, resource: Resource[Any], name: str, how: Propagation) -> None:
        known = self.find(resource, name)
        options = DeleteOptions(uid=known.uid if known else "none", propagation=how)
        with self.expecting(None if known else NotFound):
            self.api.delete(resource, ObjectKey("shop", name), options)
        if known:
            ways = {Propagation.FOREGROUND: {FOREGROUND}, Propagation.ORPHAN: {ORPHAN}}
            known.finalizers = (known.finalizers & {HOLD}) | ways.get(how, set())
            if known.finalizers and not known.deleting:
                known.deleting = True
                known.generation += resource is WIDGETS
            self.saw(resource, name)
            self.forget_released(resource, name)

    @rule(resource=resources, name=names)
    def delete_the_one_of_yesterday(self, resource: Resource[Any], name: str) -> None:
        with self.expecting(Conflict if self.find(resource, name) else NotFound):
            options = DeleteOptions(uid="yesterday")
            self.api.delete(resource, ObjectKey("shop", name), options)

    @precondition(lambda self: any(HOLD in it.finalizers for it in self.known.values()))
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        held = sorted(where for where, it in self.known.items() if HOLD in it.finalizers)
        where = data.draw(st.sampled_from(held))
        resource = CONFIG_MAPS if where[0] == CONFIG_MAPS.name else WIDGETS
        rest = sorted(self.known[where].finalizers - {HOLD})
        self.patched(resource, where[1], {"metadata": {"finalizers": rest}})
        self.known[where].finalizers = set(rest)
        self.forget_released(resource, where[1])

    @rule()
    def collect(self) -> None:
        while self.collector.step():
            pass
        for (resource, name), known in list(self.known.items()):
            if known.deleting:
                known.finalizers -= {FOREGROUND, ORPHAN}
                kind = CONFIG_MAPS if resource == CONFIG_MAPS.name else WIDGETS
                self.saw(kind, name)
                self.forget_released(kind, name)

    # -------------------------------------------------------------- the model
    def find(self, resource: Resource[Any], name: str) -> Known | None:
        return self.known.get((resource.name, name))

    def patched(self, resource: Resource[Any], name: str, change: Json) -> None:
        missing = None if self.find(resource, name) else NotFound
        with self.expecting(missing), self.counting(resource, name):
            where = ObjectKey("shop", name)
            self.api.patch(resource, where, MergePatch(change), Author("us"))

    @contextmanager
    def expecting(self, refusal: type[ApiError] | None) -> Iterator[None]:
        """Hold a verb to its refusal; one that is refused writes nothing."""
        before = self.api.store.revision
        if refusal is None:
            yield
            return
        with pytest.raises(refusal):
            yield
        assert self.api.store.revision == before

    @contextmanager
    def counting(self, resource: Resource[Any], name: str) -> Iterator[None]:
        """Count a generation if what is asked for changed, and nothing else."""
        key = ObjectKey("shop", name)
        old = self.api.store.get(resource.name, key)
        yield
        new = self.api.store.get(resource.name, key)
        known = self.find(resource, name)
        if old and new and known and resource is WIDGETS:
            known.generation += old.document().get("spec") != new.document().get("spec")
        self.saw(resource, name)

    def saw(self, resource: Resource[Any], name: str) -> None:
        stored = self.api.store.get(resource.name, ObjectKey("shop", name))
        known = self.find(resource, name)
        if stored and known and str(stored.revision) not in known.revisions[-1:]:
            known.revisions.append(str(stored.revision))

    def forget_released(self, resource: Resource[Any], name: str) -> None:
        known = self.known[resource.name, name]
        gone = self.api.store.get(resource.name, ObjectKey("shop", name)) is None
        if not known.finalizers and (known.deleting or gone):
            del self.known[resource.name, name]

    # -------------------------------------------------------------- what always holds
    @invariant()
    def what_is_there_is_what_the_model_knows(self) -> None:
        there = {(name, stored.key.name): stored for name, stored in self.api.store}
        assert there.keys() == self.known.keys()
        for where, known in self.known.items():
            metadata = there[where].document()["metadata"]
            assert metadata["uid"] == known.uid
            assert metadata.get("generation", 0) == known.generation
            assert set(metadata.get("finalizers", ())) == known.finalizers
            assert ("deletionTimestamp" in metadata) is known.deleting

    @invariant()
    def revisions_grow_by_one_and_objects_carry_that_of_their_last_event(self) -> None:
        assert [event.revision for event in self.events] == list(
            range(2, self.api.store.revision + 1)
        )
        last = {(event.resource, event.now.key): event.revision for event in self.events}
        for resource, stored in self.api.store:
            assert stored.revision == last[resource, stored.key]
            assert stored.document()["metadata"]["resourceVersion"] == str(stored.revision)

    @invariant()
    def a_watch_from_the_beginning_tells_what_there_is(self) -> None:
        for resource in (CONFIG_MAPS, WIDGETS):
            told: dict[ObjectKey, bytes] = {}
            for event in self.api.store.events_since(resource.name, 1):
                seen = sighting(event, EVERYTHING)
                assert seen is not None
                assert (seen.change is Change.ADDED) is (seen.stored.key not in told)
                told[seen.stored.key] = seen.stored.text
                if seen.change is Change.DELETED:
                    del told[seen.stored.key]
            listed = self.api.list(resource).items
            assert told == {stored.key: stored.text for stored in listed}

    @invariant()
    def nobody_owns_what_is_not_there(self) -> None:
        for resource, stored in self.api.store:
            document = stored.document()
            kind = self.api.kinds.of(WIDGETS if resource == WIDGETS.name else CONFIG_MAPS)
            everywhere = differences({}, document, kind.structure()).written
            for entry in document["metadata"].get("managedFields", ()):
                assert from_fields_v1(entry["fieldsV1"]) <= everywhere


def _body(resource: Resource[Any], name: str, value: int) -> Json:
    part = {"spec": {"size": value}} if resource is WIDGETS else {"data": {"n": str(value)}}
    return named(name, **part)


TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=30, stateful_step_count=30)
