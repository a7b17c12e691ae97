"""Tokens of service accounts, as a real API server gives them out."""

from __future__ import annotations

from dataclasses import dataclass

from stateward.core.moments import from_rfc3339
from stateward.kube.client import Client
from stateward.kube.codec import Json, Part
from stateward.kube.meta import Object
from stateward.kube.resources import Resource
from stateward.local.agent.tokens import Ask, Token
from stateward.local.catalog import SERVICE_ACCOUNTS


class _Status(Part):
    token: str = ""
    expiration_timestamp: str = ""

    def __repr__(self) -> str:
        return f"_Status(until {self.expiration_timestamp})"


class _TokenRequest(Object):
    status: _Status = _Status()


@dataclass(frozen=True, slots=True)
class ServerTokens:
    """Asks the API server; a token is good as long as its pod is there."""

    client: Client

    async def issue(self, ask: Ask) -> Token:
        """Return a new token."""
        made = await self.client.create(_place(ask.account), _body(ask))
        return Token(made.status.token, from_rfc3339(made.status.expiration_timestamp))


def _place(account: str) -> Resource[_TokenRequest]:
    """Return where the tokens of an account are created, as a kind of their own."""
    plural = f"{SERVICE_ACCOUNTS.plural}/{account}/token"
    return Resource("", "v1", "TokenRequest", plural, _TokenRequest)


def _body(ask: Ask) -> Json:
    spec: Json = {
        "expirationSeconds": ask.seconds,
        "boundObjectRef": {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": ask.pod.name,
            "uid": ask.uid,
        },
    }
    if ask.audience:
        spec["audiences"] = [ask.audience]
    return {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "metadata": {"namespace": ask.pod.namespace},
        "spec": spec,
    }
