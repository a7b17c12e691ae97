"""Who we say we are, request by request: the part of a login that may change while we run.

A server that answers 401 did nothing else, so the client tells the credentials and asks them once
more. Each kind decides what that is worth: a token file is read again, a plugin runs again, a fixed
token stays what it is.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from stateward.core.clock import Clock
from stateward.core.errors import UsageError

#: A mounted token is renewed long before it ends; looking more often than this gains nothing.
TOKEN_FILE_INTERVAL = 60.0


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """A certificate and its key, in PEM."""

    certificate: bytes = field(repr=False)
    key: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Identity:
    """What to show with one request: a value for the Authorization header, a certificate, or
    nothing.
    """

    authorization: str = field(default="", repr=False)
    certificate: ClientCertificate | None = None


NOBODY = Identity()


class Credentials(Protocol):
    """Where identities come from."""

    async def current(self) -> Identity:
        """Return what to show now."""

    def refused(self, identity: Identity) -> None:
        """Hear that the server answered 401 to this identity: the next one must not come from a
        cache.
        """

    async def close(self) -> None:
        """Stop whatever is under way."""


class FixedCredentials:
    """An identity that never changes."""

    def __init__(self, identity: Identity = NOBODY) -> None:
        self._identity = identity

    async def current(self) -> Identity:
        """Return it."""
        return self._identity

    def refused(self, identity: Identity) -> None:
        """Nothing to be done: there is no other."""

    async def close(self) -> None:
        """Nothing is ever under way."""


class FileCredentials:
    """A token in a file that somebody renews.

    Once read, an unreadable moment of the file costs nothing.
    """

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._identity: Identity | None = None
        self._read_at = 0.0

    async def current(self) -> Identity:
        """Return the token, as of at most a minute ago."""
        now = self._clock.monotonic()
        if self._identity is None or now - self._read_at >= TOKEN_FILE_INTERVAL:
            self._identity = self._read(self._identity)
            self._read_at = now
        return self._identity

    def refused(self, identity: Identity) -> None:
        """Read the file again at once, unless that has already happened."""
        if identity == self._identity:
            self._read_at = self._clock.monotonic() - TOKEN_FILE_INTERVAL

    async def close(self) -> None:
        """Nothing is ever under way."""

    def _read(self, last: Identity | None) -> Identity:
        problem = "it is empty"
        try:
            token = self._path.read_text(encoding="utf-8").strip()
            if token and token.isprintable():
                return bearer(token)
            if token:
                problem = "it holds more than one line of printable characters"
        except OSError as error:
            problem = error.strerror or type(error).__name__
        except UnicodeDecodeError:
            problem = "it is not text"
        if last is not None:
            return last
        raise UsageError(
            f"the token file {self._path} must hold a token: {problem}",
            hint="check that the service account or the token's owner writes it",
        )


def bearer(token: str) -> Identity:
    """Return the identity that a token gives."""
    return Identity(f"Bearer {token}")


def basic(user: str, password: str) -> Identity:
    """Return the identity that a user name and a password give."""
    return Identity(f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}")
