"""See, judge, do, tell: the reconciler of teams."""

from __future__ import annotations

from contextlib import suppress

from stateward.core.clock import Clock
from stateward.core.outcome import DONE, Outcome
from stateward.example import decide
from stateward.example.api import TEAMS, Team
from stateward.example.moves import MakeNextMove
from stateward.example.status import status_of
from stateward.example.view import View, view_of
from stateward.kube.client import Client, MergePatch
from stateward.kube.codec import plain
from stateward.kube.errors import NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.configs import ConfigMap
from stateward.kube.patch import merge_diff
from stateward.runtime.cache import Cache
from stateward.runtime.pipeline import run_steps
from stateward.runtime.telling.journal import Subject
from stateward.runtime.telling.recorder import ObjectReference
from stateward.runtime.telling.teller import Teller


class TeamReconciler:
    """Brings one team one move closer to what it asks for."""

    def __init__(
        self,
        client: Client,
        teams: Cache[Team],
        members: Cache[ConfigMap],
        teller: Teller,
        clock: Clock,
    ) -> None:
        self._client = client
        self._teams = teams
        self._members = members
        self._teller = teller
        self._clock = clock
        self._steps = (MakeNextMove(client),)

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Make one move and tell about it."""
        team = self._teams.get(key)
        if team is None:
            return DONE
        began = self._clock.monotonic()
        view = view_of(team, self._members.find("owner", team.metadata.uid))
        report = await run_steps(self._steps, view, self._clock)
        subject = Subject("team", key, team.metadata.uid, team.metadata.generation)
        about = ObjectReference.of(TEAMS, team.metadata)
        await self._teller.tell(subject, about, report, began=began)
        if report.failure is not None:
            raise report.failure.error
        if not isinstance(decide.next_move(view), decide.Hold | decide.LetGo):
            # Those write the team itself, which wakes us again: its status is told then.
            await self._write_status(view, report.outcome)
        return report.outcome

    async def _write_status(self, view: View, outcome: Outcome) -> None:
        """Write the status if it says something new, onto the very version that it speaks of."""
        wanted = status_of(view, outcome, self._clock.now())
        if wanted == view.team.status:
            return
        metadata = view.team.metadata
        body = {
            "metadata": {"uid": metadata.uid, "resourceVersion": metadata.resource_version},
            "status": merge_diff(plain(view.team.status), plain(wanted)),
        }
        with suppress(NotFound):  # a team that is gone hears no more
            await self._client.patch(TEAMS, metadata.key, MergePatch(body), subresource="status")
