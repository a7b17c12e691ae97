"""`stateward why`: the screen, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stateward.app.views.finding import Found
from stateward.app.views.story import Story, story_of
from stateward.app.views.told import Told
from stateward.cli.commands import why
from stateward.cli.main import main
from stateward.cli.render.why import screen
from stateward.core.errors import PeerUnreachable
from stateward.core.moments import from_rfc3339
from stateward.kube.codec import decode, encode

NOW = from_rfc3339("2026-03-01T12:00:00Z")
TAKEN, OVER = "2026-03-01T11:56:00Z", "2026-03-01T12:06:00Z"
KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: here, user: me, namespace: trade}}]
clusters: [{name: here, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: me, user: {}}]
"""
WAITING = {
    "observedGeneration": 2,
    "doing": "waiting for the lock of the database, which 'dc2' has",
    "conditions": [
        {
            "type": "Ready",
            "status": "False",
            "reason": "Reconciling",
            "message": "waiting for the lock",
            "lastTransitionTime": "2026-03-01T09:56:56Z",
        },
        {"type": "Available", "status": "True"},
    ],
    "blockers": [
        {
            "step": "ExcludeProcesses",
            "guard": "turn_is_ours",
            "message": "to exclude processes needs the lock of the database, which 'dc2' has",
            "hint": "set the clocks right",
            "since": "2026-03-01T11:56:48Z",
        },
        {"step": "AddPods", "guard": "AddPods"},
    ],
    "locks": {
        "holder": "dc2",
        "since": TAKEN,
        "until": OVER,
        "lockDenyList": ["dc3", "dc4"],
    },
    "synchronization": {"name": "dc1", "waitingFor": ["dc2-log-1"], "silent": ["dc3"]},
}
AT_REST = {
    "observedGeneration": 2,
    "doing": "nothing to do",
    "conditions": [{"type": "Ready", "status": "True"}],
}


def found(status: dict[str, Any]) -> Found:
    metadata = {"name": "shop", "namespace": "trade", "generation": 2}
    body = {"metadata": metadata, "status": status}
    return Found("FoundationDBCluster", decode(encode(body), Told))


def lines(status: dict[str, Any]) -> list[str]:
    return [line.plain for line in screen(story_of(found(status)), NOW)]


def test_the_screen_of_one_that_waits() -> None:
    assert lines(WAITING) == [
        "… FoundationDBCluster trade/shop: waiting for the lock of the database, which 'dc2' has",
        "  ✖ ExcludeProcesses: turn_is_ours, for 3m12s",
        "      to exclude processes needs the lock of the database, which 'dc2' has",
        "      → set the clocks right",
        "  ✖ AddPods",
        "  Ready=False Reconciling, for 2h3m: waiting for the lock",
        f"  lock of the database: dc2, since {TAKEN}, until {OVER} (6m left); denied: dc3, dc4",
        "  other operators: waiting for dc2-log-1; nothing is heard of dc3",
    ]


def test_the_screen_of_one_at_rest() -> None:
    assert lines(AT_REST) == ["✔ FoundationDBCluster trade/shop: nothing to do"]


@pytest.mark.parametrize(
    ("locks", "said"),
    [
        ({"holder": "dc2", "until": "2026-03-01T11:00:00Z"},
         "dc2, until 2026-03-01T11:00:00Z (over: whoever needs it takes it)"),
        ({"lockDenyList": ["dc3"]}, "free; denied: dc3"),
        ({"holder": "dc2", "until": "soon"}, "dc2, until soon"),
    ],
)  # fmt: skip
def test_the_lock_is_told(locks: dict[str, Any], said: str) -> None:
    assert lines({**AT_REST, "locks": locks})[-1] == f"  lock of the database: {said}"


def test_one_of_whom_nobody_told() -> None:
    assert lines({})[-1] == (
        "  no operator has told of it yet: one must run, and watch this namespace"
    )


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Found | Exception]:
    """What the cluster has, in place of asking one."""
    (tmp_path / "config").write_text(KUBECONFIG)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    there: list[Found | Exception] = []

    async def ask(*_: object) -> tuple[Found, ...]:
        for it in there:
            if isinstance(it, Exception):
                raise it
        return tuple(it for it in there if isinstance(it, Found))

    monkeypatch.setattr(why, "ask", ask)
    return there


def test_it_ends_with_3_while_something_is_waited_for(answers: list, capsys) -> None:
    answers += [found(AT_REST)]
    assert main(["why", "fdb/shop"]) == 0
    answers += [found(WAITING)]
    assert main(["why", "shop"]) == 3
    assert "✖ ExcludeProcesses: turn_is_ours, for " in capsys.readouterr().out


def test_programs_read_the_same(answers: list, capsys) -> None:
    answers += [found(WAITING)]
    assert main(["why", "shop", "-o", "json"]) == 3
    (item,) = json.loads(capsys.readouterr().out)["items"]
    assert decode(json.dumps(item), Story) == story_of(found(WAITING))
    assert item["lock"]["holder"] == "dc2"


def test_what_cannot_be_is_one_sentence(answers: list, capsys) -> None:
    assert main(["why", "pods/shop"]) == 2
    assert main(["why"]) == 2
    answers += [PeerUnreachable("the API server does not answer")]
    assert main(["why", "shop"]) == 1
    said = capsys.readouterr().err
    assert said.count("stateward: ") == said.count("\n") == 3
