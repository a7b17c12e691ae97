"""fdbserver as processes: who controls the cluster is killed, stopped, of another version, or lied to."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trustme

from contract.fdb.labs import DOUBLE, there, value
from contract.fdb.process_labs import ProcessLab, process_lab
from fakes.fdb_databases import names
from stateward.emulate.fdb.programs import shims
from stateward.fdb.admin.errors import DatabaseSilent
from stateward.fdb.admin.keys import KeyTransaction
from stateward.fdb.model.names import LOG_GROUP
from stateward.fdb.status import health, recovery
from stateward.fdb.status.document import Clients, ConnectedClient, SupportedVersion
from stateward.fdb.status.facts import cluster
from stateward.fdb.status.reading import Status

#: What a process says to the kernel to be without a right for good, and the right of root to
#: write everywhere.
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1


def as_anybody() -> None:
    """Take from a program that is about to begin the right to write where it is forbidden."""
    if os.geteuid() == 0:
        assert ctypes.CDLL(None, use_errno=True).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE) == 0


@asynccontextmanager
async def created(**options: object) -> AsyncIterator[ProcessLab]:
    async with process_lab(**options) as lab:  # type: ignore[arg-type]
        await lab.admin.create(DOUBLE)
        yield lab


async def controller(lab: ProcessLab) -> str:
    """Return the name of who controls the cluster: whoever listens for all others."""
    found = await lab.seeker().look()
    assert found is not None
    return next(it for it in names() if lab.at(it) == found)


async def test_who_is_made_for_it_controls_the_cluster() -> None:
    async with created() as lab:
        assert (await controller(lab)).startswith("stateless")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP])
async def test_another_controls_it_when_who_did_is_gone(how: signal.Signals) -> None:
    async with created() as lab:
        await lab.typed("writemode on; set kept yes")
        first = await controller(lab)
        os.kill(lab.pid(first), how)
        await lab.sees(health.is_available, True)
        assert "`kept' is `yes'" in (await lab.typed("get kept")).out
        await lab.sees(there(first), False)
        assert await controller(lab) != first


async def test_who_stood_still_and_believes_it_controls_does_no_harm() -> None:
    async with created() as lab:
        first = await controller(lab)
        os.kill(lab.pid(first), signal.SIGSTOP)
        await lab.sees(there(first), False)
        await lab.typed("writemode on; set after 1")
        os.kill(lab.pid(first), signal.SIGCONT)
        await lab.sees(there(first), True)
        assert "`after' is `1'" in (await lab.typed("get after")).out


async def test_everybody_is_killed_and_comes_back_with_what_was_known() -> None:
    async with created() as lab:
        await lab.typed("writemode on; set kept yes")
        await lab.lose(*names())
        assert value(health.is_available(await lab.admin.status())) is False
        await lab.come_back(*names())
        await lab.sees(health.is_available, True)
        assert "`kept' is `yes'" in (await lab.typed("get kept")).out


async def test_an_operator_is_a_client_of_its_own_kind() -> None:
    async with created() as lab:
        found = cluster(await lab.admin.status()).clients
        assert isinstance(found, Clients)
        assert isinstance(found.supported_versions, list)
        groups = [it.log_group for one in found.supported_versions for it in _newest(one)]
        assert {*groups} == {LOG_GROUP}, "so it holds no upgrade up"


def _newest(version: SupportedVersion) -> list[ConnectedClient]:
    found = version.max_protocol_clients
    assert isinstance(found, list)
    return found


async def test_a_command_goes_on_when_who_controls_dies_in_the_middle() -> None:
    async with created() as lab:
        await lab.sees(health.is_fully_replicated, True)
        waiting = asyncio.create_task(lab.typed(f"exclude {lab.at('storage-5').plain}", 400))
        await asyncio.sleep(0.5)
        os.kill(lab.pid(await controller(lab)), signal.SIGKILL)
        answer = await waiting
        assert (answer.code, "Successfully excluded" in answer.out) == (0, True), answer
        assert answer.out.count("Waiting for state") == 1


async def test_what_is_turned_on_lasts_for_a_talk() -> None:
    async with created() as lab:
        process = await asyncio.create_subprocess_exec(
            *(str(lab.programs / "fdbcli"), "-C", str(lab.file)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        out, _ = await process.communicate(b"writemode on\nset a b\nget a\nexit\n")
        assert b"Committed" in out
        assert b"`a' is `b'" in out


def ignores(process: int, number: signal.Signals) -> bool:
    """Tell whether a process has said that it does not mind a signal."""
    text = Path(f"/proc/{process}/status").read_text()
    mask = next(it.split()[1] for it in text.splitlines() if it.startswith("SigIgn:"))
    return bool(int(mask, 16) >> (number - 1) & 1)


async def test_ctrl_c_does_not_end_a_command() -> None:
    async with process_lab() as lab:
        words = ["-C", str(lab.file), "--exec", "getversion", "--timeout", "60"]
        process = await asyncio.create_subprocess_exec(
            *(str(lab.programs / "fdbcli"), *words),
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "STATEWARD_FDB_PACE": "20"},
        )
        for _ in range(1000):
            if ignores(process.pid, signal.SIGINT):
                break
            await asyncio.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = await process.communicate()
        assert (process.returncode, b"Specified timeout reached" in err) == (1, True)


async def test_two_processes_do_not_share_a_data_folder() -> None:
    async with created() as lab:
        process = await asyncio.create_subprocess_exec(
            *(str(lab.programs / "fdbserver"), "-C", str(lab.file), "-p"),
            *(f"{lab.at('storage-1').host}:4600", "-d", str(lab.folder / "storage-5" / "data")),
            stderr=asyncio.subprocess.PIPE,
        )
        _, err = await process.communicate()
        assert (process.returncode, b"is the data folder of a process" in err) == (1, True)


@pytest.mark.long
async def test_what_was_acknowledged_is_not_undone_by_a_minority() -> None:
    """One coordinator alone is told more, and comes back after the others went on without it."""
    async with created() as lab:
        await lab.typed("writemode on; set first 1")
        await lab.lose("storage-2", "storage-3")
        answers = [await lab.typed(f"writemode on; set alone{n} 1", 5) for n in range(3)]
        assert all(it.code for it in answers), "a minority acknowledges nothing"
        await lab.lose("storage-1", "stateless-1", "stateless-2")
        await lab.come_back("storage-2", "storage-3")
        await lab.sees(health.is_available, True)
        await lab.typed("writemode on; set second 2")
        await lab.come_back("storage-1", "stateless-1", "stateless-2")
        await lab.sees(there("stateless-1"), True)
        for key, it in (("first", "1"), ("second", "2")):
            assert f"`{key}' is `{it}'" in (await lab.typed(f"get {key}", 100)).out


async def test_an_fdbcli_that_is_killed_leaves_what_it_did() -> None:
    async with created() as lab:
        words = ["-C", str(lab.file), "--exec", f"exclude {lab.at('storage-5').plain}"]
        process = await asyncio.create_subprocess_exec(
            str(lab.programs / "fdbcli"), *words, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        await process.stdout.readline()
        process.kill()
        await process.wait()
        assert len((await lab.admin.exclusions()).excluded) == 1
        assert await lab.writes()


async def test_garbage_at_its_door_disturbs_nobody() -> None:
    async with created() as lab:
        for raw in (b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 64, b"\x00\x00\x00\x04abcd", b""):
            for name in ("storage-1", "stateless-1"):
                address = lab.at(name)
                _, writer = await asyncio.open_connection(address.host, address.port)
                writer.write(raw)
                await writer.drain()
                writer.close()
        assert await lab.writes()


async def test_one_that_stands_still_by_command_ends_and_comes_back() -> None:
    async with created() as lab:
        before = lab.pid("storage-5")
        await lab.typed(f"suspend; suspend 100 {lab.at('storage-5').plain}; sleep 3", 60)
        await lab.sees(there("storage-5"), False)
        await lab.sees(there("storage-5"), True)
        assert lab.pid("storage-5") != before


async def test_who_controls_stands_still_too_when_it_is_told_to() -> None:
    async with created() as lab:
        first = await controller(lab)
        before = lab.pid(first)
        await lab.typed(f"suspend; suspend 60 {lab.at(first).plain}; sleep 3", 100)
        await lab.pass_by(20)
        assert lab.pid(first) == before, "it stands still before it ends"
        await lab.sees(health.is_available, True)
        await lab.sees(lambda _status: lab.pid(first) != before, True)
        await lab.sees(there(first), True)


async def test_a_process_without_a_cluster_file_is_seeded() -> None:
    async with process_lab() as lab:
        other = lab.folder / "seeded"
        other.mkdir()
        process = await asyncio.create_subprocess_exec(
            *(str(lab.programs / "fdbserver"), "-C", str(other / "fdb.cluster")),
            *("--seed-cluster-file", str(lab.file), "-p", f"{lab.at('storage-1').host}:4600"),
            *("-d", str(other / "data"), "--locality-instance-id", "seeded"),
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        lines = [await process.stdout.readline() for _ in range(2)]
        process.kill()
        await process.wait()
        assert [it.decode().partition(":")[0].strip() for it in lines] == [
            "EMULATED",
            "FDBD joined cluster.",
        ]
        assert (other / "fdb.cluster").exists()


async def test_who_cannot_write_its_cluster_file_is_told_and_goes_on() -> None:
    async with created() as lab:
        folder = lab.folder / "readonly"
        folder.mkdir()
        (folder / "fdb.cluster").write_text(lab.file.read_text())
        (folder / "fdb.cluster").chmod(0o444)
        folder.chmod(0o555)
        new = [lab.at(it) for it in ("storage-1", "storage-4", "storage-5")]
        await lab.admin.change_coordinators(new)
        for line, told in (
            ("status minimal", "not up to date"),
            ("coordinators", str(lab.at("storage-4"))),
        ):
            process = await asyncio.create_subprocess_exec(
                *(str(lab.programs / "fdbcli"), "-C", str(folder / "fdb.cluster"), "--exec", line),
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                preexec_fn=as_anybody,
            )
            out, _ = await process.communicate()
            assert told in out.decode()
        assert str(lab.at("storage-4")) not in (folder / "fdb.cluster").read_text()


# -------------------------------------------------------------------------- versions


async def test_a_process_of_another_minor_release_does_not_belong() -> None:
    async with created() as lab:
        await lab.lose("storage-5")
        lab.versions["storage-5"] = shims.install(lab.folder / "7.1", "7.1.67")
        await lab.come_back("storage-5")

        def strangers(status: Status) -> object:
            return list(status.document.cluster.incompatible_connections or ())

        await lab.sees(strangers, [str(lab.at("storage-5"))])
        assert there("storage-5")(await lab.admin.status()) is False
        await lab.lose("storage-5")
        await lab.sees(strangers, [])


async def test_all_are_restarted_as_the_next_release_at_once() -> None:
    # All processes begin anew while fdbcli waits: on a busy machine that takes seconds of the
    # world, which are minutes at the usual pace, and fdbcli gives up after 40 seconds.
    async with created(pace=5.0) as lab:
        await lab.typed("writemode on; set kept yes")
        before = value(recovery.count(await lab.admin.status()))
        newer = shims.install(lab.folder / "7.4", "7.4.5")
        lab.versions = dict.fromkeys(names(), newer)
        await lab.admin.kill([lab.at(it) for it in names()], twice=True)
        silent = await lab.admin.status()  # by the fdbcli of the release before
        assert value(health.is_available(silent)) is False
        lab.use_version("7.4.5", newer)
        status = await lab.sees(health.is_available, True)
        assert value(recovery.count(status)) > before
        assert {it.version for it in (status.document.cluster.processes or {}).values()} == {
            "7.4.5"
        }
        assert "`kept' is `yes'" in (await lab.typed("get kept")).out


@pytest.mark.long
async def test_an_upgrade_that_was_taken_back_leaves_nobody_behind() -> None:
    def many(status: Status) -> object:
        return len(status.document.cluster.processes or {})

    async with created() as lab:
        newer = shims.install(lab.folder / "7.4", "7.4.5")
        for versions in (dict.fromkeys(("storage-1", "storage-2"), newer), {}):
            lab.versions = versions
            await lab.lose("storage-1", "storage-2")
            await lab.come_back("storage-1", "storage-2")
            await lab.pass_by(60)
        await lab.sees(health.is_available, True)
        lab.versions = dict.fromkeys(names(), newer)
        await lab.lose(*names())
        await lab.come_back(*names())
        lab.use_version("7.4.5", newer)
        await lab.sees(health.is_available, True)
        await lab.sees(many, len(names()))
        assert await lab.writes()


async def test_patches_mix() -> None:
    async with created() as lab:
        await lab.lose("storage-5")
        lab.versions["storage-5"] = shims.install(lab.folder / "7.3.80", "7.3.80")
        await lab.come_back("storage-5")
        await lab.sees(there("storage-5"), True)


# -------------------------------------------------------------------------- TLS


class Trust:
    """An authority, and the papers of whoever it believes, in files."""

    def __init__(self, folder: Path, organization: str = "Shop") -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._authority = trustme.CA(organization_name=organization)
        (folder / "ca").write_bytes(self._authority.cert_pem.bytes())

    def papers(self, name: str, rules: str = "") -> dict[str, str]:
        """Return what programs are told of TLS."""
        leaf = self._authority.issue_cert(f"{name}.shop", common_name=name)
        (self._folder / f"{name}.cert").write_bytes(
            b"".join(it.bytes() for it in leaf.cert_chain_pems)
        )
        (self._folder / f"{name}.key").write_bytes(leaf.private_key_pem.bytes())
        found = {
            "FDB_TLS_CERTIFICATE_FILE": str(self._folder / f"{name}.cert"),
            "FDB_TLS_KEY_FILE": str(self._folder / f"{name}.key"),
            "FDB_TLS_CA_FILE": str(self._folder / "ca"),
        }
        return found | ({"FDB_TLS_VERIFY_PEERS": rules} if rules else {})


async def typed(lab: ProcessLab, line: str, env: dict[str, str]) -> tuple[int, str, str]:
    """Return what fdbcli says to somebody with other papers."""
    process = await asyncio.create_subprocess_exec(
        *(str(lab.programs / "fdbcli"), "-C", str(lab.file), "--exec", line, "--timeout", "100"),
        env={"PATH": os.environ["PATH"], "STATEWARD_FDB_PACE": "10", **env},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


async def test_with_tls_only_who_is_believed_is_answered(tmp_path: Path) -> None:
    trust = Trust(tmp_path / "ours")
    async with created(tls=trust.papers("db")) as lab:
        assert await lab.writes()
        status = await lab.admin.status()
        entries = (status.document.cluster.processes or {}).values()
        assert all((it.address or "").endswith(":tls") for it in entries)
        await lab.admin.change_coordinators([lab.at(f"storage-{n}") for n in (1, 4, 5)])
        assert await lab.admin.kill([lab.at("storage-5")]) == 1

        code, _, err = await typed(lab, "status minimal", {})
        assert (code, "not configured with TLS" in err) == (1, True)
        for papers in (
            Trust(tmp_path / "theirs").papers("db"),
            trust.papers("picky", "S.CN=other"),
        ):
            code, out, _ = await typed(lab, "status minimal", papers)
            assert (code, "unavailable" in out) == (0, True)
        code, out, _ = await typed(lab, "status minimal", trust.papers("fond", "S.CN>=d,I.O=Shop"))
        assert (code, "The database is available" in out) == (0, True)


# -------------------------------------------------------------------------- keys


@pytest.mark.long
async def test_a_transaction_without_anybody_is_given_up() -> None:
    async with created() as lab:
        keys = lab.keys
        await lab.lose(*names())

        async def look(transaction: KeyTransaction) -> bytes | None:
            return await transaction.get(b"a")

        with pytest.raises(DatabaseSilent):
            await keys.transact(look)
