"""The StatefulSet, and what becomes of claims."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from stateward.etcd.addresses import ClusterDns
from stateward.etcd.build.claims import CLAIM_MANAGER, going_with, staying
from stateward.etcd.model.names import labels
from stateward.kube.client import Apply
from stateward.kube.codec import Json, encode
from stateward.kube.errors import Conflict, Invalid, NotFound
from stateward.kube.meta import ObjectKey, ObjectMeta
from stateward.kube.resources import STATEFUL_SETS, VOLUME_CLAIMS
from stateward.local.api import Api
from stateward.local.rules.writes import Author
from unit.etcd.build.examples import EXAMPLES, MINIMAL, all_documents, api, applied, cluster


def workload(text: str = MINIMAL, *, start: int = 0, **spec: Any) -> Json:
    return all_documents(cluster(text, **spec), start=start)[-1].document


def test_pods_are_made_at_once_and_replaced_by_us_alone() -> None:
    spec = workload()["spec"]
    assert spec["podManagementPolicy"] == "Parallel"
    assert spec["updateStrategy"] == {"type": "OnDelete"}
    assert spec["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Retain", "whenScaled": "Retain"}  # fmt: skip
    assert spec["serviceName"] == "tiny-headless"


def test_pods_are_selected_by_what_can_never_change() -> None:
    for text in EXAMPLES.values():
        of = cluster(text)
        spec = workload(text)["spec"]
        assert spec["selector"] == {"matchLabels": labels(of.metadata.name)}
        assert spec["template"]["metadata"]["labels"].items() >= labels(of.metadata.name).items()


@pytest.mark.parametrize(("start", "expected"), [(0, None), (2, {"start": 2})])
def test_ordinals_are_named_only_when_they_do_not_begin_with_zero(
    start: int, expected: Json | None
) -> None:
    assert workload(start=start)["spec"].get("ordinals") == expected


def test_the_pod_s_volume_follows_the_claim_s_name() -> None:
    given = {"volumeClaimTemplate": {"metadata": {"name": "wal", "labels": {"a": "b"}}}}
    spec = workload(storage=given)["spec"]
    (claim,) = spec["volumeClaimTemplates"]
    uid = cluster(MINIMAL).metadata.uid
    assert claim["metadata"]["name"] == "wal"
    assert claim["metadata"]["labels"] == {"a": "b", "stateward.dev/cluster-uid": uid}
    mounts = spec["template"]["spec"]["containers"][0]["volumeMounts"]
    assert [it["name"] for it in mounts] == ["wal"]


@pytest.mark.parametrize("retained", [False, True])
def test_claims_are_made_to_go_with_the_cluster_or_to_stay(retained: bool) -> None:
    of = workload(retainVolumesOnDelete=retained)["spec"]["volumeClaimTemplates"][0]["metadata"]
    owners = [(it["kind"], it["uid"]) for it in of.get("ownerReferences", ())]
    assert owners == ([] if retained else [("EtcdCluster", cluster(MINIMAL).metadata.uid)])


def test_a_smaller_start_is_taken_back_by_applying() -> None:
    server, of = api(), cluster(MINIMAL)
    applied(server, all_documents(of, start=2)[-1])
    live, _ = applied(server, all_documents(of)[-1])
    assert "ordinals" not in live["spec"] or live["spec"]["ordinals"] == {"start": 0}


# ------------------------------------------------------------------ claims
OTHER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "other"}
KEY = ObjectKey("shop", "data-tiny-0")


def with_claim(*owners: Json) -> tuple[Api, ObjectMeta]:
    server = api()
    spec = deepcopy(workload()["spec"]["volumeClaimTemplates"][0]["spec"])
    metadata = {"name": KEY.name, "ownerReferences": list(owners)}
    server.create(VOLUME_CLAIMS, "shop", {"metadata": metadata, "spec": spec}, Author("sets"))
    return server, claim(server)


def claim(server: Api) -> ObjectMeta:
    document = server.get(VOLUME_CLAIMS, KEY).document()
    return VOLUME_CLAIMS.read(encode(document)).metadata


def patched(server: Api, body: Json) -> list[str]:
    server.patch(VOLUME_CLAIMS, KEY, Apply(body, CLAIM_MANAGER), Author(CLAIM_MANAGER))
    return [it.uid for it in claim(server).owner_references]


@pytest.mark.parametrize("owners", [[], [OTHER]])
def test_a_claim_goes_with_its_cluster_or_stays(owners: list[Json]) -> None:
    of = cluster(MINIMAL)
    server, found = with_claim(*owners)
    others = [it["uid"] for it in owners]
    assert patched(server, going_with(of, found)) == [*others, of.metadata.uid]
    assert claim(server).controller is None
    assert patched(server, going_with(of, found)) == [*others, of.metadata.uid]
    assert patched(server, staying(found)) == others


def test_another_claim_of_that_name_is_left_alone() -> None:
    server, _ = with_claim()
    former = ObjectMeta(name=KEY.name, namespace=KEY.namespace, uid="former")
    with pytest.raises(Invalid):
        patched(server, going_with(cluster(MINIMAL), former))
    assert claim(server).owner_references == ()


def test_a_claim_that_is_gone_is_not_made_again() -> None:
    server = api()
    former = ObjectMeta(name=KEY.name, namespace=KEY.namespace, uid="former")
    with pytest.raises(Conflict):
        patched(server, staying(former))
    with pytest.raises(NotFound):
        server.get(VOLUME_CLAIMS, KEY)


# ------------------------------------------------------------------ addresses
def test_a_pod_writes_of_itself_what_others_write_of_it() -> None:
    book = ClusterDns()
    mine = book.self_host("shop", "tiny-headless").replace("$(POD_NAME)", "tiny-0")
    assert mine == book.host(ObjectKey("shop", "tiny-0"), "tiny-headless")


@pytest.mark.parametrize(("ipv6", "host"), [(False, "0.0.0.0"), (True, "[::]")])
def test_a_pod_listens_on_all_its_addresses(ipv6: bool, host: str) -> None:
    assert ClusterDns(ipv6).listen_host() == host


def test_the_sets_are_found_where_they_are_put() -> None:
    found = all_documents(cluster(MINIMAL))[-1]
    assert found.resource is STATEFUL_SETS
    assert found.key == ObjectKey("shop", "tiny")
    assert not found.differs(found.document)
