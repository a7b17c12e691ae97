"""The kind as a server and `kubectl` see it."""

from __future__ import annotations

from collections.abc import Iterator

from stateward.etcd.api.kind import ETCD_CLUSTER_KIND, LONGEST_NAME
from stateward.etcd.api.spec import TlsSecrets
from stateward.etcd.model.names import pod_name
from stateward.kube.codec import Json, plain
from stateward.kube.crd.kind import crd

DEFINITION = crd(ETCD_CLUSTER_KIND)
VERSION = DEFINITION["spec"]["versions"][0]
SCHEMA = VERSION["schema"]["openAPIV3Schema"]
#: Kubernetes' own types inside ours, which its own pages describe.
BORROWED = ("metadata", "selector", "dataSource", "dataSourceRef", "conditions[]")


def undescribed(schema: Json, path: str = "") -> Iterator[str]:
    for name, below in schema.get("properties", {}).items():
        where = f"{path}.{name}"
        if "description" not in below:
            yield where
        if name not in BORROWED:
            yield from undescribed(below, where)
    items = schema.get("items")
    if items is not None and not f"{path}[]".endswith(BORROWED):
        yield from undescribed(items, f"{path}[]")


def test_every_field_is_described() -> None:
    assert list(undescribed(SCHEMA["properties"]["spec"], "spec")) == []
    assert list(undescribed(SCHEMA["properties"]["status"], "status")) == []


def test_what_kubectl_get_shows() -> None:
    shown = [it["name"] for it in VERSION["additionalPrinterColumns"]]

    assert shown == ["Ready", "Quorum", "Members", "Leader", "Version", "Doing", "Age"]


def test_it_can_be_scaled() -> None:
    assert VERSION["subresources"] == {
        "status": {},
        "scale": {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        },
    }


def test_names_leave_room_for_what_is_named_after_them() -> None:
    longest = f"{pod_name('s' * LONGEST_NAME, 999_999)}-0123456789"  # a label with a revision

    assert SCHEMA["properties"]["metadata"]["properties"]["name"]["maxLength"] == LONGEST_NAME
    assert len(longest) <= 63


def test_secrets_are_spelled_as_the_compatible_operator_spells_them() -> None:
    said = plain(
        TlsSecrets(
            peer_trusted_ca_secret="a", server_trusted_ca_secret="b", client_trusted_ca_secret="c"
        )
    )

    assert list(said) == ["peerTrustedCASecret", "serverTrustedCASecret", "clientTrustedCASecret"]
