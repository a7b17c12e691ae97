"""One FoundationDBCluster on the stage, beside etcd's: what its user does to it, and asks it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from stateward.app.demo.performance import DemoFailed
from stateward.app.demo.picture import Picture
from stateward.app.demo.stage import LEDGER, Stage
from stateward.fdb.admin.session import Session
from stateward.fdb.api.kind import CLUSTERS
from stateward.fdb.model.connection import ConnectionString
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS

_WRITE: Final = "writemode on; set {key} {value}"
_WRITTEN, _READ = "Committed", "`{key}' is `{value}'"
#: Seconds that fdbcli may take for a line.
_PATIENCE: Final = 20


@dataclass(frozen=True, slots=True)
class Ledger:
    """The cluster, small enough for a machine that does other things as well."""

    stage: Stage

    async def create(self) -> None:
        """Ask for it: every piece of data twice, in different zones."""
        metadata = {"namespace": LEDGER.namespace, "name": LEDGER.name}
        spec = _spec(str(self.stage.fdb.version))
        await self.stage.client.create(CLUSTERS, {"metadata": metadata, "spec": spec})

    async def delete_pod(self, name: str) -> None:
        """Delete a pod, as a user does."""
        key = ObjectKey(LEDGER.namespace, name)
        found = await self.stage.client.get(PODS, key)
        await self.stage.client.delete(PODS, key, uid=found.metadata.uid)

    async def write(self, key: str, value: str) -> None:
        """Write something; raise DemoFailed when that is not acknowledged."""
        said = await self._typed(_WRITE.format(key=key, value=value))
        if _WRITTEN not in said:
            raise DemoFailed(f"FoundationDB must acknowledge a write, and says {said[-200:]!r}")

    async def has(self, key: str, value: str) -> bool:
        """Tell whether something is there; False too when nobody answers."""
        return _READ.format(key=key, value=value) in await self._typed(f"get {key}")

    def picture(self) -> Picture:
        """Return what there is to see now."""
        return self.stage.picture(LEDGER)

    async def _typed(self, line: str) -> str:
        """Return what fdbcli answers to a line."""
        cluster = self.picture().fdb
        if cluster is None or not cluster.status.connection_string:
            return ""
        session = Session(self.stage.programs, "the audience", self.stage.fdb.version)
        try:
            session.find_by(ConnectionString.parse(cluster.status.connection_string))
            words = ["-C", str(session.file), "--exec", line, "--timeout", str(_PATIENCE)]
            return (await session.run("fdbcli", words, 2 * _PATIENCE)).out
        finally:
            session.close()


def _spec(version: str) -> Json:
    container = {
        "name": "foundationdb",
        "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}},
    }
    pods = {"spec": {"containers": [container], "terminationGracePeriodSeconds": 5}}
    claims = {"spec": {"resources": {"requests": {"storage": "1G"}}}}
    return {
        "version": version,
        "databaseConfiguration": {"redundancy_mode": "double"},
        "faultDomain": {"key": "topology.kubernetes.io/zone"},
        "processCounts": {"storage": 3, "log": 3, "stateless": 2},
        "processes": {"general": {"podTemplate": pods, "volumeClaimTemplate": claims}},
    }
