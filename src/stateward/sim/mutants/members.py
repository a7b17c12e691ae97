"""Bugs about who belongs to etcd, and about how members start."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from stateward.core.errors import OutcomeUnknown
from stateward.emulate.etcd import membership as stand_in
from stateward.etcd.decide import absent, chart, configs, moves, sizes
from stateward.etcd.model.members import Member
from stateward.etcd.model.view import Config, View
from stateward.etcd.moves import membership, objects, step
from stateward.etcd.moves.tools import Tools
from stateward.etcd.seen import Seen
from stateward.sim.mutants.planting import Mind, Patch, bug

#: Which of the guards, where the stand-in adds a learner, allows one only.
_ONE_LEARNER = 3
#: Seconds for which even a rash operator lets a pod start.
_A_WHILE = 5.0

# -------------------------------------------------------------------------- who belongs to it


@bug(
    "M21",
    "a new member is added with a vote at once, and counts before it has started",
    "coreos/etcd-operator#1969",
    *("grow", "3to5"),
)
def add_as_voter(patch: Patch) -> None:
    """Have etcd be asked for a voter: the port has no word for that, so the stand-in hears it."""

    def voter(id_: int, name: str, peer_urls: tuple[str, ...], **_: object) -> Member:
        return Member(id_, name, peer_urls)

    patch.put(stand_in, "Member", voter)


@bug(
    "M22",
    "who is removed is chosen by its place in the list that etcd gives, which is in no order",
    "etcd-io/etcd-operator#443",
    *("5to3", "two"),
)
def remove_by_place(patch: Patch) -> None:
    """Take the entry at the place of the highest ordinal, of a list ordered by ids."""
    inner = sizes.shrink

    def shrink(view: View) -> moves.Move | None:
        move = inner(view)
        if not isinstance(move, moves.RemoveMember):
            return move
        members = sorted((it.member for it in view.roster), key=lambda it: it.id)
        return replace(move, member_id=members[-1].id)

    patch.put(sizes, "shrink", shrink)
    patch.put_row("QUORUM", "13", shrink)


@bug(
    "M23",
    "as many members are wanted as are seen",
    "etcd-io/etcd-operator#193",
    *("3to5", "5to3"),
)
def want_what_is_there(patch: Patch) -> None:
    """Look at the list for what is wanted."""
    patch.put(View, "wanted", property(lambda self: len(self.voters) or self.cluster.spec.replicas))


@bug(
    "M32",
    "a member whose addition was not answered is added once more, as the next one;"
    " that etcd allows one learner only is taken away too, or it would refuse",
    "T34 of docs/reliability.md",
    *("grow:B:add_learner", "3to5:B:add_learner"),
)
def add_again_as_another(patch: Patch) -> None:
    """Repeat what may have been done, under another name."""

    async def add(tools: Tools, seen: Seen, move: moves.AddLearner) -> None:
        door = membership.a_door(seen)
        try:
            await tools.fence.change(door.add_learner, move.peer_url)
        except OutcomeUnknown:
            other = f"{move.member.rpartition('-')[0]}-{move.ordinal + 1}"
            await tools.fence.change(door.add_learner, move.peer_url.replace(move.member, other))

    patch.drop_guard(stand_in.__name__, "Membership.add_learner", _ONE_LEARNER)
    patch.put_item(step.VERBS, moves.AddLearner, add)


# -------------------------------------------------------------------------- how members start


@bug(
    "M24",
    "members are told for ever that the cluster is new, by their own names: the aliases that keep"
    " an emptied one from beginning anew are taken away with it",
    "cozystack/etcd-operator 57d21b5",
    *("lost-disk:K", "bootstrap:K"),
)
def new_for_ever(patch: Patch) -> None:
    """Say ``new``, and the names that pods have."""

    def of_the_list(view: View, joining: int | None = None) -> Config:
        there = [it for it in view.replicas if it.listed is not None or it.ordinal == joining]
        joins = any(it.listed is None or not it.listed.member.started for it in there)
        return Config(tuple((it.name, it.peer_url) for it in there), existing=joins)

    def of_known(view: View, ordinals: Iterable[int]) -> Config:
        known = set(ordinals)
        there = (it for it in view.replicas if it.ordinal in known)
        return Config(tuple((it.name, it.peer_url) for it in there), existing=False)

    patch.put(configs, "of_the_list", of_the_list)
    patch.put(configs, "of_known", of_known)


@bug(
    "M28",
    "that members have begun is kept in mind, once for all clusters, instead of for each by what is"
    " written of it",
    "pravega/zookeeper-operator#103",
    *("two", "recreate"),
)
def one_progress_for_all(patch: Patch) -> None:
    """Tell those who begin a cluster that it is there, once any was."""
    begun: Mind[list[str]] = Mind(list)
    of_the_list, of_new = configs.of_the_list, configs.of_new

    def noting(view: View, joining: int | None = None) -> Config:
        begun.now().append(view.cluster.metadata.uid)
        return of_the_list(view, joining)

    def of_new_or_not(view: View, ordinals: Iterable[int]) -> Config:
        return replace(of_new(view, ordinals), existing=bool(begun.now()))

    patch.put(configs, "of_the_list", noting)
    patch.put(configs, "of_new", of_new_or_not)


@bug(
    "M33",
    "when no member answers, the first one is made to go on alone; that others must be gone before"
    " is not asked any more",
    "a misreading of seed 001",
    *("bootstrap:K", "roll:K", "3to5:K"),
)
def force_in_silence(patch: Patch) -> None:
    """Take silence for proof."""

    def force(view: View) -> moves.Move | None:
        known = configs.known_ordinals(view)
        first = next((it.pod for it in view.replicas if it.ordinal in known), None)
        if first is None or not first.running or view.config is None:
            return absent.begin(view)
        if not view.config.force_new_cluster:
            alone = configs.forced(configs.of_known(view, known[:1]))
            return moves.WriteConfig(alone, "nobody answers")
        if view.now - first.created < _A_WHILE:
            return None
        return moves.DeletePod(first, "it goes on alone")

    async def is_alone(*_: object) -> bool:
        return True

    patch.put_row("SILENCE", "15,16,18", force)
    patch.put(objects, "_is_alone", is_alone)


@bug(
    "M34",
    "force-new-cluster is not taken back before a second pod starts; the row that settles what"
    " members start with keeps it, too",
    "seed 001",
    *("sleep",),
)
def force_stays(patch: Patch) -> None:
    """Leave the flag on."""
    of_the_list = configs.of_the_list

    def as_it_is(view: View, joining: int | None = None) -> Config:
        force = view.config is not None and view.config.force_new_cluster
        return replace(of_the_list(view, joining), force_new_cluster=force)

    async def is_alone(*_: object) -> bool:
        return True

    def nothing(_: View) -> None:
        return None

    patch.put(configs, "of_the_list", as_it_is)
    patch.put(chart, "end_force", nothing)
    patch.put_row("IDENTITY", "2", nothing)
    patch.put_row("NO_QUORUM", "2", nothing)
    patch.put(objects, "_is_alone", is_alone)


BUGS = (
    add_as_voter,
    remove_by_place,
    want_what_is_there,
    new_for_ever,
    one_progress_for_all,
    add_again_as_another,
    force_in_silence,
    force_stays,
)
