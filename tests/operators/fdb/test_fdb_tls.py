"""FoundationDB with TLS: certificates from a secret, a live cluster that gets TLS and gives it up."""

from __future__ import annotations

import asyncio
import socket
import ssl
from base64 import b64encode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fakes import fdb_tls
from fakes.fdb_tls import OFF, ON, SECRET
from operators.fdb.fdb_clients import shopping
from operators.fdb.fdb_hands import CLUSTER, NAMESPACE, uids
from operators.fdb.fdb_person import Person, with_kubectl
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
#: Seconds for which processes have run before they are restarted; usually it is a minute and more.
SOON = 5


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


async def test_tls_from_the_first_day_is_given_up_and_comes_back(
    plane: str, tmp_path: Path
) -> None:
    async with secured(plane, tmp_path) as (it, signer):
        person = with_kubectl(it, tmp_path)
        held = fdb_tls.files(signer, NOW)
        await it.create(CLUSTER, processes=processes(), minimumUptimeSecondsForBounce=SOON, **ON)
        await nothing_begins_without_certificates(it, person, signer)
        await renew(it, held)
        await person.ready()
        assert kinds(await it.get(CLUSTER)) == {True}
        await renewed_certificates_restart_nobody(it, signer, tmp_path)
        await a_live_cluster_changes_how_it_listens(it, person)


async def nothing_begins_without_certificates(it: World, person: Person, signer: Authority) -> None:
    said = await person.blocked("CertificateUnusable")
    assert f"secret {NAMESPACE}/{SECRET} must be there" in said
    assert "must be there" in await person.row()
    assert await it.groups(CLUSTER) == [], "nothing starts without it"
    await keep(it, fdb_tls.files(signer, NOW - timedelta(days=9), days=1))
    expired = await it.until(CLUSTER, lambda one: "has expired at" in str(one.status.conditions))
    assert "BEGIN" not in str(expired.status)
    assert await it.groups(CLUSTER) == []


async def renewed_certificates_restart_nobody(it: World, signer: Authority, folder: Path) -> None:
    string = (await it.get(CLUSTER)).status.connection_string
    address = ConnectionString.parse(string).coordinators[0]
    pods, kills = await uids(it), it.asked("kill")
    async with shopping(it, CLUSTER) as client:
        other = fdb_tls.files(signer, NOW, days=99)
        await renew(it, other)
        async with asyncio.timeout(PATIENCE):
            while await asyncio.to_thread(shown, address, folder) != other["tls.crt"]:  # noqa: ASYNC110
                await asyncio.sleep(1)
            many = len(client.kept)
            while len(client.kept) < many + 4:  # noqa: ASYNC110 - a client rings no bell
                await asyncio.sleep(1)
        assert await client.recoveries() == 0
    assert await uids(it) == pods
    assert it.asked("kill") == kills, "a renewed certificate restarts nobody"


async def a_live_cluster_changes_how_it_listens(it: World, person: Person) -> None:
    pods = await uids(it)
    for asked, tls in ((OFF, False), (ON, True)):
        kills, moves = it.asked("kill"), it.asked("coordinators")
        async with shopping(it, CLUSTER) as client:
            await person.patch(**asked)
            generation = await person.field("metadata.generation")
            await person.wait(f"jsonpath={{.status.generations.hasExtraListeners}}={generation}")
            await person.ready()
            assert kinds(await it.get(CLUSTER)) == {tls}
            assert await client.recoveries() >= 3, "both ways, coordinators, one way"
        assert it.asked("kill") - kills == 2, "two restarts"
        assert it.asked("coordinators") - moves == 1
        assert (":tls" in await it.typed(CLUSTER, "status json")) is tls
    assert await uids(it) == pods, "no pod was made anew"
