"""Where the files of TLS are that containers are told of: named by variables, mounted from volumes.

Users name and mount them; nothing is made up for them. A file that is named and cannot be there is
a problem, never a reason to do without TLS.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final, TypeAlias

from stateward.fdb.model.names import MAIN_CONTAINER, SIDECAR_CONTAINER
from stateward.kube.codec import Json

CERTIFICATE: Final = "certificate"
KEY: Final = "key"
AUTHORITY: Final = "ca"
_ALL: Final = (CERTIFICATE, KEY, AUTHORITY)
#: Between what alternatives stand in rules about peers: programs of the database and sidecars
#: part them by different signs.
ALTERNATIVES: Final = {MAIN_CONTAINER: "|", SIDECAR_CONTAINER: ";"}
#: Where containers find the authorities that the spec names itself.
_OURS: Final = ("/var/dynamic-conf/ca.pem", "/var/input-files/ca.pem")
#: What a file in a pod may be named by that only the pod itself can fill in.
_FILLED_IN: Final = "$("


@dataclass(frozen=True, slots=True)
class InSecret:
    """It comes from a secret, under a key."""

    secret: str
    key: str


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Only the pod can see it: from a driver, from a node, or by a name that only it knows."""


@dataclass(frozen=True, slots=True)
class Paper:
    """One file: what it is, and where it comes from."""

    kind: str
    path: str
    where: InSecret | Elsewhere


@dataclass(frozen=True, slots=True)
class Lack:
    """What a template must say and does not: where, what, and what to do."""

    field: str
    message: str
    hint: str = ""


Found: TypeAlias = Paper | Lack


@dataclass(frozen=True, slots=True)
class Reader:
    """A container that reads files of TLS, in the pod that it is in."""

    pod: Json
    name: str
    #: Arguments of fdbserver, as in ``tls_key_file=/certs/tls.key``: they count more.
    parameters: Sequence[str] = ()
    #: Whether the authority is brought by the operator.
    has_authority: bool = False
    #: Whether it cannot do without an authority of its own.
    needs_authority: bool = False
    #: What the certificates of its peers must fulfil.
    rules: str = ""

    def papers(self) -> Iterator[Found]:
        """Yield every file that it is told of, and what is missing or cannot be."""
        for kind in _ALL:
            path, where = self._named(kind)
            if path is None:
                yield Paper(kind, "", Elsewhere())
            elif path:
                yield self._paper(kind, path, where)
            elif kind != AUTHORITY or (self.needs_authority and not self.has_authority):
                yield Lack(
                    f"containers[{self.name}].env",
                    f"must have {_variable(kind)}: with TLS it must be told where its {kind} is",
                    "mount a secret and name the file in it; it never runs without",
                )

    @property
    def has_password(self) -> bool:
        """Whether it is told a password, so that its key may be encrypted."""
        names = {str(it.get("name")) for it in _objects(self._container.get("env"))}
        told = (it.partition("=")[0].strip().lower().replace("-", "_") for it in self.parameters)
        return "FDB_TLS_PASSWORD" in names or "tls_password" in told

    @property
    def trusts_the_spec(self) -> bool:
        """Whether it believes the authorities that the spec names, and no others."""
        path, _ = self._named(AUTHORITY)
        return self.has_authority and path is not None and (not path or path in _OURS)

    # ------------------------------------------------------------------ names

    def _named(self, kind: str) -> tuple[str | None, str]:
        """Return the path of a file, and where it is said; None: only the pod can tell it."""
        for text in self.parameters:
            name, _, value = text.partition("=")
            if name.strip().lower().replace("-", "_") == f"tls_{kind}_file":
                return value.strip(), "customParameters"
        for it in _objects(self._container.get("env")):
            if it.get("name") == _variable(kind):
                said = str(it.get("value") or "")
                is_told = "valueFrom" not in it and _FILLED_IN not in said
                return said if is_told else None, f"containers[{self.name}].env[{_variable(kind)}]"
        return (None, "") if self._container.get("envFrom") else ("", "")

    @property
    def _container(self) -> Json:
        every = (*_objects(self.pod.get("containers")), *_objects(self.pod.get("initContainers")))
        return next((it for it in every if it.get("name") == self.name), {})

    # ------------------------------------------------------------------ files

    def _paper(self, kind: str, path: str, where: str) -> Found:
        if not path.startswith("/"):
            return Lack(where, f"must be an absolute path, got {path!r}")
        if self.has_authority and path in _OURS:
            return Paper(kind, path, Elsewhere())
        mount = self._mount(path)
        if mount is None:
            return Lack(
                where,
                f"must name a file in a volume that container {self.name} mounts, got {path!r}",
                "mount the secret of the certificate above it",
            )
        volumes = _objects(self.pod.get("volumes"))
        volume = next((it for it in volumes if it.get("name") == mount.get("name")), None)
        if volume is None:
            words = f"must be a volume of the template, got {mount.get('name')!r}"
            return Lack(f"containers[{self.name}].volumeMounts", words)
        return _shown(kind, path, _inside(mount, path), volume)

    def _mount(self, path: str) -> Json | None:
        """Return the mount that a path is in: of several the one that is nearest."""
        there = [
            it
            for it in _objects(self._container.get("volumeMounts"))
            if PurePosixPath(path).is_relative_to(str(it.get("mountPath") or "?"))
        ]
        return max(there, key=lambda it: len(str(it["mountPath"])), default=None)


def _variable(kind: str) -> str:
    return f"FDB_TLS_{kind.upper()}_FILE"


def _inside(mount: Json, path: str) -> str:
    """Return where a file is in its volume."""
    rest = PurePosixPath(path).relative_to(str(mount["mountPath"]))
    return str(PurePosixPath(str(mount.get("subPath") or ""), rest))


def _shown(kind: str, path: str, inside: str, volume: Json) -> Found:
    """Return from which secret a volume shows a file."""
    name = volume.get("name")
    if isinstance(secret := volume.get("secret"), dict):
        return _of_secret(kind, path, inside, (f"volumes[{name}].secret", "secretName"), secret)
    sources = _objects((volume.get("projected") or {}).get("sources"))
    for source in sources:
        if isinstance(secret := source.get("secret"), dict) and _key_of(secret, inside):
            if not secret.get("items") and len(sources) > 1:
                break  # any of them may have it
            where = f"volumes[{name}].projected.secret"
            return _of_secret(kind, path, inside, (where, "name"), secret)
    return Paper(kind, path, Elsewhere())


def _of_secret(kind: str, path: str, inside: str, where: tuple[str, str], secret: Json) -> Found:
    field, named = where
    if not secret.get(named):
        return Lack(f"{field}.{named}", "must name the secret that the certificate is in")
    if secret.get("optional"):
        return Lack(
            f"{field}.optional",
            "must not be true: pods would start before there is a certificate",
        )
    key = _key_of(secret, inside)
    if not key:
        words = f"must show {inside!r}: the file {path} is told to be the {kind} of TLS"
        return Lack(f"{field}.items", words)
    return Paper(kind, path, InSecret(str(secret[named]), key))


def _key_of(secret: Json, inside: str) -> str:
    """Return the key of a secret that is a file in its volume; empty: none is."""
    items = _objects(secret.get("items"))
    if items:
        return next((str(it.get("key")) for it in items if it.get("path") == inside), "")
    return "" if "/" in inside or inside == "." else inside


def _objects(some: Any) -> list[Json]:
    return [it for it in some if isinstance(it, dict)] if isinstance(some, list) else []
