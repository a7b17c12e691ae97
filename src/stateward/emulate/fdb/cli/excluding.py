"""``exclude`` and ``include``: have data leave processes, and let it come back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stateward.emulate.fdb import data
from stateward.emulate.fdb.cli.tape import Failed, Tape, Waits
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.servers import Server
from stateward.fdb.model import exclusions
from stateward.fdb.model.exclusions import ByAddress, ByLocality, Exclusion

INCLUDE_USAGE: Final = (
    "Usage: include all|[<ADDRESS...>] [locality_dcid:<excludedcid>]"
    " [locality_zoneid:<excludezoneid>] [locality_machineid:<excludemachineid>]"
    " [locality_processid:<excludeprocessid>] or any locality data"
)


def exclude(tape: Tape, words: Sequence[str]) -> Waits:
    """Have data leave, or list from whom it leaves."""
    database = tape.database
    if not words:
        yield from tape.serve()
        _list_exclusions(tape)
        return
    options = {it for it in words if it in ("FORCE", "failed", "no_wait")}
    targets = _targets(tape, [it for it in words if it not in options])
    if targets is None:
        return
    if not targets:
        raise tape.fail(
            "ERROR: At least one valid network endpoint address or a locality must be provided"
        )
    if "FORCE" not in options:
        yield from _check_impact(tape, targets, failed="failed" in options)
    yield from tape.serve()
    database.exclude(targets, failed="failed" in options)
    if "no_wait" not in options:
        tape.say(
            "Waiting for state to be removed from all excluded servers. This may take a while.",
            "(Interrupting this wait with CTRL+C will not cancel the data movement.)",
        )
        yield from tape.wait(
            lambda: _are_drained(database, _meant(database, targets)), quietly=True
        )
    _report(tape, targets)


def _are_drained(database: Database, meant: Sequence[Server]) -> bool:
    return all(data.is_drained(database, it) for it in meant)


def _targets(tape: Tape, words: Sequence[str]) -> list[Exclusion] | None:
    """Return who is meant; None: one of them is nobody, and nothing at all is done."""
    found: list[Exclusion] = []
    for it in words:
        is_tls = it.endswith(":tls")
        try:
            entry = exclusions.parse(it)
        except ValueError:
            entry = None
        if entry is None or is_tls:
            tape.warn(f"ERROR: '{it}' is neither a valid network endpoint address nor a locality")
            if is_tls:
                tape.say("        Do not include the `:tls' suffix when naming a process")
            return None
        found.append(entry)
    return found


def _meant(database: Database, targets: Sequence[Exclusion]) -> list[Server]:
    found = [it for it in database.servers.values() if it.is_meant(targets)]
    return sorted(found, key=lambda it: it.address)


def _check_impact(tape: Tape, targets: Sequence[Exclusion], *, failed: bool) -> Waits:
    database = tape.database
    hint = "Type `exclude FORCE failed <ADDRESS...>' to exclude without performing safety checks."
    if not tape.sees_quorum:
        raise tape.fail(
            "ERROR: Could not calculate the impact of this exclude on the total available space in"
            " the cluster.",
            "Please try the exclude again in 30 seconds.",
            hint,
        )
    yield from tape.serve()
    meant = {it.disk.process_id for it in _meant(database, targets)}
    everybody = data.storage_disks(database)
    if (everybody and everybody <= meant) or not data.leaves_room(database, meant):
        raise tape.fail(
            "ERROR: This exclude may cause the total available space in the cluster to drop below"
            " 10%.",
            hint,
        )
    # The real one checks nobody when it is given localities.
    by_address = [it for it in targets if isinstance(it, ByAddress)]
    if failed and by_address and _is_unsafe(database, by_address):
        raise tape.fail(
            "ERROR: It is unsafe to exclude the specified servers at this time.",
            "Please check that this exclusion does not bring down an entire storage team.",
            "Please also ensure that the exclusion will keep a majority of coordinators alive.",
            "You may add more storage processes or coordinators to make the operation safe.",
            hint,
        )


def _is_unsafe(database: Database, targets: Sequence[Exclusion]) -> bool:
    """Tell whether all who have something would go, or most coordinators."""
    meant = _meant(database, targets)
    gone = {it.disk.process_id for it in meant}
    string = database.string
    left = [
        it
        for it in string.coordinators
        if database.reachable(it) and not any(one.listens_at(it) for one in meant)
    ]
    loses_a_team = any(it.team and set(it.team) <= gone for it in database.shards.pieces)
    return loses_a_team or len(left) < string.quorum


def _report(tape: Tape, targets: Sequence[Exclusion]) -> None:
    database = tape.database
    for it in targets:
        meant = _meant(database, [it])
        if isinstance(it, ByLocality) and not meant:
            tape.warn(
                f"  {it}  ---- WARNING: Currently no servers found with this locality match! Be"
                " sure that you excluded the correct locality."
            )
        elif not meant:
            tape.warn(f"  {_missing(it)}")
        elif isinstance(it, ByAddress) and not it.port:
            _report_one(tape, f"{it}(Whole machine)", meant, "machine")
        else:
            for one in meant:
                _report_one(tape, one.address.plain, [one], "process")
    _warn_of_coordinators(tape, targets)


def _missing(it: Exclusion) -> str:
    if isinstance(it, ByAddress) and not it.port:
        return (
            f"{it}(Whole machine)  ---- WARNING: Missing from cluster!Be sure that you excluded the"
            " correct machines before removing them from the cluster!"
        )
    return (
        f"{it}  ---- WARNING: Missing from cluster! Be sure that you excluded the correct processes"
        " before removing them from the cluster!"
    )


def _report_one(tape: Tape, who: str, meant: Sequence[Server], kind: str) -> None:
    if _are_drained(tape.database, meant):
        tape.say(
            f"  {who}  ---- Successfully excluded. It is now safe to remove this {kind} from the"
            " cluster."
        )
    else:
        tape.warn(
            f"  {who}  ---- WARNING: Exclusion in progress! It is not safe to remove this {kind}"
            " from the cluster"
        )


def _warn_of_coordinators(tape: Tape, targets: Sequence[Exclusion]) -> None:
    database = tape.database
    meant = {it.address.plain for it in _meant(database, targets)}
    found = [
        it.plain
        for it in sorted(database.string.coordinators)
        if it.plain in meant or any(one.covers([it], {}) for one in targets)
    ]
    for it in found:
        tape.warn(f"WARNING: {it} is a coordinator!")
    if found:
        tape.say(
            "Type `help coordinators' for information on how to change the",
            "cluster's coordination servers before removing them.",
        )


def _list_exclusions(tape: Tape) -> None:
    database = tape.database
    excluded, failed = (sorted(map(str, it)) for it in (database.excluded, database.failed))
    if not excluded and not failed:
        tape.say(
            "There are currently no servers or localities excluded from the database.",
            "To learn how to exclude a server, type `help exclude'.",
        )
        return
    many = "servers or localities"
    tape.say(
        f"There are currently {len(excluded)} {many} being excluded from the database:",
        *(f"  {it}" for it in excluded),
    )
    if excluded:
        tape.say(
            "To find out whether it is safe to remove one or more of these",
            "servers from the cluster, type `exclude <addresses>'.",
            "To return one of these servers to the cluster, type `include <addresses>'.",
        )
    tape.say(
        "",
        f"There are currently {len(failed)} {many} marked as failed in the database:",
        *(f"  {it}" for it in failed),
    )
    if failed:
        text = "To return one of these servers to the cluster, type `include failed <addresses>'."
        tape.say(text)


def include(tape: Tape, words: Sequence[str]) -> Waits:
    """Let somebody have data again."""
    database = tape.database
    failed = bool(words) and words[0] == "failed"
    rest = list(words[1:] if failed else words)
    if not rest:
        tape.say(INCLUDE_USAGE)
        raise Failed
    mine = database.failed if failed else database.excluded
    if rest == ["all"]:
        yield from tape.serve()
        database.include(set(mine), failed=failed)
        return
    targets = _targets(tape, rest)
    if targets is None:
        raise Failed
    yield from tape.serve()
    whole = {it.host for it in targets if isinstance(it, ByAddress) and not it.port}
    more = [it for it in mine if isinstance(it, ByAddress) and it.host in whole]
    database.include([*targets, *more], failed=failed)
