"""What etcd's texts mean, for reads and for writes."""

from __future__ import annotations

import pytest

from stateward.etcd.members import calls, errors, failures, refusals

#: code, text, and what it is called for a read and for a write.
TABLE = [
    (14, "etcdserver: unhealthy cluster", "EtcdPacing", "EtcdPacing"),
    (9, "etcdserver: Peer URLs already exists", "MemberExists", "MemberExists"),
    (14, "etcdserver: no leader", "NoQuorum", "NoQuorum"),
    (7, "etcdserver: permission denied", "LoginNeeded", "LoginNeeded"),
    (
        11,
        "etcdserver: mvcc: required revision has been compacted",
        "AlreadyCompacted",
        "AlreadyCompacted",
    ),
    (14, "etcdserver: request timed out", "NoQuorum", "OutcomeUnknown"),
    (
        14,
        "etcdserver: request timed out, possibly due to previous leader failure",
        "NoQuorum",
        "OutcomeUnknown",
    ),
    (14, "etcdserver: leader changed", "NoQuorum", "OutcomeUnknown"),
    (14, "etcdserver: server stopped", "NoQuorum", "OutcomeUnknown"),
    (4, "context deadline exceeded", "NoQuorum", "OutcomeUnknown"),
    (8, "etcdserver: too many requests", "EtcdRefused", "EtcdRefused"),
    (12, "unknown method", "EtcdRefused", "EtcdRefused"),
    (14, "transport is closing", "PeerUnreachable", "OutcomeUnknown"),
    (2, "something that nobody foresaw", "EtcdRefused", "OutcomeUnknown"),
    (14, 'connection error: desc = "tls: bad certificate"', "PeerUnreachable", "PeerUnreachable"),
    (2, "", "EtcdRefused", "OutcomeUnknown"),
]


@pytest.mark.parametrize(("code", "text", "read", "write"), TABLE, ids=[it[1] for it in TABLE])
def test_a_refusal_has_a_name(code, text, read, write):
    found = [refusals.meaning(code, text, it, "etcd at here") for it in (calls.LIST, calls.REMOVE)]

    assert [it.reason for it in found] == [read, write]
    assert all("etcd at here" in it.message for it in found)
    assert all(it.code == code for it in found if isinstance(it, errors.EtcdRefused))


def test_adding_again_within_the_second_of_a_removal_is_too_soon():
    said = (5, "etcdserver: member not found")

    assert isinstance(refusals.meaning(*said, calls.ADD, "etcd"), errors.EtcdPacing)
    assert isinstance(refusals.meaning(*said, calls.REMOVE, "etcd"), errors.MemberUnknown)


def test_a_text_of_somebody_else_is_kept_short_and_on_one_line():
    told = refusals.meaning(9, "a\nb" + "c" * 10_000, calls.LIST, "etcd").message

    assert "\n" not in told
    assert len(told) < 400


@pytest.mark.parametrize(
    ("failed", "read", "write"),
    [
        (failures.unreachable, "PeerUnreachable", "PeerUnreachable"),
        (failures.lost, "PeerUnreachable", "OutcomeUnknown"),
        (failures.confused, "PeerConfused", "OutcomeUnknown"),
    ],
)
def test_a_lost_write_is_never_called_undone(failed, read, write):
    assert failed(calls.STATUS, "etcd", "it broke").reason == read
    assert failed(calls.ADD, "etcd", "it broke").reason == write


def test_etcd_gives_up_before_we_do():
    limits = calls.Deadlines()
    told = {str(it): calls.server_patience(limits.of(it)) for it in calls.ALL if it.limited}

    assert all(0 < seconds < limits.changes for seconds in told.values())
    assert {"Defragment", "Compact", "Snapshot"}.isdisjoint(told)


@pytest.mark.parametrize(
    ("early", "given_up"), [(-1.0, True), (0.0, True), (0.005, True), (0.1, False)]
)
def test_a_server_gives_up_at_its_time_as_far_as_clocks_agree(early, given_up):
    assert calls.may_have_given_up(100.0 - early, 100.0) is given_up
