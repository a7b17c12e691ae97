"""What a query asks for, and what is wrong with it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from stateward.kube.client import Propagation, Selection
from stateward.kube.codec import Json, Part
from stateward.kube.errors import BadRequest, Cause, ServerFailed
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author, Strictness
from stateward.local.schema import causes
from stateward.local.server.refusals import InvalidOptions

Query = Mapping[str, str]

_MATCH: Final = "resourceVersionMatch"
_MATCHES: Final = ("Exact", "NotOlderThan", "")
#: How long the name of a field manager may be.
_LONGEST_MANAGER: Final = 128
_NUMBER: Final = re.compile(r"-?[0-9]{1,18}")
_NO: Final = frozenset({"false", "0"})


def flag(query: Query, name: str) -> bool:
    """Tell whether a query says yes: it does as soon as it names it and does not say no."""
    return query.get(name, "0").lower() not in _NO


def number(query: Query, name: str) -> int | None:
    """Return a number that a query names, or None; raise BadRequest when it is none."""
    text = query.get(name, "")
    if not text:
        return None
    if not _NUMBER.fullmatch(text):
        raise BadRequest(f"{name} must be a whole number, got {text[:40]!r}")
    return int(text)


def revision(query: Query, *, lists: bool = False) -> int | None:
    """Return the resourceVersion that is asked for, or None.

    What is no number is a bad request of those who list, and a failure for all others.
    """
    text = query.get("resourceVersion", "")
    if not text:
        return None
    if not _NUMBER.fullmatch(text) or text.startswith("-"):
        why = f"resourceVersion: Invalid value: {causes.text(text[:40])}: must be a number"
        raise BadRequest(f"invalid resource version: {why}") if lists else ServerFailed(why)
    return int(text)


@dataclass(frozen=True, slots=True)
class Listing:
    """What a list or a watch is asked for."""

    selection: Selection
    limit: int
    token: str
    #: None: the newest; 0: any.
    revision: int | None
    match: str
    seconds: int | None
    bookmarks: bool
    initial_events: bool | None

    @classmethod
    def of(cls, query: Query, namespace: str) -> Listing:
        """Read the query; raise what is wrong with it."""
        labels, fields = query.get("labelSelector", ""), query.get("fieldSelector", "")
        watch = flag(query, "watch")
        listing = cls(
            Selection(namespace, labels, fields),
            limit=max(number(query, "limit") or 0, 0),
            token=query.get("continue", ""),
            revision=revision(query, lists=not watch),
            match=query.get("resourceVersionMatch", ""),
            seconds=number(query, "timeoutSeconds"),
            bookmarks=flag(query, "allowWatchBookmarks"),
            initial_events=flag(query, "sendInitialEvents")
            if "sendInitialEvents" in query
            else None,
        )
        if wrong := [*(_watch_problems(listing) if watch else _list_problems(listing))]:
            raise InvalidOptions("ListOptions", *wrong)
        return listing


def _watch_problems(asked: Listing) -> Iterator[Cause]:
    if asked.initial_events is not None and asked.match != "NotOlderThan":
        why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        yield causes.forbidden(_MATCH, why)
    if not asked.match:
        return
    if asked.initial_events is None:
        why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        yield causes.forbidden(_MATCH, why)
    if asked.match != "NotOlderThan":
        yield causes.unsupported(_MATCH, asked.match[:40], ["NotOlderThan"])
    if asked.token:
        yield causes.forbidden(
            _MATCH, "resourceVersionMatch is forbidden when continue is provided"
        )


def _list_problems(asked: Listing) -> Iterator[Cause]:
    if asked.initial_events is not None:
        yield causes.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list")
    if not asked.match:
        return
    if asked.revision is None:
        why = "resourceVersionMatch is forbidden unless resourceVersion is provided"
        yield causes.forbidden(_MATCH, why)
    if asked.token:
        yield causes.forbidden(
            _MATCH, "resourceVersionMatch is forbidden when continue is provided"
        )
    if asked.match not in _MATCHES:
        yield causes.unsupported(_MATCH, asked.match[:40], _MATCHES)
    if asked.match == "Exact" and asked.revision == 0:
        why = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
        yield causes.forbidden(_MATCH, why)


def author(query: Query, user_agent: str, kind: str) -> Author:
    """Return who writes, and how; raise what is wrong with that in options of that kind."""
    manager = query.get("fieldManager", "")
    if wrong := [*_manager_problems(manager)]:
        raise InvalidOptions(kind, *wrong)
    return Author(
        manager or user_agent.partition("/")[0][:_LONGEST_MANAGER] or "unknown",
        dry_run(query, kind),
        _strictness(query.get("fieldValidation", ""), kind),
    )


def _manager_problems(manager: str) -> Iterator[Cause]:
    if len(manager) > _LONGEST_MANAGER:
        yield causes.too_long("fieldManager", f"may not be more than {_LONGEST_MANAGER} bytes")
    for place, character in enumerate(manager):
        if not character.isprintable():
            why = f"invalid character U+{ord(character):04X} (at position {place})"
            yield causes.invalid("fieldManager", manager, why)


def dry_run(query: Query, kind: str) -> bool:
    """Tell whether a query asks for a rehearsal; raise Invalid for what nobody knows."""
    return "dryRun" in query and _is_rehearsal(query["dryRun"], kind)


def _is_rehearsal(text: str, kind: str) -> bool:
    if text != "All":
        raise InvalidOptions(kind, causes.unsupported("dryRun", text[:40], ["All"]))
    return True


def _strictness(text: str, kind: str) -> Strictness:
    try:
        return Strictness(text) if text else Strictness.WARN
    except ValueError:
        known = [it.value for it in Strictness]
        wrong = causes.unsupported("fieldValidation", text[:40], known)
        raise InvalidOptions(kind, wrong) from None


class _Preconditions(Part):
    uid: str | None = None
    resource_version: str | None = None


class _DeleteBody(Part):
    grace_period_seconds: int | None = None
    propagation_policy: str | None = None
    orphan_dependents: bool | None = None
    preconditions: _Preconditions | None = None
    dry_run: tuple[str, ...] | None = None
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Deleting:
    """How something is to be deleted; without a propagation, as its kind is used to."""

    options: DeleteOptions
    propagation: Propagation | None

    def as_used(self, habit: Propagation | None) -> DeleteOptions:
        """Return the options, with what the kind does when nobody says how."""
        return replace(self.options, propagation=self.propagation or habit)


def deleting(query: Query, body: Json | None) -> Deleting:
    """Return how to delete: as the body says or, where there is none, the query."""
    asked = _read_delete(_from_query(query) if body is None else body)
    if asked.kind not in {"", "DeleteOptions"}:
        raise BadRequest(f"the body must be DeleteOptions, got kind {asked.kind[:40]!r}")
    mentioned = asked.preconditions or _Preconditions()
    options = DeleteOptions(
        uid=mentioned.uid or "",
        resource_version=mentioned.resource_version or "",
        grace_seconds=asked.grace_period_seconds,
        dry_run=any(_is_rehearsal(text, "DeleteOptions") for text in asked.dry_run or ()),
    )
    return Deleting(options, _propagation(asked))


def _propagation(asked: _DeleteBody) -> Propagation | None:
    """Return what shall become of dependents, if that is said, in the new way or the old one."""
    policy, old = asked.propagation_policy, asked.orphan_dependents
    known = {it.value: it for it in Propagation}
    if policy is not None and policy not in known:
        options = ("Foreground", "Background", "Orphan", "nil")
        wrong = causes.unsupported("propagationPolicy", policy[:40], options)
        raise InvalidOptions("DeleteOptions", wrong)
    if policy is not None and old is not None:
        why = "orphanDependents and deletionPropagation cannot be both set"
        wrong = causes.invalid("propagationPolicy", policy, why)
        raise InvalidOptions("DeleteOptions", wrong)
    if old is not None:
        return Propagation.ORPHAN if old else Propagation.BACKGROUND
    return known[policy] if policy is not None else None


def _read_delete(body: Json) -> _DeleteBody:
    try:
        return msgspec.convert(body, _DeleteBody)
    except msgspec.ValidationError as error:
        raise BadRequest(f"the DeleteOptions cannot be read: {error}") from error


def _from_query(query: Query) -> Json:
    found: Json = {}
    if (grace := number(query, "gracePeriodSeconds")) is not None:
        found["gracePeriodSeconds"] = grace
    if policy := query.get("propagationPolicy"):
        found["propagationPolicy"] = policy
    if meant := {name: query[name] for name in ("uid", "resourceVersion") if query.get(name)}:
        found["preconditions"] = meant
    if "orphanDependents" in query:
        found["orphanDependents"] = flag(query, "orphanDependents")
    if "dryRun" in query:
        found["dryRun"] = [query["dryRun"]]
    return found
