"""Watch: everything that happens after a revision, once, in order, as the watcher's selectors see it."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from contract.backends import PATIENCE, Kube
from contract.widgets import WIDGETS
from contract.words import config_map, key, names, picture, pod, revision, told, whole, widget
from stateward.kube.client import Apply, Change, MergePatch, Selection
from stateward.kube.errors import BadRequest, Gone, ServerFailed
from stateward.kube.meta import Object, is_newer
from stateward.kube.resources import CONFIG_MAPS, PODS


async def create(kube: Kube, name: str, **metadata: Any) -> Object:
    return await kube.client.create(CONFIG_MAPS, config_map(kube, name, **metadata))


async def change(kube: Kube, name: str, **metadata: Any) -> Object:
    body = {"metadata": metadata} if metadata else {"data": {"changed": name}}
    return await kube.client.patch(CONFIG_MAPS, key(kube, name), MergePatch(body))


async def delete(kube: Kube, name: str, resource: Any = CONFIG_MAPS) -> None:
    it = await kube.client.get(resource, key(kube, name))
    await kube.client.delete(resource, it.metadata.key, uid=it.metadata.uid)


async def last(kube: Kube, **metadata: Any) -> str:
    """Make the last thing happen that a watcher will be told of."""
    await create(kube, "zz-last", **metadata)
    await delete(kube, "zz-last")
    return "zz-last"


async def test_a_life(kube: Kube) -> None:
    since = await revision(kube)
    await create(kube, "a")
    await change(kube, "a")
    await delete(kube, "a")

    events = await told(kube, since, last=await last(kube))

    assert picture(events) == ["ADDED a", "MODIFIED a", "DELETED a"]


async def test_what_was_there_before_is_not_told(kube: Kube) -> None:
    await create(kube, "a")
    since = await revision(kube)
    await create(kube, "b")

    events = await told(kube, since, last=await last(kube))

    assert picture(events) == ["ADDED b"]


async def test_everything_is_told_in_the_order_in_which_it_happened(kube: Kube) -> None:
    since = await revision(kube)
    for name in "cab":
        await create(kube, name)
    for name in "bca":
        await change(kube, name)
    await delete(kube, "b")
    await create(kube, "b")

    events = await told(kube, since, last=await last(kube))

    assert picture(events) == [
        *("ADDED c", "ADDED a", "ADDED b"),
        *("MODIFIED b", "MODIFIED c", "MODIFIED a"),
        *("DELETED b", "ADDED b"),
    ]
    revisions = [event.revision for event in events]
    assert revisions == sorted(set(revisions), key=int)


async def test_an_event_carries_the_object_of_that_moment(kube: Kube) -> None:
    since = await revision(kube)
    made = await create(kube, "a")
    changed = await change(kube, "a")

    events = await told(kube, since, last=await last(kube))

    assert [event.object for event in events] == [made, changed]
    assert [e.revision for e in events] == [e.object.metadata.resource_version for e in events]


async def test_the_end_of_an_object_is_newer_than_all_its_versions(kube: Kube) -> None:
    since = await revision(kube)
    made = await create(kube, "a", labels={"x": "1"})
    await delete(kube, "a")

    gone = (await told(kube, since, last=await last(kube)))[-1]

    assert gone.change is Change.DELETED
    assert gone.object.metadata.uid == made.metadata.uid
    assert gone.object.metadata.labels == {"x": "1"}
    assert is_newer(gone.revision, than=made.metadata.resource_version)


async def test_letting_go_is_the_end(kube: Kube) -> None:
    since = await revision(kube)
    await create(kube, "a", finalizers=["example.com/hold"])
    await delete(kube, "a")
    await change(kube, "a", finalizers=None)

    events = await told(kube, since, last=await last(kube))

    assert picture(events) == ["ADDED a", "MODIFIED a", "DELETED a"]
    assert [e.object.metadata.deleting for e in events] == [False, True, True]
    # It is shown as it was last kept, with what held it.
    assert events[-1].object.metadata.finalizers == ("example.com/hold",)


async def test_a_watch_goes_on_from_any_event(kube: Kube) -> None:
    since = await revision(kube)
    for name in "abc":
        await create(kube, name)
    end = await last(kube)

    first, *_ = await told(kube, since, last=end)
    rest = await told(kube, first.revision, last=end)

    assert picture(rest) == ["ADDED b", "ADDED c"]


async def test_what_writes_nothing_tells_nothing(kube: Kube) -> None:
    since = await revision(kube)
    await create(kube, "a", labels={"x": "1"})
    await change(kube, "a", labels={"x": "1"})
    body = config_map(kube, "a", labels={"x": "1"})
    await kube.rival.update(CONFIG_MAPS, body)

    events = await told(kube, since, last=await last(kube))

    assert picture(events) == ["ADDED a"]


async def test_a_watch_begun_before_a_write_sees_it(kube: Kube) -> None:
    since = await revision(kube)
    stream = kube.client.watch(CONFIG_MAPS, Selection(kube.namespace), since=since)

    async with asyncio.timeout(PATIENCE), aclosing(stream):
        waiting = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0.01)
        made = await create(kube, "a")
        event = await waiting

    assert (event.change, event.object) == (Change.ADDED, made)


async def test_two_watchers_are_told_the_same(kube: Kube) -> None:
    since = await revision(kube)
    for name in "ab":
        await create(kube, name)
    end = await last(kube)

    one, two = await asyncio.gather(*(told(kube, since, last=end) for _ in range(2)))

    assert one == two


async def test_other_namespaces_are_not_told(kube: Kube) -> None:
    since = await revision(kube)
    where = {"namespace": kube.elsewhere, "name": "a"}
    await kube.client.create(CONFIG_MAPS, {"metadata": where})

    assert await told(kube, since, last=await last(kube)) == []


async def test_other_kinds_are_not_told(kube: Kube) -> None:
    since = await revision(kube)
    await kube.client.create(WIDGETS, widget(kube, "a"))

    assert await told(kube, since, last=await last(kube)) == []


async def test_who_begins_and_ceases_to_match_comes_and_goes(kube: Kube) -> None:
    since = await revision(kube)
    await create(kube, "a", labels={"in": "no"})
    await change(kube, "a", labels={"in": "yes"})
    await change(kube, "a", labels={"in": "yes", "more": "1"})
    out = await change(kube, "a", labels={"in": "no"})
    await delete(kube, "a")

    events = await told(kube, since, labels="in=yes", last=await last(kube, labels={"in": "yes"}))

    assert picture(events) == ["ADDED a", "MODIFIED a", "DELETED a"]
    # The watcher is shown what it knew, as of the moment at which it ceased to match.
    assert events[-1].object.metadata.labels == {"in": "yes", "more": "1"}
    assert events[-1].revision == out.metadata.resource_version


async def test_fields_select_too(kube: Kube) -> None:
    since = await revision(kube, PODS)
    for name in ("a", "b"):
        await kube.client.create(PODS, pod(kube, name))
    running = MergePatch({"status": {"phase": "Running"}})
    await kube.client.patch(PODS, key(kube, "b"), running, subresource="status")
    await kube.client.create(PODS, pod(kube, "z"))
    await delete(kube, "z", PODS)

    events = await told(kube, since, resource=PODS, fields="status.phase=Pending", last="z")

    assert picture(events) == ["ADDED a", "ADDED b", "DELETED b"]


async def test_one_name(kube: Kube) -> None:
    since = await revision(kube)
    await create(kube, "a")
    await create(kube, "b")
    await delete(kube, "b")
    await change(kube, "a")
    await delete(kube, "a")

    async with (
        asyncio.timeout(PATIENCE),
        aclosing(
            kube.client.watch(
                CONFIG_MAPS, Selection(kube.namespace, fields="metadata.name=a"), since=since
            )
        ) as stream,
    ):
        events = [await anext(stream) for _ in range(3)]

    assert picture(events) == ["ADDED a", "MODIFIED a", "DELETED a"]


async def test_status_and_apply_are_told_like_any_write(kube: Kube) -> None:
    since = await revision(kube, WIDGETS)
    where = key(kube, "a")
    await kube.client.patch(WIDGETS, where, Apply(widget(kube, "a", {"size": 1}), "us"))
    ready = MergePatch({"status": {"phase": "Ready"}})
    await kube.client.patch(WIDGETS, where, ready, subresource="status")
    await kube.client.create(WIDGETS, widget(kube, "z"))
    await delete(kube, "z", WIDGETS)

    events = await told(kube, since, resource=WIDGETS, last="z")

    assert [(e.change.value, e.object.status) for e in events] == [
        ("ADDED", {}),
        ("MODIFIED", {"phase": "Ready"}),
    ]


async def test_from_zero_a_watch_begins_with_what_is_there(kube: Kube) -> None:
    for name in "ba":
        await create(kube, name)
    await change(kube, "a")
    assert await names(kube) == [
        "a",
        "b",
    ]  # a read that sees all, so that the server's cache does too
    await last(kube)

    end = await create(kube, "zz-later")
    watching = asyncio.ensure_future(
        told(kube, "0", last="zz-later", fields="metadata.name!=kube-root-ca.crt")
    )
    await asyncio.sleep(0.01)
    await change(kube, "b")
    await kube.client.delete(CONFIG_MAPS, end.metadata.key, uid=end.metadata.uid)
    events = await watching

    assert sorted(picture(events)) in (
        ["ADDED a", "ADDED b", "MODIFIED b"],
        ["ADDED a", "ADDED b"],  # the change came before the watch
    )


async def test_a_revision_of_the_future_is_waited_for(kube: Kube) -> None:
    made = await create(kube, "a")
    later = str(int(made.metadata.resource_version) + 1)
    stream = kube.client.watch(CONFIG_MAPS, Selection(kube.namespace), since=later)

    async with asyncio.timeout(PATIENCE), aclosing(stream):
        waiting = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0.01)
        seen = made
        while not waiting.done():
            seen = await kube.client.patch(
                CONFIG_MAPS,
                key(kube, "a"),
                MergePatch({"data": {"n": seen.metadata.resource_version}}),
            )
            await asyncio.sleep(0.01)
        event = await waiting

    assert is_newer(event.revision, than=later)


async def test_a_revision_that_is_forgotten_is_gone(kube: Kube) -> None:
    since = await kube.forgotten(WIDGETS)

    async with asyncio.timeout(PATIENCE):
        stream = kube.client.watch(WIDGETS, Selection(kube.namespace), since=since)
        async with aclosing(stream):
            with pytest.raises(Gone):
                await anext(stream)


async def test_a_revision_that_is_none(kube: Kube) -> None:
    async with aclosing(kube.client.watch(CONFIG_MAPS, since="yesterday")) as stream:
        with pytest.raises(ServerFailed):
            await anext(stream)


async def test_selectors_that_cannot_be_asked(kube: Kube) -> None:
    since = await revision(kube)
    for chosen in (Selection(fields="data.x=1"), Selection(labels="===")):
        async with aclosing(kube.client.watch(CONFIG_MAPS, chosen, since=since)) as stream:
            with pytest.raises(BadRequest):
                await anext(stream)


async def test_a_list_and_a_watch_from_it_miss_nothing(kube: Kube) -> None:
    await create(kube, "a")
    listed = await kube.client.list(whole(CONFIG_MAPS), Selection(kube.namespace))
    await change(kube, "a")
    await create(kube, "b")
    await delete(kube, "a")

    known = {it.metadata.name: it for it in listed.items}
    for event in await told(
        kube, listed.revision, resource=whole(CONFIG_MAPS), last=await last(kube)
    ):
        known[event.object.metadata.name] = event.object
        if event.change is Change.DELETED:
            del known[event.object.metadata.name]

    now = await kube.client.list(whole(CONFIG_MAPS), Selection(kube.namespace))
    present = {it.metadata.name: it for it in now.items}
    for cluster_own in (known, present):
        cluster_own.pop("kube-root-ca.crt", None)
    assert known == present
    assert set(known) == {"b"}
