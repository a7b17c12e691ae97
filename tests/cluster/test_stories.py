"""Stories of etcd on three real nodes, told by kubectl; somebody writes, and no write may be lost.

They share one cluster of machines, and follow each other in the order in which they stand here.
"""

from __future__ import annotations

import threading

import pytest

from cluster.looks import (
    DB,
    all_are_new,
    away_from_operator,
    certificates,
    gone,
    lease_holder,
    member_ids,
    of,
    operators,
    restarts,
    same_lives,
    second_life_is_not_given,
    stand_apart,
    uid,
    until_not_ready,
    until_somebody_leads,
)
from cluster.site import (
    KIND,
    OPERATOR,
    RESTRICTED,
    SHOP,
    Site,
    cluster,
    install,
    install_earlier,
)

pytestmark = pytest.mark.xdist_group("cluster")

NEWER, OLDER = "3.6.16", "3.5.35"


# ------------------------------------------------------------------ sizes
def test_create(site: Site) -> None:
    until_somebody_leads(site)
    with site.story("create 3"):
        site.create(DB, replicas=3)
        site.until_well(DB, 3)
    zones = {it["spec"]["nodeName"] for it in site.pods(DB).values()}
    assert len(zones) == 3, "members stand apart"


def test_who_is_ready_has_all_members(site: Site) -> None:
    """Ready means all voters, one of whom leads, and not only a first quorum."""
    status = site.shown(DB)["status"]
    assert [it["role"] for it in status["members"]].count("leader") == 1
    assert all(it["healthy"] for it in status["members"])


@pytest.mark.parametrize(("before", "after"), [(3, 5), (5, 3), (3, 1), (1, 3)])
def test_scale(site: Site, before: int, after: int) -> None:
    with site.story(f"{before} to {after}", DB):
        site.edit(DB, replicas=after)
        site.until_well(DB, after)


# ------------------------------------------------------------------ members
def test_deleted_pod(site: Site) -> None:
    before = site.pods(DB)
    with site.story("deleted pod", DB):
        site.kubectl("-n", SHOP, "delete", "pod", f"{DB}-0")
        site.until("a new pod", lambda: uid(site, f"{DB}-0") not in ("", of(before, f"{DB}-0")))
        site.until_well(DB, 3)


def test_killed_leader(site: Site) -> None:
    leader = site.shown(DB)["status"]["leader"]
    before = restarts(site, leader)
    with site.story("killed leader", DB):
        site.kill(site.pods(DB)[leader])
        site.until("a restart", lambda: restarts(site, leader) > before)
        site.until_well(DB, 3)


def test_lost_disk(site: Site) -> None:
    ids = member_ids(site)
    pod = site.pods(DB)[f"{DB}-1"]
    with site.story("lost disk", DB):
        site.wipe(f"data-{DB}-1")
        site.kill(pod)
        site.until(
            "another member",
            lambda: member_ids(site).get(f"{DB}-1") not in (None, "", ids[f"{DB}-1"]),
        )
        site.until_well(DB, 3)
    after = member_ids(site)
    assert {it: after[it] for it in (f"{DB}-0", f"{DB}-2")} == {
        it: ids[it] for it in (f"{DB}-0", f"{DB}-2")
    }


# ------------------------------------------------------------------ rolls
def test_roll_an_option(site: Site) -> None:
    before = site.pods(DB)
    with site.story("option rolled", DB):
        site.edit(DB, options={"snapshot-count": "50000"})
        site.until("all pods are new", lambda: all_are_new(site.pods(DB), before))
        site.until_well(DB, 3)


def test_roll_a_version(site: Site) -> None:
    site.create("old", replicas=3, version=OLDER)
    site.until_well("old", 3)
    before = site.pods("old")
    with site.story("version rolled", "old"):
        site.edit("old", version=NEWER)
        site.until("all pods are new", lambda: all_are_new(site.pods("old"), before))
        site.until_well("old", 3)
    assert site.shown("old")["status"]["version"] == NEWER
    gone(site, "old")


def test_sleep_and_wake(site: Site) -> None:
    with site.story("3 to 0"):
        site.edit(DB, replicas=0)
        site.until("all pods are gone", lambda: not site.pods(DB))
    with site.story("0 to 3"):
        site.edit(DB, replicas=3)
        site.until_well(DB, 3)


# ------------------------------------------------------------------ nodes
def test_drained_nodes(site: Site) -> None:
    """Two nodes are emptied at once: the budget lets only one member go at a time."""
    before = site.pods(DB)
    chosen = [before[f"{DB}-0"]["spec"]["nodeName"], before[f"{DB}-1"]["spec"]["nodeName"]]
    words = ("--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=200s")
    with site.story("two nodes drained", DB):
        drains = [
            threading.Thread(target=site.kubectl, args=("drain", it, *words)) for it in chosen
        ]
        for it in drains:
            it.start()
        for it in drains:
            it.join()
        assert all_are_new(site.pods(DB), {it: before[it] for it in (f"{DB}-0", f"{DB}-1")})
        site.until_well(DB, 3)
    for it in chosen:
        site.kubectl("uncordon", it)
    stand_apart(site)


def test_lost_node(site: Site) -> None:
    """What was on it is not started elsewhere: nobody knows that it has ended."""
    number = away_from_operator(site)
    with site.story("node lost and back", DB):
        site.power_off(number)
        until_not_ready(site, number)
        second_life_is_not_given(site, number)
        site.power_on(number)
        site.until_well(DB, 3)


def test_cut_off_node(site: Site) -> None:
    """Its pods run on where nobody sees them, with their volumes."""
    number = away_from_operator(site)
    with site.story("node cut off and healed", DB):
        site.cut(number)
        until_not_ready(site, number)
        second_life_is_not_given(site, number)
        site.heal(number)
        site.until_well(DB, 3)


# ------------------------------------------------------------------ security
def test_certificates_and_logins(site: Site) -> None:
    secrets, security = certificates("safe")
    site.apply(secrets)
    with site.story("create 3, with certificates"):
        site.create("safe", replicas=3, security={"tls": security, "enableAuth": True})
        site.until_well("safe", 3)
    with site.story("3 to 5, with certificates", "safe", secure=True):
        site.edit("safe", replicas=5)
        site.until_well("safe", 5)
    gone(site, "safe")


# ------------------------------------------------------------------ the operator and the API server
def test_the_acting_operator_is_killed_in_the_middle(site: Site) -> None:
    with site.story("3 to 5, operator killed", DB):
        site.edit(DB, replicas=5)
        site.until("a fourth member", lambda: f"{DB}-3" in member_ids(site))
        holder = lease_holder(site)
        site.kubectl("-n", OPERATOR, "delete", "pod", holder, "--grace-period=0", "--force")
        site.until("another leads", lambda: lease_holder(site) not in ("", holder))
        site.until_well(DB, 5)


def test_the_api_server_is_restarted_under_load(site: Site) -> None:
    with site.story("5 to 3, API server restarted", DB):
        site.edit(DB, replicas=3)
        site.restart_api_server()
        site.until_well(DB, 3)


def test_an_upgrade_of_the_operator_restarts_no_member(site: Site) -> None:
    """From the commit before, by its own chart and image, to this one."""
    install_earlier(site)
    until_somebody_leads(site)
    site.until_well(DB, 3)
    before, old = site.pods(DB), operators(site)
    with site.story("operator upgraded", DB):
        install(site)
        site.until("new instances", lambda: not operators(site) & old)
        until_somebody_leads(site)
        site.edit(DB, unhealthyMemberGracePeriod="11s")  # it is there: it takes note
        site.until_well(DB, 3)
    assert same_lives(site.pods(DB), before)


def test_databases_outlive_the_operator(site: Site) -> None:
    before = site.pods(DB)
    with site.story("operator uninstalled, installed", DB):
        site.helm("uninstall", OPERATOR, "--wait")
        assert site.shown(DB) is not None, "definitions stay, and so do clusters"
        site.until("no operator", lambda: not operators(site))
        assert same_lives(site.pods(DB), before)
        install(site)
        until_somebody_leads(site)
        site.edit(DB, unhealthyMemberGracePeriod="12s")
        site.until_well(DB, 3)
    assert same_lives(site.pods(DB), before)


def test_a_typo_is_refused_with_a_sentence(site: Site) -> None:
    with pytest.raises(AssertionError, match=r'unknown field "spec\.replica"'):
        site.create(DB, replica=5)


def test_users_have_the_rights_of_their_namespace(site: Site) -> None:
    """Who may view a namespace sees our kinds there, and changes nothing."""
    site.kubectl("-n", SHOP, "create", "rolebinding", "ann", "--clusterrole=view", "--user=ann")
    assert DB in site.kubectl("-n", SHOP, "--as=ann", "get", KIND)
    with pytest.raises(AssertionError, match='User "ann" cannot delete resource'):
        site.kubectl("-n", SHOP, "--as=ann", "delete", KIND, DB)


def test_an_operator_for_all_namespaces(site: Site) -> None:
    about = {"name": "bank", "labels": RESTRICTED}
    site.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": about})
    with site.story("create 1, in another namespace"):
        install(site, "watch.clusterWide=true")
        site.apply(cluster("one", "bank", {"replicas": 1}))
        site.kubectl("-n", "bank", "wait", "--for=condition=Ready", f"{KIND}/one", "--timeout=200s")
    site.kubectl("-n", "bank", "delete", KIND, "one")


def test_delete_leaves_nothing(site: Site) -> None:
    with site.story("deleted"):
        gone(site, DB)
