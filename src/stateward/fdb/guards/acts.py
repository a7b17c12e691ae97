"""Which guards hold which act back: all that must be true before the database is changed."""

from __future__ import annotations

from typing import Final

from stateward.fdb.guards import database as on
from stateward.fdb.guards import regions
from stateward.fdb.guards.guard import Guard
from stateward.fdb.guards.transport import certificates_are_good

#: True before anything but a repair.
_ALWAYS: Final[tuple[Guard, ...]] = (
    on.database_is_available,
    on.few_generations,
    on.configuration_is_told,
)

EXCLUDE: Final[tuple[Guard, ...]] = (*_ALWAYS, on.recovered_for(120))
#: Whoever includes while a recovery is under way may make it fail.
INCLUDE: Final[tuple[Guard, ...]] = (*_ALWAYS, on.recovered_for(600), on.recovery_is_complete)
CONFIGURE: Final[tuple[Guard, ...]] = (
    *_ALWAYS,
    on.configuration_is_readable,
    on.data_is_healthy,
    on.load_is_light,
    on.recovered_for(60),
)
#: Regions change, and nobody else may write than before: what the others have does not matter.
MOVE_REGIONS: Final[tuple[Guard, ...]] = (
    *_ALWAYS,
    on.configuration_is_readable,
    regions.first_region_is_whole,
    on.load_is_light,
    on.recovered_for(60),
)
#: Another region may write from then on, and may have to at once.
LET_WRITE: Final[tuple[Guard, ...]] = (
    *CONFIGURE,
    regions.all_regions_are_whole,
    regions.regions_keep_up,
)
#: A coordinator is lost: with one more gone there may be no majority, so little is asked.
COORDINATORS_LOST: Final[tuple[Guard, ...]] = (on.most_coordinators_answer, on.recovered_for(120))
COORDINATORS_UNDESIRED: Final[tuple[Guard, ...]] = (
    *_ALWAYS,
    certificates_are_good,
    on.most_coordinators_answer,
    on.recovered_for(300),
)
#: That a zone may be away is told where that can be kept; that it may not, when all is well again.
BEGIN_MAINTENANCE: Final[tuple[Guard, ...]] = (on.database_is_available,)
END_MAINTENANCE: Final[tuple[Guard, ...]] = (*_ALWAYS, on.load_is_light)
BOUNCE: Final[tuple[Guard, ...]] = (*_ALWAYS, certificates_are_good, on.may_bounce)
#: The same before all change to another version at once.
UPGRADE: Final[tuple[Guard, ...]] = BOUNCE
#: What a status must be like, so that it proves that nothing is left on a process.
PROOF: Final[tuple[Guard, ...]] = (
    on.database_is_available,
    on.one_generation,
    on.configuration_is_told,
    on.all_roles_are_told,
    on.recovered_for(120),
)
REMOVE: Final[tuple[Guard, ...]] = (*_ALWAYS, on.can_lose_a_fault_domain)
#: Pods that are made anew are away for a while, and their data with them.
UPDATE_PODS: Final[tuple[Guard, ...]] = (*REMOVE, certificates_are_good)
