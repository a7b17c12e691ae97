"""FoundationDB with TLS: certificates from a secret, a live cluster that gets TLS and gives it up."""

from __future__ import annotations

import asyncio
import socket
import ssl
from base64 import b64encode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fakes import fdb_tls
from fakes.fdb_tls import OFF, ON, SECRET
from operators.fdb.fdb_hands import CLUSTER, NAMESPACE, uids
from operators.fdb.fdb_worlds import PATIENCE, World, small, world
from stateward.fdb.api.kind import FoundationDBCluster
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.connection import ConnectionString
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import SECRETS
from stateward.local.issuing import Authority

NOW = datetime.now(UTC)


@dataclass(slots=True)
class Writer:
    """Somebody who writes all the time, and remembers what was acknowledged."""

    it: World
    written: dict[str, str] = field(default_factory=dict)

    async def write(self) -> None:
        number = 0
        while True:
            number += 1
            key, value = f"order{number}", f"apples{number * 7}"
            line = f"writemode on; set {key} {value}"
            if "Committed" in await self.it.typed(CLUSTER, line):
                self.written[key] = value
            await asyncio.sleep(0.5)

    async def lost(self) -> list[str]:
        """Return what was acknowledged and is not there."""
        lines = "; ".join(f"get {key}" for key in self.written)
        said = await self.it.typed(CLUSTER, lines)
        return [key for key, it in self.written.items() if f"`{key}' is `{it}'" not in said]


@asynccontextmanager
async def writing(it: World) -> AsyncGenerator[Writer, None]:
    """Write until the end of the block; nothing that was acknowledged may be lost by then."""
    found = Writer(it)
    task = asyncio.create_task(found.write())
    try:
        yield found
        assert not task.done(), task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert len(found.written) > 3, "nothing was written"
    assert await found.lost() == []


@asynccontextmanager
async def secured(plane: str, folder: Path) -> AsyncGenerator[tuple[World, Authority], None]:
    """Run a world in which the operator has a certificate, by an authority of its own."""
    signer = fdb_tls.authority(NOW)
    held = fdb_tls.files(signer, NOW)
    variables = {}
    for name, file in fdb_tls.FILES.items():
        (folder / file).write_bytes(held[file])
        variables[f"FDB_TLS_{name}_FILE"] = str(folder / file)
    async with world(plane) as it:
        it.shared = replace(it.shared, environment={**it.shared.environment, **variables})
        async with it.operating():
            yield it, signer


def processes() -> Json:
    """Return the usual processes of stories, with certificates in their pods."""
    general: Json = small()["processes"]["general"]
    pod = general["podTemplate"]["spec"]
    [usual] = pod["containers"]
    more = fdb_tls.container()
    container = {**usual, **more, "env": [*usual["env"], *more["env"]]}
    made = fdb_tls.template(container)["spec"]
    return {"general": {**general, "podTemplate": {"spec": {**pod, **made}}}}


async def keep(it: World, held: dict[str, bytes]) -> None:
    await it.client.create(SECRETS, fdb_tls.secret(held, NAMESPACE))


async def renew(it: World, held: dict[str, bytes]) -> None:
    data = {name: b64encode(one).decode() for name, one in held.items()}
    await it.client.patch(SECRETS, ObjectKey(NAMESPACE, SECRET), MergePatch({"data": data}))


def says(reason: str) -> Any:
    def holds(cluster: FoundationDBCluster) -> bool:
        return any(
            one.type == "Ready" and one.reason == reason for one in cluster.status.conditions
        )

    return holds


def shown(address: Address, folder: Path) -> bytes:
    """Return the certificate, as PEM, that a process shows to who comes."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(folder / "ca.crt")
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    with (
        socket.create_connection((address.host, address.port), 10) as plain,
        context.wrap_socket(plain) as found,
    ):
        return ssl.DER_cert_to_PEM_cert(found.getpeercert(binary_form=True) or b"").encode()


def kinds(cluster: FoundationDBCluster) -> set[bool]:
    """Return whether coordinators are found with TLS, and without."""
    found = ConnectionString.parse(cluster.status.connection_string)
    return {one.tls for one in found.coordinators}


async def test_a_live_cluster_gets_tls_and_gives_it_up(plane: str, tmp_path: Path) -> None:
    async with secured(plane, tmp_path) as (it, signer):
        await keep(it, fdb_tls.files(signer, NOW))
        await it.create(CLUSTER, processes=processes())
        assert kinds(await it.reconciled(CLUSTER)) == {False}
        pods = await uids(it)
        for asked, tls in ((ON, True), (OFF, False)):
            kills, moves = it.asked("kill"), it.asked("coordinators")
            async with writing(it):
                await it.edit(CLUSTER, **asked)
                assert kinds(await it.reconciled(CLUSTER)) == {tls}
            assert it.asked("kill") - kills == 2, "two restarts"
            assert it.asked("coordinators") - moves == 1
            assert (":tls" in await it.typed(CLUSTER, "status json")) is tls
        assert await uids(it) == pods, "no pod was made anew"


async def test_tls_from_the_first_day_and_certificates_that_are_renewed(
    plane: str, tmp_path: Path
) -> None:
    async with secured(plane, tmp_path) as (it, signer):
        held = fdb_tls.files(signer, NOW)
        await it.create(CLUSTER, processes=processes(), **ON)
        blocked = await it.until(CLUSTER, says("CertificateUnusable"))
        assert f"secret {NAMESPACE}/{SECRET} must be there" in blocked.status.doing
        assert await it.groups(CLUSTER) == [], "nothing starts without it"
        await keep(it, fdb_tls.files(signer, NOW - timedelta(days=9), days=1))
        expired = await it.until(
            CLUSTER, lambda one: "has expired at" in str(one.status.conditions)
        )
        assert "BEGIN" not in str(expired.status)
        await renew(it, held)
        cluster = await it.reconciled(CLUSTER)
        assert kinds(cluster) == {True}
        address = ConnectionString.parse(cluster.status.connection_string).coordinators[0]
        pods, kills = await uids(it), it.asked("kill")
        async with writing(it) as writer:
            other = fdb_tls.files(signer, NOW, days=99)
            await renew(it, other)
            async with asyncio.timeout(PATIENCE):
                while await asyncio.to_thread(shown, address, tmp_path) != other["tls.crt"]:  # noqa: ASYNC110
                    await asyncio.sleep(1)
                many = len(writer.written)
                while len(writer.written) < many + 4:  # noqa: ASYNC110 - a writer rings no bell
                    await asyncio.sleep(1)
        assert await uids(it) == pods
        assert it.asked("kill") == kills, "a renewed certificate restarts nobody"
