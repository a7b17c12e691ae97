"""What contract cannot reach: wires that are cut, disks that are lost, histories that part."""

from __future__ import annotations

import pytest

from stateward.emulate.etcd.state import History
from unit.emulate.etcd.tales import pause, telling, told

pytestmark = pytest.mark.virtual

#: The majority goes on; who is left alone says who it is, and nothing else.
PARTED = """
a put one           -> done
cut a bc            -> done
a status            -> voter
pause 3             -> done
a status            -> leaderless
a recalls           -> a b c
a list              -> NoQuorum
a get one           -> NoQuorum
a put               -> OutcomeUnknown
a add d             -> EtcdPacing
a snapshot          -> done
b led               -> done
b follows           -> somebody
b put two           -> done
b get one           -> there
heal a bc           -> done
a led               -> done
a get two           -> there
"""

#: What a leader promised nobody is forgotten once others have chosen another.
FORGOTTEN = """
cut a bc            -> done
a put lost          -> OutcomeUnknown
pause 3             -> done
b put kept          -> done
heal a bc           -> done
a led               -> done
a get lost          -> gone
a get kept          -> there
"""

#: A follower that hears nobody does not disturb the others.
DEAF = """
cut c ab            -> done
pause 5             -> done
a follows           -> a
a put               -> done
c status            -> leaderless
heal c ab           -> done
c led               -> done
c follows           -> a
c get               -> there
"""

#: Whoever can talk to a majority only through others leads nobody.
HALF_CUT = """
cut c a             -> done
pause 3             -> done
a follows           -> a
b follows           -> a
c status            -> leaderless
a put               -> done
"""

#: Two of three that lost their disks begin again: what was agreed to is gone, and who knows breaks.
LOST = """
a put               -> done
kill a              -> done
kill b              -> done
kill c              -> done
wipe a              -> done
wipe b              -> done
start a new of abc  -> silent
start b new of abc  -> voter
b get               -> gone
start c             -> exit 2
b get               -> gone
wipe c              -> done
start c existing of abc -> voter
c get               -> gone
"""

#: One that still has it brings it back to the others.
KEPT = """
a put               -> done
kill a              -> done
kill b              -> done
wipe a              -> done
wipe b              -> done
start a existing of abc -> voter
start b existing of abc -> voter
b get               -> there
"""

#: One that was forced to go on alone, and two that did not hear of it: two clusters, until they meet.
FORCED = """
a put before        -> done
cut a bc            -> done
kill a              -> done
start a forced      -> voter
a list              -> a
a put after         -> done
b list              -> a b c
b get after         -> gone
heal a bc           -> done
waits b             -> exit 0
waits c             -> exit 0
a get after         -> there
"""

#: A hang that is short does not end connections; a long one does.
HUNG = """
pause 6             -> done
hang c              -> done
pause 3             -> done
wake c              -> done
a add d             -> done
a remove d          -> done
hang c              -> done
pause 6             -> done
wake c              -> done
a add d             -> EtcdPacing
pause 5.1           -> done
a add d             -> done
"""

#: One that was cut off long enough is as good as gone.
AWAY = """
pause 6             -> done
cut c ab            -> done
a remove b          -> done
waits b             -> exit 0
heal c ab           -> done
a led               -> done
cut c a             -> done
pause 6             -> done
a remove c          -> OutcomeUnknown
"""

#: Who was removed while it was away hears of it from others, and not from its own disk.
DISMISSED = """
kill c              -> done
a remove c          -> done
start c             -> exit 0 or 1
kill a              -> done
kill b              -> done
start c             -> silent
start a             -> silent
waits c             -> exit 0 or 1
"""

TALES = {
    "dismissed": DISMISSED,
    "parted": PARTED,
    "forgotten": FORGOTTEN,
    "deaf": DEAF,
    "half cut": HALF_CUT,
    "lost": LOST,
    "kept": KEPT,
    "forced": FORCED,
    "hung": HUNG,
    "away": AWAY,
}


@pytest.mark.parametrize("script", TALES.values(), ids=TALES)
async def test_a_tale(script):
    assert await told("abc", script) == script.strip()


async def test_a_loss_is_said():
    teller = await telling("abc")
    lost: list[tuple[History, History]] = []
    teller.etcds.universe.on_loss = lambda *both: lost.append(both)
    await teller.play(LOST)

    ((before, after),) = lost
    acknowledged = before.states[-1].keys
    assert b"k" in acknowledged
    assert b"k" not in after.states[-1].keys
    assert after.shared_with(before) == 0


async def test_nothing_is_said_to_be_lost_when_it_is_not():
    teller = await telling("abc")
    teller.etcds.universe.on_loss = lambda *both: pytest.fail(f"lost: {both}")
    await teller.play(KEPT)
    await teller.play(FORGOTTEN.replace("a bc", "b ac"))


async def test_one_that_lags_says_how_far_it_came():
    teller = await telling("abc")
    await teller.play("cut c ab -> done\na put -> done\na put -> done")
    ahead, behind = [await teller.status(it) for it in "ac"]
    await teller.play("heal c ab -> done\nc led -> done")
    after = await teller.status("c")

    assert ahead.revision == behind.revision + 2
    assert ahead.raft_index == behind.raft_index + 2
    assert (after.revision, after.raft_index) == (ahead.revision, ahead.raft_index)


async def test_terms_grow_with_leaders_and_indexes_with_entries():
    teller = await telling("abc")
    seen = [await teller.status("c")]
    for act in ("a put", "a move b", "b move a", "stop a", "c put"):
        await teller.outcome(act)
        await teller.outcome("c led")
        seen.append(await teller.status("c"))

    terms = [it.raft_term - seen[0].raft_term for it in seen]
    indexes = [it.raft_index for it in seen]
    assert terms == [0, 0, 1, 2, 3, 3]
    assert indexes == sorted(set(indexes))


async def test_the_minority_does_not_know_the_new_term():
    teller = await telling("abc")
    await teller.play("cut a bc -> done")
    await pause(4)
    alone, other = [await teller.status(it) for it in "ab"]

    assert alone.raft_term < other.raft_term
