"""RECORD of logins: who turns them on has said before that they are ours."""

from __future__ import annotations

from stateward.emulate.etcd.state import History, State
from stateward.sim.etcd.laws.scene import Scene


class Logins:
    """Every entry by which an operator turns logins on.

    Whoever comes after a crash must know whose they are: what a person turned on stays on.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def agreed(self, _: History, before: State, after: State) -> None:
        """Judge an entry that members agreed to."""
        actor = self._scene.watchman.actor
        if before.auth or not after.auth or not actor.operates or actor.about is None:
            return
        seen = self._scene.seen(actor, actor.about)
        if seen and not any(it.status.auth_enabled for it in seen):
            self._scene.report("RECORD", actor, "logins are turned on, and nothing says by whom")
