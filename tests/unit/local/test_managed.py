"""Who owns what: a story of writers, and the record that is left."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stateward.kube.codec import Json
from stateward.kube.errors import Conflict, ServerFailed
from stateward.kube.resources import CONFIG_MAPS, STATEFUL_SETS
from stateward.local.apply.managed import Writer, applied, own, record
from stateward.local.apply.paths import dotted, from_fields_v1
from stateward.local.kinds import Kind, built_in
from unit.local.pictures import KIND, named

NOON, LATER = "2026-01-01T12:00:00Z", "2026-01-01T13:00:00Z"


class Story:
    """One object and those who write it; each line of a test is one write."""

    def __init__(self, kind: Kind = KIND) -> None:
        self.kind = kind
        self.document: Json | None = None

    def updated(self, by: str, at: str = NOON, door: str = "", **parts: Any) -> Story:
        new = self._body(parts)
        record(self.document, new, Writer(by, at, door), self.kind)
        self.document = new
        return self

    def applied(
        self, by: str, at: str = NOON, door: str = "", *, force: bool = False, **parts: Any
    ) -> Story:
        writer, body = Writer(by, at, door, applies=True), self._body(parts)
        if self.document is None:
            self.document = self._body(parts)
            own(self.document, body, writer, self.kind)
        else:
            self.document = applied(self.document, body, writer, self.kind, force=force)
        return self

    def _body(self, parts: Json) -> Json:
        resource = self.kind.resource
        return {"apiVersion": resource.api_version, "kind": resource.kind, **named("a", **parts)}

    @property
    def entries(self) -> list[Json]:
        assert self.document is not None
        entries: list[Json] = self.document["metadata"].get("managedFields", [])
        return entries

    @property
    def picture(self) -> str:
        """Who owns what: ``us:.spec.size``; a writer who does not apply has a question mark."""
        return "; ".join(
            f"{it['manager']}{'' if it['operation'] == 'Apply' else '?'}"
            f"{'/' + it['subresource'] if 'subresource' in it else ''}:"
            + " ".join(sorted(map(dotted, from_fields_v1(it["fieldsV1"]))))
            for it in self.entries
        )


# ------------------------------------------------------------------ who owns what
def test_who_creates_owns_all_that_came_with_it() -> None:
    story = Story().updated("us", spec={"size": 1, "backup": {"store": "s"}})

    assert story.picture == "us?:.spec .spec.backup .spec.backup.store .spec.size"


def test_who_applies_owns_what_it_said() -> None:
    story = Story().applied("us", spec={"size": 1, "backup": {"store": "s"}})

    assert story.picture == "us:.spec.backup.store .spec.size"


def test_an_update_takes_what_it_changes() -> None:
    story = Story().applied("us", spec={"size": 1, "words": ["w"]})
    story.updated("them", spec={"size": 2, "words": ["w"]})

    assert story.picture == "us:.spec.words; them?:.spec.size"


def test_what_is_removed_is_nobodys() -> None:
    story = Story().applied("us", spec={"size": 1, "words": ["w"]})
    story.updated("them", spec={"words": ["w"]})

    assert story.picture == "us:.spec.words"


def test_who_owns_nothing_leaves_no_record() -> None:
    story = Story().applied("us", spec={"size": 1}).applied("us")

    assert story.entries == []
    assert story.document is not None
    assert "spec" not in story.document


def test_the_same_value_has_two_owners() -> None:
    story = Story().applied("us", spec={"size": 1}).applied("them", spec={"size": 1})

    assert story.picture == "them:.spec.size; us:.spec.size"


def test_force_takes_it_from_the_others() -> None:
    story = Story().applied("us", spec={"size": 1}).applied("them", spec={"size": 2}, force=True)

    assert story.picture == "them:.spec.size"


def test_the_server_owns_its_part() -> None:
    story = Story()
    story.document = None
    body = {"uid": "1", "generation": 1, "creationTimestamp": NOON, "labels": {"a": "b"}}
    story.updated("us", metadata={"namespace": "shop", "name": "a", **body})

    assert story.picture == "us?:.metadata.labels .metadata.labels.a"


@pytest.mark.parametrize(
    ("kind", "picture"),
    [
        (KIND, "us?/status:.status .status.phase"),
        (
            built_in(STATEFUL_SETS),
            "us?/status:.metadata.labels .metadata.labels.a .status.phase",
        ),
        (built_in(replace(CONFIG_MAPS, has_status=False)), "us?/status:.metadata.labels"),
    ],
    ids=["custom", "built-in", "without a status"],
)
def test_each_door_has_its_own_record(kind: Kind, picture: str) -> None:
    story = Story(kind)
    metadata = {"namespace": "shop", "name": "a", "labels": {"a": "b"}}
    story.updated("us", door="status", metadata=metadata, status={"phase": "Ready"})

    assert story.picture.startswith(picture)


# ------------------------------------------------------------------ disputes
def test_a_dispute_names_everybody_and_everything() -> None:
    story = Story().applied("us", spec={"size": 1}).updated("it", spec={"size": 1, "words": ["w"]})
    story.updated("it", door="status", spec={"size": 1, "words": ["w"]}, status={"phase": "A"})

    with pytest.raises(Conflict) as refusal:
        story.applied("them", spec={"size": 2, "words": ["x"]})

    version = KIND.resource.api_version
    assert [(cause.message, cause.field) for cause in refusal.value.causes] == [
        (f'conflict with "it" using {version}', ".spec.words"),
        ('conflict with "us"', ".spec.size"),
    ]
    with pytest.raises(Conflict) as refusal:
        story.applied("them", door="status", status={"phase": "B"})
    assert refusal.value.causes[0].message == (
        f'conflict with "it" with subresource "status" using {version}'
    )


def test_a_refused_apply_changes_nothing() -> None:
    story = Story().applied("us", spec={"size": 1, "backup": {"store": "s"}})
    before = story.picture

    with pytest.raises(Conflict):
        story.applied("them", spec={"size": 2, "backup": {"keep": "k"}})

    assert story.picture == before


def test_items_named_twice_are_refused() -> None:
    for story in (Story(), Story().applied("us", spec={"size": 1})):
        with pytest.raises(ServerFailed):
            story.applied("us", spec={"parts": [{"name": "a"}, {"name": "a"}]})


# ------------------------------------------------------------------ when
def times(story: Story) -> dict[str, str]:
    return {it["manager"]: it["time"][11:13] for it in story.entries}


def test_a_record_is_as_old_as_its_last_change() -> None:
    story = Story().applied("us", spec={"size": 1}).applied("them", LATER, spec={"words": ["w"]})
    assert times(story) == {"us": "12", "them": "13"}

    story.applied("us", LATER, spec={"size": 1})
    assert times(story) == {"us": "12", "them": "13"}

    story.applied("us", LATER, spec={"size": 2})
    assert times(story) == {"us": "13", "them": "13"}


def test_whose_field_is_taken_keeps_its_time() -> None:
    story = Story().applied("us", spec={"size": 1, "words": ["w"]})
    story.updated("them", LATER, spec={"size": 2, "words": ["w"]})

    assert times(story) == {"us": "12", "them": "13"}


def test_appliers_come_first_then_whoever_wrote_longest_ago() -> None:
    story = Story().updated("z", NOON, spec={"size": 1})
    story.updated("a", LATER, spec={"size": 1, "words": ["w"]})
    story.applied("m", LATER, spec={"tags": ["t"]})

    assert [it["manager"] for it in story.entries] == ["m", "z", "a"]
