"""The recorder: what reaches the API, how often, and what happens when it does not."""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from fakes.hand_clock import HandClock
from stateward.core.errors import OutcomeUnknown, PeerUnreachable
from stateward.kube import codec
from stateward.kube.client import MergePatch, Patch
from stateward.kube.codec import Body, Json
from stateward.kube.errors import AlreadyExists, NotFound
from stateward.kube.meta import ObjectKey, ObjectMeta
from stateward.kube.resources import EVENTS, NODES, PODS, Resource
from stateward.runtime.telling import logs
from stateward.runtime.telling.metrics import Metrics
from stateward.runtime.telling.recorder import EventType, Limits, ObjectReference, Recorder

ORDERS = ObjectReference("etcd.aenix.io/v1alpha1", "EtcdCluster", "shop", "orders", "u-1")
NORMAL, WARNING = EventType.NORMAL, EventType.WARNING


@dataclass
class Events:
    """A writer that keeps events as the API server does, and every call as we made it."""

    kept: dict[ObjectKey, Json] = field(default_factory=dict)
    calls: list[tuple[str, ObjectKey, Json]] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)

    async def create(self, resource: Resource[Any], body: Body, *, dry_run: bool = False) -> Any:
        document = codec.plain(body)
        key = ObjectKey(document["metadata"]["namespace"], document["metadata"]["name"])
        await self._called("create", key, document)
        if key in self.kept:
            raise AlreadyExists(f"{key} already exists")
        return self._keep(resource, key, document)

    async def patch(
        self,
        resource: Resource[Any],
        key: ObjectKey,
        patch: Patch,
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> Any:
        assert isinstance(patch, MergePatch)
        await self._called("patch", key, patch.body)
        if key not in self.kept:
            raise NotFound(f"no event {key}")
        return self._keep(resource, key, {**self.kept[key], **patch.body})

    @property
    def verbs(self) -> str:
        """``c`` for a create, ``p`` for a patch, in order."""
        return "".join(verb[0] for verb, _, _ in self.calls)

    @property
    def counts(self) -> dict[str, int]:
        return {event["message"]: event["count"] for event in self.kept.values()}

    async def _called(self, verb: str, key: ObjectKey, body: Json) -> None:
        self.calls.append((verb, key, body))
        await asyncio.sleep(0)
        if self.failures:
            raise self.failures.pop(0)

    def _keep(self, resource: Resource[Any], key: ObjectKey, document: Json) -> Any:
        assert resource is EVENTS
        self.kept[key] = document
        return codec.decode(codec.encode(document), resource.type)


class Desk:
    """A recorder with everything around it."""

    def __init__(self, events: Events | None = None, **limits: Any) -> None:
        self.clock = HandClock()
        self.events = events or Events()
        self.metrics = Metrics(self.clock)
        self.recorder = Recorder(
            self.events,
            self.clock,
            "stateward",
            self.metrics.events(),
            instance="stateward-0",
            limits=Limits(**limits),
        )

    async def tell(
        self, *messages: str, about: ObjectReference = ORDERS, kind: EventType = NORMAL
    ) -> None:
        for message in messages:
            await self.recorder.tell(about, kind, "MemberAdded", message)

    def counted(self, series: str) -> float:
        text = self.metrics.render()[0].decode()
        found = re.search(rf"^{re.escape(series)} (\S+)$", text, re.MULTILINE)
        return float(found[1]) if found else 0


@pytest.fixture(autouse=True)
def said() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    logs.configure(stream, json=True, level="info", clock=HandClock())
    yield stream
    logs.reset()


async def test_an_event_as_kubernetes_wants_it() -> None:
    desk = Desk()
    await desk.recorder.tell(ORDERS, WARNING, "MemberLost", "orders-2 is gone")
    ((verb, key, body),) = desk.events.calls
    assert (verb, key.namespace) == ("create", "shop")
    assert re.fullmatch(r"orders\.[0-9a-f]{16}", key.name)
    assert body == {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": key.name, "namespace": "shop"},
        "involvedObject": {
            "apiVersion": "etcd.aenix.io/v1alpha1",
            "kind": "EtcdCluster",
            "namespace": "shop",
            "name": "orders",
            "uid": "u-1",
        },
        "type": "Warning",
        "reason": "MemberLost",
        "message": "orders-2 is gone",
        "source": {"component": "stateward"},
        "reportingComponent": "stateward",
        "reportingInstance": "stateward-0",
        "firstTimestamp": "2023-11-14T22:13:20Z",
        "lastTimestamp": "2023-11-14T22:13:20Z",
        "count": 1,
    }
    assert desk.counted('stateward_events_total{reason="MemberLost",type="Warning"}') == 1


async def test_the_same_again_is_counted_on_the_same_event() -> None:
    desk = Desk()
    await desk.tell("a")
    desk.clock.advance(599)
    await desk.tell("a")
    assert desk.events.calls[1] == (
        "patch",
        desk.events.calls[0][1],
        {"count": 2, "lastTimestamp": "2023-11-14T22:23:19Z"},
    )
    assert desk.events.counts == {"a": 2}


@pytest.mark.parametrize(
    ("about", "kind", "message"),
    [
        (ORDERS, NORMAL, "b"),
        (ORDERS, WARNING, "a"),
        (ObjectReference("v1", "Pod", "shop", "orders", "u-2"), NORMAL, "a"),
    ],
    ids=["message", "type", "object"],
)
async def test_what_differs_is_another_event(
    about: ObjectReference, kind: EventType, message: str
) -> None:
    desk = Desk()
    await desk.tell("a")
    await desk.tell(message, about=about, kind=kind)
    assert desk.events.verbs == "cc"
    assert len(desk.events.kept) == 2


async def test_after_the_window_we_do_not_rely_on_our_memory() -> None:
    desk = Desk()
    await desk.tell("a")
    desk.clock.advance(601)
    await desk.tell("a")
    assert desk.events.verbs == "ccpp"  # it is still there, so its count goes on
    assert desk.events.counts == {"a": 2}
    desk.clock.advance(601)
    desk.events.kept.clear()
    await desk.tell("a")
    assert desk.events.counts == {"a": 1}


async def test_a_restarted_operator_finds_its_events() -> None:
    events = Events()
    await Desk(events).tell("a", "a", "a")
    again = Desk(events)
    again.clock.advance(60)
    await again.tell("a", "a")
    assert events.verbs == "cpp" + "cpp" + "p"
    assert events.counts == {"a": 5}
    (event,) = events.kept.values()
    assert event["lastTimestamp"] == "2023-11-14T22:14:20Z"


async def test_an_event_that_has_expired_is_created_anew() -> None:
    desk = Desk()
    await desk.tell("a", "a")
    desk.events.kept.clear()
    await desk.tell("a", "a")
    assert desk.events.verbs == "cp" + "pc" + "p"
    assert desk.events.counts == {"a": 2}


async def test_many_messages_end_in_one_event() -> None:
    desk = Desk(messages=3)
    await desk.tell("a", "b", "c", "d", "e", "a", "f")
    assert desk.events.verbs == "ccc" + "c" + "p" + "p" + "p"
    assert desk.events.counts == {"a": 2, "b": 1, "c": 1, "(combined) f": 3}
    await desk.recorder.tell(ORDERS, NORMAL, "Other", "g")  # another reason is not concerned
    assert desk.events.counts["g"] == 1
    desk.clock.advance(601)
    await desk.tell("h")  # after some silence we start anew
    assert desk.events.counts["h"] == 1


async def test_an_object_has_its_fill() -> None:
    desk = Desk(burst=3, refill=300)
    await desk.tell("a", "b", "c", "d", "e")
    assert set(desk.events.counts) == set("abc")
    assert desk.counted('stateward_events_lost_total{why="throttled"}') == 2
    await desk.tell("x", about=ObjectReference("v1", "Pod", "shop", "p", "u-9"))
    desk.clock.advance(300)
    await desk.tell("f", "g")
    assert set(desk.events.counts) == set("abcxf")
    desk.clock.advance(86_400)  # no more than a burst is saved up
    await desk.tell(*"hijklm")
    assert len(desk.events.counts) == 5 + 3


async def test_the_default_burst() -> None:
    desk = Desk()
    await desk.tell(*(["a"] * 40))
    assert desk.events.counts == {"a": 25}


async def test_telling_at_the_same_time_counts_every_one() -> None:
    desk = Desk()
    await asyncio.gather(*(desk.tell("a") for _ in range(5)))
    assert desk.events.verbs == "cpppp"
    assert desk.events.counts == {"a": 5}


@pytest.mark.parametrize("failure", [PeerUnreachable("no answer"), ValueError("a bug")])
async def test_failures_reach_the_log_and_not_the_caller(
    failure: Exception, said: io.StringIO
) -> None:
    desk = Desk()
    desk.events.failures = [failure]
    await desk.tell("a is lost")
    assert desk.counted('stateward_events_lost_total{why="failed"}') == 1
    (line,) = [json.loads(line) for line in said.getvalue().splitlines()]
    assert (line["event"], line["about"], line["message"]) == (
        "an event could not be told",
        "EtcdCluster shop/orders",
        "a is lost",
    )
    assert str(failure) in line.get("error", "") + line.get("exception", "")
    await desk.tell("a is lost")
    assert desk.events.counts == {"a is lost": 1}


async def test_an_unknown_result_is_never_counted_twice() -> None:
    desk = Desk()
    await desk.tell("a")
    desk.events.failures = [OutcomeUnknown("cut off")]
    await desk.tell("a")
    await desk.tell("a")
    assert [body.get("count") for _, _, body in desk.events.calls] == [1, 2, 2]


async def test_cancelling_the_caller_is_not_swallowed() -> None:
    desk = Desk()
    task = asyncio.create_task(desk.tell("a"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await desk.tell("a")
    assert desk.events.counts == {"a": 1}


async def test_objects_without_namespace_are_told_about_in_default() -> None:
    desk = Desk()
    node = ObjectReference.of(NODES, ObjectMeta(name="n1", uid="u-n"))
    await desk.tell("a", about=node)
    (event,) = desk.events.kept.values()
    assert event["metadata"]["namespace"] == "default"
    assert event["involvedObject"] == {
        "apiVersion": "v1",
        "kind": "Node",
        "name": "n1",
        "uid": "u-n",
    }


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("orders", "orders"),
        ("a.b-c", "a.b-c"),
        ("system:Node", "system-node"),
        ("a..b", "a-b"),
        ("___", "object"),
        ("x" * 253, "x" * 236),
        ("x" * 235 + ".y" * 9, "x" * 235),
    ],
)
async def test_names_are_valid_whatever_the_object_is_called(name: str, stem: str) -> None:
    desk = Desk()
    await desk.tell("a", about=ObjectReference.of(PODS, ObjectMeta(name=name, namespace="n")))
    ((_, key, _),) = desk.events.calls
    assert key.name.rpartition(".")[0] == stem
    assert len(key.name) <= 253
    assert re.fullmatch(
        r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", key.name
    )


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("x" * 1024, "x" * 1024),
        ("x" * 1025, "x" * 1021 + "..."),
        ("ä" * 600, "ä" * 510 + "..."),  # the API counts bytes
        ("sent Bearer abcdef", "sent Bearer ***"),
    ],
)
async def test_messages_are_short_and_clean(message: str, shown: str) -> None:
    desk = Desk()
    await desk.tell(message)
    assert list(desk.events.counts) == [shown]


async def test_memory_is_bounded() -> None:
    desk = Desk(remembered=10)
    for n in range(100):
        await desk.tell("a", about=ObjectReference("v1", "Pod", "shop", f"p{n}", f"u{n}"))
    recorder = desk.recorder
    assert [len(m) for m in (recorder._allowances, recorder._reasons, recorder._events)] == [10] * 3
