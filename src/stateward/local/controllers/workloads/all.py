"""All controllers of workloads together."""

from __future__ import annotations

from stateward.local.controllers.desk import Desk
from stateward.local.controllers.workloads import replica_sets
from stateward.local.controllers.workloads.batch import cron_jobs, jobs
from stateward.local.controllers.workloads.deployments import controller as deployments
from stateward.local.controllers.workloads.stateful import controller as stateful_sets


def employ(desk: Desk) -> None:
    """Have all workloads of a cluster looked after."""
    for controllers in (stateful_sets, replica_sets, deployments, jobs, cron_jobs):
        controllers.employ(desk)
