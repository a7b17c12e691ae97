"""Whole documents of four clusters, as every user's API server sees them.

A change of a pod template is a restart of every member of every cluster. To renew the files after a
change that is meant, run pytest on this file with STATEWARD_GOLDEN=write, and read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from stateward.kube import drift
from stateward.kube.crd.text import to_yaml
from unit.etcd.build.examples import EXAMPLES, all_documents, api, applied, cluster

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_cluster_is_made_of_these_documents(name: str) -> None:
    made = [it.document for it in all_documents(cluster(EXAMPLES[name]))]
    file = GOLDEN / f"{name}.yaml"
    if os.environ.get("STATEWARD_GOLDEN") == "write":
        file.write_text("---\n".join(map(to_yaml, made)))
    assert list(yaml.safe_load_all(file.read_text())) == made


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_strict_server_takes_them_without_a_warning_and_they_do_not_drift(name: str) -> None:
    server = api()
    for wanted in all_documents(cluster(EXAMPLES[name])):
        live, warnings = applied(server, wanted)
        assert warnings == []
        assert drift.difference(live, wanted.document) is None
        again, _ = applied(server, wanted)
        assert again["metadata"]["resourceVersion"] == live["metadata"]["resourceVersion"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_object_is_labelled_and_goes_with_its_cluster(name: str) -> None:
    of = cluster(EXAMPLES[name])
    for wanted in all_documents(of):
        metadata = wanted.document["metadata"]
        assert metadata["namespace"] == "shop"
        assert (
            metadata["labels"].items()
            >= {
                "app.kubernetes.io/name": "etcd",
                "app.kubernetes.io/instance": of.metadata.name,
                "app.kubernetes.io/managed-by": "etcd-operator",
                "stateward.dev/cluster-uid": of.metadata.uid,
            }.items()
        )
        assert metadata["ownerReferences"] == [
            {
                "apiVersion": "etcd.aenix.io/v1alpha1",
                "kind": "EtcdCluster",
                "name": of.metadata.name,
                "uid": of.metadata.uid,
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ]
