"""What becomes of volumes that an earlier cluster of the same name left: a person says.

They hold a database that nobody runs any more. Beside them a new one must not be made unasked, or
its cluster file would take the place of the one by which theirs is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from stateward.core.version import Version
from stateward.fdb.api import questions
from stateward.fdb.model import names
from stateward.fdb.model.addresses import ip_of
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.listing import some_of
from stateward.fdb.model.names import ProcessGroupID
from stateward.fdb.model.versions import are_compatible
from stateward.fdb.views import ClusterView

ADOPT: Final = "adopt"
IGNORE: Final = "ignore"
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class LeftClaim:
    """A claim with data of an earlier cluster."""

    name: str
    #: Of which cluster it holds data, by its UID.
    former: str
    #: Whose data it is; None: its name tells of no group.
    group: ProcessGroupID | None
    #: It goes, by itself or with its owner.
    leaving: bool = False


@dataclass(frozen=True, slots=True)
class LeftConfig:
    """What the config map of an earlier cluster says of its database."""

    #: Of which cluster it is; empty: it does not say.
    former: str
    cluster_file: str
    running: str
    leaving: bool = False


@dataclass(frozen=True, slots=True)
class Orphan:
    """A process group of the cluster's name that nobody owns; its pod runs on."""

    name: str
    #: Of which cluster its claim holds data, by its UID; empty: it has none.
    former: str = ""


@dataclass(frozen=True, slots=True)
class Left:
    """All that earlier clusters of a name left, and what this very one lost."""

    claims: tuple[LeftClaim, ...] = ()
    config: LeftConfig | None = None
    #: Names of process groups that have yet to go; their pods may still run.
    groups: tuple[str, ...] = ()
    orphans: tuple[Orphan, ...] = ()
    #: Claims of this very cluster that no process group has.
    lost: tuple[LeftClaim, ...] = ()


@dataclass(frozen=True, slots=True)
class Nothing:
    """Nothing stands in the way."""


@dataclass(frozen=True, slots=True)
class Leaving:
    """Something of before is on its way out."""

    why: str


@dataclass(frozen=True, slots=True)
class Ask:
    """A person must say what becomes of what is left."""

    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Begin:
    """Their database is this cluster's from now on: to be on record before anything is done."""

    former: str
    connection: ConnectionString
    running: Version


@dataclass(frozen=True, slots=True)
class Take:
    """Groups of these very ids take over the volumes of an earlier cluster.

    Those that are there still, and that nobody owns, are taken as they are, by their names.
    """

    former: str
    groups: tuple[ProcessGroupID, ...]
    orphans: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NotFound:
    """The database that was taken over is looked for where nobody is any more."""

    message: str


Verdict: TypeAlias = Nothing | Leaving | Ask | Begin | Take | NotFound
NOTHING: Final = Nothing()


def concerns(view: ClusterView) -> bool:
    """Tell whether anything that is left matters: there is no database yet, or it is taken over."""
    return is_unmade(view) or _is_taking(view)


def is_unmade(view: ClusterView) -> bool:
    """Tell whether the database of a cluster was never made, and is nobody else's either."""
    known = view.connection is not None or view.status.connection_string
    return not (known or view.configured or view.status.configured)


def settle(view: ClusterView, uid: str, left: Left, said: str) -> Verdict:
    """Return what becomes of what is left, by what a person said of it."""
    if _is_taking(view):
        return _taken(view, left)
    orphans = _of_before(view, uid, left)
    if not is_unmade(view) or not (orphans or (left.claims and said != IGNORE)):
        return NOTHING
    if found := _leaving(left):
        return found
    why_not = _why_not(view, left)
    # Whoever deletes a cluster and keeps its process groups says thereby that they run on.
    agreed = said == ADOPT or (orphans and not said)
    if not agreed or why_not:
        can_ignore = not orphans
        message = _message(left, said, why_not) if can_ignore else _run_on(orphans, why_not)
        hint = _hint(view, uid, can_adopt=not why_not, can_ignore=can_ignore)
        return Ask(message, hint)
    config = _config(left)
    running = Version.parse(config.running or view.spec.version)
    return Begin(_former(left), ConnectionString.parse(config.cluster_file), running)


def _of_before(view: ClusterView, uid: str, left: Left) -> list[str]:
    """Return process groups that run on for a database of before, and that nobody owns.

    One without a volume does not say of which cluster it is: of this one, if others of it are.
    """
    ours = {uid, ""} if view.groups else {uid}
    return [it.name for it in left.orphans if it.former not in ours]


# ------------------------------------------------------------------ before it is asked
def _leaving(left: Left) -> Leaving | None:
    """Return what is to be waited for: what goes is not there to be taken over, nor in the way."""
    if left.groups:
        return Leaving(f"waiting for process groups of before to go: {_some(left.groups)}")
    if going := [it.name for it in left.claims if it.leaving]:
        return Leaving(f"waiting for volumes of before to go: {_some(going)}")
    if left.config is not None and left.config.leaving:
        return Leaving("waiting for the config map of before to go")
    return None


def _config(left: Left) -> LeftConfig:
    return left.config or LeftConfig("", "", "")


def _former(left: Left) -> str:
    """Return whose volumes are taken over: of whom the config map is, or of whom all are."""
    every = {it.former for it in left.claims}
    return _config(left).former or (every.pop() if len(every) == 1 else "")


def _of(left: Left, former: str) -> list[LeftClaim]:
    return [it for it in left.claims if it.former == former and not it.leaving]


def _why_not(view: ClusterView, left: Left) -> str:
    """Return why volumes cannot be taken over; empty: they can."""
    config, former = _config(left), _former(left)
    if not config.cluster_file:
        return f"{names.config_map_name(view.key.name)} does not tell how their database is found"
    mine = _of(left, former)
    if not mine and not (former and left.orphans):
        return "it is not known which of them are of the database that the config map tells of"
    if strange := [it.name for it in mine if it.group is None]:
        return f"of which process groups these are is not known: {_some(strange)}"
    return next(_misfits(view, config, mine), "")


def _misfits(view: ClusterView, config: LeftConfig, claims: Sequence[LeftClaim]) -> Iterator[str]:
    """Yield what the config map or the spec says that they cannot be run with."""
    try:
        ConnectionString.parse(config.cluster_file)
        running = Version.parse(config.running or view.spec.version)
    except ValueError as error:
        yield f"the config map cannot be read: {error}"
        return
    if not are_compatible(running, Version.parse(view.spec.version)):
        yield f"{running} ran on them, so spec.version must be of the same minor release"
    kinds = sorted({it.group.process_class for it in claims if it.group is not None})
    for kind in kinds:
        if not questions.has_volume(view.spec, kind):
            yield f"the spec gives processes of class {kind} no volumes"


# ------------------------------------------------------------------ what is told
def _message(left: Left, said: str, why_not: str) -> str:
    groups = sorted(str(it.group or it.name) for it in left.claims)
    count = f"{len(groups)} volume{'s' if len(groups) > 1 else ''}"
    found = f"{count} of an earlier cluster of this name: {_some(groups)}"
    if said not in ("", ADOPT):
        return f"{found}; {names.LEFT_VOLUMES} must be {ADOPT} or {IGNORE}, got {said!r}"
    return f"{found}; they cannot be adopted: {why_not}" if why_not else found


def _run_on(orphans: Sequence[str], why_not: str) -> str:
    """Return what runs on; what they read is in the config map, so no other database is begun."""
    found = f"process groups of an earlier cluster of this name run on: {_some(orphans)}"
    return f"{found}; they cannot be adopted: {why_not}" if why_not else found


def _hint(view: ClusterView, uid: str, *, can_adopt: bool, can_ignore: bool = True) -> str:
    """Return exactly what to type."""
    key, config = view.key, names.config_map_name(view.key.name)
    ours = ",".join(f"{name}={it}" for name, it in names.instance_labels(key.name).items())
    told = f"kubectl -n {key.namespace} annotate --overwrite fdb {key.name} {names.LEFT_VOLUMES}"
    ways = [f"to have their database back: {told}={ADOPT}"] if can_adopt else []
    if not can_ignore:
        away = f"to have them gone: kubectl -n {key.namespace} delete fdb {key.name}, then"
        ways.append(f"{away} kubectl -n {key.namespace} delete fdbpg -l '{ours}'")
        return "; ".join(ways)
    beside = f"to make a new one beside them: {told}={IGNORE}"
    purge = f"kubectl -n {key.namespace} delete pvc,configmap -l"
    ways.append(f"{beside} ({config} is written anew: keep the cluster file that is in it)")
    ways.append(f"to delete them for good: {purge} '{ours},{names.CLUSTER_UID_LABEL}!={uid}'")
    return "; ".join(ways)


def _some(texts: Sequence[str]) -> str:
    return some_of(texts, _SHOWN)


# ------------------------------------------------------------------ taking over
def _is_taking(view: ClusterView) -> bool:
    """Tell whether volumes were taken over and all has not been well since."""
    return bool(view.status.adopted_from) and not view.status.generations.reconciled


def _taken(view: ClusterView, left: Left) -> Verdict:
    """Return the groups that are still to be made; or that the database is not where it was."""
    former = view.status.adopted_from
    orphans = tuple(it.name for it in left.orphans if it.former in ("", former))
    there = {*(it.name for it in view.groups), *orphans}
    every = [it.group for it in _of(left, former) if it.group is not None]
    missing = tuple(it for it in every if names.pod_name(view.key.name, it) not in there)
    if missing or orphans:
        return Take(former, missing, orphans)
    return _moved(view)


def _moved(view: ClusterView) -> Verdict:
    """Return that too few coordinators are where they were; pods get other addresses each time."""
    connection = view.connection
    holding = [it for it in view.groups if it.has_claim]
    if connection is None or not all(it.addresses for it in holding):
        return NOTHING
    here = {host for it in view.groups for host in it.addresses}
    gone = [it for it in connection.coordinators if ip_of(it.host) and it.host not in here]
    if len(connection.coordinators) - len(gone) >= connection.quorum:
        return NOTHING
    return NotFound(
        f"the database is looked for at {', '.join(map(str, gone))}, where no pod is any more"
    )
