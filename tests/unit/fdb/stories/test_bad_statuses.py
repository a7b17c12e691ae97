"""Whatever a database is said to say, nothing is destroyed by it, and the cluster says why.

A group has been excluded and its data has left it; other arguments are wanted, and all have them.
Both a removal and a restart of all processes would be next. Then statuses come that are broken.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from fakes.fdb_statuses import NAMES, document
from fakes.fdb_stories import Story, played, spec

#: What is left out, or is something else, each by itself: neither act can do without any of it.
PARTS = (
    "cluster", "client", "cluster.processes", "cluster.configuration", "cluster.recovery_state",
    "cluster.database_available", "cluster.recovery_state.seconds_since_last_recovered",
    "cluster.recovery_state.active_generations",
    "client.database_status.available",
)  # fmt: skip
NONSENSE: tuple[Any, ...] = (None, "x", [], [None])

Mangle = Callable[[str], str]


def texts() -> Iterator[tuple[str, Mangle]]:
    """Yield what is no JSON, or ends in the middle."""
    yield "nothing", lambda _text: ""
    yield "an empty object", lambda _text: "{}"
    yield "a list", lambda _text: "[]"
    yield "null", lambda _text: "null"
    yield "words", lambda _text: "The database is unavailable; type `status' for more."
    yield "deep", lambda _text: "[" * 100_000
    yield "two", lambda text: text + text
    for tenth in range(1, 10):
        yield f"cut at {tenth}0 %", lambda text, it=tenth: text[: len(text) * it // 10]  # type: ignore[misc]


def parts() -> Iterator[tuple[str, Mangle]]:
    """Yield what lacks a part, or has nonsense there."""
    for path in PARTS:
        yield f"without {path}", lambda text, it=path: without(text, it)  # type: ignore[misc]
        for value in NONSENSE:
            yield (
                f"{path} is {value!r}",
                lambda text, it=path, v=value: without(text, it, v),  # type: ignore[misc]
            )


def processes() -> Iterator[tuple[str, Mangle]]:
    """Yield what says of processes less than it should."""
    for name in ("uptime_seconds", "address", "locality"):
        yield f"processes without {name}", lambda text, it=name: bare(text, it)  # type: ignore[misc]


def others() -> Iterator[tuple[str, Mangle]]:
    """Yield what other databases said, as far as it does not say where they are."""
    for name in NAMES:
        found = document(name)
        found.get("cluster", {}).pop("connection_string", None)
        whole = json.dumps(found)
        yield f"recorded {name}", lambda _text, it=whole: it  # type: ignore[misc]


def without(text: str, path: str, value: Any = ...) -> str:
    """Return a status without a part, or with something else there."""
    tree = json.loads(text)
    *way, last = path.split(".")
    around = tree
    for key in way:
        around = around[key]
    if value is ...:
        around.pop(last, None)
    else:
        around[last] = value
    return json.dumps(tree)


def bare(text: str, name: str) -> str:
    """Return a status in which no process says something."""
    tree = json.loads(text)
    for it in tree["cluster"]["processes"].values():
        it.pop(name, None)
    return json.dumps(tree)


EVERY: dict[str, Mangle] = dict([*texts(), *parts(), *processes(), *others()])


def test_there_are_many() -> None:
    assert len(EVERY) >= 100


def test_by_no_broken_status_anything_is_destroyed() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(processCounts={"stateless": 1, "log": 3, "storage": 4}))
        name = next(one for one in it.groups("storage") if one not in it.coordinators())
        it.change(
            processGroupsToRemove=[name],
            processes={"general": {"customParameters": ["knob_max_trace_lines=1000000"]}},
            minimumUptimeSecondsForBounce=2000,
        )
        await it.until("excluded", lambda: it.watcher.commands[-1].startswith("exclude"))
        it.it.mangle = EVERY["nothing"]
        it.change(minimumUptimeSecondsForBounce=1)
        await it.rest(900)
        before, claims, commands = it.uids(), it.claims(), len(it.watcher.commands)
        deleted = len(it.watcher.deleted_pods)
        wrong = []
        for what, mangle in EVERY.items():
            it.it.mangle = mangle
            await it.rest(45)
            # That a database be as the spec says may be asked of any, and harms none.
            acts = [line for line in it.watcher.commands[commands:] if line[:9] != "configure"]
            if acts or len(it.watcher.deleted_pods) > deleted:
                wrong.append((what, acts))
            commands, deleted = len(it.watcher.commands), len(it.watcher.deleted_pods)
            assert not it.is_reconciled, what
            ready = it.condition("Ready")
            assert ready["status"] == "False", what
            assert ready["message"], what
            assert it.claims() == claims, what
            assert before.items() <= it.uids().items(), what
            assert not it.groups()[name]["spec"].get("excluded"), what
        assert not wrong, "\n".join(map(str, wrong))
        # And all of it was about to be done.
        it.it.mangle = None
        await it.until("gone", lambda: name not in it.pods(), 600)
        await it.until("started anew", lambda: "kill" in str(it.watcher.commands), 600)
        await it.reconciled()

    played(story, whole=False)
