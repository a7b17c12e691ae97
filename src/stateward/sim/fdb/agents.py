"""The wire between an operator and sidecars of split pods: every call passes, and may go wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from stateward.core.errors import PeerConfused, PeerError, PeerUnreachable
from stateward.fdb.admin.pod_agent import AgentRefused, PodAgent
from stateward.sim.faults import Kind
from stateward.sim.fdb.keepers import Split
from stateward.sim.fdb.pods import FdbPods
from stateward.sim.fdb.programs import FdbProgram
from stateward.sim.network import Asked, Network

R = TypeVar("R")

#: Seconds after which a call that finds no way is given up.
_NO_WAY: Final = 5.0
_MANNER: Final = {True: "with TLS", False: "without TLS"}


@dataclass(frozen=True, slots=True)
class AgentCall:
    """One question to, or order for, a sidecar."""

    verb: str
    host: str
    writes: bool = False
    tls: bool = False

    def __str__(self) -> str:
        return f"sidecar {self.verb} at {self.host}"


class SimAgents:
    """The sidecars of all pods, as one operator process reaches them."""

    def __init__(self, pods: FdbPods, network: Network, is_cut: Callable[[str], bool]) -> None:
        self._pods = pods
        self._network = network
        self._is_cut = is_cut

    def reach(self, host: str, *, tls: bool = False) -> PodAgent:
        """Return the sidecar of the pod at an address; nobody is asked yet."""

        async def send(call: AgentCall, perform: Callable[[FdbProgram, Split], R]) -> R:
            return await self._send(replace(call, tls=tls), perform)

        return SimAgent(host, send)

    async def close(self) -> None:
        """End all connections."""

    async def _send(self, call: AgentCall, perform: Callable[[FdbProgram, Split], R]) -> R:
        async def carried() -> R:
            program = None if self._is_cut(call.host) else self._pods.at(call.host)
            keeper = program.keeper if program is not None else None
            if program is None or not isinstance(keeper, Split) or keeper.sidecar_away:
                await asyncio.sleep(_NO_WAY)
                raise PeerUnreachable(f"{call}: no way there")
            if keeper.errands.tls is not call.tls:
                raise PeerUnreachable(f"{call}: it speaks {_MANNER[not call.tls]}")
            return perform(program, keeper)

        return await self._network.send(call, carried, _refusal)


#: Sends a call and has it carried out where it arrives.
_Send = Callable[[AgentCall, Callable[[FdbProgram, Split], R]], Awaitable[R]]


class SimAgent:
    """One sidecar."""

    def __init__(self, host: str, send: _Send[object]) -> None:
        self._host = host
        self._send = send

    async def check_hash(self, file: str) -> str:
        """Return the SHA-256 of a file that fdbmonitor finds."""
        found = await self._send(
            AgentCall(f"check_hash {file}", self._host), lambda _, keeper: keeper.hash_of(file)
        )
        if found is None:
            raise AgentRefused(404, f"{file} must be a file of the output folder")
        return str(found)

    async def is_present(self, file: str) -> bool:
        """Tell whether fdbmonitor finds a file."""
        found = await self._send(
            AgentCall(f"is_present {file}", self._host), lambda _, keeper: keeper.has(file)
        )
        return bool(found)

    async def copy(self) -> None:
        """Have fdbmonitor find the files as the sidecar sees them now."""

        def copied(program: FdbProgram, keeper: Split) -> None:
            keeper.copy()
            program.adopt()

        await self._send(AgentCall("copy", self._host, writes=True), copied)

    async def substitutions(self) -> dict[str, str]:
        """Return the variables that it writes into files, with their values."""
        found: dict[str, str] = {}
        await self._send(
            AgentCall("substitutions", self._host),
            lambda _, keeper: found.update(keeper.errands.values),
        )
        return found

    async def certificate(self) -> str:
        """Return the SHA-256 of the certificate that it shows."""
        found = await self._send(
            AgentCall("certificate", self._host), lambda _, keeper: keeper.shown
        )
        return str(found)

    async def refresh(self) -> None:
        """Have it read its certificates anew."""
        call = AgentCall("refresh_certs", self._host, writes=True)
        await self._send(call, lambda _, keeper: keeper.refresh())


def _refusal(kind: Kind, call: Asked) -> PeerError | None:
    """Return how a sidecar refuses, or why it was not reached; it changed nothing then."""
    match kind:
        case Kind.CONFLICT if call.writes:
            return AgentRefused(500, "the files must be readable")
        case Kind.OVERLOADED | Kind.FAILED:
            return AgentRefused(500, "internal error")
        case Kind.UNAVAILABLE:
            return PeerUnreachable(f"{call}: refused to connect")
        case Kind.TIMED_OUT if not call.writes:
            return PeerUnreachable(f"{call}: no answer in time")
        case Kind.UNAUTHORIZED:
            return AgentRefused(401, "a certificate must be shown")
        case Kind.CONFUSED if not call.writes:
            return PeerConfused("the answer was cut in the middle")
        case _:
            return None
