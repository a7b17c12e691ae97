"""Lists: as of one revision, in pages if asked for. Pure but for what the store knows."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

from stateward.core.errors import PeerConfused
from stateward.kube.codec import Json, Part, decode, encode
from stateward.kube.errors import BadRequest, Cause, Gone, ServerFailed
from stateward.local.kinds import Kind
from stateward.local.server.options import Listing
from stateward.local.server.refusals import ForgottenList
from stateward.local.store import Store, Stored
from stateward.local.watching import Filter


class _Token(Part):
    """Where a list goes on. Opaque to clients."""

    #: As of when; 0: as it is now, for one whose list was forgotten.
    revision: int
    #: The last object that was shown.
    after: str


@dataclass(frozen=True, slots=True)
class Page:
    """Some objects, and what a list says beside them."""

    items: Sequence[Stored]
    meta: Json


def page(store: Store, kind: Kind, asked: Listing) -> Page:
    """Return what is asked for; raise what makes that impossible."""
    wanted = Filter.of(asked.selection, kind)
    token = _token(asked) if asked.token else None
    revision, found = _found(store, kind, asked, token)
    if token is not None:
        found = [it for it in found if str(it.key) > token.after]
    if wanted.labels.requirements or wanted.fields.requirements:
        found = [it for it in found if wanted.matches(it)]
        selective = True
    else:
        selective = False
    meta: Json = {"resourceVersion": str(revision)}
    # Whoever takes any version gets it whole, from what a real server has at hand.
    limit = 0 if asked.revision == 0 and token is None else asked.limit
    if limit and len(found) > limit:
        rest = len(found) - limit
        found = found[:limit]
        meta["continue"] = _written(_Token(revision=revision, after=str(found[-1].key)))
        if not selective:
            meta["remainingItemCount"] = rest
    return Page(found, meta)


def check_known(store: Store, revision: int | None) -> None:
    """Raise when a revision is one of the future: whoever asks has seen another server."""
    if revision is not None and revision > store.revision:
        message = f"Too large resource version: {revision}, current: {store.revision}"
        cause = Cause(reason="ResourceVersionTooLarge", message="Too large resource version")
        raise ServerFailed(f"Timeout: {message}", code=504, causes=(cause,), retry_after=1)


def _found(
    store: Store, kind: Kind, asked: Listing, token: _Token | None
) -> tuple[int, list[Stored]]:
    name, namespace = kind.resource.name, asked.selection.namespace
    if token is not None and token.revision:
        return token.revision, _at(store, name, token, namespace)
    if token is not None:
        return store.revision, store.all(name, namespace)
    check_known(store, asked.revision)
    # A list with a limit and a revision has always meant that very revision.
    exact = asked.match == "Exact" or (not asked.match and asked.limit)
    if asked.revision and exact and asked.revision < store.revision:
        return asked.revision, store.all_at(name, asked.revision, namespace)
    return store.revision, store.all(name, namespace)


def _at(store: Store, name: str, token: _Token, namespace: str) -> list[Stored]:
    if token.revision >= store.revision:
        return store.all(name, namespace)
    try:
        return store.all_at(name, token.revision, namespace)
    except Gone:
        raise ForgottenList(
            "The provided continue parameter is too old to display a consistent list result:"
            " list again from the start, or go on with the token of this answer and see the rest"
            " as it is now",
            token=_written(_Token(revision=0, after=token.after)),
        ) from None


def _token(asked: Listing) -> _Token:
    if asked.revision:
        raise BadRequest("specifying resource version is not allowed when using continue")
    try:
        text = base64.urlsafe_b64decode(asked.token + "=" * (-len(asked.token) % 4))
        return decode(text, _Token)
    except (ValueError, PeerConfused) as error:
        raise BadRequest("continue key is not valid: it must be one that a list gave") from error


def _written(token: _Token) -> str:
    return base64.urlsafe_b64encode(encode(token)).decode().rstrip("=")
