"""What an etcd cluster has agreed to, and how one more entry changes it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from stateward.etcd.model.members import Alarm, Member

_NOTHING: Mapping[bytes, bytes] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class State:
    """The outcome of all entries up to one of them."""

    members: Mapping[int, Member]
    #: Who was removed, ever: whoever starts as one of them ends.
    removed: frozenset[int] = frozenset()
    #: Those of members that were removed stay until they are disarmed.
    alarms: frozenset[Alarm] = frozenset()
    auth: bool = False
    #: Whether the user root is there, with the role of that name.
    rooted: bool = False
    keys: Mapping[bytes, bytes] = field(default_factory=lambda: _NOTHING)
    #: Bytes that they take.
    used: int = 0
    revision: int = 1
    compacted: int = 0
    #: Bytes of keys that are no longer read, until members compact and defragment.
    waste: int = 0
    #: The lowest release of all members, as they agreed: none below it may start any more.
    version: tuple[int, int] = (0, 0)

    @property
    def voters(self) -> tuple[int, ...]:
        """The members that count."""
        return tuple(id_ for id_, it in self.members.items() if not it.learner)

    @property
    def learners(self) -> tuple[int, ...]:
        """The members that only listen."""
        return tuple(id_ for id_, it in self.members.items() if it.learner)

    def with_member(self, member: Member) -> State:
        """Return the state with a member, new or changed."""
        return replace(self, members={**self.members, member.id: member})

    def without(self, member_id: int) -> State:
        """Return the state without a member, which may never come back."""
        left = {id_: it for id_, it in self.members.items() if id_ != member_id}
        return replace(self, members=left, removed=self.removed | {member_id})

    def alone(self, member_id: int) -> State | None:
        """Return the state with one member, which votes, and all others removed."""
        me = self.members.get(member_id)
        if me is None:
            return None
        others = self.removed | (self.members.keys() - {member_id})
        return replace(self, members={me.id: replace(me, learner=False)}, removed=others)

    def with_key(self, key: bytes, value: bytes) -> State:
        """Return the state after a write."""
        old = self.keys.get(key)
        over = len(key) + len(old) if old is not None else 0
        return replace(
            self,
            keys={**self.keys, key: value},
            used=self.used + len(key) + len(value) - over,
            revision=self.revision + 1,
            waste=self.waste + over,
        )


#: What somebody knows who has not heard of anything yet.
UNKNOWN = State({})


@dataclass(slots=True, eq=False)
class History:
    """States in their order. A fork has its own from some index on, under the same cluster id."""

    cluster_id: int
    states: list[State]
    #: Where it left another history, if it did.
    parent: History | None = None
    #: The last index that it shares with it.
    since: int = -1

    @property
    def last(self) -> int:
        """The index of the newest state."""
        return len(self.states) - 1

    def append(self, state: State) -> None:
        """Agree to one more."""
        self.states.append(state)

    def fork(self, index: int) -> History:
        """Return a history that knows nothing of what came after an index."""
        return History(self.cluster_id, self.states[: index + 1], self, index)

    def shared_with(self, older: History) -> int:
        """Return the last index that it has in common with a history that it stems from.

        >>> first = History(1, [UNKNOWN] * 5)
        >>> second = first.fork(3)
        >>> second.fork(1).shared_with(first), second.shared_with(first), first.shared_with(second)
        (1, 3, -1)
        """
        index, history = self.last, self
        while history is not older:
            if history.parent is None:
                return -1
            index, history = min(index, history.since), history.parent
        return index

    def raft_index(self, index: int) -> int:
        """Return what raft calls an index: every member of the beginning is an entry too."""
        return index + len(self.states[0].members) if index >= 0 else 0


@dataclass(slots=True, eq=False)
class Disk:
    """A data folder: whose it is and how far it has come. Empty until a member started on it."""

    member_id: int = 0
    history: History | None = None
    #: Below 0: it belongs to somebody who has not heard of anything yet.
    index: int = -1
    #: The newest term that its member has heard of.
    term: int = 0
    #: Bytes that were freed and not given back yet.
    slack: int = 0
    #: How often it was wiped: what was written before is not there any more.
    lives: int = 0

    @property
    def empty(self) -> bool:
        """True when nobody ever started on it."""
        return self.history is None

    @property
    def state(self) -> State:
        """What its member knows."""
        if self.history is None or self.index < 0:
            return UNKNOWN
        return self.history.states[self.index]

    def wipe(self) -> None:
        """Lose everything."""
        self.member_id, self.history, self.index, self.term = 0, None, -1, 0
        self.slack = 0
        self.lives += 1
