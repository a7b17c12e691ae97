"""What pods refer to: config maps, secrets, claims and volumes, as last seen."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from stateward.core.errors import StatewardError
from stateward.core.ports import Ports
from stateward.kube.client import Reader
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.resources import CONFIG_MAPS, SECRETS, VOLUME_CLAIMS, Resource
from stateward.local.agent.tokens import Tokens
from stateward.local.catalog import VOLUMES
from stateward.local.documents import Document, loosely
from stateward.runtime.cache import Delta
from stateward.runtime.informer import Informer, InformerMeter

T = TypeVar("T", bound=Object)

#: Named contents: what a config map or a secret becomes in a file or a variable.
Contents = dict[str, bytes]


class Lookup(Protocol):
    """Named contents by where they are; None when there is no such object."""

    def config_map(self, key: ObjectKey) -> Contents | None:
        """Return what a config map holds."""

    def secret(self, key: ObjectKey) -> Contents | None:
        """Return what a secret holds."""

    @property
    def tokens(self) -> Tokens | None:
        """Tokens of service accounts, where they are offered."""


class Texts(Object):
    """A config map or a secret, with everything that is in it. Never printed: it may be secret."""

    data: dict[str, str] | None = None
    binary_data: dict[str, str] | None = None

    def __repr__(self) -> str:
        return f"Texts({self.metadata.key}, keys={sorted(self.data or ())})"


class References:
    """Caches of what pods refer to, and who wants to hear of changes."""

    def __init__(self, client: Reader, ports: Ports, meter: Callable[[str], InformerMeter]) -> None:
        def informer(resource: Resource[Any]) -> Informer[Any]:
            name = f"agent/{resource.name}"
            return Informer(client, resource, ports=ports.stream(name), meter=meter(name))

        self._config_maps: Informer[Texts] = informer(_texts(CONFIG_MAPS))
        self._secrets: Informer[Texts] = informer(_texts(SECRETS))
        self._claims: Informer[Document] = informer(loosely(VOLUME_CLAIMS))
        self._volumes: Informer[Document] = informer(loosely(VOLUMES))
        #: Given by who can have them issued.
        self.tokens: Tokens | None = None

    def config_map(self, key: ObjectKey) -> Contents | None:
        """Return what a config map holds."""
        found = _peek(self._config_maps, key)
        if found is None:
            return None
        return {name: text.encode() for name, text in (found.data or {}).items()} | _decoded(
            found.binary_data
        )

    def secret(self, key: ObjectKey) -> Contents | None:
        """Return what a secret holds."""
        found = _peek(self._secrets, key)
        return None if found is None else _decoded(found.data)

    def claim(self, key: ObjectKey) -> Document | None:
        """Return a claim to a volume."""
        return _peek(self._claims, key)

    def volume(self, name: str) -> Document | None:
        """Return a persistent volume."""
        return _peek(self._volumes, ObjectKey("", name))

    def listen(self, hear: Callable[[str], None]) -> None:
        """Have a namespace told in which something changed; the empty one means everywhere."""
        for informer in (self._config_maps, self._secrets, self._claims):
            informer.listen(lambda delta: hear(delta.key.namespace))
        self._volumes.listen(lambda _delta: hear(""))

    def listen_for_ends(self, hear: Callable[[str], None]) -> None:
        """Have the names of persistent volumes told that are gone, and their data with them."""

        def tell(delta: Delta[Document]) -> None:
            before = delta.before.spec if delta.before is not None else {}
            if delta.now is None and before.get("persistentVolumeReclaimPolicy") == "Delete":
                hear(delta.key.name)

        self._volumes.listen(tell)

    async def run(self) -> None:
        """Keep up to date until cancelled."""
        async with asyncio.TaskGroup() as group:
            for informer in self._all():
                group.create_task(informer.run())

    async def synced(self) -> None:
        """Return when everything was listed once."""
        for informer in self._all():
            await informer.synced.wait()

    def _all(self) -> tuple[Informer[Any], ...]:
        return self._config_maps, self._secrets, self._claims, self._volumes


def _texts(resource: Resource[Any]) -> Resource[Texts]:
    return replace(resource, type=Texts)


def _peek(informer: Informer[T], key: ObjectKey) -> T | None:
    """Return an object; one that cannot be read is as good as none for a pod, which then waits."""
    try:
        return informer.cache.get(key)
    except StatewardError:
        return None


def _decoded(data: dict[str, str] | None) -> Contents:
    return {name: _from_base64(text) for name, text in (data or {}).items()}


def _from_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except binascii.Error:
        return b""
