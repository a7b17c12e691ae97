"""What a pass works with: the view, how to ask each member, and what objects should be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.build.documents import Wanted
from stateward.etcd.decide.chart import Judgement, judge
from stateward.etcd.members.port import MemberApi
from stateward.etcd.model.view import View
from stateward.etcd.objects import Whole
from stateward.etcd.wanting import Pods
from stateward.kube.meta import ObjectMeta
from stateward.kube.resources import Resource


@dataclass(frozen=True)
class Seen:
    """One cluster in one pass."""

    view: View
    #: How to ask the etcd of an ordinal.
    doors: Mapping[int, MemberApi] = field(default_factory=dict)
    #: Services and budget as they should be, and as they are.
    wanted: tuple[Wanted, ...] = ()
    live: tuple[tuple[Resource[Any], Whole], ...] = ()
    pods: Pods = field(default_factory=lambda: Pods({}))
    #: The version of the ConfigMap that the view's config was read from.
    config: ObjectMeta | None = None

    @cached_property
    def judgement(self) -> Judgement:
        """What is right to do about it."""
        return judge(self.view)

    @property
    def cluster(self) -> EtcdCluster:
        """The cluster that this is about."""
        return self.view.cluster

    def door(self, ordinal: int) -> MemberApi | None:
        """Return how to ask the etcd of an ordinal; None when it did not answer."""
        return self.doors.get(ordinal)
