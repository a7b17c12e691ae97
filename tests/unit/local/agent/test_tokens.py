"""Tokens of service accounts: there when they can be had, new before they end, gone with their pod."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fakes.bench import Bench
from stateward.core.errors import PeerUnreachable
from stateward.kube.errors import NotFound
from stateward.kube.meta import ObjectKey, ObjectMeta
from stateward.local.agent.environment import PodView
from stateward.local.agent.files.volumes import Folders, NotMounted, Volumes
from stateward.local.agent.tokens import Ask, Token, Tokens
from unit.local.agent.test_files import Shelf

pytestmark = pytest.mark.virtual

ASK = Ask(ObjectKey("ns", "p"), "u", "robot")
HOUR = 3600.0


class Office:
    """Gives out tokens one after the other; ``refusals`` come first."""

    def __init__(self, bench: Bench, *refusals: Exception) -> None:
        self.bench = bench
        self.refusals = list(refusals)
        self.asked: list[Ask] = []
        self.told: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []
        self.tokens = Tokens(
            self,
            bench.ports,
            beside=lambda work: self.tasks.append(asyncio.create_task(work)),
            hear=self.told.append,
        )

    async def issue(self, ask: Ask) -> Token:
        if self.refusals:
            raise self.refusals.pop(0)
        self.asked.append(ask)
        return Token(f"token-{len(self.asked)}", self.bench.clock.now() + HOUR)

    async def later(self, seconds: float = 0.0) -> bytes | None:
        await self.bench.clock.sleep(seconds)
        return self.tokens.get(ASK)


async def test_a_token_is_asked_for_once_and_renewed_before_it_ends():
    office = Office(Bench())

    assert office.tokens.get(ASK) is None
    assert await office.later(1) == b"token-1"
    assert office.told == ["ns"]
    assert await office.later(HOUR * 0.7) == b"token-1"
    assert await office.later(HOUR * 0.2) == b"token-2"
    assert office.told == ["ns", "ns"]
    assert office.asked == [ASK, ASK]


@pytest.mark.parametrize(
    "refusal", [PeerUnreachable("nobody there"), NotFound("no such account yet")]
)
async def test_a_refusal_is_not_the_end(refusal: Exception):
    office = Office(Bench(), refusal)

    assert await office.later() is None
    assert await office.later(1) in {None, b"token-1"}
    assert await office.later(1) == b"token-1"


async def test_nothing_is_asked_any_more_for_a_pod_that_is_gone():
    office = Office(Bench())
    office.tokens.get(ASK)
    await office.bench.clock.sleep(1)
    office.refusals.append(NotFound("no such pod"))

    await office.bench.clock.sleep(10 * HOUR)

    assert len(office.asked) == 1
    assert all(task.done() for task in office.tasks)


async def test_a_volume_with_a_token_is_had_when_the_token_is(tmp_path: Path):
    office, shelf = Office(Bench()), Shelf()
    shelf.tokens = office.tokens
    source = {"path": "token", "expirationSeconds": 600, "audience": "vault"}
    volume = {"name": "v", "projected": {"sources": [{"serviceAccountToken": source}]}}
    metadata = ObjectMeta(name="p", namespace="ns", uid="u")
    pod = PodView(metadata, {"volumes": [volume], "serviceAccountName": "robot"})
    volumes = Volumes(Folders(tmp_path), shelf)

    with pytest.raises(NotMounted, match='no token yet for the service account "robot"'):
        volumes.prepare(pod)
    await office.bench.clock.sleep(1)

    assert (volumes.prepare(pod)["v"] / "token").read_text() == "token-1"
    assert office.asked == [Ask(ObjectKey("ns", "p"), "u", "robot", "vault", 600)]
