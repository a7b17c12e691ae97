"""What makes no sense in a binding of roles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stateward.core import naming
from stateward.kube.codec import Json
from stateward.kube.errors import Cause
from stateward.local.schema import causes
from stateward.local.schema.builtin.pod_checks import one_of

_GROUP: Final = "rbac.authorization.k8s.io"
#: Who can be bound, and the group that says what they are.
_SUBJECTS: Final = {"ServiceAccount": "", "User": _GROUP, "Group": _GROUP}


def binding_problems(document: Json) -> Iterator[Cause]:
    """Yield what is wrong with a binding."""
    role = document.get("roleRef") or {}
    if role.get("apiGroup") != _GROUP:
        yield causes.unsupported("roleRef.apiGroup", role.get("apiGroup"), (_GROUP,))
    if role.get("kind") not in {"Role", "ClusterRole"}:
        yield causes.unsupported("roleRef.kind", role.get("kind"), ("Role", "ClusterRole"))
    if not role.get("name"):
        yield causes.required("roleRef.name")
    for sign in "/%":
        if sign in role.get("name", ""):
            yield causes.invalid("roleRef.name", role["name"], f"may not contain '{sign}'")
    for place, subject in enumerate(document.get("subjects") or ()):
        yield from _subject_problems(subject, f"subjects[{place}]", document["metadata"])


def _subject_problems(subject: Json, path: str, metadata: Json) -> Iterator[Cause]:
    kind, name = subject.get("kind"), subject.get("name")
    if not name:
        yield causes.required(f"{path}.name")
    yield from one_of(subject, "kind", tuple(_SUBJECTS), path)
    group = subject.get("apiGroup") or ""
    if (wanted := _SUBJECTS.get(str(kind))) is not None and group != wanted:
        yield causes.unsupported(f"{path}.apiGroup", group, (wanted,))
    if kind != "ServiceAccount":
        return
    if name and (problem := naming.dns_subdomain_problem(name)):
        yield causes.invalid(f"{path}.name", name, problem)
    if not subject.get("namespace") and not metadata.get("namespace"):
        yield causes.required(f"{path}.namespace")
