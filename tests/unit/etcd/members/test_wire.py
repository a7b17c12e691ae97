"""Protobuf and JSON: what is written can be read, and nothing that is read can do harm."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.core.errors import PeerConfused
from stateward.etcd.members import calls, jsons, wire
from stateward.etcd.members.messages import BY_ID, STATUS, Field, Kind, Message, Shape, blank

#: Every kind of field, once and repeated, and one within another.
INNER: Shape = (Field(1, "n", Kind.UNSIGNED), Field(2, "t", Kind.TEXT, repeated=True))
ANYTHING: Shape = (
    Field(1, "unsigned", Kind.UNSIGNED),
    Field(2, "signed", Kind.SIGNED),
    Field(3, "yes", Kind.BOOL),
    Field(4, "word", Kind.WORD, words=("NONE", "ONE", "TWO")),
    Field(5, "text", Kind.TEXT),
    Field(6, "bytes", Kind.BYTES),
    Field(7, "inner", Kind.MESSAGE, shape=INNER),
    Field(8, "numbers", Kind.SIGNED, repeated=True),
    Field(9, "inners", Kind.MESSAGE, repeated=True, shape=INNER),
    Field(2**29 - 1, "last", Kind.BYTES, repeated=True),
)
VALUES = {
    Kind.UNSIGNED: st.integers(0, 2**64 - 1),
    Kind.SIGNED: st.integers(-(2**63), 2**63 - 1),
    Kind.BOOL: st.booleans(),
    Kind.WORD: st.integers(0, 2),
    Kind.TEXT: st.text(st.characters(exclude_categories=["Cs"])),
    Kind.BYTES: st.binary(),
}
SHAPES = (ANYTHING, *(it.request for it in calls.ALL), *(it.answer for it in calls.ALL))


def of(shape: Shape) -> st.SearchStrategy[Message]:
    """Messages of a shape."""
    return st.fixed_dictionaries({it.name: _of_field(it) for it in shape})


def _of_field(field: Field) -> st.SearchStrategy[object]:
    value = of(field.shape) if field.kind is Kind.MESSAGE else VALUES[field.kind]
    return st.lists(value, max_size=4) if field.repeated else value


any_message = of(ANYTHING)
any_shape = st.sampled_from(SHAPES)
codecs = pytest.mark.parametrize("codec", [wire, jsons], ids=["protobuf", "json"])


@codecs
@given(message=any_message)
def test_what_is_written_is_read(codec, message):
    assert codec.decode(ANYTHING, codec.encode(ANYTHING, message)) == message


@codecs
@given(message=any_message)
def test_what_we_do_not_know_is_passed_over(codec, message):
    known = tuple(it for it in ANYTHING if it.number in {2, 7})

    assert codec.decode(known, codec.encode(ANYTHING, message)) == {
        it.name: message[it.name] for it in known
    }


@codecs
@given(shape=any_shape)
def test_nothing_said_is_a_blank_message(codec, shape):
    assert codec.encode(shape, {}) in {b"", b"{}"}
    assert codec.decode(shape, codec.encode(shape, {})) == blank(shape)


@codecs
@given(shape=any_shape, data=st.binary(max_size=200))
def test_any_bytes_are_a_message_or_confusing(codec, shape, data):
    read_or_confused(codec, shape, data)


@codecs
@given(message=any_message, cut=st.integers(0), flip=st.integers(0, 255), at=st.integers(0))
def test_mangled_messages_are_a_message_or_confusing(codec, message, cut, flip, at):
    data = bytearray(codec.encode(ANYTHING, message))
    if data:
        data[at % len(data)] ^= flip
        del data[len(data) - cut % len(data) :]
    read_or_confused(codec, ANYTHING, bytes(data))


def read_or_confused(codec, shape: Shape, data: bytes) -> None:
    try:
        read = codec.decode(shape, data)
    except PeerConfused:
        return
    assert set(read) == {it.name for it in shape}
    assert_typed(shape, read)


def assert_typed(shape: Shape, message: Message) -> None:
    types = {Kind.TEXT: str, Kind.BYTES: bytes, Kind.BOOL: bool, Kind.MESSAGE: dict}
    for field in shape:
        values = message[field.name] if field.repeated else [message[field.name]]
        assert all(type(it) is types.get(field.kind, int) for it in values), field


@given(first=any_message, second=any_message)
def test_a_message_may_come_in_two_parts(first, second):
    """Later values win, lists go on, messages within are joined: as protobuf has it."""
    joined = wire.decode(ANYTHING, wire.encode(ANYTHING, first) + wire.encode(ANYTHING, second))

    assert joined["numbers"] == first["numbers"] + second["numbers"]
    assert joined["signed"] == (second["signed"] or first["signed"])
    assert joined["inner"]["t"] == first["inner"]["t"] + second["inner"]["t"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("08", "cut"),
        ("0880808080808080808080", "longer than 64 bits"),
        ("0a05", "within its message"),
        ("0affffffffffffffffff01", "within its message"),
        ("00", "number"),
        ("0b", "form 3"),
        ("0900", "within its message"),
        ("0a0161", "must be a number"),
        ("0d00000000", "must not be of form 5"),
    ],
)
def test_what_is_wrong_is_said(data, why):
    with pytest.raises(PeerConfused, match=why):
        wire.decode(BY_ID, bytes.fromhex(data))


def test_the_known_bytes_of_a_status():
    """Written by hand from etcd's own description of its messages."""
    data = bytes.fromhex(
        "0a0a 08e707 10e807 1803 2002".replace(" ", "")
        + "1205332e352e31"  # version 3.5.1
        + "1880a001"  # dbSize 20480
        + "20e807"  # leader
        + "2809 3002 3808".replace(" ", "")
        + "4203" + b"bad".hex()
        + "48ffffffffffffffffff01"  # dbSizeInUse -1
        + "5001"  # isLearner
        + "5a03" + b"3.6".hex()  # storageVersion, which we do not know
        + "608080808008"  # dbSizeQuota 2 GiB
    )  # fmt: skip

    assert wire.decode(STATUS, data) == {
        "header": {"cluster_id": 999, "member_id": 1000, "revision": 3, "raft_term": 2},
        "version": "3.5.1",
        "dbSize": 20480,
        "leader": 1000,
        "raftIndex": 9,
        "raftTerm": 2,
        "raftAppliedIndex": 8,
        "errors": ["bad"],
        "dbSizeInUse": -1,
        "isLearner": True,
        "dbSizeQuota": 2**31,
    }


@pytest.mark.parametrize(
    "body",
    [
        b'{"ID": 1.5}', b'{"ID": true}', b'{"ID": "-1"}', b'{"ID": "18446744073709551616"}',
        b'{"ID": ""}', b'{"ID": "1_0"}', b'{"ID": []}', b'{"ID": "9999999999999999999999"}', b"[]", b"", b"{",
    ],
)  # fmt: skip
def test_numbers_of_json_are_whole_and_of_64_bits(body):
    with pytest.raises(PeerConfused):
        jsons.decode(BY_ID, body)


def test_an_answer_that_would_fill_memory_is_refused():
    many = (Field(1, "inners", Kind.MESSAGE, repeated=True, shape=INNER),)
    with pytest.raises(PeerConfused, match="at most"):
        wire.decode(many, b"\x0a\x00" * 10_001)
    with pytest.raises(PeerConfused, match="at most"):
        jsons.decode(many, b'{"inners":[' + b"{}," * 10_001 + b"{}]}")
    with pytest.raises(PeerConfused, match="longer than"):
        wire.decode(BY_ID, b"\0" * (wire.LARGEST + 1))
