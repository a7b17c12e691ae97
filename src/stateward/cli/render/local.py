"""What `stateward local` prints."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources

from stateward import local
from stateward.app.local import Report
from stateward.local.cluster import Cluster


def welcome(cluster: Cluster, kept: str) -> str:
    """Return how to use a cluster that has just come up, and what is kept of it."""
    return "\n".join(
        (
            "",
            f"A Kubernetes for trying things, never for data that you would miss ({kept}).",
            "Point kubectl at it:",
            "",
            f"    export KUBECONFIG={cluster.kubeconfig}",
            "    kubectl get nodes",
            "",
            "`stateward local differences` says what it does not do. Ctrl-C ends it.",
        )
    )


def report_lines(report: Report) -> Iterator[str]:
    """Yield how a cluster is, line by line."""
    ready = sum(report.nodes.values())
    pods = ", ".join(f"{count} {phase}" for phase, count in sorted(report.pods.items()))
    yield f"{report.server}  Kubernetes {report.version}, process {report.process}"
    yield f"  folder  {report.folder}"
    yield f"  nodes   {ready} of {len(report.nodes)} ready"
    yield f"  pods    {pods or 'none'}"
    yield f"  export KUBECONFIG={report.folder}/kubeconfig"


def differences_text() -> str:
    """Return what `stateward local differences` says: a document that is shipped with the code."""
    return resources.files(local).joinpath("differences.md").read_text(encoding="utf-8").rstrip()
