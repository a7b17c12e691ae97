"""The step: make the move that was judged right, and say what was done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from stateward.core.clock import Clock
from stateward.core.errors import PeerError
from stateward.core.outcome import DONE, Blocked, Outcome, Retry, Wait
from stateward.etcd.decide import moves
from stateward.etcd.members.errors import EtcdPacing, LearnerBehind
from stateward.etcd.moves import intent, membership, objects
from stateward.etcd.moves.refused import refusal
from stateward.etcd.moves.repeats import Repeats
from stateward.etcd.moves.rescue import RescueImpossible
from stateward.etcd.moves.tools import Tools
from stateward.etcd.seen import Seen
from stateward.kube.errors import ApiError
from stateward.runtime.telling import logs

_log = logs.get("etcd")

#: Seconds: etcd refuses changes for about five after the last one, and tells nobody when it ends.
_QUIET = 1.0
#: Seconds in which a learner may have caught up.
_BEHIND = 0.5

#: One short verb for each move. It returns nothing when it did what it is called.
VERBS: Final[Mapping[type, Callable[[Tools, Seen, Any], Awaitable[Outcome | None]]]] = {
    moves.WriteConfig: objects.write_config,
    moves.WriteWorkload: objects.write_workload,
    moves.RecreateWorkload: objects.recreate_workload,
    moves.DeletePod: objects.delete_pod,
    moves.DeleteClaim: objects.delete_claim,
    moves.LeaveClaim: objects.leave_claim,
    moves.OwnClaim: objects.own_claim,
    moves.GrowClaim: objects.grow_claim,
    moves.AddLearner: membership.add_learner,
    moves.Promote: membership.promote,
    moves.RemoveMember: membership.remove,
    moves.MoveLeader: membership.move_leader,
    moves.Compact: membership.compact,
    moves.Defragment: membership.defragment,
    moves.Disarm: membership.disarm,
    moves.SetAuth: membership.set_auth,
    moves.SaveSurvivor: membership.save_survivor,
}

#: What cannot be taken back: the user is asked once more, past the cache.
TAKING: Final = (
    moves.AddLearner,
    moves.Compact,
    moves.DeleteClaim,
    moves.DeletePod,
    moves.OwnClaim,
    moves.Promote,
    moves.RecreateWorkload,
    moves.RemoveMember,
    moves.SaveSurvivor,
    moves.SetAuth,
    moves.WriteWorkload,
)


def is_taking(move: moves.Act) -> bool:
    """Tell whether a move cannot be taken back."""
    return _begins(move) or isinstance(move, TAKING)


def _begins(move: moves.Act) -> bool:
    """Tell whether members would begin anew, or without the others: that rests on the record."""
    if not isinstance(move, moves.WriteConfig):
        return False
    return move.config.force_new_cluster or not move.config.existing


class MakeNextMove:
    """One move in a pass; its effect is seen in the next."""

    name = "MakeNextMove"

    def __init__(self, tools: Tools, clock: Clock) -> None:
        self._tools = tools
        self._repeats = Repeats(clock)

    async def run(self, seen: Seen) -> Outcome:
        """Make the move, or say why not."""
        move, uid = seen.judgement.move, seen.cluster.metadata.uid
        match move:
            case moves.Rest():
                self._repeats.rested(uid)
                return DONE
            case moves.Await(reason=reason, message=message, after=after):
                self._repeats.rested(uid)
                return Wait(reason, message) if after is None else Retry(after, reason, message)
            case moves.Refuse(reason=reason, message=message, hint=hint):
                self._repeats.rested(uid)
                return Blocked(reason, message, hint)
            case _:
                return await self._unless_in_vain(seen, move)

    async def _unless_in_vain(self, seen: Seen, move: moves.Act) -> Outcome:
        """Make a move, but wait before it is made once more where it did not help."""
        uid = seen.cluster.metadata.uid
        if wait := self._repeats.wait(uid, move):
            message = f"{move.message}: it was done again and again, and somebody undoes it"
            return Retry(wait, "DoneInVain", message)
        outcome = await self._told(seen, move)
        if outcome is not None:
            return outcome
        self._repeats.made(uid, move)
        _log.info(move.message, move=move.name, row=seen.judgement.row)
        return Retry(0.0, move.name, move.message)

    async def _told(self, seen: Seen, move: moves.Act) -> Outcome | None:
        """Make a move; return nothing when it was made, and otherwise what is in its way."""
        try:
            return await self._act(seen, move)
        except LearnerBehind:
            return Retry(_BEHIND, "LearnerBehind", f"{move.message}: it must catch up first")
        except EtcdPacing:
            message = f"{move.message}: etcd wants a few quiet seconds after the last change"
            return Retry(_QUIET, "EtcdPacing", message)
        except RescueImpossible as error:
            return Blocked(error.reason, error.message, error.hint)
        except ApiError as error:
            if (refused := refusal(move.message, error)) is None:
                raise
            return refused
        except PeerError as error:
            return Retry(1.0, error.reason, f"{move.message}: {error.message}")

    async def _act(self, seen: Seen, move: moves.Act) -> Outcome | None:
        still = intent.is_as_seen if _begins(move) else intent.is_unchanged
        if isinstance(move, moves.Compact):
            still = intent.is_newest  # only what is on record is not done again and again
        if is_taking(move) and not await still(self._tools.client, seen.cluster):
            return objects.changed()
        off = move.off if isinstance(move, moves.DeletePod | moves.RemoveMember) else None
        if off is not None and not await objects.is_there(self._tools, seen, off):
            return objects.changed()
        silent = move.silent if isinstance(move, moves.RemoveMember) else None
        if silent is not None and not await objects.is_silent(self._tools, seen, silent):
            return objects.changed()
        self._tools.fence.check()
        return await VERBS[type(move)](self._tools, seen, move)
