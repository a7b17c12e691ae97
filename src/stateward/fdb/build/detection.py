"""The CronJob that looks for missing processes of one cluster, from outside of the operator.

It runs ``stateward fdb detect-missing``, which needs what the operator itself has: an account of
Kubernetes, a program of FoundationDB by which the database is asked, and, with TLS, certificates.
What a user says in the spec is laid over all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from stateward.core.errors import HouseError
from stateward.fdb.api import questions
from stateward.fdb.api.automation import DetectionJob
from stateward.fdb.api.pods import container_of
from stateward.fdb.build.basis import Basis
from stateward.fdb.build.containers import named
from stateward.fdb.build.metadata import Said, cluster_owner, head, resource_labels
from stateward.fdb.build.schedules import every
from stateward.fdb.model import names
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.names import INIT_CONTAINER, MAIN_CONTAINER
from stateward.kube import drift
from stateward.kube.codec import Json
from stateward.kube.meta import Object
from stateward.kube.resources import CRON_JOBS, Resource
from stateward.kube.strategic import strategic_patch
from stateward.kube.structure import structure_of_kind

#: The containers, by which a user says something of them.
DETECTOR: Final = "detect-missing"
PROGRAMS: Final = "fdb-binaries"

#: Where programs of FoundationDB are, and authorities of the spec.
_BINARIES: Final = "/usr/bin/fdb"
_AUTHORITIES: Final = "/var/fdb/authorities"
#: Whom a pod runs as: the user of our image, who owns nothing.
_USER: Final = 65532
#: Seconds after which a look has failed: while it runs, no other begins.
_LONGEST: Final = 300
#: Seconds by which a look may begin late; without a limit, a hundred that were missed end them all.
_LATE: Final = 120
_RESOURCES: Final[Json] = {
    "requests": {"cpu": "50m", "memory": "128Mi"},
    "limits": {"memory": "512Mi"},
}
_TLS: Final = "FDB_TLS_"


class WholeCronJob(Object):
    """A CronJob with all of its spec, so that it is seen what others changed of it."""

    spec: dict[str, Any] = {}


WHOLE_CRON_JOBS: Final = Resource(
    CRON_JOBS.group,
    CRON_JOBS.version,
    CRON_JOBS.kind,
    CRON_JOBS.plural,
    WholeCronJob,
    has_status=CRON_JOBS.has_status,
)


@dataclass(frozen=True, slots=True)
class Detector:
    """What the operator knows of itself: with what, and as whom, jobs of it run."""

    #: Empty: nobody told it, and it can only be said in the spec.
    image: str = ""
    #: Empty: the usual account of the namespace.
    account: str = ""


#: An operator that was told nothing of itself.
NOBODY: Final = Detector()


def detection_job(wanted: Basis, detector: Detector) -> Json | None:
    """Return the CronJob that a cluster shall have; None: none.

    There is none without replacements, and none where neither the operator nor the spec says which
    image runs it. Raise PatchError when what the spec says cannot be laid over it.
    """
    options = wanted.spec.automation_options.replacements
    if not options.enabled:
        return None
    said = options.cron_job or DetectionJob()
    spec = _laid_over(_spec(wanted, detector), said.spec)
    if not _has_image(spec):
        return None
    labels = Said.by(said.metadata).under(resource_labels(wanted))
    name = names.detection_job_name(wanted.name)
    made = head(CRON_JOBS, wanted.namespace, name, labels, [cluster_owner(wanted)])
    return drift.sealed(made | {"spec": spec})


def _laid_over(spec: Json, said: Json) -> Json:
    whole = structure_of_kind(CRON_JOBS.group, CRON_JOBS.version, CRON_JOBS.kind)
    structure = whole.child("spec") if whole is not None else None
    if structure is None:
        raise HouseError("we must ship the schema of CronJob, and do not")
    return strategic_patch(spec, said, structure)


def _has_image(spec: Json) -> bool:
    """Tell whether the container that looks has an image; a job of the user's own has others."""
    found: Json = spec
    for name in ("jobTemplate", "spec", "template", "spec"):
        found = found.get(name) or {}
    return all(it.get("image") for it in found.get("containers") or ())


def _spec(wanted: Basis, detector: Detector) -> Json:
    wait = wanted.spec.automation_options.replacements.failure_detection_time_seconds
    return {
        "schedule": every(wait),
        "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": _LATE,
        "successfulJobsHistoryLimit": 1,
        "failedJobsHistoryLimit": 1,
        "jobTemplate": {
            "spec": {
                "backoffLimit": 1,
                "activeDeadlineSeconds": _LONGEST,
                "template": {
                    # Labels of the cluster's own pods would have its services lead here.
                    "metadata": {"labels": {names.DETECTS: wanted.name}},
                    "spec": _pod(wanted, detector),
                },
            }
        },
    }


def _pod(wanted: Basis, detector: Detector) -> Json:
    papers = _papers(wanted)
    container: Json = {
        "name": DETECTOR,
        "args": [
            *("fdb", "detect-missing"),
            *("--namespace", wanted.namespace, "--cluster", wanted.name),
            *("--fdb-binaries", _binaries(wanted)),
        ],
        "env": papers.env,
        "resources": _RESOURCES,
        "securityContext": _bare(),
        "volumeMounts": [
            {"name": PROGRAMS, "mountPath": _BINARIES},
            {"name": "temporary", "mountPath": "/tmp"},  # noqa: S108 - a volume of its own
            *papers.mounts,
        ],
    }
    if detector.image:
        container["image"] = detector.image
    pod: Json = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": True,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "runAsGroup": _USER,
            "fsGroup": _USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "initContainers": [_programs(wanted)],
        "containers": [container],
        "volumes": [
            {"name": PROGRAMS, "emptyDir": {}},
            {"name": "temporary", "emptyDir": {}},
            *papers.volumes,
        ],
    }
    return pod | ({"serviceAccountName": detector.account} if detector.account else {})


def _bare() -> Json:
    return {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


# ------------------------------------------------------------------ programs of FoundationDB
def _programs(wanted: Basis) -> Json:
    """Return what brings fdbcli: the image of the cluster's own pods, of the version that runs."""
    split, output = wanted.image_type == "split", "/var/output-files"
    name = INIT_CONTAINER if split else MAIN_CONTAINER
    words = ["--init-mode"] if split else ["--mode", "init"]
    return {
        "name": PROGRAMS,
        "image": questions.image_of(wanted.spec, ProcessClass.STORAGE, name, wanted.main_version),
        "args": [*words, "--copy-binary", "fdbcli", "--output-dir", output],
        "resources": _RESOURCES,
        "securityContext": _bare(),
        "volumeMounts": [{"name": PROGRAMS, "mountPath": output}],
    }


def _binaries(wanted: Basis) -> str:
    """Return below which folder that image puts programs, in one of their version."""
    return f"{_BINARIES}/bin" if wanted.image_type == "split" else _BINARIES


# ------------------------------------------------------------------ certificates
@dataclass(frozen=True, slots=True)
class _Papers:
    """By what the job shows a database with TLS who it is."""

    env: list[Json]
    mounts: list[Json]
    volumes: list[Json]


def _papers(wanted: Basis) -> _Papers:
    """Return the certificates of the cluster's own pods, as their template says where they are."""
    if not wanted.tls:
        return _Papers([], [], [])
    template = questions.settings_for(wanted.spec, ProcessClass.STORAGE).pod_template
    main = container_of(template, MAIN_CONTAINER)
    env = [it for it in main.get("env") or () if str(it.get("name")).startswith(_TLS)]
    files = [str(it.get("value") or "") for it in env]
    mounts = [it for it in main.get("volumeMounts") or () if _holds(it, files)]
    used = {it.get("name") for it in mounts}
    given = (template.spec.get("volumes") if template is not None else None) or ()
    volumes = [it for it in given if it.get("name") in used]
    if wanted.spec.trusted_cas:
        env.insert(0, {"name": f"{_TLS}CA_FILE", "value": f"{_AUTHORITIES}/ca.pem"})
        mounts.append({"name": "authorities", "mountPath": _AUTHORITIES})
        volumes.append({"name": "authorities", "configMap": _authorities(wanted)})
    return _Papers(named(env), mounts, volumes)


def _holds(mount: Json, files: list[str]) -> bool:
    folder = str(mount.get("mountPath")).rstrip("/")
    return any(it == folder or it.startswith(f"{folder}/") for it in files)


def _authorities(wanted: Basis) -> Json:
    items = [{"key": names.CA_FILE_KEY, "path": "ca.pem"}]
    return {"name": names.config_map_name(wanted.name), "items": items}
