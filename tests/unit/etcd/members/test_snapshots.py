"""A snapshot is whole, or it is refused at its end."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.core.errors import PeerConfused
from stateward.etcd.members.snapshots import verified
from stateward.sim import loop as sim_loop


async def in_pieces(data: bytes, cuts: list[int]) -> AsyncGenerator[bytes, None]:
    places = sorted(it % (len(data) + 1) for it in cuts)
    for start, end in zip([0, *places], [*places, len(data)], strict=True):
        yield data[start:end]


async def whole(data: bytes, cuts: list[int]) -> bytes:
    return b"".join([it async for it in verified(in_pieces(data, cuts))])


def sealed(data: bytes) -> bytes:
    return data + hashlib.sha256(data).digest()


cutting = st.lists(st.integers(0, 10_000), max_size=6)


@given(data=st.binary(min_size=1, max_size=300), cuts=cutting)
def test_a_sealed_stream_passes_as_it_is(data, cuts):
    assert sim_loop.run(whole(sealed(data), cuts)) == sealed(data)


@given(data=st.binary(min_size=1, max_size=300), cuts=cutting, spoil=st.integers(0, 10_000))
def test_a_stream_that_is_cut_or_changed_is_refused(data, cuts, spoil):
    good = sealed(data)
    at = spoil % len(good)
    changed = good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :]
    for bad in (good[:at], changed, b"", hashlib.sha256(b"").digest()):
        with pytest.raises(PeerConfused, match="SHA-256"):
            sim_loop.run(whole(bad, cuts))
