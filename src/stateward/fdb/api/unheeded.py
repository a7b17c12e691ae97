"""What a spec asks for that this release does not do yet: it is told, and never passed over.

A manifest of the compatible operator is taken whole, and runs. Whoever wrote it must be able to see
which of its words do nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator

from stateward.fdb.api import questions
from stateward.fdb.api.options import LockOptions
from stateward.fdb.api.spec import FoundationDBClusterSpec

_NO_LOCKS = LockOptions()


def unheeded(spec: FoundationDBClusterSpec) -> tuple[str, ...]:
    """Return, of a normalized spec, each field that does nothing, and what it comes with."""
    return (*_automation(spec), *_replacements(spec), *_locks(spec), *_containers(spec))


def _automation(spec: FoundationDBClusterSpec) -> Iterator[str]:
    options = spec.automation_options
    if options.database_interaction_mode == "managementapi":
        yield "automationOptions.databaseInteractionMode (fdbcli is used)"
    is_on = options.maintenance_mode_options.use_maintenance_mode_checker
    if is_on and options.deletion_mode == "All":
        where = "automationOptions.maintenanceModeOptions.UseMaintenanceModeChecker"
        yield f"{where} (deletionMode is All, and only one zone can be under maintenance)"


def _replacements(spec: FoundationDBClusterSpec) -> Iterator[str]:
    options, where = spec.automation_options.replacements, "automationOptions.replacements"
    if options.cron_job is not None and not options.enabled:
        yield f"{where}.cronJob (replacements are not enabled)"


def _locks(spec: FoundationDBClusterSpec) -> Iterator[str]:
    options = spec.lock_options
    if questions.uses_locks(spec):
        return
    if options.lock_key_prefix:
        yield "lockOptions.lockKeyPrefix (locks are not used)"
    if options.lock_duration_minutes != _NO_LOCKS.lock_duration_minutes:
        yield "lockOptions.lockDurationMinutes (locks are not used)"
    if options.deny_list:
        yield "lockOptions.denyList (locks are not used)"


def _containers(spec: FoundationDBClusterSpec) -> Iterator[str]:
    """Yield probes and doors of containers that have none with these images."""
    main, beside = spec.main_container, spec.sidecar_container
    if spec.image_type == "split":
        if main.enable_liveness_probe or main.enable_readiness_probe:
            yield "probes of mainContainer (fdbmonitor of split images answers none)"
    elif beside.enable_tls or beside.enable_readiness_probe:
        yield "enableTls and probes of sidecarContainer (that of unified images answers none)"
