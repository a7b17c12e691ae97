"""The workloads that stories are about, each with what the story wants to say about it."""

from __future__ import annotations

from typing import Any, Final

LABELS: Final = {"app": "web"}
#: The node of all pods, which a stage replaces by one of its own: neither is there.
NOWHERE: Final = "nowhere"


def template(version: int = 1, **spec: Any) -> Any:
    """Return a template of pods that nobody but the story's puppets runs."""
    return {
        "metadata": {"labels": LABELS},
        "spec": {
            "nodeName": NOWHERE,
            "schedulerName": "nobody",
            "containers": [{"name": "main", "image": f"app:{version}"}],
            **spec,
        },
    }


def stateful_set(replicas: int = 3, version: int = 1, **spec: Any) -> Any:
    """Return a StatefulSet called web."""
    return {
        "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas,
            "serviceName": "net",
            "selector": {"matchLabels": LABELS},
            "template": template(version),
            **spec,
        },
    }


def rolling(**fields: Any) -> Any:
    """Return a StatefulSet's update strategy."""
    return {"type": "RollingUpdate", "rollingUpdate": fields}


def deployment(replicas: int = 3, version: int = 1, **spec: Any) -> Any:
    """Return a Deployment called web."""
    return {
        "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": LABELS},
            "template": template(version),
            **spec,
        },
    }


def steps(surge: int | str, unavailable: int | str) -> Any:
    """Return a Deployment's strategy."""
    fields = {"maxSurge": surge, "maxUnavailable": unavailable}
    return {"type": "RollingUpdate", "rollingUpdate": fields}


def replica_set(replicas: int = 3, **spec: Any) -> Any:
    """Return a ReplicaSet called web."""
    return deployment(replicas, **spec)


def job(name: str = "work", **spec: Any) -> Any:
    """Return a Job."""
    pods = {"metadata": {"labels": {"part": "work"}}, "spec": template()["spec"]}
    pods["spec"]["restartPolicy"] = spec.pop("restartPolicy", "Never")
    return {"metadata": {"name": name}, "spec": {"template": pods, **spec}}


def cron_job(schedule: str = "* * * * *", job_spec: Any = None, **spec: Any) -> Any:
    """Return a CronJob called often."""
    body = {**job()["spec"], **(job_spec or {})}
    return {
        "metadata": {"name": "often"},
        "spec": {"schedule": schedule, "jobTemplate": {"spec": body}, **spec},
    }


def image(version: int) -> Any:
    """Return the part of a spec that changes the version of the template."""
    return {"template": template(version)}
