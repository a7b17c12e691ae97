"""Clusters of etcd as pictures: one letter for each ordinal, and a View comes out.

    picture("3: L f d")        three are wanted; 0 leads, 1 follows, 2 is listed and silent
    picture("L f f' x")        as many are wanted as there are letters; 2 is of an old revision
    picture("3: c . .", replicas=0)                     a workload of none, and one old claim

The number before the colon is how many are wanted. The letters:

    L  voter that leads                   f  voter that follows
    d  voter that does not answer         n  voter that answers and knows no leader
    a  voter whose pod answers as another member of the cluster
    w  voter whose pod answers as another cluster, as it does on an emptied disk
    l  learner that keeps up              b  learner that is far behind
    u  learner that never started
    x  pod that nobody lists              c  claim without a pod
    .  nothing

and what may follow a letter, in any number:

    '  the pod is of an older revision    *  the pod is being deleted
    -  there is no pod                    ~  there is no claim
    !  the container crashes on and on    ?  the pod finds no node
    %  the claim is being deleted         $  the claim lost its volume
    ^  the pod is not ready yet           +  its chance to run is five seconds old
    &  the claim says that its member leaves it

A quorum is there when those who answer make one and somebody leads; ``quorum=False`` says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from hypothesis import strategies as st

from stateward.core import moments
from stateward.core.facts import Fact, Known, Unknown
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.spec import EtcdClusterSpec
from stateward.etcd.api.status import EtcdClusterStatus, KnownMember, MemberReport
from stateward.etcd.decide.configs import alias
from stateward.etcd.model.members import Alarm, AlarmKind, Member, MemberStatus, quorum
from stateward.etcd.model.names import labels
from stateward.etcd.model.view import (
    ClaimSeen,
    Config,
    Listed,
    PodSeen,
    Replica,
    View,
    WorkloadSeen,
)
from stateward.kube.meta import ObjectMeta

NAMESPACE, NAME, UID = "default", "shop", "uid-of-shop"
NOW = 1_700_000_000.0
#: Pods and claims of a picture are this old.
AGE = 600.0
CLUSTER_ID, OTHER_CLUSTER_ID = 0xC1, 0xC2
NEW, OLD = "rev-2", "rev-1"
VERSION = "3.6.16"
CLAIM_BYTES = 4 << 30
RAFT_INDEX, REVISION, DB_SIZE = 500_000, 1000, 25_000_000

VOTERS, LEARNERS = frozenset("Lfdnaw"), frozenset("lbu")
LISTED = VOTERS | LEARNERS
ANSWERS = frozenset("Lfnawlb")
HEALTHY = frozenset("Lf")
MARKS = "'*-~!?%$^+&"

_TOKEN = re.compile(rf"(?P<letter>[Lfdnawlbuxc.])(?P<marks>[{re.escape(MARKS)}]*)")


@dataclass(frozen=True, slots=True)
class Token:
    """What a picture says of one ordinal."""

    ordinal: int
    letter: str
    marks: str = ""

    @property
    def name(self) -> str:
        return f"{NAME}-{self.ordinal}"

    @property
    def has_pod(self) -> bool:
        return self.letter not in "c." and "-" not in self.marks

    @property
    def has_claim(self) -> bool:
        return self.letter != "." and "~" not in self.marks

    @property
    def answers(self) -> bool:
        return self.letter in ANSWERS and self.has_pod and not set("!?") & set(self.marks)


def member_id(ordinal: int) -> int:
    """Return the id that a picture gives to the member with an ordinal."""
    return 0xA0 + ordinal


def peer_url(ordinal: int) -> str:
    """Return where peers reach the member with an ordinal."""
    return f"https://{NAME}-{ordinal}.{NAME}-headless.{NAMESPACE}.svc:2380"


def tokens(text: str) -> tuple[int, tuple[Token, ...]]:
    """Read a picture: how many are wanted, and what is at each ordinal."""
    wanted, colon, letters = text.rpartition(":")
    found = []
    for ordinal, word in enumerate(letters.split()):
        read = _TOKEN.fullmatch(word)
        assert read, f"{word!r} is no letter of a picture; the module's docstring lists them"
        found.append(Token(ordinal, read["letter"], read["marks"]))
    return int(wanted) if colon else len(found), tuple(found)


def picture(
    text: str,
    *,
    quorum: bool | None = None,
    latched: bool | None = None,
    last_known: Collection[int] | None = None,
    away: Mapping[int, float] | None = None,
    replicas: int | None = None,
    start: int = 0,
    workload: Mapping[str, Any] | bool | None = None,
    config: Config | str | None = "",
    alarms: Mapping[int, AlarmKind] | None = None,
    auth: bool = False,
    foreign: int = 0,
    other_lists: Collection[str] = (),
    versions: Mapping[int, str] | None = None,
    revisions: Mapping[int, int] | None = None,
    lags: Mapping[int, int] | None = None,
    trouble: Mapping[int, str] | None = None,
    said: Mapping[str, Any] | None = None,
    spec: Mapping[str, Any] | None = None,
    status: EtcdClusterStatus | None = None,
    image_version: str = VERSION,
    generation: int = 1,
    deleting: bool = False,
    storage: str = "claims",
    now: float = NOW,
) -> View:
    """Return the View that a picture shows.

    ``latched``     whether the status knows the cluster's id (if it lists or claims anything)
    ``last_known``  the ordinals of the last known list, instead of those that the picture lists
    ``away``        ordinal -> for how many seconds the status has called it unhealthy
    ``replicas``, ``start``  of the workload, instead of up to the last pod or listed member
    ``workload``    False: there is none; or other fields of WorkloadSeen, as in {"differs": True}
    ``config``      None: there is none; "new", "existing", "force", each perhaps with ordinals, as
                    in "existing 0 1"; or a whole Config
    ``foreign``     so many listed members that are not ours
    ``other_lists``  what contradicts the list, in words
    ``versions``, ``revisions``, ``lags``, ``trouble``  by ordinal; ``said``: of all who answer
    ``spec``        more of the spec, spelled as in a manifest: {"paused": True}
    ``status``      the former status as a whole, instead of what the options make of it
    """
    wanted, drawn = tokens(text)
    has_quorum = _agrees(drawn) if quorum is None else quorum
    listing = [token for token in drawn if token.letter in LISTED]
    if latched is None:
        latched = bool(listing)
    known = [t.ordinal for t in listing] if last_known is None else last_known
    former = status or _former(known if latched else (), latched=latched, drawn=drawn)
    if away and status is None:
        former = _with_away(former, away, now)
    size = _replicas(drawn, start) if replicas is None else replicas
    cluster = EtcdCluster(
        metadata=ObjectMeta(
            name=NAME,
            namespace=NAMESPACE,
            uid=UID,
            resource_version="1",
            generation=generation,
            creation_timestamp=moments.to_rfc3339(now - AGE),
            deletion_timestamp=moments.to_rfc3339(now) if deleting else None,
            labels=labels(NAME),
        ),
        spec=_spec(wanted, storage, spec or {}),
        status=former,
    )
    seen_workload = _workload(size, start, drawn, workload, given=replicas is not None)
    entries = _entries(drawn, foreign)
    facts = _Facts(versions or {}, revisions or {}, lags or {}, trouble or {}, said or {}, now)
    span = max(wanted, 1, start + size if seen_workload else 0)
    return View(
        cluster=cluster,
        now=now,
        replicas=tuple(
            _replica(token, drawn, facts, claims=storage == "claims", quorum=has_quorum)
            for token in _filled(drawn, span)
        ),
        listed=Known(entries, now, "a quorum") if has_quorum else Unknown("nobody has a quorum"),
        other_lists=frozenset(other_lists),
        alarms=_alarms(alarms or {}, now) if has_quorum else Unknown("nobody has a quorum"),
        auth_enabled=Known(auth, now, "a quorum") if has_quorum else Unknown("nobody answered"),
        workload=seen_workload,
        config=_config(config, wanted, drawn, latched=latched),
        image_version=image_version,
        wanted_bytes=CLAIM_BYTES if storage == "claims" else 0,
        wanted_size="4Gi" if storage == "claims" else "",
    )


def told(view: View, status: EtcdClusterStatus, after: float = 0.0) -> View:
    """Return the same picture later, with a status that was written meanwhile."""
    cluster = EtcdCluster(metadata=view.cluster.metadata, spec=view.cluster.spec, status=status)
    return replace(view, cluster=cluster, now=view.now + after)


def drawings(most: int = 5) -> st.SearchStrategy[str]:
    """Return a strategy of pictures, most of them of trouble."""
    word = st.builds(
        lambda letter, marks: letter + "".join(sorted(marks)),
        st.sampled_from("Lffffdnawlbuxc."),
        st.just("") | st.sets(st.sampled_from(MARKS), max_size=2),
    )
    letters = st.lists(word, max_size=most).map(_one_leader).map(" ".join)
    return st.builds(lambda wanted, text: f"{wanted}: {text}", st.integers(0, most), letters)


@dataclass(frozen=True, slots=True)
class _Facts:
    versions: Mapping[int, str]
    revisions: Mapping[int, int]
    lags: Mapping[int, int]
    trouble: Mapping[int, str]
    said: Mapping[str, Any]
    now: float


def _one_leader(words: list[str]) -> list[str]:
    first = next((i for i, word in enumerate(words) if word.startswith("L")), None)
    return [w if i == first else w.replace("L", "f") for i, w in enumerate(words)]


def _agrees(drawn: tuple[Token, ...]) -> bool:
    voters = sum(token.letter in VOTERS for token in drawn)
    well = [token for token in drawn if token.letter in HEALTHY and token.answers]
    return len(well) >= quorum(voters) and any(token.letter == "L" for token in well)


def _former(
    known: Collection[int], *, latched: bool, drawn: tuple[Token, ...]
) -> EtcdClusterStatus:
    letters = {token.ordinal: token.letter for token in drawn}
    return EtcdClusterStatus(
        cluster_id=f"{CLUSTER_ID:x}" if latched else "",
        last_known_members=tuple(
            KnownMember(
                name=f"{NAME}-{ordinal}",
                id=f"{member_id(ordinal):x}",
                learner=letters.get(ordinal, "") in LEARNERS and ordinal in letters,
            )
            for ordinal in sorted(known)
        ),
        revision=REVISION if latched else 0,
    )


def _with_away(
    status: EtcdClusterStatus, away: Mapping[int, float], now: float
) -> EtcdClusterStatus:
    rows = tuple(
        MemberReport(
            name=f"{NAME}-{ordinal}",
            id=f"{member_id(ordinal):x}",
            ordinal=ordinal,
            role="unknown",
            unhealthy_since=moments.to_rfc3339(now - seconds),
        )
        for ordinal, seconds in sorted(away.items())
    )
    return msgspec.structs.replace(status, members=rows)


def _spec(wanted: int, storage: str, fields: Mapping[str, Any]) -> EtcdClusterSpec:
    claims = {"spec": {"resources": {"requests": {"storage": "4Gi"}}}}
    kinds = {"claims": {"volumeClaimTemplate": claims}, "emptyDir": {"emptyDir": {}}}
    written = {"replicas": wanted, "storage": kinds[storage], **fields}
    return msgspec.convert(written, EtcdClusterSpec)


def _replicas(drawn: tuple[Token, ...], start: int) -> int:
    present = [t.ordinal for t in drawn if t.letter not in "c." and t.ordinal >= start]
    return max(present, default=start - 1) + 1 - start


def _workload(
    size: int,
    start: int,
    drawn: tuple[Token, ...],
    fields: Mapping[str, Any] | bool | None,
    *,
    given: bool,
) -> WorkloadSeen | None:
    if fields is False or not (fields or given or size):
        return None
    more = fields if isinstance(fields, Mapping) else {}
    usual = {"uid": "uid-of-workload", "update_revision": NEW, "owner_uid": UID}
    return WorkloadSeen(**{**usual, "replicas": size, "start": start, **more})


def _filled(drawn: tuple[Token, ...], span: int) -> tuple[Token, ...]:
    """Leave out what nobody speaks of, and add what only the workload or the spec speaks of."""
    spoken = [t for t in drawn if t.letter != "." or t.ordinal < span]
    return (*spoken, *(Token(n, ".") for n in range(len(drawn), span)))


def _entry(token: Token) -> Listed:
    never = token.letter == "u"
    member = Member(
        id=member_id(token.ordinal),
        name="" if never else token.name,
        peer_urls=(peer_url(token.ordinal),),
        client_urls=() if never else (peer_url(token.ordinal).replace(":2380", ":2379"),),
        learner=token.letter in LEARNERS,
    )
    return Listed(member, token.ordinal)


def _entries(drawn: tuple[Token, ...], foreign: int) -> tuple[Listed, ...]:
    ours = [_entry(token) for token in drawn if token.letter in LISTED]
    others = [
        Listed(Member(0xF0 + n, f"stranger-{n}", (f"https://10.9.9.{n}:2380",)), None)
        for n in range(foreign)
    ]
    return (*ours, *others)


def _replica(
    token: Token, drawn: tuple[Token, ...], facts: _Facts, *, claims: bool, quorum: bool
) -> Replica:
    return Replica(
        ordinal=token.ordinal,
        name=token.name,
        peer_url=peer_url(token.ordinal),
        pod=_pod(token, facts) if token.has_pod else None,
        claim=_claim(token, facts.now) if claims and token.has_claim else None,
        status=_status(token, drawn, facts, quorum=quorum),
        listed=_entry(token) if quorum and token.letter in LISTED else None,
    )


def _pod(token: Token, facts: _Facts) -> PodSeen:
    crashing, homeless = "!" in token.marks, "?" in token.marks
    usual = "CrashLoopBackOff" if crashing else "Unschedulable" if homeless else ""
    trouble = facts.trouble.get(token.ordinal, usual)
    return PodSeen(
        uid=f"uid-of-{token.name}",
        name=token.name,
        ordinal=token.ordinal,
        created=facts.now - AGE,
        address="" if homeless else f"10.0.0.{token.ordinal + 1}",
        node="" if homeless else f"node-{token.ordinal}",
        ready=token.answers and token.letter in HEALTHY and "^" not in token.marks,
        deleting="*" in token.marks,
        revision=OLD if "'" in token.marks else NEW,
        running=not trouble,
        restarts=7 if crashing else 0,
        trouble=trouble,
        last_end="Error" if crashing else "",
        chance_since=facts.now - (5.0 if "+" in token.marks else AGE),
    )


def _claim(token: Token, now: float) -> ClaimSeen:
    return ClaimSeen(
        uid=f"uid-of-data-{token.name}",
        name=f"data-{token.name}",
        ordinal=token.ordinal,
        created=now - AGE,
        deleting="%" in token.marks,
        phase="Lost" if "$" in token.marks else "Bound",
        cluster_uid=UID,
        owner_uid=UID,
        left_by=f"{member_id(token.ordinal):x}" if "&" in token.marks else "",
        requested=CLAIM_BYTES,
    )


def _status(
    token: Token, drawn: tuple[Token, ...], facts: _Facts, *, quorum: bool
) -> Fact[MemberStatus]:
    if not token.has_pod:
        return Unknown("there is no pod")
    if not token.answers:
        return Unknown("connection refused")
    leader = next((t.ordinal for t in drawn if t.letter == "L"), None)
    letter, n = token.letter, token.ordinal
    knows = quorum and leader is not None and letter != "n"
    lag = facts.lags.get(n, 300_000 if letter == "b" else 0)
    usual: dict[str, Any] = {
        "cluster_id": OTHER_CLUSTER_ID if letter == "w" else CLUSTER_ID,
        "member_id": 0xE0 + n if letter in "aw" else member_id(n),
        "version": facts.versions.get(n, VERSION),
        "leader": member_id(leader) if knows and leader is not None else 0,
        "learner": letter in LEARNERS,
        "revision": facts.revisions.get(n, 1 if letter == "w" else REVISION),
        "raft_term": 2,
        "raft_index": RAFT_INDEX - lag,
        "raft_applied_index": RAFT_INDEX - lag,
        "db_size": DB_SIZE,
        "db_size_in_use": DB_SIZE // 2,
        "db_size_quota": 2 << 30,
    }
    return Known(MemberStatus(**{**usual, **facts.said}), facts.now, token.name)


def _alarms(alarms: Mapping[int, AlarmKind], now: float) -> Fact[tuple[Alarm, ...]]:
    raised = tuple(Alarm(member_id(n), kind) for n, kind in sorted(alarms.items()))
    return Known(raised, now, "a quorum")


def _config(
    config: Config | str | None, wanted: int, drawn: tuple[Token, ...], *, latched: bool
) -> Config | None:
    if config is None or isinstance(config, Config):
        return config
    nothing = not any(token.letter != "." for token in drawn)
    if config == "" and nothing and not latched:
        return None
    word, *said = config.split() or ["existing" if latched else "new"]
    assert word in {"new", "existing", "force"}, f"{word!r} is no state of a configuration"
    usual = [t.ordinal for t in drawn if t.letter in LISTED] or list(range(wanted))
    ordinals = [int(n) for n in said] or usual
    return Config(
        initial_cluster=tuple((_called(n, word, drawn), peer_url(n)) for n in ordinals),
        existing=word != "new",
        force_new_cluster=word == "force",
    )


def _called(ordinal: int, word: str, drawn: tuple[Token, ...]) -> str:
    """Name a member as starting ones are told of it: by its own name until it has run."""
    has_run = ordinal < len(drawn) and drawn[ordinal].letter not in "ux."
    return alias(ordinal) if word != "new" and has_run else f"{NAME}-{ordinal}"
