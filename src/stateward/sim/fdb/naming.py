"""Names of pods: they lead somewhere while the service is there below which they are.

Who runs and has found the others goes on. Who starts, who asks, and a database that recovers look
for coordinators by their names, and find nobody while those lead nowhere.
"""

from __future__ import annotations

from stateward.emulate.fdb.servers import Server
from stateward.fdb.model import locality
from stateward.kube.client import Change
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import SERVICES
from stateward.local.api import Api
from stateward.local.store import Store, StoreEvent
from stateward.sim.fdb.realm import Realm


class Names:
    """Tells processes of a realm whether their names lead to them."""

    def __init__(self, realm: Realm) -> None:
        self._stores: list[Store] = []
        self._realm = realm
        realm.begun.append(lambda server, _certified: self._look(server))

    def follow(self, api: Api) -> None:
        """Have the services of a Kubernetes lead somewhere, wherever one asks."""
        self._stores.append(api.store)
        api.store.listen(self._on_service, SERVICES.name)

    def _on_service(self, event: StoreEvent) -> None:
        if event.before is not None and event.change is not Change.DELETED:
            return
        self._realm.advance()
        for it in self._realm.processes:
            self._look(it.server)
        for database in self._realm.databases:
            if not database.recovery.serves:
                database.recover("names have changed")
        self._realm.settle()

    def _look(self, server: Server) -> None:
        name = server.localities.get(locality.DNS_NAME, "")
        server.nameless = bool(name) and not self._leads(name)

    def _leads(self, name: str) -> bool:
        """Tell whether the service is there: a name is that of a pod, a service, a namespace."""
        _, service, namespace, *_ = name.split(".")
        key = ObjectKey(namespace, service)
        return any(it.get(SERVICES.name, key) is not None for it in self._stores)
