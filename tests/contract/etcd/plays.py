"""Plays: what is done to members, line by line, and what comes of each line.

A line is ``who verb words -> outcome``; members are letters, and "?" is one that never was. What is
done to a process has no one who is asked: ``kill b``. Real etcd and its stand-in play the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from contract.etcd.stage import Cluster, Voice, raise_alarm
from contract.etcd.standin import StandIn, StandIns
from fakes.etcds import Etcd, Release
from stateward.core.errors import PeerError
from stateward.etcd.members.errors import EtcdPacing, LearnerBehind
from stateward.etcd.model.members import Alarm, AlarmKind, Member

#: Seconds in which something that will happen has happened.
SOON = 20.0
#: Seconds without a word after which we believe that none will come: real etcd chooses after 0.5 s.
SILENCE, VIRTUAL_SILENCE = 1.2, 3.5
#: What may be asked twice, and what a busy machine answers while members choose a leader once more.
REPEATABLE, CHOOSING = {"list", "get", "put", "alarms"}, {"NoQuorum", "OutcomeUnknown"}


class Player:
    """Plays lines."""

    def __init__(
        self, voice: Voice, *flags: str, releases: dict[str, Release] | None = None
    ) -> None:
        self.voice, self.flags = voice, flags
        self.etcds: Cluster = voice.etcds
        self.releases = releases or {}
        self.ids = {"?": 12345}
        self._clusters: list[int] = []
        self._members: list[int] = []
        self._expected = ""

    async def begin(self) -> None:
        """Learn the ids, and have the first of them lead."""
        self.ids |= await self.voice.ids()
        await self.patiently(self._let_the_first_lead, PeerError)

    async def _let_the_first_lead(self) -> None:
        if (leader := await self.voice.leader()) != "a":
            await self.voice[leader].move_leader(self.ids["a"])

    async def play(self, script: str) -> str:
        """Play all lines; return the script as it came out."""
        return "\n".join([await self._line(it) for it in script.strip().splitlines()])

    async def _line(self, line: str) -> str:
        words, arrow, expected = line.partition("->")
        if not arrow:
            return line  # a comment
        self._expected = expected.strip()
        found = await self._settled(words)
        return line if found in _allowed(self._expected) else f"{words}-> {found}"

    async def _settled(self, words: str) -> str:
        """Play one line; play it again while a real cluster, starved of cores, chooses a leader."""
        noisy = not isinstance(self.etcds, StandIns) and self._expected not in CHOOSING
        ends = asyncio.get_running_loop().time() + SOON
        while True:
            found = await self.outcome(words)
            again = noisy and found in CHOOSING and words.split()[1] in REPEATABLE
            if not again or asyncio.get_running_loop().time() > ends:
                return found
            await asyncio.sleep(0.02)

    async def outcome(self, line: str) -> str:
        """Play one line; return what came of it, or the name of the error."""
        words = line.split()
        asked, (verb, *more) = (words[0], words[1:]) if len(words[0]) == 1 else ("", words)
        play: Callable[..., Awaitable[str | None]] = getattr(self, f"_{verb}")
        try:
            return await (play(asked, *more) if asked else play(*more)) or "done"
        except PeerError as error:
            return type(error).__name__

    # ------------------------------------------------------------------ processes

    async def _start(self, whom: str, *words: str) -> str:
        """Run a member, as ``new`` or ``existing``, ``of`` some; return what becomes of it."""
        member = self._known(whom)
        of = words[words.index("of") + 1] if "of" in words else "".join(self.etcds.members)
        if "by" in words:
            member.release = self.releases[words[words.index("by") + 1]]
        initial = ",".join(f"{it}={self._known(it).peer_url}" for it in of)
        state = "existing" if "existing" in words else "new"
        force = ("--force-new-cluster=true",) if "forced" in words else ()
        member.kill()  # if it still runs
        member.start(initial, state, *force, *self.flags)
        return await self._became(whom)

    async def _waits(self, whom: str) -> str:
        return await self._became(whom)

    async def _became(self, whom: str) -> str:
        virtual = isinstance(self.etcds, StandIns)
        silence = VIRTUAL_SILENCE if virtual else SILENCE
        seconds = silence if self._expected == "silent" else SOON
        ends = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < ends:
            if (found := await self._seen(whom)) is not None:
                return found
            await asyncio.sleep(0.02)
        return "silent"

    async def _seen(self, whom: str) -> str | None:
        code = self._known(whom).ended()
        if code is not None:
            return f"exit {code}"
        try:
            status = await self.voice[whom].status()
        except PeerError:
            return None
        if self._expected.startswith("exit"):
            return None
        role = "learner" if status.learner else "voter"
        if not status.leader:
            return "leaderless" if self._expected != role else None
        return role

    async def _kill(self, whom: str) -> None:
        self._known(whom).kill()

    async def _stop(self, whom: str) -> None:
        member = self._known(whom)
        if isinstance(member, Etcd):
            await asyncio.to_thread(member.stop)  # others may be asked meanwhile
        else:
            member.stop()
            await asyncio.sleep(0.1)  # a real one takes its time

    async def _wipe(self, whom: str) -> None:
        self._known(whom).wipe()

    async def _hang(self, whom: str) -> None:
        self._known(whom).hang()

    async def _wake(self, whom: str) -> None:
        self._known(whom).wake()

    async def _pause(self, seconds: str) -> None:
        await asyncio.sleep(float(seconds))

    def _known(self, whom: str) -> Etcd | StandIn:
        known = self.etcds.members
        return known[whom] if whom in known else self.etcds.prepare(whom)

    # ------------------------------------------------------------------ membership

    async def _add(self, asked: str, whom: str) -> None:
        self.ids[whom] = (await self.voice[asked].add_learner(self._known(whom).peer_url)).id

    def _id(self, whom: str) -> int:
        """Return the id of a member; of one that never was, if it was never added."""
        return self.ids.get(whom, self.ids["?"])

    async def _promote(self, asked: str, whom: str) -> None:
        await self.voice[asked].promote(self._id(whom))

    async def _catchup(self, asked: str, whom: str) -> None:
        await self.patiently(lambda: self._promote(asked, whom), LearnerBehind)

    async def _readd(self, asked: str, whom: str) -> None:
        # Ids are made of address and second: in the same second it would be the one just removed.
        await self.patiently(lambda: self._add(asked, whom), EtcdPacing)

    async def _remove(self, asked: str, whom: str) -> None:
        await self.voice[asked].remove(self._id(whom))

    async def _dismiss(self, asked: str, whom: str) -> None:
        await self.patiently(lambda: self._remove(asked, whom), EtcdPacing)

    async def _move(self, asked: str, whom: str) -> None:
        await self.voice[asked].move_leader(self._id(whom))

    async def _lead(self, asked: str, whom: str) -> None:
        """Have one lead, whoever leads now."""
        leader = await self._follows(asked)
        if leader != whom:
            await self._move(leader, whom)

    async def patiently(self, act: Callable[[], Awaitable[None]], refusal: type[PeerError]) -> None:
        """Do something as soon as etcd no longer refuses it."""
        ends = asyncio.get_running_loop().time() + SOON
        while True:
            try:
                return await act()
            except refusal:
                if asyncio.get_running_loop().time() > ends:
                    raise
            await asyncio.sleep(0.02)

    # ------------------------------------------------------------------ reading

    async def _list(self, asked: str) -> str:
        return self._told((await self.voice[asked].members()).members)

    async def _recalls(self, asked: str) -> str:
        return self._told((await self.voice[asked].members(linearizable=False)).members)

    def _told(self, members: tuple[Member, ...]) -> str:
        """Return letters; "+" is a learner, "?" has never started."""
        letters = {it.peer_url: name for name, it in self.etcds.members.items()}
        marks = (
            f"{letters[it.peer_urls[0]]}{'+' * it.learner}{'?' * (not it.started)}"
            for it in members
        )
        return " ".join(sorted(marks))

    async def _follows(self, asked: str) -> str:
        """Return whom a member takes for the leader; "somebody" is anyone who runs."""
        leader = (await self.voice[asked].status()).leader
        name = next((name for name, id_ in self.ids.items() if id_ == leader), "nobody")
        runs = name in self.etcds.members and self._known(name).ended() is None
        return "somebody" if self._expected == "somebody" and runs else name

    async def _led(self, asked: str) -> None:
        """Wait until a member hears somebody who leads a majority."""

        async def ask() -> None:
            await self.voice[asked].members()

        await self.patiently(ask, PeerError)

    async def _is(self, asked: str) -> str:
        """Return who a member says that it is, by the order in which ids were seen."""
        status = await self.voice[asked].status()
        return f"{_number(self._members, status.member_id)} of {_number(self._clusters, status.cluster_id)}"

    async def _put(self, asked: str, key: str = "k") -> None:
        await self.voice[asked].put(key.encode(), b"v")

    async def _get(self, asked: str, key: str = "k") -> str:
        return "there" if await self.voice[asked].get(key.encode()) else "gone"

    async def _alarms(self, asked: str) -> str:
        found = await self.voice[asked].alarms()
        names = {id_: name for name, id_ in self.ids.items()}
        return " ".join(f"{names[it.member_id]}:{it.kind.name}" for it in found) or "none"

    async def _alarm(self, whom: str, kind: str) -> None:
        raise_alarm(self.etcds, self.ids[whom], AlarmKind[kind])

    async def _disarm(self, asked: str, whom: str, kind: str) -> None:
        await self.voice[asked].disarm(Alarm(self.ids[whom], AlarmKind[kind]))

    async def _auth(self, asked: str) -> str:
        return "on" if await self.voice[asked].auth_enabled() else "off"

    async def _defragment(self, asked: str) -> None:
        await self.voice[asked].defragment()

    async def _compact(self, asked: str) -> None:
        await self.voice[asked].compact(2)

    async def _snapshot(self, asked: str) -> None:
        async for _ in self.voice[asked].snapshot():
            pass

    async def _status(self, asked: str) -> str:
        status = await self.voice[asked].status()
        return "leaderless" if not status.leader else "learner" if status.learner else "voter"


def _allowed(expected: str) -> list[str]:
    """Return what may come: etcd leaves to chance with which of two codes it ends.

    >>> _allowed("exit 0 or 1")
    ['exit 0', 'exit 1']
    """
    one, _, other = expected.partition(" or ")
    return [one, f"{one.rpartition(' ')[0]} {other}"] if other else [one]


def _number(seen: list[int], id_: int) -> int:
    if id_ not in seen:
        seen.append(id_)
    return seen.index(id_) + 1


async def undisturbed(folder: Path, attempt: Callable[[Path], Awaitable[list[str]]]) -> list[str]:
    """Return what was odd about a play on real etcd, of the best of three.

    A machine without time to spare holds elections in the middle of any line. What etcd never does
    it does in none of them.
    """
    odd: list[str] = []
    for number in range(3):
        mine = folder / str(number)
        mine.mkdir()
        try:
            odd = await attempt(mine)
        except PeerError as error:
            odd = [str(error)]
        if not odd:
            break
    return odd


def odd_lines(told: str, script: str) -> list[str]:
    """Return the lines that came out otherwise."""
    both = zip(told.splitlines(), script.splitlines(), strict=True)
    return [f"{was} instead of {expected}" for was, expected in both if was != expected]
