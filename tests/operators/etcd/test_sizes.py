"""Real members come and go, one at a time, and nothing that was acknowledged is lost."""

from __future__ import annotations

from operators.etcd.worlds import said, world


async def test_three_five_one_none_and_three_again(plane: str) -> None:
    async with world(plane) as it, it.operating():
        await it.create("shop", replicas=3)
        await it.ready("shop")
        async with it.writing("shop") as writer:
            for size in (5, 1):
                await it.edit("shop", replicas=size)
                found = await it.ready("shop")
                assert found.status.replicas == size
        await it.edit("shop", replicas=0)
        asleep = await it.ready("shop")
        assert said(asleep, "Available") == ("False", "Asleep")
        assert [it.metadata.name for it in await it.claims("shop")] == ["data-shop-0"]
        await it.edit("shop", replicas=3)
        awake = await it.ready("shop")
        assert awake.status.cluster_id == asleep.status.cluster_id
        async with it.writing("shop") as reader:
            reader._kept = writer._kept
            assert await reader.lost() == []
        assert writer.acknowledged > 50
