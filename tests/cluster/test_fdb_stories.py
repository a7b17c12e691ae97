"""Stories of FoundationDB on three real nodes, told by kubectl: each node is a zone, nothing is lost.

They share one cluster, and follow each other in the order in which they stand here. Where this
machine has no FoundationDB the image that nodes have of it is the stand-in's, labelled EMULATED.
"""

from __future__ import annotations

import pytest

from cluster import databases, shopping
from cluster.databases import FDB, NAME, place
from cluster.looks import all_are_new, same_lives, until_not_ready, until_somebody_leads
from cluster.site import LATER, SHOP, Site

pytestmark = pytest.mark.xdist_group("cluster")

_KNOB = "knob_disable_posix_kernel_aio=1"


def test_create_double(site: Site) -> None:
    until_somebody_leads(site)
    site.apply(databases.rights())
    how = ", EMULATED" if site.database.is_emulated else ""
    with site.story(f"fdb: create double{how}"):
        site.apply(databases.manifest(site.database.version))
        databases.until_well(site)
    for process_class in ("storage", "log", "stateless"):
        found = databases.pods(site, process_class)
        assert len(found) == 3, process_class
    nodes = {place(it) for it in databases.pods(site, "storage").values()}
    assert len(nodes) == 3, "what keeps data stands apart"
    assert ".svc.cluster.local:" in databases.shown(site)["status"]["connectionString"]
    databases.keep(site)
    assert databases.is_kept(site)


def test_a_knob_is_one_bounce(site: Site) -> None:
    """The files of pods change, and processes start again all at once; no pod does."""
    before, started = databases.pods(site), databases.starts(site)
    assert databases.bounces(site) == 0
    recovered = shopping.recoveries(site)
    with shopping.story(site, "fdb: knob, one bounce"):
        databases.knob(site, _KNOB)
        databases.until_well(site)
    assert same_lives(databases.pods(site), before)
    assert databases.bounces(site) == 1
    assert shopping.recoveries(site) == recovered + 1
    assert databases.starts(site) == {name: it + 1 for name, it in started.items()}
    assert databases.is_kept(site)


def test_a_deleted_storage_pod_comes_back_with_its_disk(site: Site) -> None:
    before = databases.pods(site, "storage")
    name = min(before)
    with shopping.story(site, "fdb: storage pod deleted"):
        site.kubectl("-n", SHOP, "delete", "pod", name)
        chosen = {name: before[name]}
        databases.until(
            site, "another pod", lambda: all_are_new(databases.pods(site, "storage"), chosen)
        )
        databases.until(site, "all pods are ready", lambda: databases.ready(site, 9))
        databases.until_well(site)
    assert databases.is_kept(site)
    assert databases.claims(site) == {f"{it}-data" for it in _with_disks(site)}


def test_a_lost_node_comes_back(site: Site) -> None:
    """Two zones serve meanwhile, and nobody is replaced: nobody asked for that."""
    groups = set(databases.pods(site))
    (name, *_) = sorted(databases.pods(site, "storage"))
    away = place(databases.pods(site)[name])
    number = int(away.removeprefix("node-"))
    with shopping.story(site, "fdb: node lost and back", away):
        site.power_off(number)
        try:
            until_not_ready(site, number)
            databases.until(site, "two zones serve", lambda: databases.is_kept(site, away))
        finally:
            site.power_on(number)
        databases.until(site, "all pods are ready", lambda: databases.ready(site, 9))
        databases.until_well(site)
    assert set(databases.pods(site)) == groups
    assert databases.is_kept(site)


def test_tls_comes_and_goes(site: Site) -> None:
    """All listen in both ways, coordinators move, the old way goes: two restarts, and no new pod."""
    before, bounced = databases.pods(site), databases.bounces(site)
    for tls in (True, False):
        recovered = shopping.recoveries(site)
        with shopping.story(site, f"fdb: TLS {'on' if tls else 'off'}"):
            databases.secure(site, tls=tls)
            databases.until_well(site)
        assert shopping.recoveries(site) == recovered + 3
        found = databases.shown(site)["status"]["connectionString"].partition("@")[2].split(",")
        assert [it.endswith(":tls") for it in found] == [tls] * 3
        assert databases.is_kept(site)
    assert same_lives(databases.pods(site), before)
    assert databases.bounces(site) == bounced + 4


def test_coordinators_are_found_by_address_and_by_name_again(site: Site) -> None:
    """Names lead somewhere for as long as anybody is looked for by them; data stays where it is."""
    before = set(databases.pods(site, "storage"))
    for by_name in (False, True):
        with shopping.story(site, f"fdb: coordinators by {'name' if by_name else 'address'}"):
            databases.route(site, useDNSInClusterFile=by_name)
            databases.until_well(site)
        named = [it.endswith(".svc.cluster.local") for it in databases.coordinators(site)]
        assert named == [by_name] * 3
        assert (NAME in databases.services(site)) == by_name
        assert set(databases.pods(site, "storage")) == before, "made anew, none replaced"
        assert databases.is_kept(site)


def test_addresses_of_services_are_other_groups(site: Site) -> None:
    """Each process listens behind a service of its own; who had none is replaced, and data moves."""
    before = databases.pods(site)
    with shopping.story(site, "fdb: addresses of services"):
        databases.route(site, publicIPSource="service", useDNSInClusterFile=False)
        databases.until_well(site)
        databases.until_found(site)
    after = databases.pods(site)
    assert len(after) == len(before)
    assert after.keys().isdisjoint(before)
    given = databases.services(site)
    assert given.keys() == after.keys()
    assert set(databases.coordinators(site)) <= set(given.values())
    assert databases.is_kept(site)
    with shopping.story(site, "fdb: addresses of pods"):
        databases.route(site, publicIPSource="pod", useDNSInClusterFile=True)
        databases.until_well(site)
        databases.until_found(site)
    assert databases.services(site).keys() == {NAME}
    assert databases.is_kept(site)


def test_addresses_of_ipv6_are_other_groups(site: Site) -> None:
    """Names lead to one family: coordinators go by address until all groups have it."""
    for family, sign in ((6, ":"), (4, ".")):
        before = databases.pods(site)
        with shopping.story(site, f"fdb: addresses of IPv{family}"):
            databases.route(site, podIPFamily=family)
            databases.until_well(site)
            databases.until_found(site)
        after = databases.pods(site)
        assert len(after) == len(before)
        assert after.keys().isdisjoint(before)
        assert all(sign in it for it in databases.addresses(site)), databases.addresses(site)
        assert all(it.endswith(".svc.cluster.local") for it in databases.coordinators(site))
        assert databases.is_kept(site)


def test_another_line_of_releases_is_one_restart(site: Site) -> None:
    """Programs are staged in all pods, all processes change at once, and pods follow."""
    if not site.database.is_emulated:
        pytest.skip("an upgrade needs two versions, and real programs are of one")
    before = databases.pods(site)
    with shopping.story(site, "fdb: upgrade to the next line"):
        databases.upgrade(site, LATER.version)
        databases.until(
            site,
            f"{LATER.version} runs",
            lambda: databases.shown(site)["status"]["runningVersion"] == LATER.version,
        )
        databases.until_well(site)
    after = databases.pods(site)
    assert len(after) == len(before)
    images = {it["image"] for pod in after.values() for it in pod["spec"]["containers"]}
    assert images == {LATER.image}
    assert databases.is_kept(site)


def test_what_is_deleted_leaves_its_volumes(site: Site) -> None:
    before = databases.claims(site)
    assert len(before) == 6, "of three storage and three log processes"
    with site.story("fdb: deleted, volumes stay"):
        site.kubectl("-n", SHOP, "delete", FDB, NAME)
        databases.until(site, "no pods", lambda: not databases.pods(site))
    assert databases.claims(site) == before
    words = f"--selector=app.kubernetes.io/instance={NAME}"
    site.kubectl("-n", SHOP, "delete", "pvc,configmap", words)


def _with_disks(site: Site) -> set[str]:
    return {*databases.pods(site, "storage"), *databases.pods(site, "log")}
