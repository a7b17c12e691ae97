"""From a spec as it is written to one that says everything: the only one that steps look at.

First older words are folded into the newer ones, which win where both are said; then what is not
said is filled in. Doing it twice changes nothing more. Asked only of a cluster that has no
problems (validation.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from stateward.core.version import Version
from stateward.fdb.api.automation import DEFAULT_IGNORED_LOG_GROUPS, AutomationOptions
from stateward.fdb.api.database import DatabaseConfiguration
from stateward.fdb.api.options import Buggify, CrashLoopContainer, Routing
from stateward.fdb.api.pods import completed
from stateward.fdb.api.processes import (
    ClaimTemplate,
    ContainerOverrides,
    ImageConfig,
    ImageType,
    PodTemplate,
    ProcessCounts,
    ProcessSettings,
)
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.model.names import MAIN_CONTAINER
from stateward.fdb.model.versions import has_locality_exclusions

GENERAL: Final = "general"
#: Where images come from when nobody says: the container of fdbserver, and the one beside it.
_IMAGES: Final[dict[ImageType, tuple[ImageConfig, ImageConfig]]] = {
    "unified": (
        ImageConfig(base_image="foundationdb/fdb-kubernetes-monitor"),
        ImageConfig(base_image="foundationdb/fdb-kubernetes-monitor"),
    ),
    "split": (
        ImageConfig(base_image="foundationdb/foundationdb"),
        ImageConfig(base_image="foundationdb/foundationdb-kubernetes-sidecar", tag_suffix="-1"),
    ),
}


def normalized(spec: FoundationDBClusterSpec) -> FoundationDBClusterSpec:
    """Return the spec in today's words, with everything said that steps will ask."""
    return _filled(folded(spec))


# ------------------------------------------------------------------ older words
def folded(spec: FoundationDBClusterSpec) -> FoundationDBClusterSpec:
    """Return the spec without deprecated fields, what they said in the fields that replaced them.

    Nothing is filled in, so that what a user did not say can still be told from what they did.
    """
    return replace(
        spec,
        processes=_folded_processes(spec.processes),
        process_counts=_folded_counts(spec.process_counts),
        process_groups_to_remove=_union(spec.process_groups_to_remove, spec.instances_to_remove),
        process_groups_to_remove_without_exclusion=_union(
            spec.process_groups_to_remove_without_exclusion,
            spec.instances_to_remove_without_exclusion,
        ),
        automation_options=_folded_automation(spec),
        process_group_id_prefix=spec.process_group_id_prefix or spec.instance_id_prefix,
        routing=_folded_routing(spec),
        buggify=_folded_buggify(spec.buggify),
        image_type=spec.image_type or _older_image_type(spec),
        use_explicit_listen_address=None,
        use_unified_image=None,
        services=None,
        instance_id_prefix="",
        instances_to_remove=(),
        instances_to_remove_without_exclusion=(),
        cancel_replacements_for_instance=(),
    )


def _folded_processes(some: dict[str, ProcessSettings]) -> dict[str, ProcessSettings]:
    found = {name: it for name, it in some.items() if name != "tester"}
    if "tester" in some:
        found.setdefault("test", some["tester"])
    return found


def _folded_counts(counts: ProcessCounts) -> ProcessCounts:
    return replace(counts, test=counts.test or counts.tester, tester=0)


def _folded_automation(spec: FoundationDBClusterSpec) -> AutomationOptions:
    said = spec.automation_options
    older = "managementapi" if said.use_management_api else None
    return replace(
        said,
        database_interaction_mode=said.database_interaction_mode or older,
        use_management_api=None,
        synchronization_mode=said.synchronization_mode or said.synronization_mode,
        synronization_mode=None,
        cancel_replacements_for_process_groups=_union(
            said.cancel_replacements_for_process_groups,
            said.cancel_replacements_for_instance,
            spec.cancel_replacements_for_instance,
        ),
        cancel_replacements_for_instance=(),
    )


def _folded_routing(spec: FoundationDBClusterSpec) -> Routing:
    said, older = spec.routing, spec.services
    if older is None:
        return said
    is_said = said.headless_service is not None
    return replace(
        said,
        headless_service=said.headless_service if is_said else older.headless,
        public_ip_source=said.public_ip_source or older.public_ip_source,
    )


def _folded_buggify(said: Buggify) -> Buggify:
    """One entry for each container: of several, none is forgotten."""
    targets: dict[str, tuple[str, ...]] = {}
    older = CrashLoopContainer(container_name=MAIN_CONTAINER, targets=said.crash_loop)
    for it in (*said.crash_loop_containers, *((older,) if said.crash_loop else ())):
        targets[it.container_name] = _union(targets.get(it.container_name, ()), it.targets)
    containers = [CrashLoopContainer(container_name=it, targets=targets[it]) for it in targets]
    return replace(said, crash_loop=(), crash_loop_containers=tuple(containers))


def _older_image_type(spec: FoundationDBClusterSpec) -> ImageType | None:
    if spec.use_unified_image is None:
        return None
    return "unified" if spec.use_unified_image else "split"


def _union(*lists: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(it for one in lists for it in one))


# ------------------------------------------------------------------ what is not said
def _filled(spec: FoundationDBClusterSpec) -> FoundationDBClusterSpec:
    image_type: ImageType = spec.image_type or "unified"
    main, beside = _IMAGES[image_type]
    return replace(
        spec,
        database_configuration=_filled_database(spec.database_configuration),
        processes=_filled_processes(spec.processes, image_type),
        main_container=_filled_container(spec.main_container, main, alive=False),
        sidecar_container=_filled_container(spec.sidecar_container, beside, alive=True),
        automation_options=_filled_automation(spec),
        routing=_filled_routing(spec.routing),
        storage_servers_per_pod=max(1, spec.storage_servers_per_pod),
        log_servers_per_pod=max(1, spec.log_servers_per_pod),
        image_type=image_type,
    )


def _filled_database(said: DatabaseConfiguration) -> DatabaseConfiguration:
    return replace(
        said,
        redundancy_mode=said.redundancy_mode or "double",
        storage_engine=said.storage_engine or "ssd-2",
        usable_regions=max(1, said.usable_regions),
    )


def _filled_processes(
    some: dict[str, ProcessSettings], image_type: ImageType
) -> dict[str, ProcessSettings]:
    """Fill up what is given, and let ``general`` give all that a class may leave out."""
    general = some.get(GENERAL, ProcessSettings())
    general = replace(
        general,
        pod_template=general.pod_template or PodTemplate(),
        volume_claim_template=general.volume_claim_template or ClaimTemplate(),
        custom_parameters=general.custom_parameters or (),
    )
    return {name: completed(it, image_type) for name, it in {**some, GENERAL: general}.items()}


def _filled_container(
    said: ContainerOverrides, image: ImageConfig, *, alive: bool
) -> ContainerOverrides:
    asked = said.enable_liveness_probe
    last = () if said.image_configs[-1:] == (image,) else (image,)
    return replace(
        said,
        enable_liveness_probe=alive if asked is None else asked,
        enable_readiness_probe=bool(said.enable_readiness_probe),
        image_configs=(*said.image_configs, *last),
    )


def _filled_automation(spec: FoundationDBClusterSpec) -> AutomationOptions:
    said = spec.automation_options
    by_locality, ignored = said.use_localities_for_exclusion, said.ignore_log_groups_for_upgrade
    if by_locality is None:
        by_locality = has_locality_exclusions(Version.parse(spec.version))
    return replace(
        said,
        use_localities_for_exclusion=by_locality,
        database_interaction_mode=said.database_interaction_mode or "fdbcli",
        ignore_log_groups_for_upgrade=DEFAULT_IGNORED_LOG_GROUPS if ignored is None else ignored,
        synchronization_mode=said.synchronization_mode or "local",
    )


def _filled_routing(said: Routing) -> Routing:
    """Names in the cluster file must be told by processes, and must lead to pods."""
    named = said.use_dns_in_cluster_file or bool(said.define_dns_locality_fields)
    return replace(
        said,
        headless_service=bool(said.headless_service) or named,
        public_ip_source=said.public_ip_source or "pod",
        define_dns_locality_fields=named,
        dns_domain=said.dns_domain or "cluster.local",
    )
