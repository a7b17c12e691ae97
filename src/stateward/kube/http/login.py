"""What a request is sent with: headers that say who we are, and its TLS context."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from urllib.parse import quote

from stateward.core.clock import Clock
from stateward.kube.http.access import (
    Anonymous,
    BearerToken,
    ClusterAccess,
    CredentialSource,
    ExecPlugin,
    Impersonation,
    TokenFile,
    UserPassword,
)
from stateward.kube.http.credentials import (
    Credentials,
    FileCredentials,
    FixedCredentials,
    Identity,
    basic,
    bearer,
)
from stateward.kube.http.exec_plugin import PluginCredentials
from stateward.kube.http.tls import TlsContexts


@dataclass(frozen=True, slots=True)
class Login:
    """An identity and a context. The server would give equal ones the same answer."""

    identity: Identity
    #: True where there is no TLS: the HTTP library's word for its default.
    context: ssl.SSLContext | bool


class Logins:
    """The login to use now."""

    def __init__(self, access: ClusterAccess, clock: Clock) -> None:
        self._encrypted = access.server.startswith("https:")
        self._credentials = credentials_for(access.credentials, clock)
        self._tls = TlsContexts(access.tls, clock)
        self._acting_as = impersonation_headers(access.impersonation)

    async def current(self) -> Login:
        """Return the login to use now."""
        identity = await self._credentials.current()
        context = self._tls.current(identity.certificate) if self._encrypted else True
        return Login(identity, context)

    async def renewed(self, refused: Login) -> Login:
        """Return the login to use after a 401: the same one, if nothing has changed and nothing
        can.
        """
        self._credentials.refused(refused.identity)
        self._tls.recheck()
        return await self.current()

    def lost(self, *, handshake: bool) -> None:
        """Hear that a connection was lost: the files behind its context may have been replaced.

        Not every failed handshake says so, since a reset may overtake the server's last words.
        """
        if handshake:
            self._tls.doubt()
        else:
            self._tls.recheck()

    def headers(self, login: Login) -> tuple[tuple[str, str], ...]:
        """Return the headers that say who we are and whom we act as."""
        if not login.identity.authorization:
            return self._acting_as
        return (("Authorization", login.identity.authorization), *self._acting_as)

    async def close(self) -> None:
        """Stop whatever is under way."""
        await self._credentials.close()


def credentials_for(source: CredentialSource, clock: Clock) -> Credentials:
    """Return the credentials that a description describes."""
    match source:
        case Anonymous():
            return FixedCredentials()
        case BearerToken(token):
            return FixedCredentials(bearer(token))
        case UserPassword(user, password):
            return FixedCredentials(basic(user, password))
        case TokenFile(path):
            return FileCredentials(path, clock)
        case ExecPlugin():
            return PluginCredentials(source, clock)


def impersonation_headers(acting: Impersonation | None) -> tuple[tuple[str, str], ...]:
    """Return the headers that ask the server to treat us as somebody else."""
    if acting is None:
        return ()
    return (
        ("Impersonate-User", acting.user),
        *((("Impersonate-Uid", acting.uid),) if acting.uid else ()),
        *(("Impersonate-Group", group) for group in acting.groups),
        *(
            (f"Impersonate-Extra-{quote(name.lower(), safe='')}", value)
            for name, value in acting.extra
        ),
    )
