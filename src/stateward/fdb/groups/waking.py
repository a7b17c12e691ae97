"""Has nodes show pods what a config map says by now.

A kubelet looks once in a minute or so; but it looks at once at a pod that changes.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from stateward.core.clock import Clock
from stateward.core.errors import PeerError
from stateward.core.outcome import Outcome, Retry
from stateward.fdb.admin.pod_agent import PodAgent
from stateward.fdb.groups import acts
from stateward.fdb.groups.seen import GroupSeen
from stateward.fdb.groups.syncing import shows
from stateward.fdb.model import names
from stateward.kube.client import Client, MergePatch
from stateward.kube.objects.pods import Pod
from stateward.kube.resources import PODS

#: Seconds between two touches of a pod whose node is slow to show a config map.
TOUCH: Final = 15.0
#: Seconds in which a monitor may say by itself that it has seen one, before its pod is touched.
_ITSELF: Final = 3.0
#: Seconds until a sidecar is asked again whose node has yet to show a renewed certificate.
_RENEWING: Final = 60.0
_REMEMBERED: Final = 10_000


class Waker:
    """Touches pods whose nodes are slow."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        #: By pod: which configuration it lacks, and since when.
        self._lacking: OrderedDict[str, tuple[str, float]] = OrderedDict()

    async def wake(self, seen: GroupSeen, act: acts.WakeNode) -> Outcome | None:
        """Touch a pod of unified images once its monitor had time to say what it has seen."""
        if seen.pod is None:
            return None
        left = self._since(seen.pod.metadata.uid, act.conf) + _ITSELF - self._clock.monotonic()
        if left > 0:
            return Retry(left, "ConfigMapOutdated", _words(seen.pod))
        return await self.woken(seen.pod)

    async def woken(self, pod: Pod, which: str = "") -> Outcome:
        """Change a pod a little, but not all the time; return that it must be waited for."""
        now, last = int(self._clock.now()), pod.metadata.annotations.get(names.OUTDATED, "")
        if not last.isdecimal() or now - int(last) >= TOUCH:
            await annotate(self._client, pod, names.OUTDATED, str(now))
        return Retry(TOUCH, "ConfigMapOutdated", _words(pod) + which)

    async def renewed(
        self, pod: Pod, agent: PodAgent, act: acts.RenewCertificate
    ) -> Outcome | None:
        """Have a sidecar read its certificates anew; say on its pod that it shows that one."""
        name = pod.metadata.name
        try:
            if await shows(agent, act.wanted):
                await annotate(self._client, pod, names.SIDECAR_CERTIFICATE, act.wanted)
                return None
        except PeerError as error:
            words = f"the sidecar of pod {name} must show its certificate: {error.message}"
            return Retry(TOUCH, error.reason, words)
        await self.woken(pod)
        words = f"the sidecar of pod {name} has yet to show the certificate of its secret"
        return Retry(_RENEWING, "CertificateAwaited", f"{words}: its node must show it first")

    def _since(self, uid: str, conf: str) -> float:
        now = self._clock.monotonic()
        before, since = self._lacking.pop(uid, (conf, now))
        since = since if before == conf else now
        self._lacking[uid] = (conf, since)
        if len(self._lacking) > _REMEMBERED:
            self._lacking.popitem(last=False)
        return since


async def annotate(client: Client, pod: Pod, name: str, value: str) -> None:
    """Write an annotation onto this very pod."""
    body = {"metadata": {"uid": pod.metadata.uid, "annotations": {name: value}}}
    await client.patch(PODS, pod.metadata.key, MergePatch(body))


def _words(pod: Pod) -> str:
    return f"waiting until the node shows pod {pod.metadata.name} the config map as it is"
