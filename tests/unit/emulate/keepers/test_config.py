"""config.json of the unified image: how arguments are made, and when a configuration is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.emulate.keepers.unified import config as configs
from stateward.emulate.keepers.unified.config import Unfit
from stateward.emulate.keepers.unified.judgement import (
    Accepted,
    House,
    Refused,
    environment_of,
    judge,
)

ENVIRONMENT = {"IP": "10.0.0.1", "IPS": "no, fd00::1,10.0.0.2, 10.0.0.3", "EMPTY": ""}
OWN, SHARED = "/usr/bin/fdbserver", "/var/fdb/shared-binaries/bin"
HOUSE = House("7.3.79", OWN, SHARED, 2, ENVIRONMENT)


def document(*arguments: dict[str, Any], **more: Any) -> bytes:
    return json.dumps({"version": "7.3.79", "arguments": arguments, **more}).encode()


@pytest.mark.parametrize(
    ("argument", "text"),
    [
        ({"value": "--class=log"}, "--class=log"),
        ({"type": "Literal", "value": "x"}, "x"),
        ({"type": "", "value": "x"}, "x"),
        ({}, ""),
        ({"type": "Environment", "source": "IP"}, "10.0.0.1"),
        ({"type": "Environment", "source": "EMPTY"}, ""),
        ({"type": "ProcessNumber"}, "3"),
        ({"type": "ProcessNumber", "offset": 4499, "multiplier": 2}, "4505"),
        ({"type": "ProcessNumber", "offset": -1}, "2"),
        ({"type": "IPList", "source": "IPS", "ipFamily": 4}, "10.0.0.2"),
        ({"type": "IPList", "source": "IPS", "ipFamily": 6}, "fd00::1"),
        ({"type": "Concatenate"}, ""),
        (
            {
                "type": "Concatenate",
                "values": [{"value": "a"}, {"type": "Concatenate", "values": [{"value": "b"}]}],
            },
            "ab",
        ),
        ({"value": "x", "unknown": 1}, "x"),
    ],
)
def test_arguments(argument: dict[str, Any], text: str) -> None:
    config = configs.read(document(argument))
    assert configs.arguments(config, 3, ENVIRONMENT) == (text,)


@pytest.mark.parametrize(
    ("argument", "why"),
    [
        ({"type": "Magic"}, "Magic"),
        ({"type": "Environment", "source": "RACK"}, "RACK"),
        ({"type": "Environment"}, "the variable"),
        ({"type": "IPList", "source": "IPS"}, "4 or 6"),
        ({"type": "IPList", "source": "IP", "ipFamily": 6}, "family 6"),
        ({"type": "IPList", "source": "RACK", "ipFamily": 4}, "RACK"),
    ],
)
def test_arguments_that_cannot_be(argument: dict[str, Any], why: str) -> None:
    config = configs.read(document(argument))
    with pytest.raises(Unfit, match=why):
        configs.arguments(config, 1, ENVIRONMENT)


@pytest.mark.parametrize(
    ("more", "runs"), [({}, True), ({"runServers": True}, True), ({"runServers": False}, False)]
)
def test_whether_servers_run(more: dict[str, bool], runs: bool) -> None:
    assert configs.read(document(**more)).runs is runs


@pytest.mark.parametrize(
    ("version", "program"),
    [
        ("7.3.79", OWN),
        ("7.3.1", OWN),
        ("7.4.0", f"{SHARED}/7.4.0/fdbserver"),
        ("7.1.57", f"{SHARED}/7.1.57/fdbserver"),
        ("7.3.79-rc.1", f"{SHARED}/7.3.79-rc.1/fdbserver"),
    ],
)
def test_which_program_runs_a_version(version: str, program: str) -> None:
    found = judge(document(version=version), HOUSE, lambda it: it == program)
    assert isinstance(found, Accepted)
    assert found.program == program
    assert isinstance(judge(document(version=version), HOUSE, lambda _: False), Refused)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        document()[:-5],
        b"\xff",
        b'{"version": 7}',
        b'{"version": ""}',
        b'{"version": "../../evil"}',
        b"{}",
        document({"value": 1}),
        document(runServers="no"),
    ],
)
def test_what_is_no_configuration_is_refused(raw: bytes) -> None:
    found = judge(raw, HOUSE, lambda _: True)
    assert isinstance(found, Refused)
    assert "must" in found.why


@given(st.binary(max_size=200))
def test_no_bytes_are_an_error(raw: bytes) -> None:
    assert isinstance(judge(raw, HOUSE, lambda _: True), Accepted | Refused)


def test_what_is_told_of_the_environment() -> None:
    nested = {"type": "Concatenate", "values": [{"type": "Environment", "source": "IP"}]}
    raw = document(nested, {"type": "IPList", "source": "IPS", "ipFamily": 4})
    found = judge(raw, HOUSE, lambda _: True)
    assert isinstance(found, Accepted)
    assert found.raw.encode() == raw
    told = environment_of(found, ENVIRONMENT)
    assert told == {"IP": "10.0.0.1", "IPS": ENVIRONMENT["IPS"], "BINARY_DIR": "/usr/bin"}


@pytest.mark.parametrize(
    ("words", "path"),
    [
        (["--cluster_file=/a"], "/a"),
        (["--x", "--cluster-file", "/a"], "/a"),
        (["-C", "/a"], "/a"),
        (["--seed_cluster_file=/a"], ""),
        (["--cluster_file"], ""),
        ([], ""),
    ],
)
def test_where_the_cluster_file_is(words: list[str], path: str) -> None:
    assert configs.cluster_file(tuple(words)) == path
