"""Who belongs to the cluster: what etcd allows, and what its refusals are called."""

from __future__ import annotations

import asyncio

import pytest

from contract.etcd.plays import Player
from contract.etcd.stage import running, speaking
from fakes import etcds
from fakes.etcds import Etcds
from stateward.etcd.members.errors import EtcdPacing

GROWING = """
a remove a  -> QuorumAtRisk
a remove ?  -> MemberUnknown
a promote ? -> MemberUnknown
a promote a -> AlreadyVoter
a add b     -> done
a add b     -> MemberExists
a add c     -> TooManyLearners
a promote b -> LearnerBehind
a remove b  -> done
a remove b  -> MemberUnknown
a readd b   -> done
start b existing of ab -> learner
b list      -> LearnerCannot
b put       -> LearnerCannot
b add c     -> LearnerCannot
a move b    -> NotTheLeader
a catchup b -> done
a promote b -> AlreadyVoter
a add c     -> EtcdPacing
b list      -> a b
b move a    -> NotTheLeader
a move ?    -> NotTheLeader
a move b    -> done
b move a    -> done
a remove b  -> EtcdPacing
a put       -> done
"""

SHRINKING = """
kill c      -> done
pause 0.5   -> done
a remove b  -> EtcdPacing
a remove c  -> done
a remove b  -> EtcdPacing
a list      -> a b
"""


@pytest.mark.parametrize(
    ("names", "script"), [("a", GROWING), ("abc", SHRINKING)], ids=["up", "down"]
)
async def test_changes_of_members(release, way, names, script, tmp_path):
    async with running(release, way, tmp_path, names) as cluster, speaking(cluster, way) as voice:
        player = Player(voice)
        await player.begin()
        told = await player.play(script)

    assert told == script.strip()


async def test_members_that_run_are_removed_once_they_are_long_enough_connected(tmp_path):
    """All releases at once: the five seconds that etcd asks for pass for all of them."""
    with etcds.running_each(etcds.releases(), tmp_path, "abc") as clusters:
        left = await asyncio.gather(*map(shrunk, clusters))

    assert left == [["a"]] * len(clusters)


async def shrunk(cluster: Etcds) -> list[str]:
    """Remove one of three members in one way, and one of two in the other; return who is left."""
    async with speaking(cluster, "gateway") as one, speaking(cluster, "grpc") as other:
        player = Player(one)
        await player.begin()
        await player.patiently(lambda: one["a"].remove(player.ids["c"]), EtcdPacing)
        await other["a"].remove(player.ids["b"])
        return [it.name for it in (await other["a"].members()).members]


async def test_an_added_member_is_a_learner_without_a_name(release, way, tmp_path):
    async with running(release, way, tmp_path) as cluster:
        new = cluster.prepare("b")
        async with speaking(cluster, way) as voice:
            added = await voice["a"].add_learner(new.peer_url)
            listed = await voice["a"].members()

    assert (added.learner, added.started, added.peer_urls) == (True, False, (new.peer_url,))
    assert added in listed.members
