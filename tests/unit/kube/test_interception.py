"""Every call passes through one place, unchanged unless the interceptor wants it otherwise."""

from __future__ import annotations

from types import MappingProxyType

import pytest

from stateward.core.errors import PeerUnreachable
from stateward.kube.client import (
    Change,
    LogOptions,
    Malformed,
    MergePatch,
    Propagation,
    Read,
    Selection,
    WatchEvent,
)
from stateward.kube.interception import Call, InterceptedClient, PassThrough, key_of
from stateward.kube.meta import ObjectKey, ObjectMeta
from stateward.kube.objects.configs import ConfigMap
from stateward.kube.resources import CONFIG_MAPS, PODS

pytestmark = pytest.mark.virtual

KEY = ObjectKey("ns", "a")
BODY = {"metadata": {"namespace": "ns", "name": "a"}}
PATCH = MergePatch({"data": {"x": "1"}})
PART = Selection("ns", labels="x=y")


class Inner:
    """A client that answers every call with what it was asked."""

    def __getattr__(self, verb: str):
        async def answer(*args, **options):
            return verb, args, options

        async def stream(*args, **options):
            yield verb, args, options

        return stream if verb in {"watch", "log"} else answer


class Diary(PassThrough):
    """An interceptor that writes down the calls."""

    def __init__(self, name: str = "", lines: list[str] | None = None) -> None:
        self.name = name
        self.lines = [] if lines is None else lines
        self.calls: list[Call] = []

    async def around(self, call, perform):
        self.calls.append(call)
        self.lines.append(f"{self.name}>")
        result = await perform()
        self.lines.append(f"<{self.name}")
        return result


#: Which call it is, with what arguments it is made, and how the interceptor sees it.
CALLS = [
    ("get", (CONFIG_MAPS, KEY), {}, Call("get", CONFIG_MAPS, KEY)),
    (
        "list",
        (CONFIG_MAPS, PART),
        {"read": Read.CACHE},
        Call("list", CONFIG_MAPS, ObjectKey("ns", "")),
    ),
    (
        "create",
        (CONFIG_MAPS, BODY),
        {"dry_run": False},
        Call("create", CONFIG_MAPS, KEY, body=BODY),
    ),
    (
        "create",
        (CONFIG_MAPS, BODY),
        {"dry_run": True},
        Call("create", CONFIG_MAPS, KEY, body=BODY, dry_run=True),
    ),
    (
        "update",
        (CONFIG_MAPS, BODY),
        {"subresource": "status", "dry_run": True},
        Call("update", CONFIG_MAPS, KEY, "status", BODY, dry_run=True),
    ),
    (
        "patch",
        (CONFIG_MAPS, KEY, PATCH),
        {"subresource": "status", "dry_run": True},
        Call("patch", CONFIG_MAPS, KEY, "status", PATCH, dry_run=True),
    ),
    (
        "delete",
        (CONFIG_MAPS, KEY),
        {
            "uid": "u",
            "resource_version": "7",
            "propagation": Propagation.ORPHAN,
            "grace_seconds": 3,
            "dry_run": True,
        },
        Call("delete", CONFIG_MAPS, KEY, uid="u", dry_run=True),
    ),
    (
        "evict",
        (KEY,),
        {"uid": "u", "grace_seconds": 3},
        Call("evict", PODS, KEY, "eviction", uid="u"),
    ),
    ("bind", (KEY, "n1"), {"uid": "u"}, Call("bind", PODS, KEY, "binding", uid="u")),
]


@pytest.mark.parametrize(("verb", "args", "options", "seen"), CALLS)
async def test_a_call_is_seen_and_performed_as_it_was_made(verb, args, options, seen):
    diary = Diary()
    result = await getattr(InterceptedClient(Inner(), diary), verb)(*args, **options)

    assert diary.calls == [seen]
    # These are answered by a nod.
    assert result == (None if verb in {"delete", "evict", "bind"} else (verb, args, options))


@pytest.mark.parametrize(
    ("call", "writes"),
    [
        (Call("get", PODS, KEY), False),
        (Call("list", PODS, KEY), False),
        (Call("watch", PODS, KEY), False),
        (Call("log", PODS, KEY), False),
        (Call("create", PODS, KEY), True),
        (Call("update", PODS, KEY), True),
        (Call("patch", PODS, KEY), True),
        (Call("delete", PODS, KEY), True),
        (Call("evict", PODS, KEY), True),
        (Call("a verb to come", PODS, KEY), True),
        (Call("delete", PODS, KEY, dry_run=True), False),
    ],
    ids=str,
)
async def test_what_counts_as_a_write(call, writes):
    assert call.writes is writes


async def test_a_call_reads_like_a_sentence():
    assert str(Call("evict", PODS, KEY, "eviction")) == "evict pods/eviction ns/a"
    assert str(Call("list", PODS, ObjectKey("", ""))) == "list pods "


async def test_the_interceptor_may_refuse():
    class Refuse(PassThrough):
        async def around(self, call, perform):
            raise PeerUnreachable("the dead reach nobody")

    with pytest.raises(PeerUnreachable):
        await InterceptedClient(Inner(), Refuse()).get(PODS, KEY)


async def test_interceptors_nest_like_onions():
    lines: list[str] = []
    inner = InterceptedClient(Inner(), Diary("inner", lines))
    await InterceptedClient(inner, Diary("outer", lines)).get(PODS, KEY)

    assert lines == ["outer>", "inner>", "<inner", "<outer"]


async def test_watches_and_logs_come_as_they_are_unless_somebody_wants_otherwise():
    client = InterceptedClient(Inner(), Diary())
    options = LogOptions(container="c")

    assert [e async for e in client.watch(PODS, PART, since="5")] == [
        ("watch", (PODS, PART), {"since": "5"})
    ]
    assert [chunk async for chunk in client.log(KEY, options)] == [("log", (KEY, options), {})]


async def test_the_interceptor_may_change_a_watch():
    bookmark = WatchEvent(Change.BOOKMARK, Malformed(ObjectMeta(), ""), "9")
    seen: list[str] = []

    class Prepend(Diary):
        async def around_watch(self, call, events):
            seen.append(str(call))
            yield bookmark
            async for event in events:
                yield event

    events = InterceptedClient(Inner(), Prepend()).watch(PODS, PART, since="5")

    assert [await anext(events), await anext(events)] == [
        bookmark,
        ("watch", (PODS, PART), {"since": "5"}),
    ]
    assert seen == ["watch pods ns/"]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (BODY, KEY),
        (MappingProxyType(BODY), KEY),
        (ConfigMap(metadata=ObjectMeta(namespace="ns", name="a")), KEY),
        (ConfigMap(), ObjectKey("", "")),
        ({"metadata": ObjectMeta(namespace="ns", name="a"), "data": {}}, KEY),
        ({"metadata": {"name": "a"}}, ObjectKey("", "a")),
        ({"metadata": {"namespace": "ns", "generateName": "a-"}}, ObjectKey("ns", "")),
        ({"metadata": None}, ObjectKey("", "")),
        ({}, ObjectKey("", "")),
    ],
)
async def test_where_a_body_says_that_it_belongs(body, where):
    assert key_of(body) == where
