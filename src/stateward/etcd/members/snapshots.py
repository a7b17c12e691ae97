"""Whether a snapshot is whole: its last 32 bytes are the SHA-256 of all before them."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from stateward.core.errors import PeerConfused

_SEAL: Final = 32


async def verified(stream: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """Yield all bytes; raise PeerConfused at the end when they are not a whole snapshot.

    Until then nobody knows: what was written meanwhile must not be kept when it raises.
    """
    seen, size, held = hashlib.sha256(), 0, b""
    async with aclosing(stream):
        async for piece in stream:
            size += len(piece)
            held += piece
            # The last bytes seen so far may be the seal.
            seen.update(held[:-_SEAL])
            held = held[-_SEAL:]
            yield piece
    if size <= _SEAL or seen.digest() != held:
        raise PeerConfused(
            "a snapshot must end in the SHA-256 of what is before it",
            hint="throw away what was written and take it again",
        )
