"""Never two leaders at one moment, and soon one again: under every mixture of troubles."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.campaign import Campaign, Candidate
from fakes.rough_wire import hang, late, lose_answer, refuse, take
from stateward.core.errors import OutcomeUnknown, PeerUnreachable
from stateward.kube.errors import NotFound, ServerFailed
from stateward.sim import loop as sim_loop

LAW = settings(max_examples=40)
SECONDS = st.floats(0, 60, allow_nan=False)
#: After the last trouble, somebody leads within a lease, and what a sleeper or a restart adds.
SOON = 60.0


@dataclass(frozen=True)
class Trouble:
    """Something that befalls one of the candidates for a while."""

    who: int
    start: float
    length: float
    kind: str


WIRE = {
    "silent": hang,
    "cut off": refuse(PeerUnreachable("cut off")),
    "failing": refuse(ServerFailed("500")),
    "answers are lost": lose_answer(OutcomeUnknown("no answer")),
    "slow": take(0.6, 0.6),
    "too slow": take(1.5, 1.5),
    "very slow, and carried out all the same": late(4, 4),
    "slow as a zombie": late(20, 1),
}
KINDS = st.sampled_from([*WIRE, "asleep", "dead", "the lease is deleted"])
TROUBLES = st.builds(Trouble, st.integers(0, 2), SECONDS, SECONDS, KINDS)


class Replaced(Campaign):
    """Three places; whoever ends or dies is replaced by a new process with a new name."""

    def __init__(self, skews: tuple[float, ...] = (0.0, 0.0, 0.0)) -> None:
        super().__init__()
        self.names = 0
        self.skews = skews
        self.places: list[Candidate] = []
        for skew in skews:
            self.places.append(self.stand(self._name(), skew=skew))
        self.keeper = asyncio.create_task(self._replace())

    def _name(self) -> str:
        self.names += 1
        return f"p{self.names}"

    async def _replace(self) -> None:
        while True:
            await asyncio.sleep(1)
            for place, candidate in enumerate(self.places):
                if candidate.process.ended.is_set():
                    successor = self.stand(self._name(), skew=self.skews[place])
                    successor.wire.always = candidate.wire.always  # a bad network stays bad
                    self.places[place] = successor

    async def befall(self, trouble: Trouble) -> None:
        await asyncio.sleep(trouble.start)
        candidate = self.places[trouble.who]
        if trouble.kind == "asleep":
            candidate.process.pause(trouble.length)
        elif trouble.kind == "dead":
            candidate.process.crash()
        elif trouble.kind == "the lease is deleted":
            with suppress(NotFound):  # twice deleted is deleted
                await self.delete()
        else:
            fates = candidate.wire.always
            fates.update(dict.fromkeys(("get", "create", "patch"), WIRE[trouble.kind]))
            await asyncio.sleep(trouble.length)
            fates.clear()

    async def end(self) -> None:
        self.keeper.cancel()
        for candidate in self.candidates:
            if candidate.process.stands_still:
                candidate.process.crash()
                candidate.process.bury()
        await super().end()


async def live_through(troubles: list[Trouble], skews: tuple[float, ...]) -> None:
    stand = Replaced(skews)
    try:
        await asyncio.gather(*(stand.befall(trouble) for trouble in troubles))
        await asyncio.sleep(SOON)
        assert len(stand.leaders) == 1
    finally:
        await stand.end()  # raises if anybody ever saw two leaders


@LAW
@given(
    troubles=st.lists(TROUBLES, max_size=6),
    skews=st.tuples(*[st.sampled_from([-3600.0, 0.0, 3600.0])] * 3),
)
def test_never_two_leaders_and_soon_one(troubles, skews):
    sim_loop.run(live_through(troubles, skews))


async def delete_now_and_then(moments: list[float], troubles: list[Trouble]) -> None:
    stand = Campaign()
    stand.stand("a")
    await asyncio.sleep(3)
    others = [stand.stand(name) for name in "bc"]
    await asyncio.sleep(3)  # everybody has seen the lease
    places = [stand.candidates[0], *others]

    async def delete(moment: float) -> None:
        await asyncio.sleep(moment)
        with suppress(NotFound):  # twice deleted is deleted
            await stand.delete()

    async def befall(trouble: Trouble) -> None:
        await asyncio.sleep(trouble.start)
        fates = places[trouble.who].wire.always
        fates.update(dict.fromkeys(("get", "create", "patch"), WIRE[trouble.kind]))
        await asyncio.sleep(trouble.length)
        fates.clear()

    await asyncio.gather(*map(delete, moments), *map(befall, troubles))
    await stand.end()


@LAW
@given(
    moments=st.lists(SECONDS, max_size=3),
    troubles=st.lists(
        st.builds(Trouble, st.integers(0, 2), SECONDS, SECONDS, st.sampled_from([*WIRE])),
        max_size=3,
    ),
)
def test_never_two_leaders_even_if_humans_delete_the_lease(moments, troubles):
    sim_loop.run(delete_now_and_then(moments, troubles))


async def cut_off_and_measure(cut: float) -> None:
    stand = Campaign()
    a = stand.stand("a")
    await asyncio.sleep(1)
    b = stand.stand("b")
    await asyncio.sleep(cut)
    a.wire.always = dict.fromkeys(("get", "patch", "create"), hang)
    moment = stand.loop.time()
    while a.leadership.held:
        assert not b.leadership.held
        await asyncio.sleep(0.05)
    assert stand.loop.time() - moment <= 10.06
    await asyncio.sleep(25)
    assert stand.leaders == ["b"]
    assert b.led[0] - a.led[1] >= 5 - 0.02, "the margin within which what was begun may end"
    await stand.end()


@LAW
@given(cut=st.floats(0, 10, allow_nan=False))
def test_whoever_is_cut_off_gives_up_a_margin_before_another_begins(cut):
    sim_loop.run(cut_off_and_measure(cut))
