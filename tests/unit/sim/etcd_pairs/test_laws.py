"""The laws about pairs, each kept and each broken, over ends that were never lived."""

from __future__ import annotations

import pytest

from stateward.sim.etcd.pairs.cases import Case, Class, put
from stateward.sim.etcd.pairs.pairs import Book, Known, judged, learn
from stateward.sim.etcd.pairs.steps import Step
from stateward.sim.etcd.pairs.tables import latches

SPEC = {"replicas": 3, "version": "3.5.35", "storage": {"volumeClaimTemplate": {}}}
CASES = {
    it.name: it
    for it in (
        Case("same", "", Class.TYPICAL, lambda spec: spec),
        Case("replicas.4", "replicas", Class.TYPICAL, put(("replicas",), 4)),
        Case("paused.on", "paused", Class.TYPICAL, put(("paused",), True)),
        Case("options.unknown", "options", Class.INVALID, put(("options",), {"x": "1"})),
        Case("service.kind-bad", "serviceTemplate", Class.INVALID, put(("s",), 1)),
        Case("image.typo", "podTemplate", Class.INVALID, put(("p",), 1)),
        Case("version.words", "version", Class.INVALID, put(("version",), "3.5.35")),
    )
}


def step(verdict: str = "ready", *, acts: dict | None = None, lost: bool = False) -> Step:
    return Step(verdict, "so it says", acts or {}, 1.0, lost)


def known(verdict: str = "ready", *, acts: dict | None = None, **end: str) -> Known:
    return Known(
        step(verdict, acts=acts), SPEC, {f"pods/{name} spec": it for name, it in end.items()}
    )


def book() -> Book:
    found = Book("S0", None, CASES)  # type: ignore[arg-type]
    found.known = {
        "same": known(a="old", b="old"),
        "replicas.4": known(a="new", b="new"),
        "paused.on": known("paused", a="old", b="old"),
        "options.unknown": known("SpecInvalid", a="old", b="old"),
        "service.kind-bad": known("ObjectRefused", a="old", b="old"),
        "image.typo": known("RolloutStuck", a="old", b="stuck"),
        "version.words": known("door", a="old", b="old"),
    }
    return found


#: From where, to where, what came of it, and the law that this breaks.
WAYS = {
    "it is made so": ("same", "replicas.4", known(a="new", b="new"), ""),
    "something of before is left": ("same", "replicas.4", known(a="new", b="old"), "history"),
    "something is there that nobody wants": (
        "same", "replicas.4", known(a="new", b="new", c="new"), "history"),
    "it comes to no end": ("same", "replicas.4", known("never"), "answer"),
    "it is refused": ("same", "replicas.4", known("door", a="old", b="old"), "answer"),
    "what is held changes nothing": ("replicas.4", "paused.on", known("paused", a="new", b="new"), ""),
    "what is held is changed": ("replicas.4", "paused.on", known("paused", a="old", b="new"), "held"),
    "what is held is disturbed": (
        "replicas.4", "options.unknown", known("SpecInvalid", acts={"deleted pods": 1}, a="new", b="new"),
        "held"),
    "what is stuck is partly so": (
        "replicas.4", "service.kind-bad", known("ObjectRefused", a="old", b="new"), ""),
    "what is stuck is something else": (
        "replicas.4", "service.kind-bad", known("ObjectRefused", a="odd", b="new"), "mixed"),
    "what cannot be made is tried": ("same", "image.typo", known("Scaling", a="any"), ""),
    "what cannot be made is said to be": ("same", "image.typo", known(a="any"), "answer"),
    "what is refused stays refused": ("same", "version.words", known("door", a="old", b="old"), ""),
    "what is refused comes in": ("same", "version.words", known(a="odd", b="odd"), "answer"),
}  # fmt: skip


@pytest.mark.parametrize(("first", "second", "now", "law"), WAYS.values(), ids=list(WAYS))
def test_ways(first, second, now, law):
    broken = {it.partition(":")[0] for it in judged(book(), first, second, now)}
    assert broken == ({law} if law else set())


def told(
    case: str, verdict: str, *, acts: dict | None = None, lost: bool = False, law: str = ""
) -> dict:
    made = {
        "verdict": verdict,
        "words": "",
        "acts": acts or {},
        "seconds": 1.0,
        "quorum_lost": lost,
        "broken": [f"law: {law}"] if law else [],
    }
    return {"case": case, "step": made, "spec": SPEC, "end": {}}


@pytest.mark.parametrize(
    ("said", "law"),
    [
        (told("replicas.4", "ready", acts={"etcd promote": 1}), ""),
        (told("replicas.4", "Scaling"), "answer"),
        (told("replicas.4", "ready", lost=True), "quorum"),
        (told("replicas.4", "ready", law="E-S1 by op0.1: a quorum is gone"), "law"),
        (told("options.unknown", "SpecInvalid"), ""),
        (told("options.unknown", "SpecInvalid", acts={"deleted pods": 1}), "gentle"),
        (told("options.unknown", "ready"), "answer"),
        (told("image.typo", "RolloutStuck", acts={"deleted pods": 1}), ""),
        (told("image.typo", "RolloutStuck", acts={"deleted pods": 2}), "gentle"),
    ],
)
def test_one_edit(said, law):
    broken = {it.partition(":")[0] for it in learn(book(), said)}
    assert broken == ({law} if law else set())


def test_what_says_nothing_new_is_no_state_of_its_own():
    it = book()
    it.cases = {
        **CASES,
        "options.empty": Case("options.empty", "options", Class.EMPTY, lambda s: s),
    }
    it.known["options.empty"] = known(a="old", b="old")
    assert "options.empty" not in it.states
    it.known["options.empty"] = known(a="other", b="old")
    assert "options.empty" in it.states
    assert "version.words" not in it.states
    assert it.refused == ("version.words",)


# ---------------------------------------------------------------------- no way back

CLAIMS = {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "1Gi"}}}}}
BIG = {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}}


def spec(**more: object) -> dict:
    return {"replicas": 3, "version": "3.5.35", "storage": CLAIMS} | more


@pytest.mark.parametrize(
    ("was", "now", "names"),
    [
        (spec(), spec(), ""),
        (spec(), spec(replicas=5), ""),
        (spec(), spec(storage=BIG), ""),
        (spec(storage=BIG), spec(), "size"),
        (spec(storage={}), spec(), "size"),
        (spec(), spec(version="3.5.36"), ""),
        (spec(), spec(version="3.6.16"), "next"),
        (spec(version="3.6.16"), spec(), "minor"),
        (spec(version="3.6.16"), spec(version=""), "version"),
        (spec(storage={"emptyDir": {}}), spec(storage={"emptyDir": {}}, replicas=1), "copy"),
        (spec(security={"enableAuth": True}), spec(replicas=0), "logins"),
        (spec(), spec(replicas=0), ""),
    ],
)
def test_latches(was, now, names):
    assert {it.name for it in latches(was, now)} == set(names.split())
