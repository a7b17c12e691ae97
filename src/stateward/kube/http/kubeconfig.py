"""Find out how to reach the cluster: a kubeconfig if there is one, else the pod's service account.

The order is kubectl's: the file named on the command line, ``$KUBECONFIG`` (several files, merged),
``~/.kube/config``, and then the service account that Kubernetes mounts into a pod. Whatever is
wrong is a UsageError that says what must be true, where, and what to do.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from stateward.core.errors import UsageError
from stateward.kube.http import kubeconfig_entries as entries
from stateward.kube.http import kubeconfig_files as files
from stateward.kube.http import proxies
from stateward.kube.http.access import ClusterAccess, PemFile, TlsMaterial, TokenFile

E = TypeVar("E")

#: Where Kubernetes mounts a pod's service account.
SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class NotConfigured(UsageError):
    """Nothing names a cluster: no file, and no pod that we would be."""


def find_access(
    environment: Mapping[str, str],
    *,
    path: str = "",
    context: str = "",
    service_account: Path = SERVICE_ACCOUNT,
) -> ClusterAccess:
    """Return how to reach the cluster that the user means."""
    if found := _kubeconfigs(environment, path):
        return from_kubeconfig(found, environment, context=context)
    if not context and environment.get("KUBERNETES_SERVICE_HOST"):
        return in_cluster(environment, service_account)
    raise NotConfigured(
        "a cluster must be configured, but there is no kubeconfig and this is no pod of a cluster",
        hint="name a file with --kubeconfig or $KUBECONFIG",
    )


def from_kubeconfig(
    paths: Iterable[Path], environment: Mapping[str, str], *, context: str = ""
) -> ClusterAccess:
    """Return what one context of these files says; without a name, their current one."""
    merged = files.read_merged(paths)
    chosen = _context(merged, context)
    cluster = _named(merged.clusters, chosen.entry.cluster, "cluster", chosen)
    server = entries.server_of(cluster)
    access = ClusterAccess(
        server=server,
        namespace=chosen.entry.namespace or "default",
        tls=entries.tls_of(cluster, None),
        proxy=entries.proxy_of(cluster) or proxies.from_environment(server, environment),
        origin=f"context {chosen.name} of {chosen.file}",
    )
    if not chosen.entry.user:
        return access
    user = _named(merged.users, chosen.entry.user, "user", chosen)
    return replace(
        access,
        tls=entries.tls_of(cluster, user),
        credentials=entries.credentials_of(user, cluster, environment),
        impersonation=entries.impersonation_of(user),
    )


def in_cluster(
    environment: Mapping[str, str], service_account: Path = SERVICE_ACCOUNT
) -> ClusterAccess:
    """Return how a pod reaches the cluster it is in.

    The token and the authority are rotated, so both stay files.
    """
    server = _service_address(environment)
    token, authority = service_account / "token", service_account / "ca.crt"
    for file in (token, authority):
        if not files.is_there(file):
            raise UsageError(
                f"inside a cluster {file} must exist",
                hint="let the pod mount its service account (automountServiceAccountToken: true)",
            )
    return ClusterAccess(
        server=server,
        namespace=_namespace_of(service_account / "namespace"),
        tls=TlsMaterial(authority=PemFile(authority)),
        credentials=TokenFile(token),
        proxy=proxies.from_environment(server, environment),
        origin="in-cluster",
    )


def _kubeconfigs(environment: Mapping[str, str], path: str) -> tuple[Path, ...]:
    if path:
        return (_expanded(path, environment),)
    if listed := [Path(p) for p in environment.get("KUBECONFIG", "").split(os.pathsep) if p]:
        # Like kubectl, we pass over files of the list that are not there; but not over all of them.
        return tuple(p for p in listed if files.is_there(p)) or (listed[0],)
    if home := environment.get("HOME"):
        usual = Path(home, ".kube", "config")
        return (usual,) if files.is_there(usual) else ()
    return ()


def _expanded(path: str, environment: Mapping[str, str]) -> Path:
    home = environment.get("HOME")
    return Path(home, path[2:]) if home and path.startswith("~/") else Path(path)


def _context(merged: files.Merged, wanted: str) -> files.Found[files.Context]:
    name = wanted or merged.current_context
    if not name:
        raise UsageError(
            f"kubeconfig {merged} must say which context is current",
            hint=f"choose one with --context ({_listed(merged.contexts)})",
        )
    if name not in merged.contexts:
        asked = "" if wanted else ", which it calls current"
        raise UsageError(
            f"kubeconfig {merged} must have the context {name!r}{asked}",
            hint=f"choose one with --context ({_suggested(name, merged.contexts)})",
        )
    return merged.contexts[name]


def _named(
    known: Mapping[str, files.Found[E]], name: str, what: str, context: files.Found[files.Context]
) -> files.Found[E]:
    if name in known:
        return known[name]
    if not name:
        raise UsageError(
            f"context {context.name!r} of {context.file} must name a {what}",
            hint=f"set it, or choose another context; known: {_listed(known)}",
        )
    raise UsageError(
        f"the {what} {name!r} of context {context.name!r} in {context.file} must be defined",
        hint=f"add it, or choose another context ({_suggested(name, known)})",
    )


def _suggested(name: str, known: Iterable[str]) -> str:
    known = tuple(known)
    close = get_close_matches(name, known, n=1)
    return f"did you mean {close[0]}? known: {_listed(known)}" if close else _listed(known)


def _listed(known: Iterable[str]) -> str:
    names: Sequence[str] = sorted(known)
    return f"{', '.join(names)}" if names else "it has none"


def _service_address(environment: Mapping[str, str]) -> str:
    host = environment.get("KUBERNETES_SERVICE_HOST", "")
    port = environment.get("KUBERNETES_SERVICE_PORT", "")
    server = f"https://{f'[{host}]' if ':' in host else host}:{port}"
    try:
        complete = bool(urlsplit(server).hostname and urlsplit(server).port)
    except ValueError:
        complete = False
    if not complete:
        raise UsageError(
            "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must name the API server",
            hint="run in a pod of the cluster, or name a file with --kubeconfig",
        )
    return server


def _namespace_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip() or "default"
    except (OSError, UnicodeDecodeError):
        return "default"
