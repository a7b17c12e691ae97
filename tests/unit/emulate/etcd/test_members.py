"""Members of the stand-in: what releases allow, space, logins, and what they are told."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from stateward.core.errors import PeerUnreachable
from stateward.emulate.etcd.member import EmulatedMember
from stateward.etcd.members.calls import Deadlines
from stateward.etcd.members.errors import EtcdRefused
from stateward.etcd.members.port import Endpoint, Trust
from stateward.etcd.model.members import AlarmKind
from unit.emulate.etcd.tales import Teller, telling, told

pytestmark = pytest.mark.virtual

#: The last of four has just come back: does etcd take one more?
ONE_MORE = """
pause 6             -> done
kill d              -> done
start d             -> voter
a led               -> done
a add e             -> {}
"""


@pytest.mark.parametrize(
    ("version", "outcome"),
    [
        ("3.5.1", "EtcdPacing"),
        ("3.5.29", "EtcdPacing"),
        ("3.5.30", "done"),
        ("3.6.10", "EtcdPacing"),
        ("3.6.11", "done"),
        ("3.7.0", "done"),
    ],
)
async def test_newer_releases_want_a_majority_connected_and_older_ones_all(version, outcome):
    script = ONE_MORE.format(outcome)

    assert await told("abcd", script, version) == script.strip()


#: Which of so many may be removed when the last has just come back.
@pytest.mark.parametrize(
    ("names", "outcome"), [("abc", "EtcdPacing"), ("abcd", "done"), ("abcde", "done")]
)
async def test_enough_must_be_left_when_one_is_removed(names, outcome):
    last = names[-1]
    script = f"pause 6 -> done\nkill {last} -> done\nstart {last} -> voter\na remove b -> {outcome}"

    assert await told(names, script) == script


MISTAKEN = """
pause 6             -> done
mistake a b         -> done
pause 60            -> done
a add d             -> EtcdPacing
a put               -> done
b add d             -> done
a remove d          -> done
kill b              -> done
start b             -> voter
pause 6             -> done
a add d             -> done
"""


async def test_who_takes_another_for_lost_refuses_until_that_one_starts_anew():
    assert await told("abc", MISTAKEN.strip()) == MISTAKEN.strip()


FULL = """
a put               -> done
fill b              -> done
c alarms            -> b:NO_SPACE
a put               -> NoSpace
it must not only be said that there is room
a disarm b NO_SPACE -> done
a put               -> NoSpace
a alarms            -> a:NO_SPACE
a compact           -> done
a put               -> NoSpace
a defragment        -> done
b defragment        -> done
c defragment        -> done
a disarm a NO_SPACE -> done
a put               -> done
"""


async def test_a_full_database_is_tidied():
    assert await told("abc", FULL) == FULL.strip()


async def test_size_is_told_and_only_newer_releases_tell_the_quota():
    sizes = []
    for version in ("3.5.35", "3.6.16"):
        teller = await telling("a", version)
        empty = await teller.status("a")
        await teller.play("fill a -> done")
        full = await teller.status("a")
        sizes.append(full.db_size_quota)
        assert empty.db_size < full.db_size >= 2 * 1024**3
        assert full.db_size_in_use == full.db_size
        assert any("NOSPACE" in it for it in full.errors)

    assert sizes == [0, 2 * 1024**3]


async def test_alarms_need_somebody_who_hears_them():
    teller = await telling("abc")
    await teller.play("kill b -> done\nkill c -> done\npause 3 -> done")

    assert not teller.etcds.universe.raise_alarm(teller.server("a"), AlarmKind.CORRUPT)
    assert not teller.etcds.universe.fill(teller.server("a"))


#: A new leader asks at once which release all have; nobody steps back then.
ALONE = """
a put               -> done
kill a              -> done
start a by newer    -> voter
kill a              -> done
start a by older    -> exit 1
start a by newer    -> voter
"""

#: While one is away nobody knows its release; who has data of a newer cluster cannot join as older.
TOGETHER = """
kill b              -> done
start b by newer    -> voter
kill c              -> done
start c by newer    -> voter
a move b            -> done
kill a              -> done
start a by newer    -> voter
kill a              -> done
pause 6             -> done
start a by older    -> voter
kill a              -> done
start a by newer    -> voter
pause 6             -> done
kill a              -> done
start a by older    -> exit 1
wipe a              -> done
start a by older existing of abc -> exit 1
"""


@pytest.mark.parametrize(("names", "script"), [("a", ALONE), ("abc", TOGETHER)])
async def test_releases_are_agreed_to(names, script):
    assert await told(names, script, "3.5.35") == script.strip()


# -------------------------------------------------------------------------- logins


SHOWS = Trust(b"authority", b"certificate", b"key")


def asked(teller: Teller, endpoint: Endpoint) -> EmulatedMember:
    return teller.etcds.dialer(Deadlines()).dial(endpoint)


async def outcome(act: object) -> str:
    try:
        await act  # type: ignore[misc]
    except (EtcdRefused, PeerUnreachable) as error:
        return type(error).__name__
    return "done"


@pytest.mark.parametrize(
    ("version", "little"),
    [("3.5.1", "done"), ("3.5.27", "done"), ("3.5.28", "LoginNeeded"), ("3.6.16", "LoginNeeded")],
)
async def test_who_has_not_logged_in_is_told_little_and_later_nothing(version, little):
    teller = await telling("a", version)
    server = teller.server("a")
    server.start = replace(server.start, client_url="https://10.0.0.1:2379")
    root = teller.etcds["a"].endpoint(trust=SHOWS)
    member, nobody = asked(teller, root), asked(teller, replace(root, trust=Trust(b"authority")))
    assert await outcome(member.enable_auth()) == "EtcdRefused"  # without root
    await member.add_root()
    await member.enable_auth()

    said = {
        "status": await outcome(nobody.status()),
        "members": await outcome(nobody.members()),
        "put": await outcome(nobody.put(b"k", b"v")),
        "defragment": await outcome(nobody.defragment()),
        "snapshot": await outcome(anext(nobody.snapshot())),
    }
    assert said == {
        "status": little,
        "members": little,
        "put": "LoginNeeded",
        "defragment": "LoginNeeded",
        "snapshot": "LoginNeeded",
    }
    assert [await member.auth_enabled(), await nobody.auth_enabled()] == [True, True]
    await member.disable_auth()
    assert await outcome(nobody.put(b"k", b"v")) == "done"


async def test_one_speaks_tls_and_the_other_does_not():
    teller = await telling("a")
    plain = teller.etcds["a"].endpoint()
    server = teller.server("a")

    assert await outcome(asked(teller, replace(plain, trust=SHOWS)).status()) == "PeerUnreachable"
    server.start = replace(server.start, client_url="https://10.0.0.1:2379")
    assert await outcome(asked(teller, plain).status()) == "PeerUnreachable"
    assert await outcome(asked(teller, replace(plain, trust=SHOWS)).status()) == "done"


# -------------------------------------------------------------------------- waiting


async def test_whoever_asks_during_an_election_waits_for_it():
    teller = await telling("abc")
    await teller.play("kill a -> done")
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await asked(teller, teller.etcds["b"].endpoint()).members()

    assert 0.9 < loop.time() - begun < 2.0


async def test_a_write_waits_for_a_leader_when_nobody_is_known():
    teller = await telling("abc")
    await teller.play("kill b -> done\nkill c -> done\npause 3 -> done")
    member = teller.etcds.dialer(Deadlines(keys=9.0)).dial(teller.etcds["a"].endpoint())
    writing = asyncio.create_task(member.put(b"k", b"v"))
    await asyncio.sleep(1.0)
    waits = not writing.done()
    await teller.play("start b -> voter")
    revision = await asyncio.wait_for(writing, 0.1)

    assert waits
    assert revision > 1


async def test_one_that_tidies_up_lets_others_wait():
    teller = await telling("a")
    loop, member = asyncio.get_running_loop(), asked(teller, teller.etcds["a"].endpoint())
    begun = loop.time()
    tidying = asyncio.create_task(member.defragment())
    await asyncio.sleep(0.05)
    await member.status()
    answered = loop.time() - begun
    await member.put(b"k", b"v")
    put = loop.time() - begun
    await tidying

    assert answered < 0.1 < put


async def test_who_waits_hears_at_once_that_the_process_ended():
    teller = await telling("abc")
    await teller.play("kill b -> done\nkill c -> done\npause 3 -> done")
    loop = asyncio.get_running_loop()
    begun = loop.time()
    reading = asyncio.create_task(outcome(asked(teller, teller.etcds["a"].endpoint()).members()))
    await asyncio.sleep(0.1)
    await teller.outcome("kill a")

    assert await reading == "PeerUnreachable"
    assert loop.time() - begun < 0.2


@pytest.mark.parametrize("seed", range(3))
async def test_the_same_seed_tells_the_same(seed):
    one, other = [await trace(seed) for _ in "12"]

    assert one == other


async def trace(seed: int) -> list[object]:
    """Return moments and ids of a small life."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    teller = await telling("abc", seed=seed)
    found: list[object] = []
    for line in ("kill a", "b led", "start a", "b readd d", "start d existing of abcd"):
        await teller.outcome(line)
        found += [round(loop.time() - begun, 6), (await teller.status("b")).raft_term]
    return found
