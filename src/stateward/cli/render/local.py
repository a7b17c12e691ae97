"""What `stateward local` prints."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

from stateward.app.local import Report
from stateward.local.cluster import Cluster
from stateward.local.differences import DIFFERENCES


def welcome(cluster: Cluster, *, kept: Path | None) -> str:
    """Return how to use a cluster that has just come up."""
    data = f"kept in {kept}" if kept else "nothing is kept; --data DIR would"
    return "\n".join(
        (
            "",
            f"A Kubernetes for trying things, never for data that you would miss ({data}).",
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
    """Return the whole list, wrapped for a terminal."""
    parts = []
    for topic, sentences in DIFFERENCES.items():
        wrapped = [
            textwrap.fill(it, 96, initial_indent="  - ", subsequent_indent="    ")
            for it in sentences
        ]
        parts.append("\n".join((topic, *wrapped)))
    return "\n\n".join(parts)
