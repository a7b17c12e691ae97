"""Guards over what the database says of itself: what it does not say is never taken for well."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from stateward.core.facts import Fact, Known, Unknown
from stateward.fdb.guards.guard import Guard, Refusal
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.configuration import Redundancy
from stateward.fdb.status import complaints as said
from stateward.fdb.status import configuration as told
from stateward.fdb.status import coordinators, health, recovery
from stateward.fdb.status.document import Process
from stateward.fdb.status.facts import cluster, known, missing
from stateward.fdb.status.reading import Status
from stateward.fdb.views import ClusterView

#: Generations of logs that may still be needed while the database is changed.
MOST_GENERATIONS: Final = 10
#: Seconds behind, and bytes that wait, with which there is time for something else.
MOST_LAG: Final = 60.0
MOST_QUEUED: Final = 250 * 1024 * 1024
_RECOVERED: Final = frozenset({"fully_recovered", "all_logs_recruited"})
_UNREADABLE: Final = "unreadable_configuration"
#: With any of these a status does not list all roles of all processes.
_NOT_ALL_ROLES: Final = frozenset(
    {_UNREADABLE, "full_replication_timeout", "storage_servers_error", "log_servers_error"}
)


def _nobody_knows(guard: str, fact: Unknown) -> Refusal:
    return Refusal(guard, f"nobody knows: {fact.reason}")


def _must(guard: str, fact: Fact[bool], otherwise: str) -> Refusal | None:
    if isinstance(fact, Unknown):
        return _nobody_knows(guard, fact)
    return None if fact.value else Refusal(guard, otherwise)


# ------------------------------------------------------------------ how the database is
def database_is_available(view: ClusterView) -> Refusal | None:
    """Refuse while nothing can be written: whatever is wrong, an act must not make it worse."""
    fact = health.is_available(view.database)
    return _must("database_is_available", fact, "the database is not available")


def few_generations(view: ClusterView) -> Refusal | None:
    """Refuse while many recoveries are not behind: each act may cause one more."""
    return _generations(view, "few_generations", MOST_GENERATIONS)


def one_generation(view: ClusterView) -> Refusal | None:
    """Refuse while logs of an earlier generation are still needed, wherever they are."""
    return _generations(view, "one_generation", 1)


def _generations(view: ClusterView, name: str, most: int) -> Refusal | None:
    fact = recovery.old_generations(view.database)
    if isinstance(fact, Unknown):
        return _nobody_knows(name, fact)
    if fact.value <= most:
        return None
    return Refusal(name, f"{fact.value} generations of logs are needed, and may be {most}")


def recovered_for(seconds: float) -> Guard:
    """Return a guard that refuses until the last recovery is so many seconds ago."""

    def recovered_long_enough(view: ClusterView) -> Refusal | None:
        fact = recovery.age(view.database)
        if isinstance(fact, Unknown):
            return _nobody_knows("recovered_long_enough", fact)
        left = seconds - fact.value
        if left <= 0:
            return None
        return Refusal(
            "recovered_long_enough",
            f"the database was recovered less than {seconds:.0f} s ago",
            after=left,
        )

    return recovered_long_enough


def recovery_is_complete(view: ClusterView) -> Refusal | None:
    """Refuse while a recovery is under way."""
    fact = recovery.stage(view.database)
    if isinstance(fact, Unknown):
        return _nobody_knows("recovery_is_complete", fact)
    if fact.value in _RECOVERED:
        return None
    return Refusal("recovery_is_complete", f"the last recovery is at {fact.value}")


def data_is_healthy(view: ClusterView) -> Refusal | None:
    """Refuse while some data lacks copies."""
    fact = health.is_fully_replicated(view.database)
    return _must("data_is_healthy", fact, "some data has not all its copies")


def load_is_light(view: ClusterView) -> Refusal | None:
    """Refuse while processes are behind or have much to do."""
    fact = health.load(view.database)
    if isinstance(fact, Unknown):
        return _nobody_knows("load_is_light", fact)
    found, limits = fact.value, []
    for name, seconds in (("data", found.data_lag), ("durability", found.durability_lag)):
        if seconds > MOST_LAG:
            limits.append(f"{name} lags by more than {MOST_LAG:.0f} s")
    for name, waiting in (("log", found.log_queue), ("storage", found.storage_queue)):
        if waiting > MOST_QUEUED:
            limits.append(f"a {name} server has more than {MOST_QUEUED} bytes queued")
    return Refusal("load_is_light", "; ".join(limits)) if limits else None


def configuration_is_readable(view: ClusterView) -> Refusal | None:
    """Refuse while the database cannot read its own configuration."""
    return _without(view, "configuration_is_readable", frozenset({_UNREADABLE}))


def configuration_is_told(view: ClusterView) -> Refusal | None:
    """Refuse where a status leaves out what the database is: what else it leaves out is unknown."""
    fact = told.configuration(view.database)
    return _nobody_knows("configuration_is_told", fact) if isinstance(fact, Unknown) else None


def all_roles_are_told(view: ClusterView) -> Refusal | None:
    """Refuse where a status may leave roles out: a process without any may have some."""
    return _without(view, "all_roles_are_told", _NOT_ALL_ROLES)


def _without(view: ClusterView, name: str, forbidden: frozenset[str]) -> Refusal | None:
    fact = said.complaints(view.database)
    if isinstance(fact, Unknown):
        return _nobody_knows(name, fact)
    found = sorted(fact.value & forbidden)
    return Refusal(name, f"the status says {', '.join(found)}") if found else None


# ------------------------------------------------------------------ how much may go
def most_coordinators_answer(view: ClusterView) -> Refusal | None:
    """Refuse without a majority of coordinators: nothing could be agreed on."""
    fact = coordinators.quorum_is_reachable(view.database)
    return _must("most_coordinators_answer", fact, "no majority of the coordinators answers")


def can_lose_a_fault_domain(view: ClusterView) -> Refusal | None:
    """Refuse unless all copies of data and logs are there, and all coordinators answer."""
    name = "can_lose_a_fault_domain"
    questions = (
        _available(view.database),
        _copies(view.database, redundancy(view).fault_domains),
        _logs(view.database),
        _coordinators(view.database),
    )
    why = [it.reason if isinstance(it, Unknown) else it.value for it in questions]
    found = [it for it in why if it]
    return Refusal(name, "; ".join(found)) if found else None


def redundancy(view: ClusterView) -> Redundancy:
    """Return what there must be copies for: what the database is, and what this cluster asks for.

    Of several clusters of a database one may ask for fewer copies than there are, and not be heard;
    and a database that shall have fewer has data in all of them until it is told so.
    """
    modes = [view.spec.database_configuration.redundancy_mode]
    live = told.configuration(view.database)
    modes += [live.value.redundancy] if isinstance(live, Known) else []
    every = [Redundancy(it) for it in modes if it in set(Redundancy)]
    return max(every, key=lambda it: it.fault_domains, default=Redundancy.SINGLE)


def _available(status: Status) -> Fact[str]:
    fact = health.is_available(status)
    if isinstance(fact, Unknown):
        return fact
    return known(status, "" if fact.value else "the database is not available")


def _copies(status: Status, needed: int) -> Fact[str]:
    fact = health.fewest_replicas(status)
    if isinstance(fact, Unknown):
        return fact
    few = f"some data has {fact.value} copies, and must have {needed}"
    return known(status, few if fact.value < needed else "")


def _logs(status: Status) -> Fact[str]:
    fact = health.log_shortage(status)
    if isinstance(fact, Unknown):
        return fact
    return known(status, f"{fact.value} copies of the logs lack" if fact.value else "")


def _coordinators(status: Status) -> Fact[str]:
    every, quorum = coordinators.coordinators(status), coordinators.quorum_is_reachable(status)
    if isinstance(every, Unknown):
        return every
    if isinstance(quorum, Unknown):
        return quorum
    away = [str(it.address) for it in every.value if not it.reachable]
    if away or not every.value:
        return known(status, f"coordinators do not answer: {', '.join(away) or 'there are none'}")
    return known(status, "" if quorum.value else "no majority of the coordinators answers")


# ------------------------------------------------------------------ restarts
def may_bounce(view: ClusterView) -> Refusal | None:
    """Refuse to restart unless the database is ready for it and all have run for long enough."""
    name, ready = "may_bounce", recovery.may_restart(view.database)
    if isinstance(ready, Unknown):
        return _nobody_knows(name, ready)
    if not ready.value:
        return Refusal(name, "the database says that processes cannot be restarted now")
    fact = shortest_uptime(view.database)
    if isinstance(fact, Unknown):
        return _nobody_knows(name, fact)
    needed = float(view.spec.minimum_uptime_seconds_for_bounce)
    if fact.value >= needed:
        return None
    message = f"all must have run for {needed:.0f} s, and one has not"
    return Refusal(name, message, after=needed - fact.value)


def shortest_uptime(status: Status) -> Fact[float]:
    """Return for how long everybody has run who matters, and since the last recovery."""
    age, entries = recovery.age(status), cluster(status).processes
    if not isinstance(age, Known):
        return age
    if entries is UNSET or not entries:
        return missing(status, "cluster.processes")
    if wrong := status.flaw("cluster.processes"):
        return Unknown(f"the status cannot be read: {wrong}")
    shortest = age.value
    for key, it in entries.items():
        if not _matters(it):
            continue
        if it.uptime_seconds is UNSET:
            return missing(status, f"cluster.processes.{key}.uptime_seconds")
        shortest = min(shortest, it.uptime_seconds)
    return known(status, shortest)


def _matters(it: Process) -> bool:
    """Tell whether a process has work that a restart would interrupt."""
    return it.class_type != ProcessClass.TEST and it.excluded is not True
