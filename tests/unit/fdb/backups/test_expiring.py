"""What is too old is judged anew right before it is deleted: to look took its time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fakes.hand_clock import HandClock
from stateward.core.errors import NotLeader
from stateward.core.facts import Known
from stateward.core.version import Version
from stateward.fdb.api.backups.kinds import BACKUPS, RESTORES, FoundationDBBackup
from stateward.fdb.api.kind import CLUSTERS
from stateward.fdb.backups.caches import BackupCaches, backups_by_cluster, restores_by_cluster
from stateward.fdb.backups.cleaning.chores import Chore
from stateward.fdb.backups.cleaning.expiring import Expiring
from stateward.fdb.build.backup_agents import WHOLE_DEPLOYMENTS
from stateward.fdb.status.backups.container import Container, Taken
from stateward.kube.codec import decode
from stateward.runtime.cache import Cache
from unit.fdb.backups.test_chores import KEY, READER
from unit.fdb.decide.test_retaining import STATE, URL, known


class World:
    """A backup of which something is too old, and what befalls while that is found out."""

    def __init__(self) -> None:
        self.days = 7
        self.leads = True
        self.state = known(STATE)
        self.read: Callable[[], object] = lambda: None
        self.asked: Callable[[], object] = lambda: None
        self.expired: list[str] = []
        self.restores = Cache(RESTORES, (restores_by_cluster(),))
        others = Cache(BACKUPS, (backups_by_cluster(),)), self.restores
        caches = BackupCaches(*others, Cache(CLUSTERS), Cache(WHOLE_DEPLOYMENTS))
        it: Any = self
        self.it = Expiring(it, it, it, HandClock(), caches=caches)

    async def run(self) -> list[str]:
        await self.it.run(Chore(KEY, "u", URL, Version(7, 3, 63), 7, self.look), 7)
        return self.expired

    async def look(self) -> Any:
        self.asked()
        return self.state.value if isinstance(self.state, Known) else self.state

    async def get(self, *_: Any) -> FoundationDBBackup:
        return decode(
            f"""{{"metadata": {{"name": "nightly", "namespace": "default", "uid": "u"}},
            "spec": {{"version": "7.3.63", "clusterName": "shop",
            "retention": {{"days": {self.days}}}}}}}""".encode(),
            FoundationDBBackup,
        )

    async def patch(self, *_: Any, **__: Any) -> None:
        """Take in what is told."""

    def check(self) -> None:
        if not self.leads:
            raise NotLeader("somebody else leads")

    def files(self, _: Version) -> World:
        return self

    async def describe(self, url: str) -> Container:
        self.read()
        return Container(url, first=5, last=100, taken=(Taken(1, 5, 9.0, True),))

    async def expire(self, url: str, _: object) -> None:
        self.expired.append(url)


async def test_what_is_too_old_is_deleted() -> None:
    assert await World().run() == [URL]


@pytest.mark.parametrize("when", ["read", "asked"])
async def test_not_once_a_restore_was_begun_meanwhile(when: str) -> None:
    it = World()
    setattr(it, when, lambda: it.restores.put(READER))
    assert await it.run() == []


async def test_not_once_more_is_to_be_kept() -> None:
    it = World()
    it.read = lambda: setattr(it, "days", 70)
    assert await it.run() == []


async def test_not_by_who_lost_the_lease_meanwhile() -> None:
    it = World()
    it.asked = lambda: setattr(it, "leads", False)
    with pytest.raises(NotLeader):
        await it.run()
    assert it.expired == []
