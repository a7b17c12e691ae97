"""Which cluster a command means; and to ask it something, which ends with a sentence in time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import click

from stateward.core.errors import PeerUnreachable
from stateward.core.ports import Ports
from stateward.kube.http.access import ClusterAccess
from stateward.kube.http.client import HttpClient, Limits

T = TypeVar("T")
C = TypeVar("C", bound=Callable[..., Any])

_KUBECONFIG = click.option(
    "--kubeconfig", default="", metavar="FILE", help="Use this file, not the usual ones."
)
_CONTEXT = click.option(
    "--context", default="", metavar="NAME", help="Use this context of the file."
)


def which_cluster(command: C) -> C:
    """Have a command take --kubeconfig and --context, as kubectl does."""
    return _KUBECONFIG(_CONTEXT(command))


async def ask(
    access: ClusterAccess, patience: float, question: Callable[[HttpClient], Awaitable[T]]
) -> T:
    """Return the answer to a question that is asked once, logging in included."""
    ports = Ports.of_this_machine()
    limits = Limits(deadline=patience, attempts=1)
    try:
        async with (
            asyncio.timeout(patience),
            HttpClient(access, ports.clock, ports.chance, limits=limits) as client,
        ):
            return await question(client)
    except TimeoutError:
        raise PeerUnreachable(
            f"{access.server} must answer within {patience:g} s, logging in included",
            hint="check the server and the credentials of the context, or give it more --timeout",
        ) from None
