"""What a spec says of the job that looks for missing processes, as far as can be seen here.

Whether a schedule is one, and an image there, is for others to say: the object is refused then, or
does not run. Nothing else of a cluster depends on it, so nothing else waits for it to be mended.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stateward.fdb.api.checks.templates import metadata_problems
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.kube.crd.findings import Problem
from stateward.kube.overlays import overlay_problems

#: Where it is said.
WHERE: Final = "spec.automationOptions.replacements.cronJob"
_SPEC: Final = "io.k8s.api.batch.v1.CronJobSpec"


def job_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    """Yield what cannot be laid over a CronJob, and where."""
    job = spec.automation_options.replacements.cron_job
    if job is None:
        return
    yield from metadata_problems(job.metadata, f"{WHERE}.metadata")
    for found in overlay_problems(job.spec, _SPEC, f"{WHERE}.spec"):
        yield Problem(found.path, found.message)
