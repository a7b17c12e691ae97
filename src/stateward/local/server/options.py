"""What a query asks for, and what is wrong with it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from stateward.kube.client import Propagation, Selection
from stateward.kube.codec import Json, Part
from stateward.kube.errors import BadRequest, Cause, Invalid, ServerFailed
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author, Strictness

Query = Mapping[str, str]

#: How long the name of a field manager may be.
_LONGEST_MANAGER: Final = 128
_NUMBER: Final = re.compile(r"-?[0-9]{1,18}")
_TRUE: Final = frozenset({"true", "1", "t", "T", "TRUE", "True"})


def flag(query: Query, name: str) -> bool:
    """Tell whether a query says yes."""
    return query.get(name, "") in _TRUE


def number(query: Query, name: str) -> int | None:
    """Return a number that a query names, or None; raise BadRequest when it is none."""
    text = query.get(name, "")
    if not text:
        return None
    if not _NUMBER.fullmatch(text):
        raise BadRequest(f"{name} must be a whole number, got {text[:40]!r}")
    return int(text)


def revision(query: Query) -> int | None:
    """Return the resourceVersion that is asked for, or None; what is no number is a failure."""
    text = query.get("resourceVersion", "")
    if not text:
        return None
    if not _NUMBER.fullmatch(text) or text.startswith("-"):
        raise ServerFailed(f"resourceVersion must be a number, got {text[:40]!r}")
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
        asked = query.get("sendInitialEvents")
        listing = cls(
            Selection(namespace, labels, fields),
            limit=max(number(query, "limit") or 0, 0),
            token=query.get("continue", ""),
            revision=revision(query),
            match=query.get("resourceVersionMatch", ""),
            seconds=number(query, "timeoutSeconds"),
            bookmarks=flag(query, "allowWatchBookmarks"),
            initial_events=None if asked is None else asked in _TRUE,
        )
        _check_match(listing, watch=flag(query, "watch"))
        return listing


def _check_match(asked: Listing, *, watch: bool) -> None:
    match asked.match:
        case "":
            if asked.initial_events is not None and watch:
                raise _forbidden("sendInitialEvents", "needs resourceVersionMatch=NotOlderThan")
        case "NotOlderThan" if watch and asked.initial_events is not None:
            return
        case "NotOlderThan" | "Exact" if watch:
            raise _forbidden("resourceVersionMatch", "is only for a watch with sendInitialEvents")
        case "NotOlderThan" | "Exact":
            _check_list_match(asked)
        case other:
            supported = 'supported values: "Exact", "NotOlderThan"'
            raise _invalid(
                "resourceVersionMatch", f'Unsupported value: "{other[:40]}": {supported}'
            )


def _check_list_match(asked: Listing) -> None:
    if asked.token:
        raise _forbidden("resourceVersionMatch", "is forbidden when continue is provided")
    if asked.revision is None:
        raise _forbidden("resourceVersionMatch", "is forbidden unless resourceVersion is provided")
    if asked.match == "Exact" and asked.revision == 0:
        raise _forbidden("resourceVersionMatch", 'Exact is forbidden for resourceVersion "0"')


def author(query: Query, user_agent: str) -> Author:
    """Return who writes, and how; raise what is wrong with that."""
    manager = query.get("fieldManager", "")
    if len(manager) > _LONGEST_MANAGER:
        raise _invalid("fieldManager", f"Too long: may not be more than {_LONGEST_MANAGER} bytes")
    if not manager.isprintable():
        raise _invalid("fieldManager", "Invalid value: must be printable characters")
    return Author(
        manager or user_agent.partition("/")[0][:_LONGEST_MANAGER] or "unknown",
        dry_run(query.get("dryRun", "")),
        _strictness(query.get("fieldValidation", "")),
    )


def dry_run(text: str) -> bool:
    """Tell whether a write is a rehearsal; raise Invalid for what nobody knows."""
    if text not in {"", "All"}:
        raise _invalid("dryRun", f'Unsupported value: "{text[:40]}": supported values: "All"')
    return text == "All"


def _strictness(text: str) -> Strictness:
    try:
        return Strictness(text) if text else Strictness.WARN
    except ValueError:
        known = ", ".join(f'"{it.value}"' for it in Strictness)
        raise _invalid(
            "fieldValidation", f'Unsupported value: "{text[:40]}": supported values: {known}'
        ) from None


class _Preconditions(Part):
    uid: str | None = None
    resource_version: str | None = None


class _DeleteBody(Part):
    grace_period_seconds: int | None = None
    propagation_policy: Propagation | None = None
    orphan_dependents: bool | None = None
    preconditions: _Preconditions | None = None
    dry_run: tuple[str, ...] | None = None
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Deleting:
    """How something is to be deleted; without a propagation, as its kind is used to."""

    options: DeleteOptions
    propagation: Propagation | None

    def as_used(self, habit: Propagation) -> DeleteOptions:
        """Return the options, with what the kind does when nobody says how."""
        return replace(self.options, propagation=self.propagation or habit)


def deleting(query: Query, body: Json | None) -> Deleting:
    """Return how to delete: as the body says or, where there is none, the query."""
    asked = _read_delete(_from_query(query) if body is None else body)
    if asked.kind not in {"", "DeleteOptions"}:
        raise BadRequest(f"the body must be DeleteOptions, got kind {asked.kind[:40]!r}")
    policy = asked.propagation_policy
    if asked.orphan_dependents is not None:
        if policy is not None:
            raise _invalid(
                "propagationPolicy", "orphanDependents and propagationPolicy cannot be both set"
            )
        policy = Propagation.ORPHAN if asked.orphan_dependents else Propagation.BACKGROUND
    mentioned = asked.preconditions or _Preconditions()
    options = DeleteOptions(
        uid=mentioned.uid or "",
        resource_version=mentioned.resource_version or "",
        grace_seconds=asked.grace_period_seconds,
        dry_run=any(dry_run(text) for text in asked.dry_run or ()),
    )
    return Deleting(options, policy)


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
    if "orphanDependents" in query:
        found["orphanDependents"] = flag(query, "orphanDependents")
    if text := query.get("dryRun"):
        found["dryRun"] = [text]
    return found


def _invalid(field: str, problem: str) -> Invalid:
    cause = Cause(reason="FieldValueInvalid", message=problem, field=field)
    return Invalid(f"the options of the request are invalid: {field}: {problem}", causes=(cause,))


def _forbidden(field: str, problem: str) -> Invalid:
    return _invalid(field, f"Forbidden: {field} {problem}")
