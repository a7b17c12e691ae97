"""Certificates from secrets, logins, and what happens when a certificate is not there or wrong."""

from __future__ import annotations

import asyncio

import pytest
import trustme

from operators.etcd.certificates import Papers, change_secret, create_secret, delete_secret
from operators.etcd.witness import Witness, member_ids, told, uids
from operators.etcd.worlds import said, world
from stateward.core.errors import PeerError
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.members.port import Endpoint


async def test_7_everything_is_encrypted_and_logins_are_on_while_it_scales(plane: str) -> None:
    async with world(plane) as it, it.operating():
        papers = Papers(it, "shop")
        await papers.hand_in()
        await it.create("shop", replicas=3, security={"tls": papers.tls, "enableAuth": True})
        found = await it.ready("shop")
        assert found.status.auth_enabled
        root = papers.trust()
        pod = (await it.pods("shop"))[0]
        for stranger in (None, papers.trust("mallory")):
            with pytest.raises(PeerError):  # in plain text, and as nobody whom etcd knows
                await it.door(pod, stranger).put(b"k", b"v")
        with pytest.raises(PeerError):  # without a certificate
            await it.door(pod, type(root)(root.authority)).put(b"k", b"v")
        async with it.writing("shop", root) as writer:
            for size in (5, 3):
                await it.edit("shop", replicas=size)
                await it.ready("shop")
                assert len(await member_ids(it, "shop", root)) == size
            assert await writer.lost() == []
        assert writer.acknowledged > 20
        assert "SetAuth" in await told(it, "shop")


async def test_7_peers_without_the_right_certificate_stay_out(plane: str) -> None:
    """What listens for peers speaks TLS alone, and believes our authority alone."""
    async with world(plane) as it, it.operating():
        papers = Papers(it, "shop")
        await papers.hand_in()
        await it.create("shop", replicas=1, security={"tls": papers.tls})
        await it.ready("shop")
        address = (await it.pods("shop"))[0].status.pod_ip
        for trust in (None, papers.trust()):
            door = it.dialer.dial(Endpoint(address, 2380, trust, address))
            with pytest.raises(PeerError):
                await door.status()


async def test_7_a_missing_secret_blocks_and_nothing_starts_in_plain_text(plane: str) -> None:
    async with world(plane) as it, it.operating():
        papers = Papers(it, "shop")
        await papers.hand_in("server")
        await it.create("shop", replicas=1, security={"tls": papers.tls})
        held = await it.until("shop", lambda its: said(its, "Ready") == ("False", "SecretMissing"))
        assert "story/server must be there" in held.status.blockers[0].message
        await asyncio.sleep(1)
        assert await it.pods("shop") == []
        await create_secret(it, "server", papers.contents()["server"])
        await it.ready("shop")
        with pytest.raises(PeerError):
            await it.door((await it.pods("shop"))[0]).status()
        assert "SecretMissing" in await told(it, "shop")


async def test_7_a_secret_without_its_key_blocks_too(plane: str) -> None:
    async with world(plane) as it, it.operating():
        papers = Papers(it, "shop")
        await papers.hand_in("peer-ca")
        await create_secret(it, "peer-ca", {"tls.crt": b"no authority"})
        await it.create("shop", replicas=1, security={"tls": papers.tls})
        held = await it.until("shop", lambda its: said(its, "Ready") == ("False", "SecretMissing"))
        assert "must have ca.crt, and has tls.crt" in held.status.blockers[0].message
        assert await it.pods("shop") == []


async def test_7_19_members_are_restarted_when_their_authorities_change(plane: str) -> None:
    """Old and new are believed side by side, as everybody does who changes an authority."""
    async with world(plane) as it:
        papers = Papers(it, "shop")
        witness = Witness(it, papers.trust())
        await papers.hand_in()
        async with it.operating():
            await it.create("shop", replicas=3, security={"tls": papers.tls})
            await it.ready("shop")
        both = papers.client.cert_pem.bytes() + trustme.CA().cert_pem.bytes()
        await change_secret(it, "client-ca", {"ca.crt": both})
        async with it.writing("shop", papers.trust()) as writer:
            async with it.operating(wrap=witness.between):
                await it.until("shop", lambda _: len(witness.restarted) == 3)
                await it.ready("shop")
            assert await writer.lost() == []
        assert [it.healthy for it in witness.restarts] == [3, 3, 3]
        assert all(it.leader not in {"", it.pod} for it in witness.restarts)


async def test_7_19_a_wrong_authority_of_peers_costs_nobody_a_volume(plane: str) -> None:
    """Its etcd runs and cannot join: that is the change, and not its disk."""
    async with world(plane) as it:
        papers = Papers(it, "shop")
        await papers.hand_in()
        right = {"ca.crt": papers.peer.cert_pem.bytes()}
        grace = {"unhealthyMemberGracePeriod": "3s"}
        async with it.operating():
            await it.create("shop", replicas=3, security={"tls": papers.tls}, **grace)
            await it.ready("shop")
            before = uids(await it.claims("shop"))
        await change_secret(it, "peer-ca", {"ca.crt": trustme.CA().cert_pem.bytes()})
        async with it.operating():
            await it.until("shop", lambda now: said(now, "Ready") == ("False", "RolloutStuck"))
            assert said(await it.get("shop"), "Available") == ("True", "QuorumAgrees")
        await change_secret(it, "peer-ca", right)
        async with it.operating():
            await it.ready("shop")
        assert uids(await it.claims("shop")) == before


def is_out_of_reach(cluster: EtcdCluster) -> bool:
    return said(cluster, "Ready") == ("Unknown", "Unreachable")


WRONG = {
    "server-ca": "whom the operator believes",
    "root": "who the operator is",
}


@pytest.mark.parametrize("secret", WRONG)
async def test_4_members_that_only_we_cannot_reach_are_left_alone(plane: str, secret: str) -> None:
    """Wrong certificates of our own must never look like broken members."""
    async with world(plane) as it:
        papers, stranger = Papers(it, "shop"), Papers(it, "shop")
        await papers.hand_in()
        async with it.operating():
            await it.create(
                "shop",
                replicas=3,
                security={"tls": papers.tls},
                unhealthyMemberGracePeriod="1s",
            )
            await it.ready("shop")
        ids, pods = await member_ids(it, "shop", papers.trust()), uids(await it.pods("shop"))
        right = papers.contents()[secret]
        await change_secret(it, secret, stranger.contents()[secret])
        witness = Witness(it, papers.trust())
        async with it.operating(wrap=witness.between):
            lost = await it.until("shop", is_out_of_reach)
            assert any("TLS" in one.message for one in lost.status.conditions), WRONG[secret]
            await asyncio.sleep(5)  # many times the grace time
            assert set(witness.writes) <= {"patch etcdclusters.etcd.aenix.io/status story/shop"}
            assert uids(await it.pods("shop")) == pods
            assert await member_ids(it, "shop", papers.trust()) == ids
            await change_secret(it, secret, right)
            await it.ready("shop")
        assert uids(await it.pods("shop")) == pods


async def test_7_a_secret_that_goes_away_stops_nobody(plane: str) -> None:
    """Members run on; an operator that cannot ask them any more only says so."""
    async with world(plane) as it:
        papers = Papers(it, "shop")
        await papers.hand_in()
        async with it.operating():
            await it.create("shop", replicas=1, security={"tls": papers.tls})
            before = await it.ready("shop")
        pods = uids(await it.pods("shop"))
        await delete_secret(it, "server-ca")
        await it.edit("shop", options={"max-txn-ops": "256"})  # and there is something to do
        async with it.operating():
            held = await it.until("shop", lambda its: said(its, "Ready")[1] == "SecretMissing")
            assert held.status.cluster_id == before.status.cluster_id
            assert held.status.last_known_members == before.status.last_known_members
            assert uids(await it.pods("shop")) == pods
            await create_secret(it, "server-ca", papers.contents()["server-ca"])
            await it.ready("shop")
        assert uids(await it.pods("shop")) != pods
