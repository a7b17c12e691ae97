"""What is wrong with how a database lies in data centers, halls and Kubernetes clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from stateward.fdb.api.database import RegionSetting
from stateward.fdb.api.defaults import folded
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.api.questions import EVERY_CLUSTER, says_locality
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.kube.crd.findings import Problem

_WHERE: Final = "spec.databaseConfiguration"
#: How many regions FoundationDB knows.
_MOST: Final = 2


def topology_problems(cluster: FoundationDBCluster) -> Iterator[Problem]:
    """Yield what no database could be laid out as, or who would be no part of it."""
    spec = cluster.spec
    yield from _number_problems(spec)
    for number, region in enumerate(spec.database_configuration.regions):
        yield from _satellite_problems(region, f"{_WHERE}.regions[{number}]")
    yield from _center_problems(cluster)
    yield from _mode_problems(spec)
    yield from _joining_problems(cluster)


def _number_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    many = len(spec.database_configuration.regions)
    if many > _MOST:
        yield Problem(
            f"{_WHERE}.regions",
            f"must be at most {_MOST}: FoundationDB knows no more, got {many}",
            hint="a third data center can be a satellite of both",
        )


def _satellite_problems(region: RegionSetting, where: str) -> Iterator[Problem]:
    satellites = [it.id for it in region.datacenters if it.satellite]
    mains = {it.id for it in region.datacenters if not it.satellite}
    for name in sorted(set(satellites) & mains):
        yield Problem(
            f"{where}.datacenters",
            f"must have satellites that are other data centers than its own, got {name} as both",
            hint="a satellite keeps logs where the region itself is lost",
        )
    for name, many in sorted(Counter(satellites).items()):
        if many > 1:
            message = f"must name each satellite once, got {name} {many} times"
            yield Problem(f"{where}.datacenters", message)
    yield from _satellite_mode_problems(region.satellite_redundancy_mode, set(satellites), where)


def _satellite_mode_problems(mode: str, satellites: set[str], where: str) -> Iterator[Problem]:
    if satellites and not mode:
        yield Problem(
            f"{where}.satellite_redundancy_mode",
            f"must be given with the satellites {', '.join(sorted(satellites))}: nothing would be"
            " written there",
            hint="one_satellite_double keeps two copies in one satellite",
        )
    if mode.startswith("two_satellite") and len(satellites) == 1:
        yield Problem(
            f"{where}.datacenters",
            f"must have two satellites with {mode}, got {', '.join(satellites)}",
            hint="name another satellite, or set satellite_redundancy_mode to one_satellite_double",
        )


# ------------------------------------------------------------------ data centers
def _center_problems(cluster: FoundationDBCluster) -> Iterator[Problem]:
    """Yield that processes would be in no region; a region that goes may still have a cluster."""
    spec = cluster.spec
    names = {it.id for region in spec.database_configuration.regions for it in region.datacenters}
    if not names or says_locality(spec, "locality_dcid"):
        return
    listed = ", ".join(sorted(names))
    if not spec.data_center:
        yield Problem(
            "spec.dataCenter",
            f"must be given with regions, one of {listed}: processes without it are in none",
            hint="have a FoundationDBCluster for each data center, with the same regions",
        )
    elif spec.data_center not in names and not cluster.status.connection_string:
        yield Problem(
            "spec.dataCenter",
            f"must be one of the data centers of the regions, {listed}, got {spec.data_center}",
            hint="name it in databaseConfiguration.regions of all clusters of this database",
        )


def _mode_problems(spec: FoundationDBClusterSpec) -> Iterator[Problem]:
    database = spec.database_configuration
    if database.redundancy_mode == "three_data_hall" and database.regions:
        yield Problem(
            f"{_WHERE}.redundancy_mode",
            "must be single, double or triple with regions: data halls are for one data center",
        )


# ------------------------------------------------------------------ several clusters
def _joining_problems(cluster: FoundationDBCluster) -> Iterator[Problem]:
    """Yield that a new cluster could not be told from the others of its database."""
    spec, has_joined = cluster.spec, bool(cluster.status.connection_string)
    shared = spec.data_center or spec.data_hall or spec.fault_domain.key == EVERY_CLUSTER
    if not spec.seed_connection_string or not shared or has_joined:
        return
    if not folded(spec).process_group_id_prefix:
        yield Problem(
            "spec.processGroupIDPrefix",
            "must be given where a cluster joins the database of another: process groups are told"
            " apart by it",
            hint="name the data center or hall, as in dc2; it must differ in all of them",
        )
