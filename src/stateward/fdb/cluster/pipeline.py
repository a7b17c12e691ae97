"""The steps of a pass, in their order; and why each stands where it does."""

from __future__ import annotations

from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.seen import Seen
from stateward.fdb.cluster.steps.acting.bounce_processes import BounceProcesses
from stateward.fdb.cluster.steps.acting.change_coordinators import ChangeCoordinators
from stateward.fdb.cluster.steps.acting.exclude_instances import ExcludeInstances
from stateward.fdb.cluster.steps.acting.generate_initial_cluster_file import (
    GenerateInitialClusterFile,
)
from stateward.fdb.cluster.steps.acting.update_database_configuration import (
    UpdateDatabaseConfiguration,
)
from stateward.fdb.cluster.steps.making.add_pods import AddPods
from stateward.fdb.cluster.steps.making.add_process_groups import AddProcessGroups
from stateward.fdb.cluster.steps.making.add_pvcs import AddPVCs
from stateward.fdb.cluster.steps.making.add_services import AddServices
from stateward.fdb.cluster.steps.making.delete_pods_for_buggification import (
    DeletePodsForBuggification,
)
from stateward.fdb.cluster.steps.making.recall_process_groups import RecallProcessGroups
from stateward.fdb.cluster.steps.making.settle_left_volumes import SettleLeftVolumes
from stateward.fdb.cluster.steps.making.update_config_map import UpdateConfigMap
from stateward.fdb.cluster.steps.making.update_detection_job import UpdateDetectionJob
from stateward.fdb.cluster.steps.making.update_labels import UpdateLabels
from stateward.fdb.cluster.steps.making.update_pod_config import UpdatePodConfig
from stateward.fdb.cluster.steps.making.update_process_groups import UpdateProcessGroups
from stateward.fdb.cluster.steps.making.update_sidecar_versions import UpdateSidecarVersions
from stateward.fdb.cluster.steps.marking.choose_removals import ChooseRemovals
from stateward.fdb.cluster.steps.marking.mark_listed import MarkListed
from stateward.fdb.cluster.steps.marking.replace_failed_pods import ReplaceFailedPods
from stateward.fdb.cluster.steps.marking.replace_misconfigured_pods import ReplaceMisconfiguredPods
from stateward.fdb.cluster.steps.removing.remove_incompatible_processes import (
    RemoveIncompatibleProcesses,
)
from stateward.fdb.cluster.steps.removing.remove_process_groups import RemoveProcessGroups
from stateward.fdb.cluster.steps.removing.remove_services import RemoveServices
from stateward.fdb.cluster.steps.removing.update_pods import UpdatePods
from stateward.fdb.cluster.steps.telling.check_certificates import CheckCertificates
from stateward.fdb.cluster.steps.telling.check_client_compatibility import CheckClientCompatibility
from stateward.fdb.cluster.steps.telling.check_maintenance_mode import CheckMaintenanceMode
from stateward.fdb.cluster.steps.telling.check_place import CheckPlace
from stateward.fdb.cluster.steps.telling.check_prefix import CheckPrefix
from stateward.fdb.cluster.steps.telling.coordinate_operators import CoordinateOperators
from stateward.fdb.cluster.steps.telling.update_lock_configuration import UpdateLockConfiguration
from stateward.fdb.cluster.steps.telling.update_status import UpdateStatus
from stateward.runtime.pipeline import Step


def steps(tools: Tools) -> tuple[Step[Seen], ...]:
    """Return all steps. The status is written once more when they are through."""
    return (
        UpdateStatus(),  # what was learned is on record before anybody acts by it
        CoordinateOperators(tools),  # whose turn it is, among all operators of the database
        UpdateLockConfiguration(tools),  # who is banned is told before anything is done
        SettleLeftVolumes(tools),  # how an old database is found is not overwritten unasked
        RecallProcessGroups(tools),  # all judge by the groups that are seen: first all are there
        CheckPrefix(),  # who could not be told from another cluster makes nothing
        CheckPlace(),  # no file says that processes are where they cannot be
        CheckCertificates(),  # without them nothing is begun, and never in plain text
        UpdateConfigMap(tools),  # pods that are about to be made find their files
        UpdateDetectionJob(tools),  # it needs that file; whatever is wrong with it, all go on
        CheckClientCompatibility(tools),  # an upgrade that would cut clients off goes no further
        MarkListed(tools),  # what people want to go first: the spec names it
        ReplaceMisconfiguredPods(tools),  # then what cannot become as wanted ...
        ReplaceFailedPods(tools),  # ... and what is lost
        DeletePodsForBuggification(tools),  # faults that are asked for
        UpdateProcessGroups(tools),  # all others learn what they shall be
        AddProcessGroups(tools),  # whoever goes is followed by another, before data leaves
        AddServices(tools),
        AddPVCs(),
        AddPods(),
        GenerateInitialClusterFile(tools),  # there are pods to choose coordinators from
        RemoveIncompatibleProcesses(tools),
        UpdateSidecarVersions(),
        UpdatePodConfig(),
        UpdateLabels(),
        UpdateDatabaseConfiguration(tools),
        ChooseRemovals(tools),
        ExcludeInstances(tools),  # data leaves before pods do
        ChangeCoordinators(tools),  # coordinators leave before their pods do
        BounceProcesses(tools),  # one restart of all that need it
        CheckMaintenanceMode(tools),  # a zone is let go before the next one is taken
        UpdatePods(tools),
        RemoveServices(tools),
        RemoveProcessGroups(tools),  # last: nothing above may still need them
    )
