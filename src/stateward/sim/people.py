"""What people do to a custom object, of whatever kind: they edit it, and make it anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from stateward.core.errors import PeerConfused, UsageError
from stateward.kube.client import Change, MergePatch
from stateward.kube.codec import Json, decode_json
from stateward.kube.errors import ApiError
from stateward.kube.resources import Resource
from stateward.local.rules.deletion import DeleteOptions
from stateward.local.rules.writes import Author
from stateward.local.store import Stored, StoreEvent
from stateward.sim.world import World

USER: Final = Author("user")
#: What the text of an object has that is being deleted.
LEAVING: Final = b'"deletionTimestamp"'


def json_of(text: str) -> Any:
    """Return what a text means: itself, unless it is JSON."""
    try:
        return decode_json(text.encode())
    except PeerConfused:
        return text


def edit(
    world: World,
    resource: Resource[Any],
    asked: str,
    value_of: Callable[[str, str], Any] = lambda _path, text: json_of(text),
) -> Callable[[], None]:
    """Change what the first object of a kind asks for, as ``a.b=5``; return how it is undone."""
    path, equals, text = asked.partition("=")
    if not equals:
        raise UsageError(f"an edit must be written as FIELD=VALUE; got {asked!r}")
    stored = next(iter(world.api.store.all(resource.name)), None)
    if stored is None:
        return lambda: None
    before: Any = stored.document()["spec"]
    for part in path.split("."):
        before = before.get(part) if isinstance(before, dict) else None

    def write(value: Any) -> None:
        body: Any = value
        for part in reversed(path.split(".")):
            body = {part: body}
        try:
            world.api.patch(resource, stored.key, MergePatch({"spec": body}), USER)
        except ApiError as error:
            world.trace.note(f"the edit of {stored.key} is refused: {error.reason}")

    write(value_of(path, text))
    return lambda: write(before)


def recreate(
    world: World, resource: Resource[Any], stored: Stored | None, *, rest: float, longest: float
) -> None:
    """Delete an object, and make one like it when it has been gone for so many seconds."""
    if stored is None or LEAVING in stored.text:
        return
    body: Json = {"metadata": {"name": stored.key.name}, "spec": stored.document()["spec"]}
    over = world.weather.trouble()
    # Who waits for the end of all trouble must not wait for ever if the object does not go.
    world.later(longest, over)

    def make() -> None:
        over()
        try:
            world.api.create(resource, stored.key.namespace, body, USER)
        except ApiError:
            return  # somebody else was first

    def look(event: StoreEvent) -> None:
        if event.change is Change.DELETED and event.now.uid == stored.uid:
            leave()
            world.later(rest, make)

    leave = world.api.store.listen(look, resource.name)
    world.api.delete(resource, stored.key, DeleteOptions(uid=stored.uid))
