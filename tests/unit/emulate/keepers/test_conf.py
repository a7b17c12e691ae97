"""The configuration of fdbmonitor: what a file says, and what becomes the words of a process."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.emulate.keepers.classic.commands import Command, Delays, command_of
from stateward.emulate.keepers.classic.conf import parse

PLAIN = "[fdbserver.4500]\ncommand = fdbserver\n"


def words(text: str, name: str = "fdbserver.4500") -> list[str]:
    return list(command_of(parse(text), name, 77).argv)


@pytest.mark.parametrize(
    ("text", "sections"),
    [
        ("", {}),
        ("garbage\nmore = garbage", {}),
        ("[a]\n; x = 1\n# y = 1\nz=1", {"a": {"z": "1"}}),
        ("[ A ]\n Key-One = a = b \n", {"a": {"key_one": "a = b"}}),
        ("[a]\nx=1\n[b]\n[a]\nx=2\ny=", {"a": {"x": "2", "y": ""}, "b": {}}),
        ("[a\nx=1", {}),
        ("[a] trailing\nx=1", {"a": {"x": "1"}}),
        ("\ufeff[a]\r\nx=1\r\n", {"a": {"x": "1"}}),
        ("[a]\n= no name\nno value\n", {"a": {}}),
        ("[a]\ncluster-file=1\ncluster_file=2", {"a": {"cluster_file": "2"}}),
    ],
)
def test_what_a_file_says(text: str, sections: dict[str, dict[str, str]]) -> None:
    found = parse(text).sections
    assert {k: {n: it.text for n, it in v.items()} for k, v in found.items()} == sections


@given(st.text(max_size=300))
def test_no_text_is_an_error(text: str) -> None:
    conf = parse(text)
    for name in conf.processes():
        assert isinstance(command_of(conf, name, 1), Command)


@pytest.mark.parametrize(
    ("text", "argv"),
    [
        (PLAIN, ["fdbserver"]),
        (PLAIN + "b = 2\na-x = 1", ["fdbserver", "--a-x", "1", "--b", "2"]),
        (PLAIN + "d = /data/$ID/$ID-$PID", ["fdbserver", "--d", "/data/4500/4500-77"]),
        (PLAIN + "flag_x = true\nflag-y = true\nflag_z = false", ["fdbserver", "--y", "--x"]),
        (PLAIN + "restart_delay = 5\nrestart-backoff = 2\ndelete-envvars = A", ["fdbserver"]),
        ("[fdbserver.4500]\ncommand = env  A=1 fdbserver", ["env", "A=1", "fdbserver"]),
        (
            "[general]\ncluster-file = g\nlogdir = g\nclass = g\n[fdbserver]\nlogdir = k\nclass = k\n"
            + PLAIN
            + "class = p",
            ["fdbserver", "--class", "p", "--cluster-file", "g", "--logdir", "k"],
        ),
        (
            "[general]\ncluster-file = g\n" + PLAIN + "cluster_file = p",
            ["fdbserver", "--cluster_file", "p"],
        ),
    ],
)
def test_words(text: str, argv: list[str]) -> None:
    assert words(text) == argv


def test_other_kinds_of_processes() -> None:
    text = "[fdbserver]\nclass = x\n[backup_agent]\ncommand = backup_agent\n[backup_agent.1]\n"
    assert words(text, "backup_agent.1") == ["backup_agent"]
    assert list(parse(text).processes()) == ["backup_agent.1"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("", ""),
        ("command =", "No command"),
        ("flag_x = maybe", "must be true or false"),
        ("restart-delay = soon", "restart delay"),
        ("restart-delay = -1", "restart delay"),
        ("initial-restart-delay = nan", "initial restart delay"),
        ("restart-backoff = 0.5", "at least 1"),
        ("restart-delay-reset-interval = inf", "reset interval"),
    ],
)
def test_what_cannot_be_is_said(line: str, problem: str) -> None:
    command = command_of(parse(f"{PLAIN}{line}"), "fdbserver.4500", 1)
    assert problem in command.problem
    assert bool(command.problem) == bool(problem)
    assert bool(command.argv) != bool(problem)


@pytest.mark.parametrize(
    ("text", "delays"),
    [
        (PLAIN, Delays(60, 0, 60, 60)),
        (PLAIN + "restart-delay = 10", Delays(10, 0, 10, 10)),
        (PLAIN + "restart-delay = 0", Delays(0, 0, 1, 0)),
        (PLAIN + "restart-delay = 10\ninitial-restart-delay = 20", Delays(10, 10, 10, 10)),
        (
            "[fdbmonitor]\nrestart-delay = 9\n[general]\nrestart-backoff = 2\n" + PLAIN,
            Delays(9, 0, 2, 9),
        ),
    ],
)
def test_delays(text: str, delays: Delays) -> None:
    assert command_of(parse(text), "fdbserver.4500", 1).delays == delays


@pytest.mark.parametrize(
    ("line", "kills"), [("", True), ("= true", True), ("= false", False), ("= yes", False)]
)
def test_whether_a_change_ends_it(line: str, kills: bool) -> None:
    text = PLAIN + (f"kill-on-configuration-change {line}" if line else "")
    assert command_of(parse(text), "fdbserver.4500", 1).kills is kills
