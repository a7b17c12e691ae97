"""A green simulation means nothing until planted bugs turn it red."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stateward.core.errors import HouseError
from stateward.example import decide, moves
from stateward.runtime import controller as runtime_controller
from stateward.runtime import election, informer, tracking
from stateward.sim import teams

Plant = Callable[[pytest.MonkeyPatch], None]


def forget_own_writes(patch: pytest.MonkeyPatch) -> None:
    async def around(self, call, perform):
        return await perform()

    patch.setattr(tracking.Tracking, "around", around)


def trust_the_cache_before_deleting(patch: pytest.MonkeyPatch) -> None:
    async def remove(self, view, move):
        name = f"{view.team.metadata.name}-{move.member.ordinal}"
        where = view.team.metadata.key._replace(name=name)
        await self._client.delete(moves.CONFIG_MAPS, where, uid=move.member.uid)
        return moves.Wait("Removing", "removing")

    patch.setattr(moves.MakeNextMove, "_remove", remove)


def never_list_again(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(informer, "_list_again_because", lambda _error: "")


def let_go_with_members_left(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(decide, "_towards_the_end", lambda _view: decide.LetGo())


def remove_from_the_bottom(patch: pytest.MonkeyPatch) -> None:
    original = decide.next_move

    def next_move(view):
        move = original(view)
        return decide.Remove(view.members[0]) if isinstance(move, decide.Remove) else move

    patch.setattr(decide, "next_move", next_move)
    patch.setattr(decide, "still_justified", lambda _remove, _fresh: True)


def give_up_after_the_first_failure(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(runtime_controller.Controller, "_failed", lambda _self, _key, _error: "error")
    patch.setattr(runtime_controller.Habits, "probe_every", 1e9, raising=False)


def never_give_the_lease_up(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(election.Elector, "_is_free", lambda _self, lease: not lease.spec.holder_identity)


MUTANTS: dict[str, Plant] = {
    plant.__name__: plant
    for plant in (
        forget_own_writes,
        trust_the_cache_before_deleting,
        give_up_after_the_first_failure,
        never_list_again,
        let_go_with_members_left,
        remove_from_the_bottom,
        never_give_the_lease_up,
    )
}


@pytest.mark.parametrize("name", MUTANTS)
def test_planted_bugs_are_found(name, monkeypatch):
    MUTANTS[name](monkeypatch)

    with pytest.raises(HouseError):
        live(lives=200)


def live(lives: int) -> None:
    for seed in range(lives):
        teams.simulate_team(seed)
