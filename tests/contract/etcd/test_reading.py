"""What members say of themselves and of each other."""

from __future__ import annotations

import pytest

from contract.etcd.stage import SHORT, hung, speaking
from stateward.etcd.members.calls import Deadlines
from stateward.etcd.members.errors import NoQuorum


async def test_all_members_name_the_same_cluster_and_leader(trio, way):
    async with speaking(trio, way) as voice:
        said = [await voice[name].status() for name in "abc"]
        ids = await voice.ids()

    assert [it.member_id for it in said] == [ids[name] for name in "abc"]
    assert len({it.cluster_id for it in said}) == 1
    assert {it.leader for it in said} <= set(ids.values())
    assert len({it.leader for it in said}) == 1


async def test_a_status_tells_version_size_and_progress(trio, way, release):
    async with speaking(trio, way) as voice:
        said = await voice["a"].status()

    assert said.version == release.version
    assert said.db_size >= said.db_size_in_use > 0
    assert said.raft_index >= said.raft_applied_index > 0
    assert (said.raft_term > 0, said.revision > 0) == (True, True)
    assert (said.learner, said.errors) == (False, ())
    assert (said.db_size_quota > 0) == release.version.startswith("3.6.")


async def test_the_list_names_every_member_with_its_addresses(trio, way):
    async with speaking(trio, way) as voice:
        listed = await voice["b"].members()
        status = await voice["b"].status()

    assert listed.cluster_id == status.cluster_id
    assert {it.name: (it.peer_urls, it.learner, it.started) for it in listed.members} == {
        name: ((trio[name].peer_url,), False, True) for name in "abc"
    }
    assert {it.client_urls for it in listed.members} == {
        (f"http://{trio[name].address}:{trio[name].client_port}",) for name in "abc"
    }


async def test_both_ways_say_the_same(trio):
    async with speaking(trio, "grpc") as one, speaking(trio, "gateway") as other:
        said = [await it["c"].members() for it in (one, other)]
        states = [await it["c"].status() for it in (one, other)]

    assert said[0] == said[1]
    assert states[0].member_id == states[1].member_id
    assert states[0].version == states[1].version
    assert states[0].leader == states[1].leader


async def test_without_a_quorum_only_what_needs_none_is_answered(trio, way):
    async with speaking(trio, way, Deadlines(reads=0.8, keys=0.8)) as voice:
        before = await voice["a"].members()
        async with hung(trio["b"], trio["c"]):
            status = await voice["a"].status()
            known = await voice["a"].members(linearizable=False)
            with pytest.raises(NoQuorum):
                await voice["a"].members()
            with pytest.raises(NoQuorum):
                await voice["a"].get(b"anything")

    assert status.member_id in {it.id for it in known.members}
    assert known == before


async def test_nobody_must_log_in_at_first(trio, way):
    async with speaking(trio, way, SHORT) as voice:
        assert await voice["a"].auth_enabled() is False
