"""What stories look at on the way, and what they wait for."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

from cluster.site import KIND, OPERATOR, SHOP, Site
from stateward.app import certs

#: The cluster that most stories are about.
DB = "db"


def of(pods: dict[str, Any], name: str) -> str:
    return str(pods[name]["metadata"]["uid"]) if name in pods else ""


def uid(site: Site, name: str) -> str:
    return of(site.pods(DB), name)


def restarts(site: Site, pod: str) -> int:
    found = site.pods(DB).get(pod)
    statuses = found["status"].get("containerStatuses", []) if found else []
    return sum(it["restartCount"] for it in statuses)


def member_ids(site: Site) -> dict[str, str]:
    members = site.shown(DB)["status"].get("members", [])
    return {it["name"]: it.get("id", "") for it in members}


def all_are_new(pods: dict[str, Any], before: dict[str, Any]) -> bool:
    return all(of(pods, it) not in ("", of(before, it)) for it in before)


def same_lives(pods: dict[str, Any], before: dict[str, Any]) -> bool:
    """Tell whether these are the same pods, and none of their processes was started again."""

    def lives(them: dict[str, Any]) -> dict[str, Any]:
        return {
            name: [it["containerID"] for it in pod["status"]["containerStatuses"]]
            for name, pod in them.items()
        }

    return lives(pods) == lives(before)


def operators(site: Site) -> set[str]:
    chosen = f"--selector=app.kubernetes.io/name={OPERATOR}"
    return {it["metadata"]["name"] for it in site.listed("-n", OPERATOR, "pods", chosen)}


def lease_holder(site: Site) -> str:
    found = site.asked("-n", OPERATOR, "lease", f"{OPERATOR}-etcd")
    return (found["spec"].get("holderIdentity") or "").partition("_")[0] if found else ""


def until_somebody_leads(site: Site) -> None:
    """Wait for the first word of a leader: a lease that was made anew is believed in only later."""

    def is_said() -> bool:
        holder = lease_holder(site)
        if holder not in operators(site):
            return False
        return "this instance leads now" in site.kubectl("-n", OPERATOR, "logs", holder)

    site.until("somebody leads", is_said)


def away_from_operator(site: Site) -> int:
    """Return a node on which the operator that acts is not, so that the story is about etcd."""
    found = site.asked("-n", OPERATOR, "pod", lease_holder(site))
    own = found["spec"]["nodeName"]
    chosen = next(
        it["spec"]["nodeName"] for it in site.pods(DB).values() if it["spec"]["nodeName"] != own
    )
    return int(chosen.removeprefix("node-"))


def stand_apart(site: Site) -> None:
    """Let members move, one by one, until each has a node to itself again."""
    while crowded := sharing(site.pods(DB)):
        before = site.pods(DB)
        site.kubectl("-n", SHOP, "delete", "pod", crowded)
        site.until("it is back", lambda: all_are_new(site.pods(DB), {crowded: before[crowded]}))  # noqa: B023
        site.until_well(DB, 3)


def sharing(pods: dict[str, Any]) -> str:
    """Return a pod that is not alone on its node, or nothing."""
    places = [it["spec"]["nodeName"] for it in pods.values()]
    return next((n for n, it in pods.items() if places.count(it["spec"]["nodeName"]) > 1), "")


def until_not_ready(site: Site, number: int) -> None:
    def is_away() -> bool:
        conditions = site.asked("node", f"node-{number}")["status"]["conditions"]
        return any(it["type"] == "Ready" and it["status"] != "True" for it in conditions)

    site.until(f"node-{number} is not ready", is_away)


def second_life_is_not_given(site: Site, number: int, seconds: float = 45.0) -> None:
    """Watch for longer than evictions and the grace period take: no member is on two nodes.

    The pods of the node may go only once it has said that they ended. Until then none of their
    names, and none of their volumes, may be used anywhere else.
    """
    there = f"node-{number}"
    own = {n for n, it in site.pods(DB).items() if it["spec"]["nodeName"] == there}
    assert own, "a member was there"
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        elsewhere = {
            n
            for n, it in site.pods(DB).items()
            if n in own and it["spec"].get("nodeName") not in (None, there)
        }
        assert not elsewhere, f"{elsewhere} runs twice"
        time.sleep(1)


def certificates(name: str) -> tuple[str, dict[str, str]]:
    """Return the secrets that `stateward certs` prints, and what a spec says of them."""
    words = [sys.executable, "-m", "stateward", "certs", name, "--namespace", SHOP]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return done.stdout, certs.settings(name)


def gone(site: Site, name: str) -> None:
    site.kubectl("-n", SHOP, "delete", KIND, name)
    site.until(f"{name} is gone", lambda: site.shown(name) is None and not site.pods(name))
