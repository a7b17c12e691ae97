"""The whole embedded Kubernetes API, as people meet it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from stateward.core.ports import Ports
from stateward.kube.client import Apply
from stateward.kube.codec import Json, plain
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CUSTOM_RESOURCES, NAMESPACES, SERVICES, Resource
from stateward.local.api import Api
from stateward.local.catalog import SERVED
from stateward.local.kinds import Kinds, built_in
from stateward.local.rules.deletion import DeleteOptions, Ended
from stateward.local.rules.writes import AnyPatch, Author
from stateward.local.schema.admission import FullAdmission
from stateward.local.schema.custom.serving import Definitions
from stateward.local.schema.namespaces import STANDARD
from stateward.local.store import Store, Stored

_SELF: Final = Author("kube-apiserver")
_API_SERVICE: Final[Json] = {
    "metadata": {
        "name": "kubernetes",
        "labels": {"component": "apiserver", "provider": "kubernetes"},
    },
    "spec": {
        "clusterIP": "10.96.0.1",
        "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}],
    },
}


def served_api(ports: Ports, store: Store | None = None) -> Api:
    """Return an API that serves all kinds of the catalog with every rule; a store is taken over."""
    api = _ServedApi(ports, Store() if store is None else store)
    api.begin()
    return api


class _ServedApi(Api):
    """Serves custom kinds as soon as they are defined, and no longer than that."""

    def __init__(self, ports: Ports, store: Store) -> None:
        kinds = Kinds(*(built_in(resource) for resource in SERVED), closed=True)
        super().__init__(ports, store=store, kinds=kinds, admission=FullAdmission(store))
        self._definitions = Definitions(
            store, kinds, self._writes, self._deletion, now=ports.clock.now
        )

    def begin(self) -> None:
        """Serve what the store knows, and make what every cluster has."""
        self._definitions.settle_all()
        for name in STANDARD:
            if self.store.get(NAMESPACES.name, ObjectKey("", name)) is None:
                self.create(NAMESPACES, "", {"metadata": {"name": name}}, _SELF)
        if self.store.get(SERVICES.name, ObjectKey("default", "kubernetes")) is None:
            self.create(SERVICES, "default", plain(_API_SERVICE), _SELF)

    def create(
        self, resource: Resource[Any], namespace: str, document: Json, author: Author
    ) -> Stored:
        """Keep a new object; a definition is served at once."""
        self._definitions.check_creation(resource)
        made = super().create(resource, namespace, document, author)
        self._settle_after(resource, made.key, dry_run=author.dry_run)
        return made

    def update(
        self,
        resource: Resource[Any],
        key: ObjectKey,
        document: Json,
        author: Author,
        *,
        subresource: str = "",
    ) -> Stored:
        """Replace an object or a part of it."""
        made = super().update(resource, key, document, author, subresource=subresource)
        self._settle_after(resource, key, dry_run=author.dry_run)
        return made

    def patch(
        self,
        resource: Resource[Any],
        key: ObjectKey,
        patch: AnyPatch,
        author: Author,
        *,
        subresource: str = "",
    ) -> Stored:
        """Change part of an object."""
        if isinstance(patch, Apply):
            self._definitions.check_creation(resource)
        made = super().patch(resource, key, patch, author, subresource=subresource)
        self._settle_after(resource, key, dry_run=author.dry_run)
        return made

    def delete(self, resource: Resource[Any], key: ObjectKey, options: DeleteOptions) -> Ended:
        """Ask for the end of an object; a definition takes its objects with it."""
        if resource.name == CUSTOM_RESOURCES.name and not options.dry_run:
            self._definitions.begin_to_end(key, options)
            options = replace(options, resource_version="")
        ended = super().delete(resource, key, options)
        self._settle_after(resource, key, dry_run=options.dry_run)
        gone = not options.dry_run and self.store.get(resource.name, key) is None
        return replace(ended, gone=ended.gone or gone)

    def _settle_after(self, resource: Resource[Any], key: ObjectKey, *, dry_run: bool) -> None:
        if not dry_run:
            self._definitions.settle_after(resource, key)
