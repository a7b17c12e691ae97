"""The certificates that pods are given, looked at in their secrets before anything starts by them.

Only secrets that templates of the cluster name are read, one by one, and only while TLS is asked
for. What they hold is never told.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias, TypeVar

from stateward.core import moments, pems
from stateward.core.clock import Clock
from stateward.core.peers.meeting import Side
from stateward.core.pem_keys import key_flaw
from stateward.fdb.api import questions
from stateward.fdb.api.checks.transport import lacks, readers
from stateward.fdb.api.papers import AUTHORITY, CERTIFICATE, KEY, InSecret, Paper, Reader
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.cluster import believing
from stateward.fdb.cluster.believing import Own, Shown
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.names import SIDECAR_CONTAINER
from stateward.fdb.model.transport import Papers
from stateward.kube.errors import Forbidden, NotFound
from stateward.kube.meta import Object, ObjectKey
from stateward.kube.objects.configs import Secret
from stateward.kube.resources import SECRETS, Resource

S = TypeVar("S", bound=Object)
#: By what they are: where files come from, for people, and what they hold.
_Files: TypeAlias = Mapping[str, tuple[str, bytes]]

#: Seconds for which a secret that was read is believed.
_GOOD_FOR: Final = 30.0
_REMEMBERED: Final = 1000
#: Seconds before its end at which a certificate is spoken of.
SOON: Final = 14 * 24 * 3600.0


class Getter(Protocol):
    """The one call that is needed."""

    async def get(self, resource: Resource[S], key: ObjectKey) -> S:
        """Return the object as it is now."""


class Flawed(Exception):
    """A secret has not what it must have."""


@dataclass(slots=True)
class _Findings:
    flaws: list[str] = field(default_factory=list)
    unknown: str = ""
    endings: list[tuple[float, str]] = field(default_factory=list)
    sidecars: dict[str, str] = field(default_factory=dict)

    def papers(self) -> Papers:
        """Return them, each once, in an order that stays."""
        soonest = min(self.endings, default=(0.0, ""))[1]
        told = () if self.flaws or self.unknown else tuple(sorted(self.sidecars.items()))
        return Papers(tuple(dict.fromkeys(self.flaws)), self.unknown, soonest, told)


class Archive:
    """Reads secrets, and not again and again."""

    def __init__(self, client: Getter, clock: Clock, own: Own | None = None) -> None:
        self._client = client
        self._clock = clock
        self._own = own
        self._read: dict[ObjectKey, tuple[float, Mapping[str, str]]] = {}

    async def look(
        self, namespace: str, spec: FoundationDBClusterSpec, classes: Iterable[ProcessClass]
    ) -> Papers:
        """Return what is wrong with the certificates that pods of some classes need."""
        found = _Findings()
        every: dict[tuple[tuple[Paper, ...], str, str], tuple[Reader, list[ProcessClass]]] = {}
        for process_class in sorted(classes):
            settings = questions.settings_for(spec, process_class)
            found.flaws.extend(
                f"pods of class {process_class}: {it.field} {it.message}"
                for it in lacks(spec, settings)
            )
            for reader in readers(spec, settings):
                alike = (tuple(_papers(reader)), reader.name, reader.rules)
                every.setdefault(alike, (reader, []))[1].append(process_class)
        for (papers, _, _), (reader, mine) in every.items():
            try:
                there = await self._inspect(namespace, papers, reader, found)
                refused = [*self._refused(_shown(there, reader, spec))]
                self._forget(namespace, papers if refused else ())
                found.flaws.extend(refused)
                if reader.name == SIDECAR_CONTAINER and CERTIFICATE in there:
                    shown = pems.fingerprint(there[CERTIFICATE][1])
                    found.sidecars.update(dict.fromkeys(map(str, mine), shown))
            except Flawed as error:
                found.flaws.append(str(error))
            except Forbidden as error:
                found.unknown = f"secrets cannot be read: {error.message}"
        return found.papers()

    async def _inspect(
        self, namespace: str, papers: tuple[Paper, ...], reader: Reader, found: _Findings
    ) -> _Files:
        """Judge the files of one container, as far as they come from secrets; return them."""
        there: dict[str, tuple[str, bytes]] = {}
        for it in papers:
            if isinstance(it.where, InSecret):
                key = ObjectKey(namespace, it.where.secret)
                there[it.kind] = (
                    f"secret {key}: {it.where.key}",
                    await self._file(key, it.where.key),
                )
        try:
            found.endings.extend(self._judge(there, password=reader.has_password))
        except Flawed:
            self._forget(namespace, papers)
            raise
        return there

    def _refused(self, shown: Shown | None) -> Iterable[str]:
        """Return who would refuse whom, as far as that can be seen."""
        if shown is None:
            return ()
        own = self._own() if self._own is not None else None
        return believing.flaws(shown, own, self._clock.now())

    def _forget(self, namespace: str, papers: Iterable[Paper]) -> None:
        """Read secrets anew in the next look: who mends one is heard soon."""
        for it in papers:
            if isinstance(it.where, InSecret):
                self._read.pop(ObjectKey(namespace, it.where.secret), None)

    def _judge(self, files: _Files, *, password: bool) -> Iterator[tuple[float, str]]:
        """Yield which certificate ends soon; raise Flawed for what cannot be used."""
        for kind in (CERTIFICATE, AUTHORITY):
            if kind in files and not pems.are_certificates(files[kind][1]):
                raise Flawed(f"{files[kind][0]} must be certificates in PEM")
        if CERTIFICATE not in files:
            return
        name, certificate = files[CERTIFICATE]
        yield from _judge_time(name, certificate, self._clock.now())
        if KEY in files and not password:
            _judge_key(files[KEY], name, certificate)

    async def _file(self, key: ObjectKey, name: str) -> bytes:
        files = await self._secret(key)
        if not files.get(name):
            self._read.pop(key, None)
            has = ", ".join(sorted(files)) or "nothing"
            raise Flawed(f"secret {key} must have {name}, and has {has}")
        try:
            return base64.b64decode(files[name], validate=True)
        except (binascii.Error, ValueError):
            raise Flawed(f"secret {key}: {name} must be base64") from None

    async def _secret(self, key: ObjectKey) -> Mapping[str, str]:
        now = self._clock.monotonic()
        if key in self._read and now - self._read[key][0] < _GOOD_FOR:
            return self._read[key][1]
        self._read.pop(key, None)
        try:
            found: Secret = await self._client.get(SECRETS, key)
        except NotFound:
            raise Flawed(
                f"secret {key} must be there: pods take their certificate from it"
            ) from None
        while len(self._read) >= _REMEMBERED:
            del self._read[next(iter(self._read))]
        self._read[key] = (now, found.data)
        return found.data


def _shown(files: _Files, reader: Reader, spec: FoundationDBClusterSpec) -> Shown | None:
    """Return what a container shows and believes; None: not all of that can be seen from here."""
    told = "\n".join(spec.trusted_cas).encode() if reader.trusts_the_spec else b""
    given = {AUTHORITY: ("spec.trustedCAs", told)} if pems.are_certificates(told) else {}
    found = {**given, **files}
    if reader.has_password or not {CERTIFICATE, KEY, AUTHORITY} <= found.keys():
        return None
    side = Side(found[CERTIFICATE][1], found[KEY][1], found[AUTHORITY][1])
    return Shown(side, found[CERTIFICATE][0], found[AUTHORITY][0], reader)


def _papers(reader: Reader) -> Iterator[Paper]:
    return (it for it in reader.papers() if isinstance(it, Paper))


def _judge_time(name: str, certificate: bytes, now: float) -> Iterator[tuple[float, str]]:
    good = pems.good_between(certificate)
    if good is None:
        return
    begin, end = map(moments.to_rfc3339, good)
    if good[1] < now:
        raise Flawed(f"{name} must be good for now, and has expired at {end}")
    if good[0] > now:
        raise Flawed(f"{name} must be good for now, and is so only from {begin}")
    if good[1] - now < SOON:
        yield good[1], f"{name} ends at {end}"


def _judge_key(key: tuple[str, bytes], name: str, certificate: bytes) -> None:
    match key_flaw(certificate, key[1]):
        case "another's":
            raise Flawed(f"{key[0]} must be the key of {name}, and is another's")
        case "unreadable":
            raise Flawed(f"{key[0]} must be a key in PEM that needs no password")
        case _:
            return
