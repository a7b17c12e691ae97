"""A cluster gets TLS, and gives it up: by two restarts, and never by what it has not."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fakes import fdb_tls
from fakes.fdb_stories import Story, merged, operator, played, spec
from fakes.fdb_tls import BEGIN, OFF, ON
from fakes.fdb_tls_stories import (
    BOTH,
    CERTIFIED,
    EXPIRED,
    GOOD,
    SIGNER,
    SMALL,
    certified,
    keep,
    kills,
    listening,
)
from stateward.kube.resources import EVENTS


@pytest.mark.parametrize("image_type", ["unified", "split"])
@pytest.mark.parametrize("to_tls", [True, False], ids=["on", "off"])
def test_a_conversion_is_two_restarts_and_one_change_of_coordinators(
    to_tls: bool,
    image_type: str,
) -> None:
    async def story(it: Story) -> None:
        keep(it)
        await it.create(certified(imageType=image_type, **(OFF if to_tls else ON)))
        assert listening(it) == {not to_tls}
        pods, before = it.uids(), len(it.recoveries)
        it.change(**(ON if to_tls else OFF))
        await it.reconciled()
        assert listening(it) == {to_tls}
        assert {one.tls for one in it.database.string.coordinators} == {to_tls}
        assert kills(it) == 2
        assert len(it.recoveries) - before == 3, "two restarts, and other coordinators"
        assert it.uids() == pods, "no pod is made anew"
        assert "hasExtraListeners" not in it.status["generations"]
        await it.at_rest()

    played(story)


@pytest.mark.parametrize("to_tls", [True, False], ids=["on", "off"])
def test_each_stage_is_told_one_after_another(to_tls: bool) -> None:
    async def story(it: Story) -> None:
        keep(it)
        await it.create(certified(**(OFF if to_tls else ON)))
        assert "progress" not in it.status
        told: list[str] = []

        def is_over() -> bool:
            now = it.status["doing"].partition(":")[0]
            if now not in told[-1:]:
                told.append(now)
            return it.is_reconciled

        it.change(**(ON if to_tls else OFF))
        await it.until("told", lambda: it.status.get("progress", {}).get("step") == "ChangingTLS")
        await it.until("over", is_over)
        word = "on" if to_tls else "off"
        assert [one for one in told if one.startswith("TLS")] == [
            f"TLS {word}, 2/4 (listen both ways)",
            f"TLS {word}, 3/4 (coordinators move)",
            f"TLS {word}, 4/4 (listen one way)",
        ]
        await it.reconciled()
        assert "progress" not in it.status

    played(story)


def test_certificates_and_tls_at_once_are_pods_first_and_listeners_then() -> None:
    async def story(it: Story) -> None:
        keep(it)
        await it.create(spec(**SMALL, automationOptions={"podUpdateStrategy": "Delete"}))
        before = it.uids()
        it.change(**merged(CERTIFIED, ON))
        await it.until("said", lambda: it.condition("Ready")["reason"] == "CertificatesAwaited")
        assert "pods have yet to get certificates" in it.condition("Ready")["message"]
        assert listening(it) == {False}
        await it.reconciled()
        assert listening(it) == {True}
        assert not it.uids().items() & before.items(), "all pods are others"
        assert kills(it) == 2

    played(story)


def test_who_shall_go_has_gone_before_anybody_listens_with_tls() -> None:
    """Without certificates it would not find coordinators that only speak TLS."""

    async def story(it: Story) -> None:
        keep(it)
        await it.create(spec(**SMALL))
        it.change(**merged(CERTIFIED, ON))
        await it.until("others come", lambda: any(_marked(it)))
        await it.until("all listen in both ways", lambda: it.status["requiredAddresses"] == BOTH)
        there = {one.localities["instance_id"] for one in it.database.servers.values()}
        assert there.isdisjoint(_marked(it)), "they have no certificates"
        await it.reconciled()
        assert listening(it) == {True}
        await it.until("who went is forgotten", lambda: not it.database.barred)

    played(story)


def _marked(it: Story) -> set[str]:
    return {name for name, one in it.groups().items() if one["spec"].get("remove")}


def test_without_its_secret_nobody_is_replaced() -> None:
    """Those who would come could not start: their volumes cannot be mounted."""

    async def story(it: Story) -> None:
        await it.create(spec(**SMALL))
        pods, groups = it.uids(), {*it.groups()}
        it.change(**merged(CERTIFIED, ON))
        await it.until("said", lambda: it.condition("Ready")["reason"] == "CertificateUnusable")
        await it.rest(300)
        assert (it.uids(), {*it.groups()}) == (pods, groups), "no new pods by it"
        assert listening(it) == {False}
        keep(it)
        await it.reconciled()
        assert listening(it) == {True}
        await it.until("who went is forgotten", lambda: not it.database.barred)

    played(story)


def test_a_template_that_changes_on_the_way_waits_until_the_way_is_gone() -> None:
    async def story(it: Story) -> None:
        keep(it)
        options = {"podUpdateStrategy": "Delete"}
        await it.create(certified(automationOptions=options))
        pods = it.uids()
        it.change(**ON)
        await it.until("both", lambda: it.status["requiredAddresses"] == BOTH)
        more = fdb_tls.template(fdb_tls.container(resources={"requests": {"memory": "9Gi"}}))
        it.change(processes={"general": {"podTemplate": more}})
        await it.until("over", lambda: listening(it) == {True})
        assert it.uids() == pods, "nothing but listeners changed until then"
        await it.reconciled()
        assert not it.uids().items() & pods.items()

    played(story)


@pytest.mark.parametrize("to_tls", [True, False], ids=["on", "off"])
@pytest.mark.parametrize("late", [False, True], ids=["early", "late"])
def test_a_spec_that_is_taken_back_leads_back(to_tls: bool, late: bool) -> None:
    async def story(it: Story) -> None:
        keep(it)
        await it.create(certified(**(OFF if to_tls else ON)))
        it.change(**(ON if to_tls else OFF))
        await it.until("both", lambda: it.status["requiredAddresses"] == BOTH)
        if late:
            await it.until(
                "moved", lambda: {one.tls for one in it.database.string.coordinators} == {to_tls}
            )
        it.change(**(OFF if to_tls else ON))
        await it.reconciled()
        assert listening(it) == {not to_tls}
        assert kills(it) <= 4

    played(story)


# ------------------------------------------------------------------ what cannot be used
EARLY = fdb_tls.files(SIGNER, BEGIN + timedelta(days=30))
OTHER = fdb_tls.files(SIGNER)
FLAWED: dict[str, tuple[dict[str, bytes] | None, str]] = {
    "missing": (None, "secret default/shop-certs must be there"),
    "without its key": (
        {"tls.crt": GOOD["tls.crt"], "ca.crt": GOOD["ca.crt"]},
        "must have tls.key",
    ),
    "empty": (GOOD | {"tls.crt": b""}, "must have tls.crt, and has"),
    "no certificate": (GOOD | {"tls.crt": b"hello"}, "tls.crt must be certificates in PEM"),
    "no authority": (GOOD | {"ca.crt": b"hello"}, "ca.crt must be certificates in PEM"),
    "expired": (EXPIRED, "has expired at 2025-12-03T00:00:00Z"),
    "not yet": (EARLY, "is so only from 2026-01-30T23:00:00Z"),
    "another's key": (GOOD | {"tls.key": OTHER["tls.key"]}, "must be the key of"),
    "a broken key": (GOOD | {"tls.key": b"hello"}, "must be a key in PEM"),
}


def kinds_of(it: Story, reason: str) -> set[str]:
    """Return of which types the events of a reason are."""
    every = (stored.document() for stored in it.it.world.api.list(EVENTS).items)
    return {one["type"] for one in every if one["reason"] == reason}


@pytest.mark.parametrize("flaw", FLAWED)
def test_nothing_begins_by_a_certificate_that_is(flaw: str) -> None:
    held, words = FLAWED[flaw]

    async def story(it: Story) -> None:
        if held is not None:
            keep(it, held)
        it.apply(certified(**ON))
        await it.until("said", lambda: bool(it.status.get("conditions")))
        await it.rest(60)
        ready = it.condition("Ready")
        assert ready["reason"] == "CertificateUnusable"
        assert words in ready["message"]
        assert "BEGIN" not in str(it.status), "nothing of what it holds is told"
        assert kinds_of(it, "CertificateUnusable") == {"Warning"}, "as it is on a live cluster"
        assert it.groups() == {}, "never in plain text, and not at all"
        keep(it)
        await it.reconciled()
        assert listening(it) == {True}

    played(story, whole=False)


def test_no_conversion_begins_by_one_that_has_expired_and_none_of_its_ends_is_cut_off() -> None:
    async def story(it: Story) -> None:
        keep(it, EXPIRED)
        await it.create(certified())
        it.change(**ON)
        await it.rest(600)
        assert listening(it) == {False}
        assert kills(it) == 0
        assert it.condition("Ready")["reason"] == "CertificateUnusable"
        keep(it)
        await it.reconciled()
        assert listening(it) == {True}

    played(story)


def test_one_that_expires_on_the_way_holds_the_restart_and_tls_can_be_given_up() -> None:
    async def story(it: Story) -> None:
        keep(it)
        await it.create(certified(**ON))
        keep(it, EXPIRED)
        it.change(processes={"general": {"customParameters": ["knob_max_trace_lines=1000"]}})
        await it.rest(600)
        assert kills(it) == 0, "who is started by it does not come back"
        assert any(one["guard"] == "certificates_are_good" for one in it.status["blockers"])
        it.change(**OFF)
        await it.reconciled()
        assert listening(it) == {False}

    played(story)


def test_one_that_ends_soon_is_spoken_of() -> None:
    async def story(it: Story) -> None:
        keep(it, fdb_tls.files(SIGNER, days=5))
        await it.create(certified(**ON))
        assert it.condition("Ready")["status"] == "True"
        said = [one["message"] for one in it.status["blockers"]]
        assert said == ["secret default/shop-certs: tls.crt ends at 2026-01-06T00:00:00Z"]

    played(story)


def test_who_may_not_read_secrets_goes_by_what_pods_tell() -> None:
    async def story(it: Story) -> None:
        keep(it)
        it.it.world.weather.forbidden["get", "secrets", ""] += 1
        await it.create(certified())
        it.change(**ON)
        await it.until(
            "said",
            lambda: any(
                one["guard"] == "CertificatesUnseen" for one in it.status.get("blockers", ())
            ),
        )
        await it.reconciled()
        assert listening(it) == {True}
        assert it.status.get("blockers", []) == [], "at rest nobody is bothered with it"

    played(story)


def test_an_operator_without_a_certificate_says_so_and_begins_nothing() -> None:
    async def story(it: Story) -> None:
        keep(it)
        await it.rest(1)
        it.stop()
        it.slots = it.it.operate(lambda around: operator(around, certified=False))
        await it.create(certified())
        it.change(**ON)
        await it.rest(300)
        assert listening(it) == {False}
        assert "the operator itself must have a certificate" in it.condition("Ready")["message"]
        it.stop()
        it.start()
        await it.reconciled()
        assert listening(it) == {True}

    played(story)


def test_a_renewed_certificate_restarts_nobody() -> None:
    async def story(it: Story) -> None:
        keep(it)
        await it.create(certified(**ON))
        pods, before = it.uids(), len(it.recoveries)
        keep(it, fdb_tls.files(SIGNER, days=700))
        await it.at_rest()
        assert it.uids() == pods
        assert len(it.recoveries) == before

    played(story)
