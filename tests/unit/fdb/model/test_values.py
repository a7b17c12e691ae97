"""Addresses, connection strings, localities, exclusions, versions, locks: read, written, compared."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stateward.core.version import Version
from stateward.fdb.model import exclusions, locality, locks, tuples, versions
from stateward.fdb.model.addresses import Address, host_of, parse_all
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.configuration import Redundancy, engine_of
from stateward.fdb.model.connection import ConnectionString, description_of

# -------------------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    ("text", "host", "port", "tls", "resolved", "written"),
    [
        ("10.0.0.1:4501", "10.0.0.1", 4501, False, False, "10.0.0.1:4501"),
        ("10.0.0.1:4500:tls", "10.0.0.1", 4500, True, False, "10.0.0.1:4500:tls"),
        ("[::1]:4501", "::1", 4501, False, False, "[::1]:4501"),
        ("[FD00:0::1]:4500:tls", "fd00::1", 4500, True, False, "[fd00::1]:4500:tls"),
        ("Shop-1.svc:4501", "shop-1.svc", 4501, False, False, "shop-1.svc:4501"),
        ("10.0.0.1:4501(fromHostname)", "10.0.0.1", 4501, False, True, "10.0.0.1:4501"),
        ("10.0.0.1:4500:tls(fromHostname)", "10.0.0.1", 4500, True, True, "10.0.0.1:4500:tls"),
        ("10.0.0.1:4500(fromHostname):tls", "10.0.0.1", 4500, True, True, "10.0.0.1:4500:tls"),
    ],
)
def test_an_address_is_read(
    text: str, host: str, port: int, tls: bool, resolved: bool, written: str
) -> None:
    found = Address.parse(text)
    assert found == Address(host, port, tls, resolved)
    assert str(found) == written
    assert Address.parse(written) == found.canonical
    assert found.is_name == (host == "shop-1.svc")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "10.0.0.1",
        "10.0.0.1:",
        "10.0.0.1:0",
        "10.0.0.1:65536",
        "10.0.0.1:4501:ssl",
        "::1:4501",
        "[10.0.0.1:4501",
        "10.0.0.256:4501",
        "10.0.0:4501",
        "a b:4501",
        "-a:4501",
        "a..b:4501",
        f"{'a' * 64}:4501",
        "nonsense",
        "10.0.0.1:4501\n",
        "10.0.0.1:٤٥٠١",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must"):
        Address.parse(text)


def test_addresses_of_a_process() -> None:
    assert parse_all("10.0.0.1:4500:tls, 10.0.0.1:4501") == (
        Address("10.0.0.1", 4500, tls=True),
        Address("10.0.0.1", 4501),
    )
    with pytest.raises(ValueError, match="each address must be named once"):
        parse_all("10.0.0.1:4501,10.0.0.1:4501")


hosts = st.one_of(
    st.ip_addresses().map(str),
    st.from_regex(r"[a-z]([-a-z0-9]{0,8}[a-z0-9])?(\.[a-z]{1,3})?", fullmatch=True),
)
addresses = st.builds(
    lambda host, port, tls: Address(host_of(host), port, tls),
    hosts,
    st.integers(1, 65535),
    st.booleans(),
)


@given(addresses)
def test_what_is_written_is_read_again(address: Address) -> None:
    assert Address.parse(str(address)) == address


@given(st.text(max_size=30))
def test_no_text_makes_the_reader_fall(text: str) -> None:
    with suppress(ValueError):
        assert Address.parse(text).port > 0


# -------------------------------------------------------------------------- connection strings


def test_a_cluster_file_is_read() -> None:
    text = (
        "# DO NOT EDIT!\n# This file is auto-generated\nlab:ab1@127.0.1.1:4501,\n 127.0.1.2:4501 \n"
    )
    found = ConnectionString.parse(text)
    assert str(found) == "lab:ab1@127.0.1.1:4501,127.0.1.2:4501"
    assert (found.quorum, found.all_tls) == (2, False)
    assert ConnectionString.parse("a:b@x.y:1:tls").all_tls


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "must not be empty"),
        ("# nothing", "must not be empty"),
        ("lab@127.0.0.1:4501", "must be DESCRIPTION:ID@"),
        ("lab:ab-1@127.0.0.1:4501", "must be DESCRIPTION:ID@"),
        ("a-b:ab1@127.0.0.1:4501", "must be DESCRIPTION:ID@"),
        ("lab:ab1@", "must be DESCRIPTION:ID@"),
        ("lab:ab1@127.0.0.1", "an address must be HOST:PORT"),
        ("lab:ab1@127.0.0.1:1,127.0.0.1:1", "each address must be named once"),
        ("lab:ab1@" + ",".join(f"a:{it}" for it in range(1, 102)), "at most 100 coordinators"),
    ],
)
def test_what_is_no_connection_string_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        ConnectionString.parse(text)


def test_a_name_becomes_a_description() -> None:
    assert description_of("my-shop.1") == "my_shop_1"


# -------------------------------------------------------------------------- localities, exclusions


@pytest.mark.parametrize(
    ("text", "addresses", "localities", "covered"),
    [
        ("10.0.0.1", "10.0.0.1:4501", {}, True),
        ("10.0.0.1:4501", "10.0.0.1:4501:tls", {}, True),
        ("10.0.0.1:4503", "10.0.0.1:4501", {}, False),
        ("10.0.0.1:4501", "10.0.0.1:4500:tls,10.0.0.1:4501", {}, True),
        ("::1", "[::1]:4501", {}, True),
        ("locality_zoneid:z1", "10.0.0.1:4501", {"zoneid": "z1"}, True),
        ("locality_zoneid:z1", "10.0.0.1:4501", {"zoneid": "z2"}, False),
        ("locality_zoneid:z1", "10.0.0.1:4501", {}, False),
    ],
)
def test_whom_an_exclusion_means(
    text: str, addresses: str, localities: dict[str, str], covered: bool
) -> None:
    found = exclusions.parse(text)
    assert str(found) == text
    assert found.covers(parse_all(addresses), localities) == covered


@pytest.mark.parametrize(
    "text", ["", "locality_zoneid", "locality_:x", "locality_zoneid:", "a b", "shop:4501"]
)
def test_what_is_no_exclusion_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must"):
        exclusions.parse(text)


@pytest.mark.parametrize(
    ("key", "value"), [("Zone", "a"), ("zoneid", ""), ("zoneid", 'a"; kill all')]
)
def test_a_locality_cannot_carry_a_command(key: str, value: str) -> None:
    with pytest.raises(ValueError, match="of a locality must have"):
        locality.word(key, value)


# -------------------------------------------------------------------------- versions


@pytest.mark.parametrize(
    ("a", "b", "compatible"),
    [
        ("7.3.27", "7.3.79", True),
        ("7.1.27", "7.3.27", False),
        ("7.4.0-rc1", "7.4.0-rc1", True),
        ("7.4.0-rc1", "7.4.0", False),
    ],
)
def test_who_understands_whom(a: str, b: str, compatible: bool) -> None:
    assert versions.are_compatible(Version.parse(a), Version.parse(b)) == compatible


def test_which_release_speaks_a_protocol() -> None:
    assert versions.line_of("0fdb00b073000000") == (7, 3)
    assert versions.line_of("fdb00b071010000") == (7, 1)
    assert versions.line_of("Unknown") is None


@pytest.mark.parametrize(
    ("version", "can"),
    [("7.1.41", False), ("7.1.42", True), ("7.3.25", False), ("7.3.26", True), ("7.4.0", True)],
)
def test_what_a_version_can_do(version: str, can: bool) -> None:
    assert versions.has_locality_exclusions(Version.parse(version)) == can


@pytest.mark.parametrize(
    ("version", "encrypts", "has_types"),
    [
        ("7.1.67", False, False),
        ("7.3.72", False, False),
        ("7.3.73", True, False),
        ("7.4.5", False, False),
        ("7.4.6", True, False),
        ("7.4.7", True, True),
    ],
)
def test_what_programs_of_backups_can_do(version: str, encrypts: bool, has_types: bool) -> None:
    found = Version.parse(version)
    assert versions.has_backup_encryption(found) == encrypts
    assert versions.has_mutation_log_types(found) == has_types


# -------------------------------------------------------------------------- tuples and locks

#: As the Python binding of 7.3.79 wrote them.
RECORDED = {
    ("dc1", 1, 2): "026463310015011502",
    ("dc1", 0, 0): "02646331001414",
    ("dc1", -1, 255): "026463310013fe15ff",
    ("dc1", 256, 65536): "026463310016010017010000",
    ("dc1", 2147483648, 9007199254740992): "026463310018800000001b20000000000000",
    (b"dc1", 1, 2): "016463310015011502",
    ("dc\x001", 1): "02646300ff31001501",
}


@pytest.mark.parametrize(("parts", "raw"), RECORDED.items(), ids=RECORDED.values())
def test_tuples_are_those_of_the_binding(parts: tuple[tuples.Part, ...], raw: str) -> None:
    assert tuples.pack(*parts).hex() == raw
    assert tuples.unpack(bytes.fromhex(raw)) == parts


def test_they_are_what_was_recorded() -> None:
    file = Path(__file__).parents[3] / "recordings/fdb/transcripts/15_python_binding.json"
    told = "".join(it["stdout"] for it in json.loads(file.read_text()))
    lines = re.findall(r"^tuple \(.*\) ([0-9a-f]+) \(", told, re.MULTILINE)
    assert set(RECORDED.values()) - set(lines) == {"026463310015011502"}, "written otherwise"
    assert f'tuple ("dc1",1,2) {RECORDED["dc1", 1, 2]}' in told


#: Locks as they lie in a database: whose, since when, until when.
LOCKS = {
    ("dc1", 1_700_000_000, 1_700_000_600): "0264633100186553f100186553f358",
    ("", 1_700_000_000, 1_700_000_600): "0200186553f100186553f358",
    ("kc-2.a", 1, 256): "026b632d322e61001501160100",
}


@pytest.mark.parametrize(("lock", "raw"), LOCKS.items(), ids=LOCKS.values())
def test_locks_byte_for_byte(lock: tuple[str, int, int], raw: str) -> None:
    assert locks.Lock(*lock).encode().hex() == raw
    assert locks.Lock.decode(bytes.fromhex(raw)) == locks.Lock(*lock)


@given(st.lists(st.text() | st.binary() | st.integers(-(2**64) + 1, 2**64 - 1)))
def test_tuples_are_read_as_they_were_written(parts: list[tuples.Part]) -> None:
    assert tuples.unpack(tuples.pack(*parts)) == tuple(parts)


@given(st.lists(st.integers(-(2**64) + 1, 2**64 - 1) | st.just(0), min_size=2, max_size=2))
def test_tuples_are_in_the_order_of_their_parts(numbers: list[int]) -> None:
    assert (tuples.pack(numbers[0]) < tuples.pack(numbers[1])) == (numbers[0] < numbers[1])


@given(st.binary(max_size=20))
@example(b"\x02abc")
@example(b"\x02a\x00\xff")
@example(b"\x15")
@example(b"\x02\xff\x00")
@example(b"\x27")
def test_no_bytes_make_the_reader_fall(raw: bytes) -> None:
    try:
        locks.Lock.decode(raw)
    except ValueError:
        return


@pytest.mark.parametrize("end", [-1, 253_402_300_800, 2**63])
def test_a_lock_ends_at_a_moment_that_can_be_told(end: int) -> None:
    with pytest.raises(ValueError, match="seconds since 1970"):
        locks.Lock.decode(locks.Lock("dc1", 1, end).encode())


def test_a_lock_is_over_after_its_end() -> None:
    lock = locks.Lock("dc1", 100, 700)
    assert [lock.is_over(it) for it in (100, 700, 700.5)] == [False, False, True]
    assert locks.lock_key() == b"\xff\x02/org.foundationdb.kubernetes-operator/global"
    assert locks.denied_key("dc2") == b"\xff\x02/org.foundationdb.kubernetes-operator/denyList/dc2"
    assert locks.lock_key(b"/mine") == b"/mine/global"
    assert locks.denied_key("dc2", b"/mine") == b"/mine/denyList/dc2"


# -------------------------------------------------------------------------- classes, redundancy


def test_what_classes_may_do() -> None:
    assert ProcessClass("log").may_store
    assert not ProcessClass("stateless").may_store
    assert ProcessClass("storage").may_log
    assert not ProcessClass("coordinator").may_be_stateless


def test_what_redundancy_means() -> None:
    table = {it.value: (it.fault_tolerance, it.fault_domains, it.coordinators) for it in Redundancy}
    assert table["single"] == (0, 1, 1)
    assert table["double"] == (1, 2, 3)
    assert table["triple"] == (2, 3, 5)
    assert table["three_data_hall"] == (2, 3, 9)
    assert (engine_of("memory"), engine_of("ssd-redwood-1")) == ("memory-2", "ssd-redwood-1")
