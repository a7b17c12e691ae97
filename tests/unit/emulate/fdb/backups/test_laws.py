"""Whatever happens to agents, what comes back is the database as it was at that version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.fdb_databases import configured
from stateward.core.chance import Chance
from stateward.emulate.fdb import saving
from stateward.emulate.fdb.backups import agency, backing, restoring
from stateward.emulate.fdb.backups.agent import MemoryAgent, carry_out
from stateward.emulate.fdb.backups.files import MemoryFiles
from stateward.emulate.fdb.backups.pieces import Outcome, Piece
from stateward.emulate.fdb.backups.state import AgentSeen, Backup, Progress, Restore, Stage
from stateward.emulate.fdb.keys import Transaction

URL = "file:///backups/one"
_KEYS = [f"k{it}".encode() for it in range(9)]
_AGENTS = st.integers(0, 2)
_HAPPENINGS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from(_KEYS), st.binary(max_size=2)),
        st.tuples(st.just("clear"), st.sampled_from(_KEYS)),
        st.tuples(st.just("later"), st.sampled_from([0.5, 3.0, 12.0, 25.0])),
        st.tuples(st.just("later"), st.just(21.0)),
        st.tuples(st.just("do"), _AGENTS),
        st.tuples(st.just("do"), _AGENTS),
        st.tuples(st.just("take"), _AGENTS),
        st.tuples(st.just("work"), _AGENTS),
        st.tuples(st.just("tell"), _AGENTS),
        st.tuples(st.just("die"), _AGENTS),
        st.tuples(st.just("pause")),
        st.tuples(st.just("resume")),
        st.tuples(st.just("block")),
        st.tuples(st.just("unblock")),
        st.tuples(st.just("another")),
    ),
    max_size=50,
)


@dataclass
class Agent:
    """One agent: what it took, and what it did and has not told."""

    it: MemoryAgent
    taken: Piece | None = None
    done: list[Outcome] = field(default_factory=list)


class World:
    """A database with keys of which all versions are known, and three agents."""

    def __init__(self) -> None:
        self.database, self.files = configured(), MemoryFiles()
        self.agents = [Agent(MemoryAgent(AgentSeen(f"a{it}"), self.files)) for it in range(3)]
        self.were: list[tuple[int, dict[bytes, bytes]]] = [(0, {})]
        for key in _KEYS[::2]:
            self.write(key, b"first")

    def keys(self) -> dict[bytes, bytes]:
        store = self.database.store
        return dict(store.span(b"", b"\xff", store.version))

    def at(self, version: int) -> dict[bytes, bytes]:
        return [it for when, it in self.were if when <= version][-1]

    def happen(self, happenings: Sequence[tuple[object, ...]]) -> None:
        for name, *rest in happenings:
            getattr(self, str(name))(*rest)

    # ------------------------------------------------------------------ what may happen

    def write(self, key: bytes, value: bytes | None) -> None:
        if self.database.backups.restores:
            return  # what is looked at then is what came back
        work = Transaction(self.database.store, self.database.now)
        if value is None:
            work.clear(key)
        else:
            work.set(key, value)
        self.were.append((work.commit(self.database.now), self.keys()))

    def clear(self, key: bytes) -> None:
        self.write(key, None)

    def later(self, seconds: float) -> None:
        self.database.advance(self.database.now + seconds)

    def take(self, number: int) -> None:
        agent = self.agents[number]
        agent.taken = agent.it.take(self.database) or agent.taken

    def work(self, number: int) -> None:
        agent = self.agents[number]
        if agent.taken is not None:
            agent.done.append(carry_out(agent.taken, self.files))

    def tell(self, number: int) -> None:
        """Tell of all that was done, also of what was told before."""
        for it in self.agents[number].done:
            agency.report(self.database, it)

    def do(self, number: int) -> None:
        """Do a whole piece, and tell of it and of all that was done before."""
        self.take(number)
        self.work(number)
        self.tell(number)

    def die(self, number: int) -> None:
        agent = self.agents[number]
        agent.it.leave(self.database)
        agent.taken = None
        agent.done.clear()

    def pause(self) -> None:
        self.database.backups.paused = True

    def resume(self) -> None:
        self.database.backups.paused = False

    def block(self) -> None:
        self.files.is_away = lambda _path: True

    def unblock(self) -> None:
        self.files.is_away = lambda _path: False

    def another(self) -> None:
        """Have another control the cluster, which knows what is kept."""
        now = self.database.now
        self.database = saving.restored(saving.saved(self.database), Chance(2), lambda _born: now)

    def settle(self) -> None:
        """Have all be well again, and let work go on for a while."""
        self.resume()
        self.unblock()
        for second in range(60):
            self.database.advance(self.database.now + 1)
            if second % 7 == 0:
                self.write(_KEYS[second % len(_KEYS)], f"{self.database.now}".encode())
            while self.agents[0].it.step(self.database):
                pass


@settings(max_examples=50, deadline=None)
@given(
    st.tuples(_HAPPENINGS, _HAPPENINGS, _HAPPENINGS),
    st.integers(0, 10**9),
    st.sampled_from([0, 15]),
)
def test_what_comes_back_is_what_was(
    happenings: tuple[list[tuple[object, ...]], ...], place: int, spread: int
) -> None:
    beginning, going_on, bringing_back = happenings
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backing, "PIECE", 2)
        world = World()
        backing.submit(
            world.database,
            Backup("default", "b" * 32, URL, 0, interval=15, first_interval=spread, stops=False),
        )
        for it in (beginning, going_on):
            world.happen(it)
            world.settle()
        backup = world.database.backups.backups["default"]
        assert backup.restorable is not None
        possible = range(backup.first_end, backup.restorable + 1)
        version = possible[place % len(possible)]
        near = [when for when, _ in world.were if when in possible]
        version = near[place % len(near)] if near and place % 3 else version

        backing.abort(world.database, backup)
        work = Transaction(world.database.store, world.database.now)
        work.clear_range(b"", b"\xff")
        work.commit(world.database.now)
        restore = Restore("default", "c" * 32, URL, version)
        restoring.submit(world.database, restore)
        world.happen(bringing_back)
        world.settle()
        assert world.database.backups.restores["default"].stage is Progress.COMPLETED
        assert world.keys() == world.at(version)
        assert not world.database.store.locked_by
        assert not world.database.store.journal
        assert world.database.backups.backups["default"].stage is Stage.ABORTED
