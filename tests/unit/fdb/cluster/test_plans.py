"""What a cluster wants, by what it asks for and what runs."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.core.version import Version
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.api.options import Routing
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.cluster.plans import Plans
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.connection import ConnectionString
from stateward.kube.meta import ObjectMeta


def cluster(version: str = "7.3.63", **spec: Any) -> FoundationDBCluster:
    metadata = ObjectMeta(name="shop", namespace="prod", uid="u", generation=1)
    asked = FoundationDBClusterSpec(version=version, **spec)
    return FoundationDBCluster(metadata=metadata, spec=asked)


STRING = ConnectionString.parse("shop:abc@10.0.0.1:4501,10.0.0.2:4501:tls")


def images(asked: str, running: str) -> set[str]:
    plan = Plans().plan(cluster(version=asked), Version.parse(running), None)
    pod = plan.wanted.settings(ProcessClass.STORAGE).pod_template
    assert pod is not None
    return {it["image"].rpartition(":")[2] for it in pod.spec["containers"]}


@pytest.mark.parametrize(
    ("asked", "running", "made"),
    [
        ("7.3.63", "7.3.63", {"7.3.63"}),
        ("7.3.79", "7.3.63", {"7.3.79"}),
        ("7.4.1", "7.3.63", {"7.3.63"}),
        ("7.1.61", "7.3.63", {"7.3.63"}),
    ],
)
def test_nothing_is_made_of_a_version_that_processes_cannot_join(
    asked: str, running: str, made: set[str]
) -> None:
    assert images(asked, running) == made


def test_processes_listen_as_asked_and_as_coordinators_do() -> None:
    plan = Plans().plan(cluster(), Version.parse("7.3.63"), STRING)
    assert (plan.wanted.tls, plan.wanted.plain) == (True, True)


def test_names_that_nobody_resolves_are_not_used() -> None:
    asked = cluster()
    assert Plans().spec(asked).routing.use_dns_in_cluster_file
    assert not Plans(names_resolve=False).spec(asked).routing.use_dns_in_cluster_file


@pytest.mark.parametrize(
    ("coordinator", "named"),
    [
        ("shop-storage-1.shop.prod.svc.cluster.local", True),
        ("shop-storage-1.other.prod.svc.cluster.local", False),
        ("10.0.0.1", False),
    ],
)
def test_pods_have_names_while_coordinators_are_found_by_them(
    coordinator: str, named: bool
) -> None:
    asked = cluster(routing=Routing(use_dns_in_cluster_file=False))
    string = ConnectionString.parse(f"shop:abc@{coordinator}:4501,10.0.0.2:4501")
    plan = Plans().plan(asked, Version.parse("7.3.63"), string)
    routing = plan.wanted.spec.routing
    assert (routing.headless_service, routing.define_dns_locality_fields) == (named, named)
    assert not plan.spec.routing.use_dns_in_cluster_file, "so coordinators change"
