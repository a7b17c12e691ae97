"""How a cluster is reached, as values: where it is, whom to trust, and how we say who we are.

A kubeconfig or a pod's service account is read into these once (``kubeconfig.py``); the code that
talks to the cluster sees only them. They describe: files that may be rotated stay paths and are
read when needed. Nothing secret is in any ``repr``, so that no log line and no traceback can show
it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class PemFile:
    """PEM text in a file, which may be replaced while we run."""

    path: Path


@dataclass(frozen=True, slots=True)
class PemText:
    """PEM text that we were given."""

    text: bytes = field(repr=False)


Pem: TypeAlias = PemFile | PemText


@dataclass(frozen=True, slots=True)
class TlsMaterial:
    """Whom to trust and what to show.

    Without an authority, the ones the machine trusts are trusted.
    """

    authority: Pem | None = None
    certificate: Pem | None = None
    key: Pem | None = None
    #: The name the server's certificate must be for, when that is not the name in the URL.
    server_name: str = ""
    verify: bool = True


@dataclass(frozen=True, slots=True)
class Anonymous:
    """Nothing in the headers; a client certificate may still say who we are."""


@dataclass(frozen=True, slots=True)
class BearerToken:
    """A token that never changes."""

    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class TokenFile:
    """A token in a file that somebody renews."""

    path: Path


@dataclass(frozen=True, slots=True)
class UserPassword:
    """HTTP basic authentication."""

    user: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ExecPlugin:
    """A command that prints credentials. Arguments and environment may be secret."""

    api_version: str
    command: str
    arguments: tuple[str, ...] = field(default=(), repr=False)
    #: All that the command will see, not only what the kubeconfig adds; the question to it is part
    #: of that.
    environment: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    install_hint: str = ""


CredentialSource: TypeAlias = Anonymous | BearerToken | TokenFile | UserPassword | ExecPlugin


@dataclass(frozen=True, slots=True)
class Impersonation:
    """Whom we act as, if the server lets us."""

    user: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """Everything needed to talk to one cluster."""

    server: str
    namespace: str = "default"
    tls: TlsMaterial = TlsMaterial()
    credentials: CredentialSource = Anonymous()
    impersonation: Impersonation | None = None
    #: Empty: directly. The address may contain a password.
    proxy: str = field(default="", repr=False)
    #: Where this was read, for people: a context and its file, or "in-cluster".
    origin: str = ""
