"""What another version means, and to whom."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fakes.fdb_groups import NOW, SILENT, cluster
from fakes.fdb_statuses import document, short
from stateward.core.facts import Known
from stateward.core.version import Version
from stateward.fdb.decide.clients import VersionChange, blocking, version_change
from stateward.fdb.status.reading import Status, read


@pytest.mark.parametrize(
    ("running", "asked", "said"),
    [
        ("7.3.63", "7.3.63", VersionChange.NONE),
        ("7.3.63", "7.3.79", VersionChange.COMPATIBLE),
        ("7.3.79", "7.3.63", VersionChange.COMPATIBLE),
        ("7.1.60", "7.3.63", VersionChange.UPGRADE),
        ("7.3.63", "7.4.0", VersionChange.UPGRADE),
        ("7.4.0", "7.3.63", VersionChange.REFUSED),
        ("7.4.0-rc.1", "7.4.0", VersionChange.UPGRADE),
    ],
)
def test_what_a_version_means(running: str, asked: str, said: VersionChange) -> None:
    view = cluster(spec={"version": asked}, running_version=Version.parse(running))
    assert version_change(view) is said


def database(*clients: tuple[str, str], servers: str = "10.0.0.1:4501") -> Status:
    """Return the status of a database of 7.3 with these clients of 7.3: address and log group."""
    tree = document("healthy")
    told = [{"address": address, "log_group": name} for address, name in clients]
    tree["cluster"]["clients"]["supported_versions"] = [
        {
            "client_version": "7.3.63",
            "max_protocol_clients": told,
            "max_protocol_count": len(told),
            "protocol_version": "fdb00b073000000",
        }
    ]
    next(iter(tree["cluster"]["processes"].values()))["address"] = servers
    return read(json.dumps(tree), NOW)


def upgrade(status: Status, **words: Any) -> list[str] | str:
    """Return the addresses of the clients that hold an upgrade to 7.4 up."""
    found = short(blocking(cluster(spec={"version": "7.4.0", **words}, database=status)))
    return found if isinstance(found, str) else [it.address for it in found]


def test_an_old_client_holds_an_upgrade_up() -> None:
    assert upgrade(database(("10.9.0.1:500", "web"))) == ["10.9.0.1:500"]


def test_clients_of_ignored_log_groups_do_not() -> None:
    status = database(("10.9.0.1:500", "fdb-kubernetes-operator"), ("10.9.0.2:500", "web"))
    assert upgrade(status) == ["10.9.0.2:500"]
    ignored = {"automationOptions": {"ignoreLogGroupsForUpgrade": ["web"]}}
    assert upgrade(status, **ignored) == ["10.9.0.1:500"]


def test_servers_are_no_clients() -> None:
    assert upgrade(database(("10.0.0.1:4501", "default"))) == []
    both = "10.0.0.1:4500:tls,10.0.0.1:4501"
    assert upgrade(database(("10.0.0.1:4500:tls", "default"), servers=both)) == []
    assert upgrade(database(("10.0.0.1:4500", "default"), servers=both)) == []
    assert upgrade(database(("10.0.0.1:4503", "default"))) == ["10.0.0.1:4503"]


def test_who_asks_for_no_checks_gets_none() -> None:
    assert upgrade(database(("10.9.0.1:500", "web")), ignoreUpgradabilityChecks=True) == []
    assert upgrade(SILENT, ignoreUpgradabilityChecks=True) == []


def test_of_a_database_that_says_nothing_nobody_knows() -> None:
    assert upgrade(SILENT) == "?"
    tree = document("healthy")
    del tree["cluster"]["processes"]
    assert upgrade(read(json.dumps(tree), NOW)) == "?"


@pytest.mark.parametrize("version", ["7.3.63", "7.3.79", "7.1.60"])
def test_where_nothing_is_cut_off_nobody_is_asked(version: str) -> None:
    assert short(blocking(cluster(spec={"version": version}, database=SILENT))) == ()


def test_before_there_is_a_database_nobody_is_cut_off() -> None:
    view = cluster(spec={"version": "7.4.0"}, database=SILENT, configured=False)
    assert short(blocking(view)) == ()


def test_clients_that_are_counted_and_not_named_may_be_anybody() -> None:
    tree = document("healthy")
    tree["cluster"]["clients"]["supported_versions"] = [
        {
            "client_version": "7.3.63",
            "max_protocol_clients": [{"address": "10.9.0.1:500", "log_group": "web"}],
            "max_protocol_count": 61,
            "protocol_version": "fdb00b073000000",
        }
    ]
    found = blocking(cluster(spec={"version": "7.4.0"}, database=read(json.dumps(tree), NOW)))
    assert isinstance(found, Known)
    assert sum(it.many for it in found.value) == 61
    ignored = {"automationOptions": {"ignoreLogGroupsForUpgrade": ["web"]}}
    left = upgrade(read(json.dumps(tree), NOW), **ignored)
    assert len(left) == 1, "whose log group they are of nobody knows"
