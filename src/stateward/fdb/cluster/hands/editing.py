"""Writing process groups: their specs are ours, each onto the very version that was seen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final

from stateward.core.errors import PeerError
from stateward.core.moments import to_rfc3339
from stateward.core.outcome import Outcome, Retry
from stateward.fdb.api.kind import PROCESS_GROUPS, FoundationDBProcessGroup
from stateward.fdb.cluster.hands.refused import trouble
from stateward.fdb.cluster.hands.writing import exactly
from stateward.fdb.decide.groups.coming import ORDERED
from stateward.kube.client import Client, MergePatch
from stateward.kube.codec import Json, plain
from stateward.kube.errors import Conflict, NotFound

#: Seconds until a group is looked at again that somebody else wrote; a watch tells sooner.
_CHANGED: Final = 1.0

#: So many refused in a row are no chance.
_IN_A_ROW: Final = 3


def obsolete(pod: str, now: float) -> Json:
    """Return what tells a group that its pod shall go, by its UID, and soon or not at all."""
    return {"obsoletePod": pod, "obsoleteUntil": to_rfc3339(now + ORDERED)}


async def edit(
    client: Client, groups: Mapping[str, FoundationDBProcessGroup], changes: Mapping[str, Json]
) -> Outcome | None:
    """Change fields of the specs of groups, by name; return the first trouble, if there is any.

    Trouble with one keeps none of the others from being written.
    """

    async def write(name: str) -> None:
        metadata = groups[name].metadata
        patch = MergePatch({"metadata": exactly(metadata), "spec": changes[name]})
        await client.patch(PROCESS_GROUPS, metadata.key, patch)

    return await each(changes, write)


async def own(
    client: Client,
    groups: Mapping[str, FoundationDBProcessGroup],
    owner: Json,
    spec: Json | None = None,
) -> Outcome | None:
    """Have a cluster own groups that nobody owns, each as it was seen; return the first trouble.

    Also those that are being deleted: nobody else would see to it that their data leaves first.
    """

    async def write(name: str) -> None:
        metadata = groups[name].metadata
        others = [plain(it) for it in metadata.owner_references if it.uid != owner["uid"]]
        body: Json = {"metadata": {**exactly(metadata), "ownerReferences": [*others, owner]}}
        if spec is not None:
            body["spec"] = spec
        await client.patch(PROCESS_GROUPS, metadata.key, MergePatch(body))

    return await each(groups, write)


async def each(names: Iterable[str], act: Callable[[str], Awaitable[None]]) -> Outcome | None:
    """Act on objects one after another; return the first trouble, if there is any.

    Who finds several in a row changed since it looked has an old view of all of them: a thousand
    more writes would be refused as well, and again with every look until the view is a new one.
    """
    first: Outcome | None = None
    changed = 0
    for name in names:
        try:
            await act(name)
            changed = 0
        except NotFound:
            continue  # it is gone; the next look shows it
        except Conflict as error:
            words = f"process group {name} changed meanwhile: {error.message}"
            first = first or Retry(_CHANGED, error.reason, words)
            changed += 1
            if changed >= _IN_A_ROW:
                return first
        except PeerError as error:
            first = first or trouble(f"process group {name}", error)
    return first
