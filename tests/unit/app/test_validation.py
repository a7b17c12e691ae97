"""What `stateward validate` says about manifests."""

from __future__ import annotations

import pytest

from stateward.app.validation import problems
from stateward.kube.manifests import Manifest

TEAM = {"apiVersion": "example.stateward.dev/v1alpha1", "kind": "Team"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({**TEAM, "metadata": {"name": "a"}, "spec": {"size": 1, "motto": "x"}}, []),
        ({**TEAM, "metadata": {"generateName": "a-"}}, []),
        (
            {**TEAM, "metadata": {"name": "a"}, "spec": {"size": 10}},
            ["spec.size: must be a whole number from 0 to 9, got 10"],
        ),
        (
            {**TEAM, "metadata": {"name": "a"}, "spec": {"size": "3"}},
            ["spec.size: must be a whole number from 0 to 9, got '3'"],
        ),
        ({**TEAM, "metadata": {"name": "A_b"}}, ["metadata.name: must"]),
        ({**TEAM, "metadata": {}}, ["metadata.name: must be given"]),
        (TEAM, ["metadata: must be given"]),
        ({"kind": "Team"}, ["apiVersion: must be given"]),
        ({"apiVersion": "v1", "kind": 3}, ["kind: must be given"]),
        ({**TEAM, "kind": "Taem", "metadata": {"name": "a"}}, ["did you mean"]),
        (
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "dta": {}},
            ["dta: there is no such field; did you mean data?"],
        ),
    ],
)
def test_problems(body, said):
    found = list(problems(Manifest(body, "f", 1)))

    assert len(found) == len(said)
    assert all(words in sentence for words, sentence in zip(said, found, strict=True))


ETCD = {
    "apiVersion": "etcd.aenix.io/v1alpha1",
    "kind": "EtcdCluster",
    "metadata": {"name": "shop"},
}


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"replicas": -1}, ["spec.replicas: must be a whole number from 0 to 31, got -1"]),
        ({"replicas": "three"}, ["spec.replicas: must be a whole number from 0 to 31, got 'three'"]),
        ({"replicas": True}, ["spec.replicas: must be a whole number from 0 to 31, got true"]),
        ({"replica": 3}, ["spec.replica: there is no such field; did you mean replicas?"]),
        ({"paused": "yes"}, ["spec.paused: must be true or false, got 'yes'"]),
        ({"version": 3.6}, ['spec.version: must be a text, got 3.6: write it in quotes, "3.6"']),
        ({"options": {"snapshot-count": 5}}, ['spec.options.snapshot-count: must be a text, got 5: write it in quotes, "5"']),
        ({"options": ["a"]}, ["spec.options: must be an object with fields, got a list"]),
        ({"options": {"quota-backend-bytes": "abc"}}, ["spec.options.quota-backend-bytes: must be a whole number, got 'abc'"]),
        ({"options": {"heartbeat-interval": "300"}}, ["spec.options.heartbeat-interval: election-timeout must be at least 5 times heartbeat-interval, got 1000 and 300 milliseconds"]),
        ({"security": {"tls": {"serverSecret": "A_b"}}}, ["spec.security.tls.serverSecret: must be of a-z, 0-9, '-' and '.', with a letter or digit at both ends of each dotted part, got 'A_b'"]),
        ({"podDisruptionBudgetTemplate": {"spec": {"minAvailable": True}}}, ["spec.podDisruptionBudgetTemplate.spec.minAvailable: must be a number or a text, got true"]),
        ({"podDisruptionBudgetTemplate": {"spec": {"minAvailable": -1}}}, ["spec.podDisruptionBudgetTemplate.spec.minAvailable: must be a whole number, 0 or more, got -1"]),
        ({"unhealthyMemberGracePeriod": "5"}, ["spec.unhealthyMemberGracePeriod: a duration must name its unit, as in '5s', got '5'"]),
        (None, ["spec: must be an object with fields, got nothing"]),
        ([1], ["spec: must be an object with fields, got a list"]),
        ({"replicas": 32, "version": "v3", "paused": 1}, [
            "spec.replicas: must be a whole number from 0 to 31, got 32",
            "spec.paused: must be true or false, got 1",
        ]),
    ],
)  # fmt: skip
def test_a_typing_error_reads_like_one(spec, said):
    assert list(problems(Manifest({**ETCD, "spec": spec}, "f", 1))) == said


def test_a_variable_may_set_what_the_options_leave_open():
    env = {"name": "ETCD_ELECTION_TIMEOUT", "value": "5000"}
    pod = {"spec": {"containers": [{"name": "etcd", "env": [env]}]}}
    spec = {"options": {"heartbeat-interval": "300"}, "podTemplate": pod}

    assert list(problems(Manifest({**ETCD, "spec": spec}, "f", 1))) == []


def test_a_type_without_a_schema_of_ours_is_told_with_its_place():
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": "x"}

    assert list(problems(Manifest(body, "f", 1))) == ["data: must be object, got str"]


BACKUP = {
    "apiVersion": "apps.foundationdb.org/v1beta2",
    "kind": "FoundationDBBackup",
    "metadata": {"name": "nightly"},
}


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({}, []),
        ({"backupMode": "oneTime", "schedule": "0 25 * * *"}, ["spec.schedule: unparseable schedule '0 25 * * *'"]),
        ({"drill": {"schedule": "5 * * * 9"}}, ["spec.drill.schedule: unparseable schedule '5 * * * 9'"]),
        ({"drill": {"schedule": "@every 5s"}}, ["spec.drill.schedule: must be due once a minute at most"]),
        ({"backupState": "Pasued"}, ["spec.backupState: must be one of Running, Stopped, Paused, got 'Pasued'"]),
    ],
)  # fmt: skip
def test_what_the_operator_would_refuse_of_a_backup_is_said_before(spec, said):
    whole = {"version": "7.3.63", "clusterName": "shop", "fileURL": "file:///b", **spec}

    found = list(problems(Manifest({**BACKUP, "spec": whole}, "f", 1)))

    assert len(found) == len(said)
    assert all(one.startswith(words) for words, one in zip(said, found, strict=True))
