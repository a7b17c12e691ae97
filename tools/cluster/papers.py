"""Who everybody is: certificates of one authority, and a token for each who asks the API server."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from stateward.local.issuing import Authority, Papers, Term, new_authority
from tools.cluster import plan as places
from tools.cluster.plan import Plan

_LIFE: Final = timedelta(days=30)
ADMIN: Final = "admin"
MANAGER: Final = "manager"
SCHEDULER: Final = "scheduler"
PROXY: Final = "proxy"
_USERS: Final = {
    ADMIN: ("admin", "system:masters"),
    MANAGER: ("system:kube-controller-manager", ""),
    SCHEDULER: ("system:kube-scheduler", ""),
    PROXY: ("system:kube-proxy", ""),
}


def write(plan: Plan) -> None:
    """Write all papers of a cluster; its tokens are good in its own namespaces only."""
    folder = plan.papers
    folder.mkdir(mode=0o700, parents=True)
    term = Term(datetime.now(UTC), _LIFE)
    authority = new_authority("stateward-cluster", term)
    _keep(folder, "ca", authority.papers)
    inner = "kubernetes.default.svc"
    names = [places.CONTROL, places.KUBERNETES_SERVICE, "127.0.0.1", "localhost", "kubernetes"]
    names += ["kubernetes.default", inner, f"{inner}.cluster.local"]
    _keep(folder, "server", authority.issue("kube-apiserver", names, term))
    for node in plan.nodes:
        _keep(folder, node.name, _of_node(authority, node.name, node.address, term))
    rows = [f'{_token(who)},{user},{who},"{group}"' for who, (user, group) in _USERS.items()]
    rows += [
        f'{_token(it.name)},system:node:{it.name},{it.name},"system:nodes"' for it in plan.nodes
    ]
    (folder / "tokens.csv").write_text("\n".join(rows) + "\n")
    for who in (*_USERS, *(it.name for it in plan.nodes)):
        kubeconfig(plan, who).write_text(_kubeconfig(plan, who))
    plan.kubeconfig.write_text(_kubeconfig(plan, ADMIN))


def kubeconfig(plan: Plan, who: str) -> Path:
    """Return the file by which somebody finds the API server."""
    return plan.papers / f"{who}.kubeconfig"


def _of_node(authority: Authority, name: str, address: str, term: Term) -> Papers:
    return authority.issue(f"system:node:{name}", [name, address], term)


def _keep(folder: Path, name: str, papers: Papers) -> None:
    (folder / f"{name}.crt").write_bytes(papers.certificate)
    (folder / f"{name}.key").write_bytes(papers.key)


def _token(who: str) -> str:
    return f"token-of-{who}"


def _kubeconfig(plan: Plan, who: str) -> str:
    authority = base64.b64encode((plan.papers / "ca.crt").read_bytes()).decode()
    server = f"https://{places.CONTROL}:{places.API_PORT}"
    cluster = {"server": server, "certificate-authority-data": authority}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "stateward",
            "clusters": [{"name": "stateward", "cluster": cluster}],
            "users": [{"name": who, "user": {"token": _token(who)}}],
            "contexts": [{"name": "stateward", "context": {"cluster": "stateward", "user": who}}],
        }
    )
