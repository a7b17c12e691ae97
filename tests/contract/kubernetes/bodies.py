"""Objects to begin stories with, as small as a server takes them; nobody works on them."""

from __future__ import annotations

from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]


def named(name: str = "a", **parts: Any) -> Json:
    """Return an object with a name, and these parts."""
    return {"metadata": {"name": name}} | parts


def pod(name: str = "a", **spec: Any) -> Json:
    """Return a pod that nobody schedules."""
    still = {"schedulerName": "nobody", "automountServiceAccountToken": False}
    return named(name, spec=still | {"containers": [container()]} | spec)


def container(name: str = "main", **more: Any) -> Json:
    return {"name": name, "image": "none"} | more


def deployment(name: str = "a", *containers: Json, **spec: Any) -> Json:
    """Return a deployment that wants no pods, and is paused."""
    return named(name, spec=_team(*containers) | {"paused": True} | spec)


def stateful_set(name: str = "a", **spec: Any) -> Json:
    return named(name, spec=_team() | spec)


def job(name: str = "a", **spec: Any) -> Json:
    """Return a job that does not begin."""
    return named(name, spec={"suspend": True, "template": _work()} | spec)


def cron_job(name: str = "a", **spec: Any) -> Json:
    work = {
        "schedule": "1 1 1 1 *",
        "suspend": True,
        "jobTemplate": {"spec": {"template": _work()}},
    }
    return named(name, spec=work | spec)


def service(name: str = "a", *ports: Json) -> Json:
    return named(name, spec={"ports": list(ports) or [{"port": 80}]})


def budget(name: str = "a", least: int = 1) -> Json:
    return named(name, spec={"minAvailable": least, "selector": {"matchLabels": {"app": name}}})


def claim(name: str = "a") -> Json:
    """Return a claim that nobody provides for."""
    spec = {
        "storageClassName": "nobody",
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }
    return named(name, spec=spec)


def _team(*containers: Json) -> Json:
    labels = {"app": "a"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": list(containers) or [container()]},
    }
    return {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}


def _work() -> Json:
    return {"spec": {"restartPolicy": "Never", "containers": [container()]}}
