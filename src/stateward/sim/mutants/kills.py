"""Of generated mutants that were found: the life that convicts each, by clues.

Below a clue, as :meth:`Clue.parse` reads it, stand those that it leads to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from stateward.sim.mutants.clues import Clue

_FOUND: Final = """
3to5 | patch etcdclusters.etcd.aenix.io/status ns/shop | 23 | 429
  etcd.decide.chart._recorded:drop-guard.2
asleep
  etcd.decide.absent._sleep:negate.1
  etcd.decide.rolling.running_versions:negate.3
bare
  etcd.moves.writing._taken:drop-guard.1
  etcd.observe.Observer._claims:drop-not.1
behind
  etcd.tell.latches.revision:drop-guard.2
bootstrap | create statefulsets | 1 | act:delete-object:ConfigMap
  etcd.decide.absent._lost_config:negate.1
bootstrap | etcd status | -5 | stale-kinds:EtcdCluster:28:30 + act:delete-object:ConfigMap + act:cut-all:60
  etcd.moves.step.MakeNextMove._act:negate.1
bootstrap | list pods | 1 | 403:60
  runtime.controller.Controller._reconcile:drop-guard.2
  runtime.controller.Controller.run:negate.1
budget
  etcd.build.budget._share:drop-guard.1
  etcd.build.budget._share:drop-guard.2
budget | etcd status | 20 | act:power:1:60
  etcd.observe._ordinal:drop-guard.2
crammed
  etcd.decide.space.make_room:negate.7
edit
  etcd.decide.sizes.drop_claims:drop-guard.2
full
  etcd.decide.space._give_back:negate.3
  etcd.decide.space.make_room:drop-not.4
  etcd.decide.space.quiet_the_removed:negate.2
  etcd.survey.ask_all:negate.5
grow
  etcd.decide.chart._recorded:drop-not.2
  etcd.decide.repair._freed:negate.2
  etcd.decide.repair._freed:negate.3
  etcd.decide.repair.await_learner:negate.1
  etcd.decide.sizes._vacated:drop-guard.1
grow | etcd add_learner https://shop-1 | 1 | act:cut:1:inf
  etcd.decide.repair._patience_with_learners:negate.1
grow | etcd add_learner https://shop-1 | 1 | act:no-room:60
  etcd.decide.repair._cannot_start:drop-not.2
grow | etcd add_learner | 1 | act:lose-node:0:60 + act:delete-pod:0
  etcd.decide.guards.gains_quorum_with:off-by-one.2
grow | get persistentvolumeclaims ns/data-shop-2 | 5 | act:damage:1
  etcd.decide.repair._freed:drop-guard.4
kept
  etcd.moves.volumes.KeepVolumes._let_go:negate.1
  etcd.moves.volumes.KeepVolumes._write:drop-precondition.1
  etcd.moves.volumes.KeepVolumes._write:drop-precondition.2
  etcd.moves.volumes.untie:negate.1
  runtime.tracking.Tracking.around:drop-guard.1
  runtime.tracking.Tracking.around:negate.1
kept | get services ns/shop | 10 | act:wipe:leader
  etcd.moves.objects.delete_claim:drop-precondition.1
kept | list persistentvolumeclaims ns/ | 2 | 403:60 + sigterm
  runtime.controller.Controller._reconcile:drop-guard.1
kept | list persistentvolumeclaims ns/ | 2 | 403:60 + stall:PersistentVolumeClaim:5 + act:delete-cr:30
  etcd.controller.EtcdReconciler.hindered:drop-guard.1
larger
  etcd.build.claims.staying:drop-precondition.1
  etcd.decide.space.grow_claims:drop-guard.1
  etcd.moves.objects.grow_claim:drop-precondition.1
  etcd.moves.objects.recreate_workload:drop-not.2
  etcd.moves.objects.recreate_workload:drop-precondition.1
  etcd.observe.Observer._view:negate.2
  etcd.wanting.Want.pods:drop-not.1
lost-disk
  etcd.decide.guards.keeps_quorum_without:negate.1
  etcd.decide.sizes._vacated:drop-guard.2
  etcd.moves.objects.delete_pod:drop-precondition.1
  etcd.moves.objects.leave_claim:drop-precondition.1
mistake
  etcd.controller.EtcdReconciler.reconcile:negate.4
  etcd.moves.objects.write_workload:drop-precondition.1
  etcd.moves.objects.write_workload:drop-precondition.2
one
  etcd.build.config._members:drop-not.1
  etcd.build.config._members:negate.2
  etcd.build.metadata.owner:drop-precondition.1
  etcd.controller.EtcdReconciler._tell:negate.6
  etcd.controller.EtcdReconciler._write_status:drop-precondition.1
  etcd.controller.EtcdReconciler._write_status:drop-precondition.2
  etcd.controller.EtcdReconciler._write_status:negate.1
  etcd.decide.absent._beginning:negate.8
  etcd.decide.absent._beginning:negate.9
  etcd.decide.absent._leftover:negate.1
  etcd.decide.absent._leftover:negate.2
  etcd.decide.absent._taken:drop-guard.2
  etcd.decide.chart._flawed_secret:drop-guard.1
  etcd.decide.chart._flawed_secret:drop-not.1
  etcd.decide.chart.end_force:drop-guard.1
  etcd.decide.chart.end_force:negate.1
  etcd.decide.chart.held_back:drop-guard.1
  etcd.decide.chart.judge:negate.4
  etcd.decide.configs.of_the_list:negate.1
  etcd.decide.doomed.tell:negate.1
  etcd.decide.repair.await_healthy:negate.1
  etcd.decide.rolling.version_problem:negate.1
  etcd.decide.rolling.version_problem:negate.2
  etcd.decide.sizes.grow:drop-guard.1
  etcd.decide.sizes.own_claims:drop-not.2
  etcd.decide.sizes.strange_claim:drop-not.1
  etcd.model.history.answers:negate.1
  etcd.model.view.View.healthy_voters:negate.1
  etcd.model.view.View.voters:negate.1
  etcd.model.view.WorkloadSeen.is_settled:drop-not.1
  etcd.moves.objects.write_config:negate.1
  etcd.moves.objects.write_workload:negate.4
  etcd.moves.step._begins:drop-guard.1
  etcd.moves.volumes.KeepVolumes._let_go:drop-guard.1
  etcd.moves.writing.Applier._called_applied:drop-precondition.1
  etcd.moves.writing.Applier._called_applied:drop-precondition.2
  etcd.moves.writing.Applier._written:drop-guard.2
  etcd.moves.writing.EnsureObjects.run:swap-awaits.1
  etcd.moves.writing._exactly:drop-precondition.1
  etcd.moves.writing._exactly:drop-precondition.2
  etcd.observe.Observer._doors:negate.1
  etcd.observe.Observer._doors:negate.2
  etcd.observe.Observer._has_service:negate.1
  etcd.reading.pod_seen:negate.1
  etcd.reading.pod_seen:negate.2
  etcd.survey._is_sound:negate.2
  etcd.survey.ask_all:drop-not.1
  etcd.tell.latches.last_known_members:negate.1
  etcd.tell.notes.noting:negate.1
  etcd.volumes.Volumes.taken:drop-guard.1
  etcd.wanting.Want.pods:negate.1
  runtime.controller.Controller._reconcile:negate.1
  runtime.election.Elector._take_or_renew:drop-guard.3
  runtime.election.Elector._take_or_renew:drop-not.1
  runtime.election.Elector._write:drop-precondition.1
  runtime.informer.Informer.run:negate.2
  runtime.informer.Informer.run:swap-awaits.1
  runtime.queue.WorkQueue._line_up:drop-guard.1
  runtime.queue.WorkQueue._line_up:negate.1
  runtime.queue.WorkQueue._wake_one:drop-guard.1
  runtime.queue.WorkQueue.done:negate.1
  runtime.supervisor.Supervisor._lead:drop-guard.2
  runtime.supervisor.Supervisor._start:negate.1
one | etcd status | 3 | sigterm
  runtime.supervisor.Supervisor._wind_down:negate.1
outage
  runtime.queue.WorkQueue.add_failed:off-by-one.1
quota
  etcd.decide.absent._start:negate.1
  etcd.moves.step.MakeNextMove._told:negate.1
  runtime.fencing.Fencing.around:drop-guard.2
recover
  etcd.decide.absent.stand_by:negate.2
  etcd.decide.absent.stand_by:negate.3
  etcd.decide.chart.end_force:drop-guard.2
  etcd.decide.recovery._is_surely_lost:negate.2
  etcd.decide.recovery._leave_alone:drop-guard.2
  etcd.decide.recovery._votes:negate.1
  etcd.decide.recovery._votes:negate.2
  etcd.decide.recovery.recover:drop-not.5
  etcd.model.history.rewound:drop-guard.1
  etcd.moves.membership.save_survivor:drop-precondition.1
  etcd.moves.membership.save_survivor:negate.1
  etcd.moves.objects._is_alone:off-by-one.1
  etcd.moves.objects.write_config:drop-not.1
  etcd.tell.notes._with_recovery:drop-guard.2
roll
  etcd.decide.sizes.settle_workload:drop-guard.5
roll | delete pods ns/shop-2 | 1 | act:oom-pod:1:60
  etcd.moves.objects.delete_pod:drop-precondition.2
roll | etcd members | 19 | act:wipe:1
  etcd.decide.repair._fails_by_template:negate.3
scratch
  etcd.decide.repair._cannot_start:negate.2
scratch | etcd members | -1 | act:damage:1
  etcd.decide.repair._left:drop-guard.1
scratch | etcd members | 1 | act:stuck-pod:1:60 + act:delete-pod:1
  etcd.decide.sizes.grow:drop-guard.2
secured
  etcd.decide.chart._recorded:drop-guard.1
  etcd.moves.membership.set_auth:negate.1
  etcd.moves.membership.set_auth:swap-awaits.1
silent
  etcd.decide.repair._fails_by_template:drop-guard.1
  etcd.decide.repair.refresh_broken_pod:drop-not.1
taken
  etcd.decide.sizes._free_claim:negate.1
  etcd.decide.sizes._free_claim:negate.2
  etcd.decide.sizes.drop_claims:drop-guard.1
  etcd.decide.sizes.grow:drop-guard.3
  etcd.decide.sizes.next_to_join:drop-guard.1
  etcd.decide.sizes.own_claims:drop-guard.1
  etcd.decide.sizes.own_claims:negate.1
  etcd.moves.step.MakeNextMove._unless_in_vain:drop-guard.2
three
  etcd.decide.repair.replace_unhealthy:drop-not.1
  etcd.decide.sizes.shrink:negate.5
  etcd.moves.writing.EnsureObjects._drop:drop-not.1
  etcd.moves.writing.EnsureObjects._drop:drop-precondition.1
  etcd.moves.writing.EnsureObjects._drop:negate.1
  runtime.holder.Holder.lets_go:negate.2
  runtime.holder.Holder.lets_go:negate.3
  runtime.holder.Holder.note:negate.3
three | etcd members | 13 | act:stuck-pod:0:80 + act:delete-pod:0
  etcd.decide.sizes.shrink:drop-guard.3
two
  etcd.decide.sizes.shrink:negate.6
typo
  etcd.decide.guards.keeps_quorum_while_away:off-by-one.1
  etcd.decide.repair.await_healthy:negate.2
  etcd.decide.repair.refresh_broken_pod:drop-guard.4
  etcd.decide.repair.refresh_broken_pod:drop-not.3
  etcd.decide.repair.replace_unhealthy:negate.2
  etcd.decide.rolling._restart:negate.2
  etcd.decide.rolling._still_coming:negate.1
waiting | etcd status | -1 | act:no-image:700 + act:delete-pod:1
  etcd.reading._trouble:drop-guard.2
  etcd.reading._trouble:drop-not.1
"""  # noqa: E501 - a clue is one line


def _read(text: str) -> Iterator[tuple[str, Clue]]:
    clue = Clue("")
    for line in text.strip().splitlines():
        if line.startswith(" "):
            yield f"G-{line.strip()}", clue
        else:
            clue = Clue.parse(line)


KILLS: Final[Mapping[str, Clue]] = dict(_read(_FOUND))
