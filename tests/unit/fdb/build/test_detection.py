"""The CronJob that looks for missing processes: when there is one, how often, and with what."""

from __future__ import annotations

from typing import Any

import pytest

from fakes import fdb_tls
from operators.fdb_manifests import spec
from stateward.fdb.build.detection import NOBODY, Detector, detection_job
from stateward.fdb.build.schedules import every
from stateward.fdb.build.wanted import Wanted
from stateward.fdb.model import names
from stateward.kube import drift
from stateward.kube.codec import Json
from stateward.kube.patch import PatchError
from unit.fdb.build.clusters import cluster, wanted

OURSELVES = Detector("registry.example.org/stateward:1.2.3", "stateward")


def replacing(job: Json | None = None, **more: Any) -> Json:
    options = {"enabled": True, **({} if job is None else {"cronJob": job}), **more}
    return {"automationOptions": {"replacements": options}}


def made(of: Wanted, detector: Detector = OURSELVES) -> Json:
    found = detection_job(of, detector)
    assert found is not None
    return found


def pod_of(job: Json) -> Json:
    found: Json = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    return found


def said(**pod: Any) -> Json:
    """Return what a user says of the pods of the job."""
    return {"spec": {"jobTemplate": {"spec": {"template": {"spec": pod}}}}}


def container(**more: Any) -> Json:
    return said(containers=[{"name": "detect-missing", **more}])


# -------------------------------------------------------------------------- how often


@pytest.mark.parametrize(
    ("seconds", "schedule"),
    [
        (0, "* * * * *"),  # cron knows nothing below a minute
        (1, "* * * * *"),
        (59, "* * * * *"),
        (60, "* * * * *"),
        (90, "* * * * *"),
        (120, "*/2 * * * *"),
        (7 * 60, "*/6 * * * *"),  # seven minutes do not make an hour
        (600, "*/10 * * * *"),
        (1800, "*/30 * * * *"),
        (2700, "*/30 * * * *"),  # nor do three quarters of one
        (3599, "*/30 * * * *"),
        (3600, "0 * * * *"),
        (5400, "0 * * * *"),
        (7200, "0 */2 * * *"),
        (5 * 3600, "0 */4 * * *"),  # five hours do not make a day
        (12 * 3600, "0 */12 * * *"),
        (23 * 3600, "0 */12 * * *"),
        (86_400, "0 0 * * *"),
        (10 * 86_400, "0 0 * * *"),  # months are of different length
    ],
)
def test_it_comes_as_often_as_groups_may_fail_and_never_more_rarely(
    seconds: int, schedule: str
) -> None:
    assert every(seconds) == schedule
    job = made(cluster(**replacing(failureDetectionTimeSeconds=seconds)))
    assert job["spec"]["schedule"] == schedule


# -------------------------------------------------------------------------- whether


@pytest.mark.parametrize(
    ("options", "detector", "is_there"),
    [
        ({}, OURSELVES, False),  # replacements are off by default
        (replacing(enabled=False), OURSELVES, False),
        (replacing({"spec": {}}, enabled=False), OURSELVES, False),
        (replacing(), OURSELVES, True),
        (replacing(), NOBODY, False),  # nobody knows by which image
        (replacing({"spec": {"schedule": "@daily"}}), NOBODY, False),
        (replacing(container(image="mine:1")), NOBODY, True),
        (replacing(said(containers=[{"name": "beside"}])), OURSELVES, False),
    ],
)
def test_there_is_one_while_replacements_are_enabled_and_an_image_is_known(
    options: Json, detector: Detector, is_there: bool
) -> None:
    assert (detection_job(cluster(**options), detector) is not None) is is_there


# -------------------------------------------------------------------------- what it is


def test_it_is_the_clusters_and_runs_as_the_operator_does() -> None:
    job = made(cluster(**replacing()))
    assert job["metadata"]["name"] == "shop-detect-missing"
    assert job["metadata"]["namespace"] == "prod"
    (owner,) = job["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"]) == ("FoundationDBCluster", "cluster-uid")
    assert names.instance_labels("shop").items() <= job["metadata"]["labels"].items()
    assert drift.seal_on(job) == drift.seal_of(job)
    spec, pod = job["spec"], pod_of(job)
    limits = (spec["successfulJobsHistoryLimit"], spec["failedJobsHistoryLimit"])
    assert (spec["concurrencyPolicy"], limits) == ("Forbid", (1, 1))
    assert pod["serviceAccountName"] == "stateward"
    assert pod["automountServiceAccountToken"] is True  # which the account itself does not say
    (looks,) = pod["containers"]
    assert looks["image"] == OURSELVES.image
    assert looks["args"][:6] == [
        *("fdb", "detect-missing", "--namespace", "prod", "--cluster", "shop")
    ]


def test_its_pods_are_none_of_the_clusters() -> None:
    """Services lead to pods by their labels, and the operator watches those with its own."""
    of = cluster(**replacing())
    labels = made(of)["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["labels"]
    assert labels == {"stateward.dev/detects-missing": "shop"}
    assert not labels.keys() & made(of)["metadata"]["labels"].keys()


def test_its_pods_pass_the_strictest_standard() -> None:
    pod = pod_of(made(cluster(**replacing())))
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for it in (*pod["initContainers"], *pod["containers"]):
        assert it["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert it["securityContext"]["readOnlyRootFilesystem"] is True
        assert it["resources"]["requests"].keys() == {"cpu", "memory"}


@pytest.mark.parametrize(
    ("image_type", "running", "image", "words", "folder"),
    [
        ("unified", "", "foundationdb/fdb-kubernetes-monitor:7.3.63",
         ["--mode", "init"], "/usr/bin/fdb"),
        ("split", "", "foundationdb/foundationdb-kubernetes-sidecar:7.3.63-1",
         ["--init-mode"], "/usr/bin/fdb/bin"),
        ("unified", "7.1.61", "foundationdb/fdb-kubernetes-monitor:7.1.61",
         ["--mode", "init"], "/usr/bin/fdb"),
    ],
)  # fmt: skip
def test_it_asks_the_database_by_a_program_of_the_version_that_runs(
    image_type: str, running: str, image: str, words: list[str], folder: str
) -> None:
    pod = pod_of(made(wanted(spec(imageType=image_type, **replacing()), running=running)))
    (brings,) = pod["initContainers"]
    assert brings["image"] == image
    assert brings["args"] == [
        *words, "--copy-binary", "fdbcli", "--output-dir", "/var/output-files",
    ]  # fmt: skip
    args = pod["containers"][0]["args"]
    assert args[args.index("--fdb-binaries") + 1] == folder


def test_without_an_account_it_is_the_usual_one_of_the_namespace() -> None:
    assert "serviceAccountName" not in pod_of(made(cluster(**replacing()), Detector("a:1")))


def test_a_long_name_is_cut_for_its_jobs() -> None:
    found = [names.detection_job_name(f"{'a' * 40}{it}") for it in "bc"]
    assert [len(it) <= 52 for it in found] == [True, True]
    assert found[0] != found[1]


# -------------------------------------------------------------------------- certificates


def test_with_tls_it_has_the_certificates_of_the_pods() -> None:
    general = {"podTemplate": fdb_tls.template()}
    said = spec(processes={"general": general}, **fdb_tls.ON, **replacing())
    pod = pod_of(made(wanted(said, tls=True, plain=False)))
    (looks,) = pod["containers"]
    assert {it["name"] for it in looks["env"]} == {
        "FDB_TLS_CERTIFICATE_FILE", "FDB_TLS_KEY_FILE", "FDB_TLS_CA_FILE",
    }  # fmt: skip
    assert {"name": "certs", "mountPath": fdb_tls.FOLDER} in looks["volumeMounts"]
    assert {"name": "certs", "secret": {"secretName": fdb_tls.SECRET}} in pod["volumes"]


def test_authorities_of_the_spec_come_from_the_config_map() -> None:
    said = spec(trustedCAs=["-----BEGIN CERTIFICATE-----"], **replacing())
    pod = pod_of(made(wanted(said, tls=True)))
    (looks,) = pod["containers"]
    assert looks["env"] == [{"name": "FDB_TLS_CA_FILE", "value": "/var/fdb/authorities/ca.pem"}]
    assert pod["volumes"][-1]["configMap"]["name"] == "shop-config"


def test_without_tls_it_has_none() -> None:
    general = {"podTemplate": fdb_tls.template()}
    pod = pod_of(made(wanted(spec(processes={"general": general}, **replacing()))))
    assert pod["containers"][0]["env"] == []
    assert [it["name"] for it in pod["volumes"]] == ["fdb-binaries", "temporary"]


# -------------------------------------------------------------------------- what users say


def test_what_the_spec_says_is_laid_over_it() -> None:
    job: Json = {
        "metadata": {"labels": {"team": "db"}, "annotations": {"a": "b"}},
        "spec": {
            "schedule": "5 4 * * *",
            "timeZone": "Etc/UTC",
            "successfulJobsHistoryLimit": 0,
            **said(
                serviceAccountName="looker",
                tolerations=[{"operator": "Exists"}],
                containers=[
                    {
                        "name": "detect-missing",
                        "image": "mine:2",
                        "resources": {"requests": {"cpu": "1"}},
                    }
                ],
            )["spec"],
        },
    }
    found = made(cluster(**replacing(job)))
    assert found["metadata"]["labels"]["team"] == "db"
    assert found["metadata"]["annotations"]["a"] == "b"
    assert (found["spec"]["schedule"], found["spec"]["timeZone"]) == ("5 4 * * *", "Etc/UTC")
    assert found["spec"]["successfulJobsHistoryLimit"] == 0
    assert found["spec"]["concurrencyPolicy"] == "Forbid"
    pod = pod_of(found)
    assert (pod["serviceAccountName"], pod["tolerations"]) == ("looker", [{"operator": "Exists"}])
    (looks,) = pod["containers"]
    assert looks["image"] == "mine:2"
    assert looks["args"][:2] == ["fdb", "detect-missing"]
    assert looks["resources"]["requests"] == {"cpu": "1", "memory": "128Mi"}


def test_whose_it_is_cannot_be_said_otherwise() -> None:
    lies = {"labels": {"app.kubernetes.io/instance": "bank"}}
    labels = made(cluster(**replacing({"metadata": lies})))["metadata"]["labels"]
    assert labels["app.kubernetes.io/instance"] == "shop"


def test_another_word_is_another_document() -> None:
    one, other = (
        made(cluster(**replacing({"spec": {"schedule": it}}))) for it in ("@daily", "@weekly")
    )
    assert drift.differs(one, other)
    assert not drift.differs(one, one)


def test_what_cannot_be_laid_over_it_is_no_job() -> None:
    with pytest.raises(PatchError):
        detection_job(cluster(**replacing(said(containers=[{"image": "nameless:1"}]))), OURSELVES)
