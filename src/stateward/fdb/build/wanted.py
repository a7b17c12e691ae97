"""What the process groups of a cluster shall be."""

from __future__ import annotations

from dataclasses import dataclass, field

from stateward.fdb.api import questions
from stateward.fdb.api.group import FoundationDBProcessGroupSpec, GroupService
from stateward.fdb.api.processes import ProcessSettings
from stateward.fdb.build import metadata, template
from stateward.fdb.build.basis import Basis
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.names import ProcessGroupID


@dataclass(frozen=True, slots=True)
class Wanted(Basis):
    """A cluster whose groups are asked for; what they are made from is made once for a class."""

    _made: dict[ProcessClass, ProcessSettings] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def settings(self, process_class: ProcessClass) -> ProcessSettings:
        """Return what the groups of a class are made from, complete."""
        if process_class not in self._made:
            self._made[process_class] = template.settings(self, process_class)
        return self._made[process_class]

    def group(self, id: ProcessGroupID) -> FoundationDBProcessGroupSpec:  # noqa: A002 - its name
        """Return what a group shall be, as far as its cluster says: nothing of what becomes of it.

        All groups of a class have the same settings, but for those with a fault that is asked for.
        """
        spec, routing = self.spec, self.spec.routing
        return FoundationDBProcessGroupSpec(
            cluster_name=self.name,
            process_group_id=str(id),
            process_class=str(id.process_class),
            process_group_id_prefix=id.prefix,
            process_settings=self._with_faults(id),
            service=GroupService(
                headless_service=bool(routing.headless_service),
                public_ip_source=routing.public_ip_source or "pod",
                pod_ip_family=routing.pod_ip_family,
            ),
            servers_per_pod=questions.servers_per_pod(spec, id.process_class),
            image_type=self.image_type,
            log_group=self.log_group,
            sidecar_variables=spec.sidecar_variables,
            deletion_policy=spec.deletion_policy,
        )

    def group_labels(self, id: ProcessGroupID) -> dict[str, str]:  # noqa: A002 - its name
        """Return what is said of a group and of all its objects."""
        return metadata.group_labels(self, id)

    def _with_faults(self, group: ProcessGroupID) -> ProcessSettings:
        found = self.settings(group.process_class)
        if crashing := questions.crash_loops(self.spec, group):
            found = template.crashing(found, crashing)
        if questions.is_target(self.spec.buggify.no_schedule, group):
            found = template.unschedulable(found)
        return found
