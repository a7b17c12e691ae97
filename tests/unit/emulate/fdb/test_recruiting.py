"""Who does what: drawn as letters for classes and zones, held to what recordings show."""

from __future__ import annotations

from stateward.emulate.fdb.configuration.spreads import plain
from stateward.emulate.fdb.recruiting import (
    Lacking,
    Wanted,
    log_servers,
    recruited,
    storage_servers,
)
from stateward.emulate.fdb.servers import Disk, Server
from stateward.fdb.model import exclusions
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.classes import ProcessClass

CLASSES = {
    "s": ProcessClass.STORAGE,
    "l": ProcessClass.LOG,
    "x": ProcessClass.STATELESS,
    "u": ProcessClass.UNSET,
    "c": ProcessClass.COORDINATOR,
}


def servers(text: str) -> list[Server]:
    """``s1 l2 x1``: a storage process in zone 1, a log in zone 2, a stateless one in zone 1."""
    found = []
    for number, word in enumerate(text.split()):
        where = {"zoneid": f"z{word[1:]}", "instance_id": word}
        address = Address(f"10.0.0.{number + 1}", 4501)
        found.append(Server((address,), Disk(f"{number}-{word}"), CLASSES[word[0]], where))
    return found


def named(found: object) -> str:
    assert isinstance(found, list)
    return " ".join(it.localities["instance_id"] for it in found)


DOUBLE = Wanted(logs=2, spread=plain(2), commit_proxies=3, grv_proxies=1, resolvers=1)


def test_logs_are_where_they_fit_best_and_far_apart() -> None:
    assert named(log_servers(servers("s1 s2 l1 l2 l3"), DOUBLE)) == "l1 l2"
    assert named(log_servers(servers("l1 l1 s2"), DOUBLE)) == "l1 s2"
    assert named(log_servers(servers("x1 x2 u1 u2"), DOUBLE)) == "u1 u2"


def test_too_few_zones_for_logs_stop_everything() -> None:
    """What an exclusion of one zone too many does: recruiting_transaction_servers."""
    assert log_servers(servers("s1 s1 x2"), DOUBLE) == Lacking("zones for logs")
    assert recruited(servers("l1 x2 x3"), DOUBLE) == Lacking("zones for logs")
    assert recruited(servers("l1 l2"), DOUBLE) != Lacking("zones for logs")


def test_more_logs_than_copies() -> None:
    wanted = Wanted(logs=3, spread=plain(2), commit_proxies=1, grv_proxies=1, resolvers=1)
    assert named(log_servers(servers("l1 l2 l2"), wanted)) == "l1 l2 l2"
    fewer = Wanted(logs=2, spread=plain(3), commit_proxies=1, grv_proxies=1, resolvers=1)
    assert named(log_servers(servers("l1 l2 l3"), fewer)) == "l1 l2 l3", "the copies win"


def test_data_goes_to_others_only_where_zones_lack() -> None:
    assert named(storage_servers(servers("s1 s2 l3"), plain(2))) == "s1 s2"
    assert named(storage_servers(servers("s1 l1 l3 x2"), plain(2))) == "s1 l3"
    assert named(storage_servers(servers("x1 c2"), plain(1))) == ""


def test_roles_without_state_are_shared_out() -> None:
    found = recruited(servers("x1 x2 l1 l2 s1"), DOUBLE)
    assert isinstance(found, dict)
    assert sorted(found["0-x1"] + found["1-x2"]) == [
        "cluster_controller",
        "commit_proxy",
        "commit_proxy",
        "consistency_scan",
        "data_distributor",
        "grv_proxy",
        "master",
        "ratekeeper",
        "resolver",
    ]
    assert found["2-l1"] == ["commit_proxy", "log"], "the third proxy has to be somewhere"
    assert found["4-s1"] == []


def test_whom_exclusions_mean() -> None:
    (one,) = servers("s1")
    for text in ("10.0.0.1", "10.0.0.1:4501", "locality_zoneid:z1", "locality_machineid:10.0.0.1"):
        assert one.is_meant([exclusions.parse(text)]), text
    assert not one.is_meant([exclusions.parse("locality_zoneid:z2")])


def test_a_class_that_was_set_is_lost_with_the_disk() -> None:
    (one,) = servers("s1")
    one.disk.chosen_class = ProcessClass.STATELESS
    assert (one.process_class, one.class_source) == (ProcessClass.STATELESS, "set_class")
    one.disk = Disk("new")
    assert (one.process_class, one.class_source) == (ProcessClass.STORAGE, "command_line")
