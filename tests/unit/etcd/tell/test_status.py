"""The whole status: laws that hold for every picture, and its single fields."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fakes.etcd_views import NOW, OTHER_CLUSTER_ID, REVISION, drawings, picture, told
from stateward.core.outcome import DONE, Blocked, Retry, Stop, Wait
from stateward.etcd.api.status import EtcdClusterStatus, Progress, RecoveryReport
from stateward.etcd.decide import moves
from stateward.etcd.decide.refusals import Refusal
from stateward.etcd.model.history import may_be_electing
from stateward.etcd.model.view import View
from stateward.etcd.tell.notes import noting
from stateward.etcd.tell.status import status_of
from stateward.kube.codec import decode, encode
from stateward.kube.crd.blockers import Blocker

OUTCOMES = st.lists(
    st.sampled_from(
        [
            ("Look", DONE),
            ("Services", Wait("Applying", "making the services")),
            ("Move", Retry(5, "EtcdPacing", "etcd wants a pause")),
            ("Move", Stop(30, "SplitBrain", "two clusters answer")),
            ("Move", Blocked("SecretMissing", "secret peers is missing", "make it")),
        ]
    ),
    max_size=3,
)
REFUSALS = st.lists(
    st.sampled_from([Refusal("Remove", "Grace", "wait"), Refusal("Roll", "Quorum", "too few")]),
    max_size=2,
)
LATCHED = st.none() | st.booleans()


# ------------------------------------------------------------------ laws


@given(drawings(), LATCHED, OUTCOMES, REFUSALS, st.floats(0, 1e6))
def test_at_rest_nothing_is_written(text, latched, said, refusals, after):
    view = picture(text, latched=latched)
    first = status_of(view, said, refusals)
    # An election that does not end is told as a loss after a while: no rest, that.
    assume(not may_be_electing(view))

    assert status_of(told(view, first, after), said, refusals) == first
    assert decode(encode(first), EtcdClusterStatus) == first


@given(st.lists(drawings(), min_size=2, max_size=4))
def test_what_is_latched_stays(texts):
    status, seen = EtcdClusterStatus(), []
    for n, text in enumerate(texts):
        status = status_of(picture(text, status=status, now=NOW + n), [], [])
        seen.append(status)

    ids = [it.cluster_id for it in seen if it.cluster_id]
    assert len(set(ids)) <= 1
    assert all(it.cluster_id for it in seen[len(seen) - len(ids) :])
    assert [it.revision for it in seen] == sorted(it.revision for it in seen)


@given(drawings(), st.sampled_from(["d d d", "x x x", "c c c", ". . .", "n n n", "w w w"]))
def test_silence_forgets_nobody(text, silence):
    before = status_of(picture(text), [], [])
    after = status_of(picture(f"3: {silence}", quorum=False, status=before), [], [])

    assert after.last_known_members == before.last_known_members
    assert after.cluster_id == before.cluster_id
    assert after.revision >= before.revision


@given(drawings(), OUTCOMES)
def test_a_column_is_short_and_every_key_is_there_once(text, said):
    status = status_of(picture(text), said, [])

    assert 0 < len(status.doing) <= 80
    names = [it.name for it in status.members]
    assert len(set(names)) == len(names)
    quorate = status.conditions[2].status == "True"
    assert all(
        (it.unhealthy_since is not None) == (quorate and not it.healthy) for it in status.members
    )


# ------------------------------------------------------------------ latches


def test_the_id_is_kept_once_a_quorum_speaks_for_one():
    assert status_of(picture("3: L f f", latched=False), [], []).cluster_id == "c1"
    assert status_of(picture("3: L f w", latched=False), [], []).cluster_id == ""
    assert status_of(picture("3: f f f", quorum=False, latched=False), [], []).cluster_id == ""


def test_another_id_does_not_take_over():
    elsewhere = picture("1: L", said={"cluster_id": OTHER_CLUSTER_ID})
    status = status_of(elsewhere, [], [])

    assert status.cluster_id == "c1"
    assert [it.id for it in status.last_known_members] == ["a0"]
    assert status.conditions[0].reason == "SplitBrain"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "c1"),
        ({"foreign": 1}, ""),
        ({"other_lists": ["c1 with members a7"]}, ""),
        ({"quorum": False}, ""),
    ],
)
def test_a_cluster_is_known_from_its_first_list_of_nobody_else(options, expected):
    assert status_of(picture("1: L", latched=False, **options), [], []).cluster_id == expected


def known(text, **options) -> str:
    status = status_of(picture(text, last_known=[0, 1, 2], **options), [], [])
    return " ".join(f"{it.name[-1]}{'l' if it.learner else ''}" for it in status.last_known_members)


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("2: L f", {}, "0 1"),
        ("1: L", {}, "0 1 2"),
        ("3: L f f u", {}, "0 1 2 3l"),
        ("1: d", {}, "0 1 2"),
        ("1: L", {"foreign": 1}, "0 1 2"),
        ("2: L f", {"other_lists": ["c1 with members a0, a7"]}, "0 1 2"),
        ("1: L", {"revisions": {0: 1}}, "0 1 2"),
        ("4: L f f w", {}, "0 1 2"),
        ("1: L", {"quorum": False}, "0 1 2"),
    ],
)
def test_only_a_list_beyond_doubt_is_remembered(text, options, expected):
    assert known(text, **options) == expected


def kept_revision(seen: int, **options) -> int:
    view = picture("1: L", revisions={0: seen}, **options)
    settled = status_of(picture("1: L", **options), [], [])
    return status_of(told(view, settled), [], []).revision


def test_the_revision_is_not_written_for_every_put():
    assert kept_revision(REVISION + 1) == REVISION
    assert kept_revision(REVISION + 1000) == REVISION
    assert kept_revision(2100) == 2100


def test_the_revision_goes_along_with_other_news():
    grown = picture("1: L f", revisions={0: 1001})

    assert status_of(grown, [], []).revision == 1001


def test_the_revision_is_never_less_but_for_a_recovery_that_a_person_approved():
    assert kept_revision(3) == REVISION

    view = picture("1: L", revisions={0: 3})
    settled = status_of(picture("1: L"), [], [])
    approved = msgspec.structs.replace(settled, recovery=RecoveryReport(survivor="shop-0"))
    done = msgspec.structs.replace(settled, recovery=RecoveryReport(survivor="shop-0", done=True))

    assert status_of(told(view, approved), [], []).revision == 3
    assert status_of(told(view, approved), [], []).conditions[0].reason == "AllMembersHealthy"
    assert status_of(told(view, done), [], []).revision == REVISION


def test_a_lone_member_that_had_company_does_not_make_us_forget_it():
    status = status_of(picture("3: L . .", last_known=[0, 1, 2]), [], [])

    assert status.conditions[0].reason == "DataRewound"
    assert len(status.last_known_members) == 3


def test_a_spec_that_is_refused_hides_nothing_that_was_seen_before():
    former = status_of(picture("3: L f d"), [], [])
    cluster = told(picture("3: L f d"), former).cluster
    refused = [("CheckSpec", Blocked("SpecInvalid", "replicas must be odd", "mend it"))]
    status = status_of(View(cluster, NOW + 60), refused, [])

    assert (status.members, status.leader, status.replicas) == (former.members, "shop-0", 3)
    assert [f"{it.type} {it.status} {it.reason}" for it in status.conditions] == [
        "Ready False SpecInvalid",
        "Available Unknown NotObserved",
        "Quorate Unknown NotObserved",
        "Progressing False SpecInvalid",
        "Degraded Unknown NotObserved",
        "Paused False NotPaused",
    ]
    assert status_of(View(told(picture("."), status).cluster, NOW + 120), refused, []) == status


# ------------------------------------------------------------------ what moves leave to remember


def noted(view, move, outcome, **former):
    return noting(EtcdClusterStatus(**former), view, move, outcome)


def test_a_try_at_making_room_is_noted_when_it_was_made():
    view, move = picture("1: L"), moves.Compact(5)
    made, failed = Retry(0, "Compact", "compacting"), Retry(1, "PeerUnreachable", "no answer")

    assert noted(view, move, made).last_defragmentation == "2023-11-14T22:13:20Z"
    assert noted(view, move, failed).last_defragmentation is None
    assert noted(view, moves.Rest(), DONE).last_defragmentation is None


@pytest.mark.parametrize(
    ("text", "approved", "before", "after"),
    [
        ("3: d d f", True, False, False),
        ("3: L . .", True, False, True),
        ("3: L . .", False, False, None),
        ("3: d d f", False, False, None),
        ("3: L f f", True, True, True),
        ("3: L f f", False, True, None),
        ("3: L f f", True, None, True),
        ("3: d d f", True, None, None),
        ("3: L f f", False, None, None),
    ],
)
def test_a_recovery_ends_with_a_quorum_and_its_approval_with_the_spec(
    text, approved, before, after
):
    spec = {"quorumRecovery": {"acceptDataLoss": True}} if approved else {}
    report = None if before is None else RecoveryReport(survivor="shop-0", done=before)
    found = noted(picture(text, spec=spec), moves.Rest(), DONE, recovery=report).recovery

    assert (found.done if found else None) is after


def test_what_others_wrote_into_the_status_is_carried():
    former = EtcdClusterStatus(
        last_defragmentation="2023-01-01T00:00:00Z", recovery=RecoveryReport(survivor="shop-1")
    )
    status = status_of(picture("1: L", status=former), [], [])

    assert status.last_defragmentation == former.last_defragmentation
    assert status.recovery == former.recovery


@pytest.mark.parametrize(
    ("former", "asked", "found", "expected"),
    [
        (False, True, True, True),
        (False, False, True, False),
        (True, False, True, True),
        (True, False, False, False),
        (False, True, False, True),
    ],
)
def test_logins_are_ours_when_we_were_asked_for_them(former, asked, found, expected):
    view = picture(
        "1: L",
        auth=found,
        spec={"security": {"enableAuth": asked}},
        status=EtcdClusterStatus(auth_enabled=former),
    )

    assert status_of(view, [], []).auth_enabled is expected


def test_unanswered_logins_change_nothing():
    view = picture("1: d", status=EtcdClusterStatus(auth_enabled=True))

    assert status_of(view, [], []).auth_enabled


# ------------------------------------------------------------------ fields


def test_the_plain_fields():
    status = status_of(
        picture("3: f L f", versions={2: "3.5.9", 0: "3.5.30"}, generation=7), [], []
    )

    assert status.observed_generation == 7
    assert (status.leader, status.version) == ("shop-1", "3.5.9")
    assert (status.replicas, status.ready_members) == (3, "3/3")
    assert status.selector == (
        "app.kubernetes.io/instance=shop,"
        "app.kubernetes.io/managed-by=etcd-operator,"
        "app.kubernetes.io/name=etcd"
    )


def test_without_answers_the_last_words_stand():
    former = status_of(picture("3: L f f"), [], [])
    status = status_of(picture("3: d d d", status=former), [], [])

    assert (status.version, status.leader) == ("3.6.16", "")
    assert (status.replicas, status.ready_members) == (3, "0/3")


@pytest.mark.parametrize(
    ("text", "said", "expected"),
    [
        ("3: L f f", [("Move", DONE)], "nothing to do"),
        ("3: L f f", [("A", DONE), ("B", Wait("X", "moving")), ("C", Wait("Y", "no"))], "moving"),
        ("3: L f d", [("Move", DONE)], "2 of 3 voters are healthy; shop-2: does not answer"),
        ("3: L f f", [("Move", Wait("X", "word " * 30))], "word " * 14 + "word word…"),
    ],
)
def test_doing(text, said, expected):
    assert status_of(picture(text), said, []).doing == expected


def test_asleep_is_said_plainly():
    view = picture("0: c", replicas=0, latched=True, last_known=[0])
    status = status_of(view, [], [])

    assert (status.doing, status.replicas, status.ready_members) == ("asleep", 0, "0/0")


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("3: L f f", {}, None),
        ("3: f x .", {"quorum": False, "latched": False}, "Bootstrapping 1/3"),
        ("5: L f f u", {}, "Growing 3/5"),
        ("3: L f f f f", {}, "Shrinking 0/2"),
        ("3: L f f f", {"status": EtcdClusterStatus(progress=Progress(step="Shrinking", done=0, of=2))}, "Shrinking 1/2"),
        ("3: L f f u", {}, "Shrinking 0/1"),
        ("0: L", {}, "Shrinking 0/1"),
        ("3: L f x", {}, "Replacing 2/3"),
        ("3: L f f'", {}, "Rolling 2/3"),
        ("3: L f' f'", {"versions": {1: "3.5.30", 2: "3.5.30"}}, "Upgrading 1/3"),
        ("3: L f f", {"workload": {"differs": True}}, "Rolling 0/3"),
    ],
)  # fmt: skip
def test_progress(text, options, expected):
    found = status_of(picture(text, **options), [], []).progress

    assert (f"{found.step} {found.done}/{found.of}" if found else None) == expected


def test_blockers_are_all_told_each_once_and_since_when():
    said = [("Look", DONE), ("Move", Blocked("SecretMissing", "no secret", "make it"))]
    refusals = [Refusal("Roll", "Grace", "too early"), Refusal("Roll", "Grace", "said twice")]
    first = status_of(picture("3: L f f"), said, refusals)
    later = status_of(
        told(picture("3: L f f"), first, after=60),
        [],
        [*refusals[:1], Refusal("Wipe", "Quorum", "too few", "bring one back")],
    )

    assert first.blockers == (
        Blocker(
            step="Move",
            guard="SecretMissing",
            message="no secret",
            hint="make it",
            since="2023-11-14T22:13:20Z",
        ),
        Blocker(step="Roll", guard="Grace", message="too early", since="2023-11-14T22:13:20Z"),
    )
    assert [(it.guard, it.since) for it in later.blockers] == [
        ("Grace", "2023-11-14T22:13:20Z"),
        ("Quorum", "2023-11-14T22:14:20Z"),
    ]
