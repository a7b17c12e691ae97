"""What must be true of every move, whatever happened before; and that all ends well."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fakes.etcd_laws import ACTS, broken_by, broken_in, unrest
from fakes.etcd_model import EtcdWorld
from fakes.etcd_passes import Fate, Pass, formed, operate
from fakes.etcd_views import NOW, drawings, peer_url, picture, told
from stateward.core import moments
from stateward.etcd.api.status import RecoveryReport
from stateward.etcd.decide import (
    absent,
    chart,
    configs,
    guards,
    moves,
    recovery,
    repair,
    rolling,
    sizes,
)
from stateward.etcd.model.members import AlarmKind
from stateward.etcd.model.view import Config, View
from stateward.kube.meta import Condition

# -------------------------------------------------------------------------- what may happen

#: One word for what happens next, perhaps with an ordinal or a size.
Event = tuple[str, int]
MOST: Final = 4
SIZES: Final = range(4)
#: Passes until a world that nothing disturbs rests, and acts that this may take.
LAST, MANY = 80, 50
#: Seconds that go by when the operator waits.
PATIENCE = 3.0
FATES: Final = {"operate": Fate.WHOLE, "idle": Fate.IDLE, "mute": Fate.MUTE}
WITH_NUMBER: Final = {"crash", "empty", "delete pod", "no room", "scale"}
#: What happens how often.
KINDS: Final = {
    "operate": 12,
    "tick": 12,
    "idle": 1,
    "mute": 3,
    "crash": 3,
    "empty": 2,
    "delete pod": 2,
    "no room": 1,
    "room": 1,
    "scale": 4,
    "template": 2,
    "wait": 3,
    "orphan": 1,
    "forget config": 1,
}


def happen(world: EtcdWorld, event: Event) -> Pass | None:
    """Let something happen; return the pass of the operator, if it was one."""
    kind, n = event
    if kind in FATES:
        return operate(world, FATES[kind])
    getattr(world, kind.replace(" ", "_"))(*([n] if kind in WITH_NUMBER else []))
    return None


def walk(world: EtcdWorld, events: Iterable[Event]) -> None:
    """Go through events, asking the laws at every pass; then all troubles end, and it settles."""
    for event in events:
        step = happen(world, event)
        if step is not None:
            _ask(step)
    settle(world)


def settle(world: EtcdWorld) -> None:
    """Let the operator work in peace: it comes to rest, at what is wanted, in so many moves."""
    world.homeless &= world.dispensable
    acts = []
    for _ in range(LAST):
        step = operate(world)
        _ask(step)
        move = step.judgement.move
        if isinstance(move, ACTS):
            acts.append(move.message)
        else:
            world.now += PATIENCE
        if isinstance(move, moves.Rest | moves.Refuse) and not acts[MANY:]:
            wrong = unrest(world)
            if not wrong or world.doomed:
                return
        world.tick()
    assert not acts[MANY:], f"E-L: it never rests: {acts[-12:]}"
    assert world.doomed, f"E-L: {unrest(world)}; last: {move}; acts: {acts[-12:]}"


def _ask(step: Pass) -> None:
    wrong = broken_in(step)
    assert not wrong, f"{'; '.join(wrong)}\n  {step.world}"


# -------------------------------------------------------------------------- the laws hold

WORDS: Final = [kind for kind, weight in KINDS.items() for _ in range(weight)]
happenings = st.lists(st.tuples(st.sampled_from(WORDS), st.integers(0, MOST)), max_size=40)


#: A pass that wrote what members begin with died before it told, and somebody deleted that.
UNTOLD: Final = [("scale", 1), ("mute", 0), ("operate", 0), ("forget config", 0), ("tick", 0)]


@settings(max_examples=500)
@example(size=0, events=UNTOLD)
@example(size=0, events=[("mute", 0) if it == ("operate", 0) else it for it in UNTOLD])
@given(size=st.sampled_from(SIZES), events=happenings)
def test_whatever_happens_no_law_is_broken_and_it_ends_well(size: int, events: list[Event]) -> None:
    """E-S1 to E-S14 at every pass, then E-L1 to E-L7: about 25 passes in every example."""
    walk(formed(size), events)


@settings(max_examples=2000)
@given(
    text=drawings(),
    latched=st.booleans(),
    config=st.sampled_from([None, "", "new", "existing", "force", "existing 0", "force 0"]),
    away=st.dictionaries(st.integers(0, 4), st.sampled_from([1.0, 1000.0]), max_size=2),
    known=st.none() | st.sets(st.integers(0, 4), max_size=4),
    storage=st.sampled_from(["claims", "claims", "emptyDir"]),
    full=st.booleans(),
)
def test_no_picture_makes_the_chart_break_a_law(
    text: str, latched: bool, config: str | None, away: Any, known: Any, storage: str, full: bool
) -> None:
    """Also of what cannot come about, as far as we know: and the same is judged alike twice."""
    seen = {it.ordinal for it in picture(text, storage=storage).replicas}
    view = picture(
        text,
        latched=latched,
        config=config,
        away=away,
        last_known=known if known is None else known & seen,
        storage=storage,
        alarms={0: AlarmKind.NO_SPACE} if full else {},
        said={"db_size": 2 << 30} if full else {},
    )
    if full:
        tried = moments.to_rfc3339(NOW - 1)
        status = msgspec.structs.replace(view.cluster.status, last_defragmentation=tried)
        view = told(view, status)
    judgement = chart.judge(view)
    assert broken_by(view, judgement.move) == []
    assert chart.judge(view) == judgement


@settings(max_examples=1000)
@given(
    text=drawings(),
    config=st.sampled_from(["existing", "force 0", "force 2"]),
    approved=st.booleans(),
    survivor=st.none() | st.sampled_from(["shop-0", "shop-2"]),
    lost=st.none() | st.sampled_from([1.0, 60.0]),
    led=st.booleans(),
    storage=st.sampled_from(["claims", "claims", "emptyDir"]),
)
def test_no_recovery_breaks_a_law(
    text: str,
    config: str,
    approved: bool,
    survivor: str | None,
    lost: float | None,
    led: bool,
    storage: str,
) -> None:
    view = picture(
        text,
        quorum=False,
        config=config,
        storage=storage,
        said={"leader": 0xA0} if led else {},
        spec={"quorumRecovery": {"acceptDataLoss": True}} if approved else {},
    )
    report = RecoveryReport(survivor=survivor, pod_uid="1", snapshot="2.db") if survivor else None
    view = _with_loss(view, report, lost)
    judgement = chart.judge(view)
    judgement = chart.judge(view)
    assert broken_by(view, judgement.move) == []
    assert chart.judge(view) == judgement


@pytest.mark.parametrize(
    ("first", "wanted"), [(0, 3), (1, 3), (3, 1), (3, 0), (2, 0), (2, 3), (3, 2), (0, 1)]
)
def test_a_change_of_size_leaves_nothing_over(first: int, wanted: int) -> None:
    world = formed(first)
    world.wanted = wanted
    settle(world)
    assert sorted(world.claims) == list(range(max(wanted, 1)))
    assert sorted(world.pods) == list(range(wanted))


def _with_loss(view: View, report: RecoveryReport | None, lost: float | None) -> View:
    """Return a picture in which the quorum was told to be lost for so long, and a recovery."""
    since = moments.to_rfc3339(NOW - (lost or 0))
    quorate = Condition(type="Quorate", status="False", last_transition_time=since)
    known = (quorate,) if lost is not None else ()
    status = msgspec.structs.replace(view.cluster.status, recovery=report, conditions=known)
    return told(view, status)


# -------------------------------------------------------------------------- and they bite

Patch = tuple[Any, str, Any]


def _without(
    row: Callable[[View], Any], instead: Callable[[View], Any] | None = None
) -> list[Patch]:
    """Return a chart in which a row is gone, or is another."""
    tables = ("SILENCE", "IDENTITY", "NO_QUORUM", "QUORUM")
    return [(chart, name, _replaced(getattr(chart, name), row, instead)) for name in tables]


def _replaced(table: Any, row: Any, instead: Any) -> Any:
    rows = ((name, instead if it is row else it) for name, it in table)
    return tuple((name, it) for name, it in rows if it is not None)


def _row(number: str) -> Callable[[View], Any]:
    return next(it for table in (chart.IDENTITY, chart.QUORUM) for n, it in table if n == number)


def _drop_claims_under_pods(view: View) -> moves.Move | None:
    for it in view.replicas:
        if it.listed is None and it.claim is not None and not it.claim.deleting:
            return moves.DeleteClaim(it.claim, "a mutant")
    return None


def _shrink_anybody(view: View) -> moves.Move | None:
    if len(view.voters) <= max(view.wanted, 1):
        return None
    victim = view.leader or view.voters[0]
    return moves.RemoveMember(victim.listed.member.id, victim.name, "a mutant")


def _promote_anybody(view: View) -> moves.Move | None:
    found = [it for it in view.learners if it.listed is not None]
    return moves.Promote(found[0].listed.member.id, found[0].name) if found else None


def _give_up(view: View) -> moves.Move | None:
    return moves.WriteWorkload(0, "a mutant") if view.workload else None


def _use_claim(*_: Any) -> moves.Move:
    return moves.AddLearner(1, "shop-1", peer_url(1))


def _told_new(*it: Any, right: Any = configs.of_the_list) -> Config:
    return replace(right(*it), existing=False)


def _still_forced(view: View, *it: Any, right: Any = configs.of_the_list) -> Config:
    on = view.config is not None and view.config.force_new_cluster
    return replace(right(view, *it), force_new_cluster=on)


def _told_force(*it: Any, right: Any = configs.of_known) -> Config:
    return replace(right(*it), force_new_cluster=True)


ALWAYS: Final = lambda *_: True  # noqa: E731 - a guard that lets everything pass
_ALL_WELL: Final = (guards, "all_members_well", ALWAYS)
_STILL_FORCED: Final = (configs, "of_the_list", _still_forced)
_HASTE: Final = [(rolling, "_is_caught_up", ALWAYS), (guards, "keeps_quorum_while_away", ALWAYS)]

MUTANTS: Final[list[tuple[str, list[Patch], str]]] = [
    ("changes go unrecorded", [(guards, "list_is_on_record", ALWAYS)], "E-S2"),
    ("quorum is always kept", [(guards, "keeps_quorum_without", ALWAYS)], "E-S1"),
    ("the sick are no hindrance", [*_without(repair.await_healthy), _ALL_WELL], "E-S2"),
    ("learners grow in number", [*_without(repair.await_learner), _ALL_WELL], "E-S2"),
    ("learners are promoted unseen", _without(_row("6"), _promote_anybody), "E-S3"),
    ("claims go under pods", _without(sizes.drop_claims, _drop_claims_under_pods), "E-S4"),
    ("old volumes are used", [(sizes, "_free_claim", _use_claim)], "E-S6"),
    ("members keep their names", [(configs, "alias", lambda n: f"shop-{n}")], "E-S6"),
    ("they are told new", [(configs, "of_the_list", _told_new)], "E-S7"),
    ("force is left on", [*_without(chart.end_force), _STILL_FORCED], "E-S8"),
    ("all wake by force", [(configs, "of_known", _told_force)], "E-S8"),
    ("no quorum, no pods", _without(absent.stand_by, _give_up), "E-S10"),
    ("the leader goes first", _without(sizes.shrink, _shrink_anybody), "E-S11"),
    ("the sick are rolled past", [*_without(repair.await_healthy), _ALL_WELL, *_HASTE], "E-S1"),
    ("one restarts beside another", [*_without(repair.await_healthy), _ALL_WELL, *_HASTE], "E-S12"),
    ("a leaving pod counts", [(guards, "is_steady", View.is_healthy)], "E-S1"),
    ("there is no grace", [(repair, "_is_due", ALWAYS)], "E-S14"),
    ("learners are not taken back", _without(repair.revert_learner), "E-L"),
    ("stuck learners stay stuck", _without(repair.free_learner), "E-L"),
    ("claims are left over", _without(sizes.drop_claims), "E-L"),
    ("the workload is left alone", _without(sizes.settle_workload), "E-L"),
    ("a lost workload stays lost", [(absent, "_lost_workload", lambda _: None)], "E-L"),
    ("the last pod is called back", [(sizes, "_is_falling_asleep", lambda _: False)], "E-L"),
]


@pytest.mark.parametrize(
    ("patches", "law"), [it[1:] for it in MUTANTS], ids=[it[0] for it in MUTANTS]
)
def test_a_wrong_chart_is_caught_by_its_law(
    monkeypatch: pytest.MonkeyPatch, patches: Sequence[Patch], law: str
) -> None:
    for size in SIZES:
        formed(size)  # by the right chart, and kept
    for owner, name, instead in patches:
        monkeypatch.setattr(owner, name, instead)
    assert law in set(broken_laws(1500, until=law))


def test_the_right_chart_breaks_none_on_the_same_walks() -> None:
    assert list(broken_laws(150)) == []


def broken_laws(walks: int, until: str = "") -> Iterator[str]:
    """Go for so many walks, always the same ones; yield the laws that are broken, to a first."""
    for seed in range(walks):
        chance = random.Random(seed)
        events = [(chance.choice(WORDS), chance.randint(0, MOST)) for _ in range(30)]
        try:
            walk(formed(chance.choice(SIZES)), events)
        except AssertionError as error:
            laws = re.findall(r"E-[SL][0-9]*", str(error).splitlines()[0])
            yield from laws
            if until in laws:
                return


SPLIT = picture("3: L f w", config="existing 0 1", last_known=[0, 1])
FULL = told(
    picture("3: L d f", alarms={2: AlarmKind.NO_SPACE}, said={"db_size": 2 << 30}),
    msgspec.structs.replace(
        picture("3: L d f").cluster.status, last_defragmentation=moments.to_rfc3339(NOW - 1)
    ),
)
_APPROVED: Final = {"quorumRecovery": {"acceptDataLoss": True}}
UNASKED = _with_loss(
    picture("3: f f f", quorum=False, said={"leader": 0xA0}, spec=_APPROVED), None, 60.0
)
LEARNER = _with_loss(picture("3: d d l", spec=_APPROVED), None, 60.0)
SAVED = _with_loss(UNASKED, RecoveryReport(survivor="shop-2", pod_uid="1", snapshot="2.db"), 60.0)
NOT_LED: Final = (absent, "is_led", lambda _: False)

#: What does not come about in the model, and what would break a law there.
PICTURED: Final[list[tuple[str, View, list[Patch], str]]] = [
    ("a split brain is no hindrance", SPLIT, _without(_row("3")), "E-S9"),
    ("all may give space back at once", FULL, [_ALL_WELL], "E-S15"),
    ("a leader is nobody", UNASKED, [NOT_LED], "E-S8"),
    ("others go while somebody leads", SAVED, [NOT_LED], "E-S10"),
    ("a learner survives", LEARNER, [(recovery, "_votes", ALWAYS)], "E-S8"),
]


@pytest.mark.parametrize(
    ("view", "patches", "law"), [it[1:] for it in PICTURED], ids=[it[0] for it in PICTURED]
)
def test_a_wrong_chart_is_caught_in_a_picture(
    monkeypatch: pytest.MonkeyPatch, view: View, patches: Sequence[Patch], law: str
) -> None:
    """By the right chart nothing is broken; by the wrong one that law is."""
    assert broken_by(view, chart.judge(view).move) == []
    for owner, name, instead in patches:
        monkeypatch.setattr(owner, name, instead)
    assert law in {it.partition(":")[0] for it in broken_by(view, chart.judge(view).move)}
