"""A group that does not report goes only when everything is there without it, and has long been."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fakes.fdb_views import NOW, cluster, healthy, host
from stateward.core.facts import Known, Unknown
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.decide.absent import LONG, left_on
from stateward.fdb.views import ClusterView, GroupView

EXCLUDED = [{"locality": "locality_instance_id:storage-3"}]
PICTURE = "s1 s2 s3-? s4 l1 l2 l3"


def away(seconds: float) -> Any:
    def change(it: GroupView) -> GroupView:
        if str(it.id) != "storage-3":
            return it
        return replace(it, conditions={Kind.MISSING_PROCESSES: NOW - seconds})

    return change


def verdict(view: ClusterView) -> str:
    group = next(it for it in view.groups if str(it.id) == "storage-3")
    found = left_on(view, group)
    return f"? {found.reason}" if isinstance(found, Unknown) else found.value.why


def seen(seconds: float = LONG, picture: str = PICTURE, **changes: Any) -> ClusterView:
    tree = healthy(**{"configuration__excluded_servers": EXCLUDED, **changes})
    return cluster(
        picture, tree, coordinating="storage-1 storage-2 storage-4", change=away(seconds)
    )


def test_who_is_long_gone_and_missed_by_nobody_may_go() -> None:
    assert verdict(seen()) == ""


LOG = {"current": True, "log_fault_tolerance": 1, "log_replication_factor": 2}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"seconds": LONG - 1}, "? storage-3 has not been away"),
        ({"picture": "s1 s2 s3- s4 l1 l2 l3"}, "? storage-3 has not been away"),
        ({"configuration__excluded_servers": []}, "it is not excluded"),
        ({"data__state": {"name": "healing", "healthy": False}}, "?"),
        ({"data__state": {"name": "initializing"}}, "?"),
        ({"database_available": False}, "?"),
        ({"logs": []}, "?"),
        ({"full_replication": False}, "?"),
    ],
)
def test_who_may_be_missed_stays(changes: dict[str, Any], why: str) -> None:
    assert verdict(seen(**changes)).startswith(why)


def test_whom_a_generation_of_logs_names_stays() -> None:
    view = seen()
    group = next(it for it in view.groups if str(it.id) == "storage-3")
    logs = [{**LOG, "log_interfaces": [{"address": f"{host(group.id)}:4501"}]}]
    assert verdict(seen(logs=logs)) == "logs of a generation are on it"


def test_who_was_proved_before_is_proved_again_whenever_it_was_missed_first() -> None:
    view = seen(seconds=0.0, picture=PICTURE.replace("s3-?", "s3!?"))
    assert verdict(view) == ""
    assert isinstance(left_on(view, view.groups[2]), Known)
