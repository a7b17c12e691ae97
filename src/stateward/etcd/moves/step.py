"""The step: make the move that was judged right, and say what was done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from stateward.core.errors import OutcomeUnknown, PeerUnreachable
from stateward.core.outcome import DONE, Blocked, Outcome, Retry, Wait
from stateward.etcd.decide import moves
from stateward.etcd.members.errors import EtcdPacing, EtcdRefused, LearnerBehind
from stateward.etcd.moves import intent, membership, objects
from stateward.etcd.moves.rescue import RescueImpossible
from stateward.etcd.moves.tools import Tools
from stateward.etcd.seen import Seen

#: Seconds: etcd refuses changes for about five after the last one, and tells nobody when it ends.
_PACE = 0.25

#: One short verb for each move. It returns nothing when it did what it is called.
VERBS: Final[Mapping[type, Callable[[Tools, Seen, Any], Awaitable[Outcome | None]]]] = {
    moves.WriteConfig: objects.write_config,
    moves.WriteWorkload: objects.write_workload,
    moves.RecreateWorkload: objects.recreate_workload,
    moves.DeletePod: objects.delete_pod,
    moves.DeleteClaim: objects.delete_claim,
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

#: What takes something away: the user is asked once more, past the cache.
TAKING: Final = (
    moves.DeleteClaim,
    moves.DeletePod,
    moves.RecreateWorkload,
    moves.RemoveMember,
    moves.SaveSurvivor,
    moves.WriteWorkload,
)


class MakeNextMove:
    """One move in a pass; its effect is seen in the next."""

    name = "MakeNextMove"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def run(self, seen: Seen) -> Outcome:
        """Make the move, or say why not."""
        move = seen.judgement.move
        match move:
            case moves.Rest():
                return DONE
            case moves.Await(reason=reason, message=message, after=after):
                return Wait(reason, message) if after is None else Retry(after, reason, message)
            case moves.Refuse(reason=reason, message=message, hint=hint):
                return Blocked(reason, message, hint)
            case _:
                return await self._act(seen, move)

    async def _act(self, seen: Seen, move: moves.Act) -> Outcome:
        client = self._tools.client
        if isinstance(move, TAKING) and not await intent.is_unchanged(client, seen.cluster):
            return objects.changed()
        self._tools.fence()
        try:
            outcome = await VERBS[type(move)](self._tools, seen, move)
        except LearnerBehind:
            return Retry(_PACE, "LearnerBehind", f"{move.message}: it must catch up first")
        except EtcdPacing:
            message = f"{move.message}: etcd wants a few quiet seconds after the last change"
            return Retry(_PACE, "EtcdPacing", message)
        except RescueImpossible as error:
            return Blocked(error.reason, error.message, error.hint)
        except (EtcdRefused, PeerUnreachable, OutcomeUnknown) as error:
            return Retry(1.0, error.reason, f"{move.message}: {error.message}")
        return outcome or Retry(0.0, move.name, move.message)
