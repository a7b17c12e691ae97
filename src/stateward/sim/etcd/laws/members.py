"""E-S1, E-S2, E-S3, E-S6, E-S9, E-S11 and E-S14: changes of who belongs to a cluster."""

from __future__ import annotations

from stateward.core.duration import parse_seconds
from stateward.emulate.etcd.servers import Server
from stateward.emulate.etcd.state import History, State
from stateward.etcd.model.members import AlarmKind, Member, quorum
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS, STATEFUL_SETS
from stateward.sim.etcd.laws.pods import covered
from stateward.sim.etcd.laws.scene import Scene
from stateward.sim.etcd.laws.truth import Standing, believes_in, changes, claim_of, ordinal
from stateward.sim.laws.watchman import Actor, leaves

#: Seconds by which clocks and looks may differ.
_SLACK = 5.0


class Changes:
    """Every entry that changes the list of members, and that an operator asked for."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def agreed(self, history: History, before: State, after: State) -> None:
        """Judge an entry that members agreed to."""
        actor = self._scene.author
        if before.members is after.members or actor.about is None:
            return
        if changes(before, after):
            self._judge(_Entry(self._scene, actor, actor.about, history, before), before, after)

    def _judge(self, entry: _Entry, before: State, after: State) -> None:
        entry.noted()
        for change, member in changes(before, after):
            if change == "add_learner":
                entry.added(member)
            elif change == "remove":
                entry.removed(member, after)
            else:
                entry.promoted(member, after)


class _Entry:
    """One entry, and how the cluster stood when it was agreed to."""

    def __init__(
        self, scene: Scene, actor: Actor, cluster: ObjectKey, history: History, before: State
    ) -> None:
        self._scene = scene
        self._actor = actor
        self._cluster = cluster
        self._history = history
        self._before = before
        self._standing: Standing = scene.looks.known(actor, cluster)
        self._look = scene.looks.last(actor, cluster).standing

    def noted(self) -> None:
        """Any change: the list before it is on record, so that after a crash one more is known."""
        listed = {(f"{id_:x}", it.learner) for id_, it in self._before.members.items()}
        seen = self._scene.seen(self._actor, self._cluster)
        records = [{(it.id, it.learner) for it in one.status.last_known_members} for one in seen]
        if records and listed not in records:
            self._report("RECORD", "members are changed, and who they were is not on record")

    def added(self, member: Member) -> None:
        """One more member: without a vote, beside nobody who is not well, on no old volume."""
        name = self._name(member)
        if not member.learner:
            self._report("E-S3", f"{name} is added with a vote at once")
        if self._before.learners:
            self._report("E-S2", f"{name} is added beside another learner")
        if not all(it.started for it in self._before.members.values()):
            self._report("E-S2", f"{name} is added before another has started")
        if not set(self._before.voters) <= self._standing.lasting:
            self._report("E-S2", f"{name} is added while another is not well")
        if self._has_old_volume(ordinal(member)):
            self._report("E-S6", f"{name} is added, and would start on an old volume")
        if self._has_old_pod(ordinal(member)):
            self._report("E-S6", f"{name} is added, and an old pod of its name has yet to go")

    def promoted(self, member: Member, after: State) -> None:
        """A vote: for one who has the data, and so that a majority is alive with it.

        Who is lost in the very moment in which it gets its vote was well when it was asked last.
        """
        name, server = self._name(member), self._server(member)
        has_data = server is not None and (
            server.disk.index >= self._history.last or believes_in(server, server.leader)
        )
        if not has_data and not self._is_just_lost(member):
            self._report("E-S3", f"{name} gets a vote and does not have the data")
        if len(self._standing.lasting & set(after.voters)) < quorum(len(after.voters)):
            self._report("E-S1", f"a vote for {name} takes the quorum away")

    def removed(self, member: Member, after: State) -> None:
        """One member less: the rest is a majority, and it was the right one."""
        if member.learner:
            return
        name, well = self._name(member), member.id in self._standing.lasting
        if len(self._standing.lasting & set(after.voters)) < quorum(len(after.voters)):
            law = "E-S1" if well else "E-S14"
            self._report(law, f"{name} is removed, and the rest is no quorum")
        heard = member.id in self._standing.heard and not self._is_just_lost(member)
        if heard and member.id in self._look.heard:
            self._judge_choice(member, name)
        elif not heard and not self._is_rolled(member):
            self._judge_patience(member, name)

    def _server(self, member: Member) -> Server | None:
        """Return the etcd of a member, if it speaks."""
        server = self._scene.it.universe.by_id(self._history, member.id)
        return server if server is not None and server.speaks else None

    def _is_just_lost(self, member: Member) -> bool:
        """Tell whether a member is away that was there when the members were asked last."""
        now = self._scene.truth.standing(self._cluster)
        return member.id in self._standing.alive - now.alive

    def _judge_choice(self, member: Member, name: str) -> None:
        """Of those who are well, only one goes that is not wanted: the highest, and no leader."""
        if self._has_no_future(member):
            return
        voters = [self._before.members[it] for it in self._before.voters]
        if ordinal(member) < min(self._wanted()):
            self._report("E-S11", f"{name} is removed, which is well and wanted")
        elif ordinal(member) < max(map(ordinal, voters)):
            self._report("E-S11", f"{name} is removed, which is not the highest")
        term = self._scene.it.universe.term(self._history)
        if self._look.leader == member.id and self._look.term == term:
            self._report("E-S11", f"{name} is removed, which leads")

    def _judge_patience(self, member: Member, name: str) -> None:
        """Who is wanted and away is replaced only after its grace time."""
        if ordinal(member) >= min(self._wanted()):
            return
        seen = self._scene.seen(self._actor, self._cluster)
        grace = min(parse_seconds(it.spec.unhealthy_member_grace_period) for it in seen)
        away = self._scene.it.world.loop.time() - self._scene.looks.alive_at(member.id)
        if away < grace - _SLACK:
            self._report("E-S14", f"{name} is replaced, which is away for {away:.1f} s only")

    def _is_rolled(self, member: Member) -> bool:
        """Tell whether it went for a roll: it had answered, and its data goes with its pod."""
        return member.id in self._look.alive and self._has_no_future(member)

    def _wanted(self) -> list[int]:
        """Return how many members were wanted lately."""
        seen = self._scene.seen(self._actor, self._cluster)
        return [max(it.spec.replicas, 1) for it in seen] or [0]

    def _has_no_future(self, member: Member) -> bool:
        """Tell whether the data of a member goes with its pod, or cannot be trusted."""
        corrupt = any(
            it.member_id == member.id and it.kind is AlarmKind.CORRUPT for it in self._before.alarms
        )
        cluster = self._scene.cluster(self._cluster)
        fleeting = cluster is not None and cluster.spec.storage.empty_dir is not None
        claims = self._scene.truth.claims(self._cluster)
        doomed = any(disk.member_id == member.id and leaves(it) for it, disk in claims)
        return corrupt or fleeting or doomed

    def _has_old_volume(self, place: int) -> bool:
        """Tell whether a volume with data waits for a pod that is not there."""
        pod = ObjectKey(self._cluster.namespace, f"{self._cluster.name}-{place}")
        if self._scene.it.world.api.store.get(PODS.name, pod) is not None:
            return False
        return any(
            claim_of(self._cluster, it.key.name) == place and not disk.empty and not leaves(it)
            for it, disk in self._scene.truth.claims(self._cluster)
        )

    def _has_old_pod(self, place: int) -> bool:
        """Tell whether a pod is there that nobody wants: what is in it goes with it."""
        store = self._scene.it.world.api.store
        pod = ObjectKey(self._cluster.namespace, f"{self._cluster.name}-{place}")
        workload = store.get(STATEFUL_SETS.name, self._cluster)
        if workload is None or store.get(PODS.name, pod) is None:
            return False
        return place not in covered(workload)

    def _name(self, member: Member) -> str:
        return f"{self._cluster.name}-{ordinal(member)}"

    def _report(self, law: str, sentence: str) -> None:
        self._scene.report(law, self._actor, sentence)
