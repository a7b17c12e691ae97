"""How much memory passes leave behind, in a process of its own: what others keep is not counted."""

from __future__ import annotations

from multiprocessing import get_context

from tools.bench.groups.passes import growth
from tools.bench.groups.world import Paper, Rested, lived


def grown(groups: int, passes: int) -> int:
    """Return how many blocks of memory more are in use after so many passes over a cluster."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_grown, (groups, passes))


def _grown(groups: int, passes: int) -> int:
    async def play() -> int:
        paper = Paper(groups)
        await paper.make()
        return await growth(Rested(paper), passes)

    return lived(play)
