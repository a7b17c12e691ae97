"""The certificates that a cluster names, read from its secrets: all of them, or a sentence.

Nothing is ever done without what the spec asks for: a missing secret blocks, and never means plain
text. What is there and cannot be used is told, and members are not touched meanwhile.
"""

from __future__ import annotations

import base64
import binascii
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from stateward.core.clock import Clock
from stateward.core.errors import StatewardError
from stateward.core.naming import short_hash
from stateward.etcd import pems
from stateward.etcd.api.settings import Settings
from stateward.etcd.build.certificates import AUTHORITY, CERTIFICATE, KEY, materials
from stateward.etcd.members.port import Trust
from stateward.etcd.objects import Getter
from stateward.kube.errors import NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import SECRETS

#: Seconds for which a secret that was read is believed: it is asked for anew in the next look.
_GOOD_FOR = 30.0
#: The same while no member answers us.
_IN_DOUBT = 5.0
_REMEMBERED = 1000


class SecretMissing(StatewardError):
    """A secret that the spec names is not there, or has not what it must have."""

    reason = "SecretMissing"


@dataclass(frozen=True, slots=True)
class Certificates:
    """Who the operator is to members and whom it believes, and a hash of every authority."""

    #: None: in plain text, if anybody can be asked at all.
    trust: Trust | None = None
    ca_hashes: Mapping[str, str] = field(default_factory=dict)
    #: What is wrong with the first of the secrets that is not well; empty: nothing.
    flaw: str = ""
    #: Whether members can be asked: not while what we would show or believe is flawed.
    can_ask: bool = True


class Secrets:
    """Reads secrets, and not again and again."""

    def __init__(self, client: Getter, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._read: OrderedDict[ObjectKey, tuple[float, Mapping[str, bytes]]] = OrderedDict()

    async def certificates(self, namespace: str, settings: Settings) -> Certificates:
        """Return what a cluster's secrets hold; raise SecretMissing with what must be there."""
        hashes: dict[str, str] = {}
        flaws: list[str] = []
        for material in materials(settings):
            key = ObjectKey(namespace, material.secret)
            found = await self._files(key, material.files)
            flaws.append(self._flaw(key, found))
            if AUTHORITY in found:
                hashes[material.secret] = short_hash(found[AUTHORITY].decode("latin-1"))
        trust, ours = None, ""
        if settings.clients_use_tls:
            trust, ours = await self._trust(namespace, settings)
        first = next(filter(None, [*flaws, ours]), "")
        return Certificates(None if ours else trust, hashes, first, can_ask=not ours)

    def doubt(self, namespace: str) -> None:
        """Read the secrets of a namespace anew, since what we have may be why we are refused."""
        now = self._clock.monotonic()
        for key, (read, _) in list(self._read.items()):
            if key.namespace == namespace and now - read >= _IN_DOUBT:
                del self._read[key]

    async def _trust(self, namespace: str, settings: Settings) -> tuple[Trust, str]:
        """Return whom we believe and who we are, and what is wrong with that."""
        tls = settings.tls
        signer = ObjectKey(namespace, tls.server_trusted_ca_secret or tls.server_secret)
        authority = await self._files(signer, (AUTHORITY,))
        flaw = self._flaw(signer, authority)
        if not tls.client_secret:
            return Trust(authority[AUTHORITY]), flaw
        own = ObjectKey(namespace, tls.client_secret)
        pair = await self._files(own, (CERTIFICATE, KEY))
        trust = Trust(authority[AUTHORITY], pair[CERTIFICATE], pair[KEY])
        return trust, flaw or self._flaw(own, pair)

    async def _files(self, key: ObjectKey, names: tuple[str, ...]) -> Mapping[str, bytes]:
        found = await self._secret(key)
        for name in names:
            if not found.get(name):
                self._read.pop(key, None)
                raise SecretMissing(
                    f"secret {key} must have {name}, and has {', '.join(sorted(found)) or 'none'}",
                    hint=f"kubectl -n {key.namespace} edit secret {key.name}",
                )
        return {name: found[name] for name in names}

    def _flaw(self, key: ObjectKey, files: Mapping[str, bytes]) -> str:
        """Say what is wrong with a secret, and read it anew in the next look."""
        words = pems.flaw(files, self._clock.now())
        if not words:
            return ""
        self._read.pop(key, None)
        return f"secret {key}: {words}"

    async def _secret(self, key: ObjectKey) -> Mapping[str, bytes]:
        now = self._clock.monotonic()
        if key in self._read and now - self._read[key][0] < _GOOD_FOR:
            return self._read[key][1]
        try:
            found = await self._client.get(SECRETS, key)
        except NotFound:
            self._read.pop(key, None)
            raise SecretMissing(
                f"secret {key} must be there: the spec names it", hint="create it, or mend its name"
            ) from None
        contents = {name: _decoded(key, name, text) for name, text in found.data.items()}
        self._read[key] = (now, contents)
        if len(self._read) > _REMEMBERED:
            self._read.popitem(last=False)
        return contents


def _decoded(key: ObjectKey, name: str, text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise SecretMissing(f"secret {key}: {name} must be base64") from None
