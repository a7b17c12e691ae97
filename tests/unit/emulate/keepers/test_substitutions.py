"""The split sidecar: variables in a configuration, and which certificates are good enough."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.core.errors import UsageError
from stateward.core.peers import rules as peers
from stateward.emulate.keepers.split.substitutions import Wishes, substituted, substitutions

WISHES = Wishes("7.3.79", "7.3.79", "/var/dynamic-conf")


@pytest.mark.parametrize(
    ("environment", "name", "value"),
    [
        ({}, "FDB_PUBLIC_IP", ""),
        ({"FDB_POD_IP": "1.2.3.4"}, "FDB_PUBLIC_IP", "1.2.3.4"),
        ({"FDB_POD_IP": "1.2.3.4", "FDB_PUBLIC_IP": "5.6.7.8"}, "FDB_PUBLIC_IP", "5.6.7.8"),
        ({"HOSTNAME": "h"}, "FDB_MACHINE_ID", "h"),
        ({"HOSTNAME": "h"}, "FDB_ZONE_ID", "h"),
        ({"HOSTNAME": "h", "FDB_MACHINE_ID": "m"}, "FDB_ZONE_ID", "m"),
        ({"FDB_ZONE_ID": "z", "FDB_MACHINE_ID": "m"}, "FDB_ZONE_ID", "z"),
        ({"FDB_INSTANCE_ID": "log-1"}, "FDB_INSTANCE_ID", "log-1"),
        ({}, "BINARY_DIR", "/usr/bin"),
    ],
)
def test_values(environment: dict[str, str], name: str, value: str) -> None:
    assert substitutions(environment, WISHES)[name] == value


def test_values_of_ones_own_and_families() -> None:
    wishes = Wishes("7.4.1", "7.3.79", "/var/dynamic-conf", ["RACK"], 6)
    environment = {"RACK": "", "FDB_PUBLIC_IP": "1.2.3.4, fd00::1", "FDB_POD_IP": "fd00::2"}
    found = substitutions(environment, wishes)
    assert (found["RACK"], found["FDB_PUBLIC_IP"], found["FDB_POD_IP"]) == (
        "",
        "[fd00::1]",
        "[fd00::2]",
    )
    assert found["BINARY_DIR"] == "/var/dynamic-conf/bin/7.4.1"
    with pytest.raises(UsageError, match="RACK"):
        substitutions({}, wishes)
    with pytest.raises(UsageError, match="IPv6"):
        substitutions({"RACK": "", "FDB_PUBLIC_IP": "1.2.3.4"}, wishes)


def test_what_is_written() -> None:
    values = {"FDB_POD_IP": "1", "FDB_POD_IP_2": "2", "X": "$FDB_POD_IP"}
    assert (
        substituted("$FDB_POD_IP:$FDB_POD_IP_2:$X:$ID:$$X", values)
        == "1:2:$FDB_POD_IP:$ID:$$FDB_POD_IP"
    )
    assert substituted("$X", {}) == "$X"


CERTIFICATE: dict[str, Any] = {
    "subject": ((("commonName", "operator"),), (("organizationName", "a,b"),)),
    "issuer": ((("organizationName", "Shop"),),),
    "subjectAltName": (("DNS", "op.friends.shop"), ("IP Address", "10.0.0.1")),
}


@pytest.mark.parametrize(
    ("rules", "allowed"),
    [
        ("", True),
        ("Check.Valid=1", True),
        ("Check.Valid=1,S.CN=operator", True),
        ("S.CN=operator", True),
        ("CN=operator", True),
        ("Subject.CN=stranger", False),
        ("S.CN=operator,I.O=Shop", True),
        ("S.CN=operator,I.O=Other", False),
        ("S.CN=stranger;I.O=Shop", True),
        ("S.CN>=oper", True),
        ("S.CN<=ator", True),
        ("S.CN>=ator", False),
        (r"S.O=a\,b", True),
        (r"S.O=a\2cb", True),
        ("S.OU=x", False),
        ("S.subjectAltName=DNS:op.friends.shop", True),
        ("S.subjectAltName<=DNS:.friends.shop", True),
        ("S.subjectAltName>=DNS:op.", True),
        ("S.subjectAltName=DNS:shop", False),
        ("S.subjectAltName=URI:op.friends.shop", False),
        ("I.subjectAltName=DNS:op.friends.shop", False),
        ("R.CN=root", False),
        ("R.CN=root;S.CN=operator", True),
    ],
)
def test_who_may_ask(rules: str, allowed: bool) -> None:
    assert peers.parse(rules).allow(CERTIFICATE) is allowed
    assert not peers.parse(rules).allow(None)
    assert not peers.parse(rules).allow({})


@pytest.mark.parametrize("rules", ["nonsense", "S.XX=1", "X.CN=1", "Check.Valid=0", "S.CN=a;", ","])
def test_rules_that_nobody_understands_are_refused(rules: str) -> None:
    with pytest.raises(UsageError, match="must"):
        peers.parse(rules)
