"""How members start, end and come back: plays told to real etcd and to the stand-in, word by word.

Every release of this machine plays at the same time, so that waiting is done once. They are spoken to
over the gateway: etcd that is asked to stop waits for those who are connected over gRPC.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

import pytest

from contract.etcd.plays import Player, odd_lines, undisturbed
from contract.etcd.stage import Cluster, running, speaking
from fakes import etcds
from fakes.etcds import Release
from stateward.etcd.members.calls import Deadlines

#: Long enough for an answer of a busy machine.
PATIENT: Final = Deadlines(reads=1.5, changes=1.6, keys=1.6)

#: A voter that lost its disk, and one that was removed. With data, flags about beginnings do nothing.
WIPED = """
a put                       -> done
kill b                      -> done
start b existing of ac      -> voter
kill c                      -> done
wipe c                      -> done
its peers know that it was there before
start c new of abc          -> exit 1
the leader knows that it had more
start c existing of abc     -> exit 2
start c                     -> exit 2
a led                       -> done
a move b                    -> done
a new leader knows nothing of it, and tells it all
start c existing of abc     -> voter
c get                       -> there
kill c                      -> done
pause 0.5                   -> done
a remove c                  -> done
start c                     -> exit 0 or 1
start c existing of ab      -> exit 0 or 1
wipe c                      -> done
start c existing of abc     -> exit 1
start c existing of ab      -> exit 1
a readd c                   -> done
a list                      -> a b c+?
one too few, one too many, and not the right ones
start c existing of ac      -> exit 1
start c existing of abcd    -> exit 1
start c existing of acd     -> exit 1
start c existing of abc     -> learner
a list                      -> a b c+
c status                    -> learner
c list                      -> LearnerCannot
c recalls                   -> LearnerCannot
c get                       -> LearnerCannot
c alarms                    -> LearnerCannot
c auth                      -> LearnerCannot
c compact                   -> LearnerCannot
c defragment                -> LearnerCannot
c promote c                 -> LearnerCannot
c snapshot                  -> done
who was in sync may vote, also when it is gone
a put                       -> done
kill c                      -> done
b promote c                 -> done
a list                      -> a b c
a put                       -> done
"""

#: A cluster of one that lost its disk begins again, under the same ids and without its data.
SEED = """
a put                       -> done
a is                        -> 1 of 1
kill a                      -> done
start a                     -> voter
a get                       -> there
kill a                      -> done
wipe a                      -> done
start a existing of a       -> exit 1
start a new of a            -> voter
a is                        -> 1 of 1
a get                       -> gone
a add b                     -> done
a joiner that is told to begin never joins, whatever it is told later
start b new of ab           -> silent
start b existing of ab      -> silent
kill b                      -> done
wipe b                      -> done
start b existing of b       -> exit 1
start b existing of ab      -> learner
a catchup b                 -> done
b list                      -> a b
"""

#: What is left without a majority, and how one member goes on without the others.
QUORUM = """
a put                       -> done
b is                        -> 1 of 1
what a leader was asked for while nobody heard it comes true when somebody does
hang b                      -> done
hang c                      -> done
a put late                  -> OutcomeUnknown
wake b                      -> done
b led                       -> done
b get late                  -> there
wake c                      -> done
c led                       -> done
kill b                      -> done
kill c                      -> done
a status                    -> voter
pause 1.7                   -> done
a status                    -> leaderless
a recalls                   -> a b c
a list                      -> NoQuorum
a remove a                  -> EtcdPacing
a add d                     -> EtcdPacing
a move b                    -> NotTheLeader
a remove b                  -> OutcomeUnknown
a snapshot                  -> done
a defragment                -> done
kill a                      -> done
start a                     -> silent
start b forced              -> voter
b is                        -> 1 of 1
b list                      -> b
b get                       -> there
the others learn that they were dropped
waits a                     -> exit 0 or 1
start c                     -> exit 0 or 1
b put                       -> done
"""

#: Who leads after whom.
LEADING = """
a move a                    -> done
stop a                      -> done
b follows                   -> somebody
b put                       -> done
start a                     -> voter
whoever leads now hands over
b lead a                    -> done
nobody can hand over to one that is gone
kill b                      -> done
a move b                    -> OutcomeUnknown
a follows                   -> a
start b                     -> voter
a led                       -> done
b led                       -> done
a dead leader is believed in for a while, and what it is told is lost
kill a                      -> done
b follows                   -> a
b put                       -> OutcomeUnknown
b led                       -> done
b put                       -> done
b follows                   -> somebody
start a                     -> voter
a list                      -> a b c
"""

#: Alarms outlive the members that raised them.
ALARMS = """
a put                       -> done
alarm b NO_SPACE            -> done
c alarms                    -> b:NO_SPACE
a put                       -> NoSpace
a get                       -> there
a list                      -> a b c
a compact                   -> done
a defragment                -> done
a disarm b CORRUPT          -> done
a put                       -> NoSpace
a disarm b NO_SPACE         -> done
a put                       -> done
alarm c CORRUPT             -> done
a put                       -> EtcdRefused
a compact                   -> EtcdRefused
a get                       -> there
a snapshot                  -> done
kill c                      -> done
pause 0.5                   -> done
a remove c                  -> done
a alarms                    -> c:CORRUPT
a put                       -> EtcdRefused
a disarm c CORRUPT          -> done
a alarms                    -> none
a put                       -> done
"""

#: How long members must have been connected, and how long one that hangs is thought to be.
CONNECTED = """
pause 5.3                   -> done
kill d                      -> done
start d                     -> voter
a led                       -> done
a add e                     -> LENIENT
a remove e                  -> TAKEN
hang b                      -> done
pause 0.3                   -> done
a remove c                  -> done
wake b                      -> done
3.5.1 now and then panics while it ends
waits c                     -> exit 0 or 2
a led                       -> done
a list                      -> a b d
a remove b                  -> EtcdPacing
"""

#: A newer release may be tried until all have it for some seconds.
VERSIONS = """
a put                       -> done
kill c                      -> done
start c by newer            -> voter
kill c                      -> done
start c by older            -> voter
kill c                      -> done
start c by newer            -> voter
kill b                      -> done
start b by newer            -> voter
kill a                      -> done
start a by newer            -> voter
a led                       -> done
pause 4.7                   -> done
kill c                      -> done
start c by older            -> exit 1
start c by newer            -> voter
c get                       -> there
"""

PLAYS = {
    "wiped": ("abc", WIPED),
    "seed": ("a", SEED),
    "quorum": ("abc", QUORUM),
    "leading": ("abc", LEADING),
    "alarms": ("abc", ALARMS),
    "connected": ("abcd", CONNECTED),
}
LATER = etcds.releases()[-2:]


def version_of(release: Release) -> tuple[int, ...]:
    return tuple(map(int, release.version.split(".")))


def expected(script: str, release: Release) -> str:
    """Return a script with what a release does differently: newer ones want a majority connected."""
    lenient = version_of(release) >= (3, 5, 30)
    added, taken = ("done", "done") if lenient else ("EtcdPacing", "MemberUnknown")
    return script.strip().replace("LENIENT", added).replace("TAKEN", taken)


async def played(cluster: Cluster, way: str, script: str) -> str:
    """Return a script as it came out."""
    releases = dict(zip(("older", "newer"), LATER, strict=False))
    async with speaking(cluster, way, PATIENT) as voice:
        player = Player(voice, releases=releases)
        await player.begin()
        return await player.play(script)


@pytest.mark.parametrize(("names", "script"), PLAYS.values(), ids=PLAYS)
async def test_real_etcd_plays(names, script, tmp_path):
    releases = etcds.releases()
    scripts = [expected(script, it) for it in releases]

    async def attempt(folder: Path) -> list[str]:
        with etcds.running_each(releases, folder, names) as clusters:
            plays = zip(clusters, scripts, strict=True)
            told = await asyncio.gather(*(played(it, "gateway", text) for it, text in plays))
        every = zip(releases, told, scripts, strict=True)
        return [f"{it.version}: {odd}" for it, one, text in every for odd in odd_lines(one, text)]

    assert await undisturbed(tmp_path, attempt) == []


@pytest.mark.virtual
@pytest.mark.parametrize(("names", "script"), PLAYS.values(), ids=PLAYS)
async def test_the_stand_in_plays(release, names, script, tmp_path):
    text = expected(script, release)
    async with running(release, "standin", tmp_path, names) as cluster:
        assert await played(cluster, "standin", text) == text


@pytest.mark.skipif(len(LATER) < 2, reason="two releases of etcd are needed; `make real` has them")
@pytest.mark.parametrize("by", ["gateway", pytest.param("standin", marks=pytest.mark.virtual)])
async def test_a_newer_release_is_tried(by, tmp_path):
    async def attempt(folder: Path) -> list[str]:
        async with running(LATER[0], by, folder, "abc") as cluster:
            return odd_lines(await played(cluster, by, VERSIONS.strip()), VERSIONS.strip())

    assert await undisturbed(tmp_path, attempt) == []
