"""Which FoundationDB runs for its images in the demonstration: a real one, fetched now, or ours."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

from stateward.app.fdb import available, releases
from stateward.core.errors import StatewardError
from stateward.core.version import Version
from stateward.local.cluster import Tell

#: Asks somebody a question: whether to fetch.
Ask: TypeAlias = Callable[[str], Awaitable[bool]]
#: Seconds within which the place of releases must answer, or it is not offered.
_REACHED: Final = 4.0


async def prepare(ask: Ask | None, say: Tell, environment: Mapping[str, str] = os.environ) -> None:
    """Say what runs for images of FoundationDB; who can be asked is offered a real one first.

    Whatever goes wrong with that, the demonstration goes on with the stand-in.
    """
    version = Version.parse(releases.USUAL)
    chosen = available.choose(version, await available.available(environment))
    if isinstance(chosen, available.Emulated) and ask is not None:
        await _offer(ask, say, environment)
        chosen = available.choose(version, await available.available(environment))
    say(f"images of FoundationDB are run by {chosen}")


async def _offer(ask: Ask, say: Tell, environment: Mapping[str, str]) -> None:
    try:
        release = releases.release_of(releases.USUAL, environment=environment)
        async with asyncio.timeout(_REACHED):
            offer = await releases.look(release)
    except (StatewardError, TimeoutError):
        return  # there is no network, or none to there: nothing that anybody could agree to
    size = "" if offer.size is None else f" ({offer.size / 1e6:.0f} MB)"
    if not await ask(f"Fetch the real FoundationDB {release.version}{size} for its images?"):
        return
    try:
        await releases.fetch(offer, releases.place_of(release, environment))
    except StatewardError as error:
        say(f"FoundationDB was not fetched: {error.sentence()}")
