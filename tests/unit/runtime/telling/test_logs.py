"""Logs: one line per event, tied to its pass, in the clock's time, without secrets."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from fakes.hand_clock import HandClock
from stateward.core.errors import UsageError
from stateward.kube.meta import ObjectKey
from stateward.runtime.telling import logs

ORDERS = ObjectKey("shop", "orders")
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----"


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    yield
    logs.reset()


class Machine:
    """Logs as a collector reads them."""

    def __init__(self, level: str = "debug", *, json: bool = True) -> None:
        self.clock = HandClock()
        self.stream = io.StringIO()
        logs.configure(self.stream, json=json, level=level, clock=self.clock)

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]


def fail(message: str) -> None:
    raise ValueError(message)


def test_a_line() -> None:
    machine = Machine()
    log = logs.get("etcd")
    machine.clock.advance(1.5)
    log.info("member added", member="orders-2", count=3)
    assert machine.text == (
        '{"time": "2023-11-14T22:13:21.500000Z", "level": "info", "event": "member added", '
        '"member": "orders-2", "count": 3, "logger": "etcd"}\n'
    )


def test_nobody_but_the_clock_says_the_time() -> None:
    machine = Machine()
    logs.get("etcd").info("x", time="then")
    assert machine.lines[0]["time"] == "2023-11-14T22:13:20.000000Z"


@pytest.mark.parametrize(
    ("level", "seen"),
    [("debug", "diwe"), ("info", "iwe"), ("WARNING", "we"), ("error", "e"), ("critical", "")],
)
def test_levels(level: str, seen: str) -> None:
    machine = Machine(level)
    log = logs.get("x")
    log.debug("d")
    log.info("i")
    log.warning("w")
    log.error("e")
    assert "".join(line["event"] for line in machine.lines) == seen


def test_a_level_that_does_not_exist() -> None:
    with pytest.raises(UsageError, match="log level must be one of debug, info"):
        Machine("loud")


def test_every_line_of_a_pass_says_so_and_none_outside() -> None:
    machine = Machine()
    log = logs.get("x")
    with logs.bind_pass("etcd", ORDERS, "7f"):
        log.info("inside")
        with logs.bind_pass("pods", ObjectKey("", "n1"), "80"):
            log.info("deeper")
        log.info("inside again")
    log.info("outside")
    assert [
        (line.get("cluster"), line.get("controller"), line.get("pass_id")) for line in machine.lines
    ] == [
        ("shop/orders", "etcd", "7f"),
        ("n1", "pods", "80"),
        ("shop/orders", "etcd", "7f"),
        (None, None, None),
    ]


async def test_passes_side_by_side_do_not_mix() -> None:
    machine = Machine()

    async def reconcile(name: str) -> None:
        with logs.bind_pass("etcd", ObjectKey("shop", name), name):
            await asyncio.sleep(0)
            logs.get("x").info(name)

    await asyncio.gather(*(reconcile(name) for name in "abc"))
    assert [(line["event"], line["pass_id"]) for line in machine.lines] == [
        ("a", "a"),
        ("b", "b"),
        ("c", "c"),
    ]


def test_an_exception_is_a_field_and_one_line() -> None:
    machine = Machine()
    try:
        fail("Authorization: Bearer abc.def\nsecond line")
    except ValueError:
        logs.get("x").exception("pass failed")
    (line,) = machine.lines
    assert (line["level"], line["event"]) == ("error", "pass failed")
    assert line["exception"].startswith("Traceback")
    assert line["exception"].endswith("Bearer ***\nsecond line")
    assert "abc.def" not in machine.text


def test_an_exception_as_a_value_says_what_it_is() -> None:
    machine = Machine()
    logs.get("x").warning("no answer", error=TimeoutError())
    assert machine.lines[0]["error"] == "TimeoutError: "


@pytest.mark.parametrize(
    "name",
    [
        *("token", "password", "secret", "Authorization", "client-key-data", "clientKeyData"),
        *("API_KEY", "service_account_token", "tls.key", "credentials", "Set-Cookie"),
        *("private_key", "passwords"),
    ],
)
def test_secret_names(name: str) -> None:
    assert logs.scrubbed({name: "hunter2"}) == {name: "***"}
    assert logs.scrubbed([{"deep": ({name: {"x": "hunter2"}},)}]) == [{"deep": [{name: "***"}]}]
    assert logs.scrubbed({name: None}) == {name: None}


@pytest.mark.parametrize(
    "name", ["key", "name", "secret_name", "tokenizer", "reason", "x", "", "7"]
)
def test_harmless_names(name: str) -> None:
    assert logs.scrubbed({name: "orders"}) == {name: "orders"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("all is well", "all is well"),
        ("secret shop-tls must have a key tls.crt", "secret shop-tls must have a key tls.crt"),
        ("the password is wrong: try again", "the password is wrong: try again"),
        ("basic authentication failed", "basic authentication failed"),
        ("Bearer abc.def-ghi", "Bearer ***"),
        ("sent bearer abcdef, refused", "sent bearer ***, refused"),
        ("authorization: Basic dXNlcjpwYXNz", "authorization: Basic ***"),
        ("https://root:hunter2@etcd:2379/x", "https://root:***@etcd:2379/x"),
        ("https://etcd:2379/a@b", "https://etcd:2379/a@b"),
        ("--password=hunter2 --name=a", "--password=*** --name=a"),
        ("Creds(token='hunter2', n=1)", "Creds(token='***', n=1)"),
        ('{"password": "hunter2", "n": 1}', '{"password": "***", "n": 1}'),
        (f"got {PEM} and more", "got *** and more"),
        (f"cut {PEM[:40]}", "cut ***"),
        ("data: LS0tLS1CRUdJTiBSU0E=", "data: ***"),
        ("eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJl.c2ln ok", "*** ok"),
    ],
)
def test_secrets_in_text(text: str, shown: str) -> None:
    assert logs.scrubbed(text) == shown
    assert logs.scrubbed(text.encode()) == shown


def test_a_secret_object_is_shown_without_its_data() -> None:
    secret = {"kind": "Secret", "metadata": {"name": "a"}, "data": {"x": "eA=="}, "stringData": {}}
    assert logs.scrubbed(secret) == {
        "kind": "Secret",
        "metadata": {"name": "a"},
        "data": "***",
        "stringData": "***",
    }


def test_secrets_never_reach_the_stream() -> None:
    machine = Machine()
    machine_log = logs.get("x").bind(token="hunter2")
    machine_log.info("login with Bearer hunter2", headers={"authorization": "hunter2"})
    assert "hunter2" not in machine.text


def test_odd_values_still_make_a_line() -> None:
    class Broken:
        def __str__(self) -> str:
            raise RuntimeError("no")

    loop: list[Any] = []
    loop.append(loop)
    machine = Machine()
    logs.get("x").info("odd", broken=Broken(), nan=float("nan"), loop=loop, half="\ud800", n=2**80)
    (line,) = machine.lines
    assert (line["broken"], line["nan"], line["half"]) == ("<Broken>", "nan", "\\ud800")
    assert line["n"] == str(2**80)


def test_a_console_is_for_people() -> None:
    machine = Machine(json=False)
    machine.clock.advance(0.25)
    with logs.bind_pass("etcd", ORDERS, "7f"):
        logs.get("x").warning("waiting for quorum", have=1, token="hunter2")
    line = " ".join(machine.text.split())
    assert line == (
        "22:13:20.250 [warning ] waiting for quorum [x] have=1 token=*** "
        "cluster=shop/orders controller=etcd pass_id=7f"
    )


def test_a_console_shows_a_plain_traceback() -> None:
    machine = Machine(json=False)
    password = "hunter2"
    try:
        fail("gone")
    except ValueError:
        logs.get("x").exception("failed")
    assert machine.text.endswith("ValueError: gone\n")
    assert password not in machine.text.replace('password = "hunter2"', "")


def test_configuring_twice_replaces_the_first() -> None:
    first = Machine()
    log = logs.get("x")
    second = Machine("warning")
    log.info("not shown")
    log.warning("shown")
    logging.getLogger("aiohttp").warning("once")
    assert first.text == ""
    assert [line["event"] for line in second.lines] == ["shown", "once"]


def test_libraries_are_taken_in() -> None:
    machine = Machine()
    odd = logging.getLogger("aiohttp.server")
    try:
        fail("gone")
    except ValueError:
        odd.log(35, "Error %s with Bearer abcdef", 7, exc_info=True)
    odd.info("chatter")
    (line,) = machine.lines
    assert (line["logger"], line["level"]) == ("aiohttp.server", "warning")
    assert line["event"] == "Error 7 with Bearer ***"
    assert line["exception"].endswith("ValueError: gone")


def test_plain_structlog_loggers_are_named_too() -> None:
    machine = Machine()
    structlog.get_logger("informer").bind(resource="pods").info("listed")
    assert (machine.lines[0]["logger"], machine.lines[0]["resource"]) == ("informer", "pods")


def test_a_stream_that_is_gone_ends_nobody() -> None:
    machine = Machine()
    machine.stream.close()
    logs.get("x").error("nobody reads this")


def test_reset_leaves_nothing_behind() -> None:
    before = list(logging.getLogger().handlers)
    Machine()
    Machine()
    logs.reset()
    assert logging.getLogger().handlers == before
    assert not structlog.is_configured()
