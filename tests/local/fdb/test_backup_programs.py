"""Programs of backups as processes: with TLS, while another begins to control, and to their end."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
import trustme

from contract.fdb.process_labs import ProcessLab, process_lab
from contract.fdb.test_backing_up import backed_up, keys, reaches, restored, write
from fakes import loops
from fakes.fdb_databases import names
from stateward.emulate.fdb.programs import shims
from stateward.fdb.admin.answers import Answer
from stateward.fdb.model.backups import BackupOrder, RestoreOrder
from stateward.fdb.status.backups.restore import RestoreStage


def papers(folder: Path) -> dict[str, str]:
    """Return what programs are told of TLS: one certificate for all."""
    authority = trustme.CA()
    one = authority.issue_cert("db")
    files = {it: folder / f"{it}.pem" for it in ("CERTIFICATE", "KEY", "CA")}
    files["CERTIFICATE"].write_bytes(b"".join(it.bytes() for it in one.cert_chain_pems))
    one.private_key_pem.write_to_path(files["KEY"])
    authority.cert_pem.write_to_path(files["CA"])
    return {f"FDB_TLS_{name}_FILE": str(it) for name, it in files.items()}


async def controller(lab: ProcessLab) -> str:
    """Return the name of who controls the cluster."""
    found = await lab.seeker().look()
    return next(it for it in names() if lab.at(it) == found)


def test_another_who_controls_the_cluster_goes_on_with_tls(tmp_path: Path) -> None:
    async def story() -> None:
        async with process_lab(tls=papers(tmp_path)) as lab:
            await lab.create()
            await write(lab, "set a 1")
            await lab.work("one")
            assert await lab.backups.start(BackupOrder("default", lab.place, 60))
            uid = (await backed_up(lab, reaches(0))).uid
            await lab.lose(await controller(lab))
            while not await lab.writes():
                await lab.pass_by(lab.look)
            then = await write(lab, "set b 2")
            backup = await backed_up(lab, reaches(then))
            assert backup.uid == uid
            await write(lab, r'clearrange "" \xff')
            await lab.restores.start(RestoreOrder("back", backup.url, then))
            assert (await restored(lab, "back")).stage is RestoreStage.COMPLETED
            assert await keys(lab) == {"a": "1", "b": "2", "tried": "1"}
            agent = lab.agent("one")
            agent.send_signal(signal.SIGTERM)
            assert await agent.wait() == -signal.SIGTERM
            assert "Traceback" not in (lab.folder / "agent-one" / "out").read_text()

    loops.run(story(), 120.0)


def test_without_a_database_they_wait_until_somebody_ends_them() -> None:
    async def story() -> Answer:
        async with process_lab() as lab:  # where nothing is configured
            return await lab.run_by().run("fdbbackup", ["status", "-C", str(lab.file)], 3)

    found = loops.run(story(), 60.0)
    assert (found.in_time, found.out) == (False, "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("backup_agent -C nothing", "1515"),
        ("backup_agent -C c --what", "unknown option `--what'"),
        ("fdbbackup status -C nothing", "1515"),
        ("fdbrestore status --dest-cluster-file nothing", "1515"),
        ("fdbbackup start -C c -d blobstore://k@h/n", "STATEWARD_FDB_BLOBSTORE must name"),
    ],
)
def test_what_is_wrong_is_said_and_ends(tmp_path: Path, words: str, said: str) -> None:
    (tmp_path / "c").write_text("lab:abcdefgh@127.0.9.9:4500")
    program, *rest = words.split()
    found = subprocess.run(
        [shims.install(tmp_path / "bin", "7.3.79") / program, *rest],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={it: text for it, text in os.environ.items() if it != "STATEWARD_FDB_BLOBSTORE"},
        timeout=30,
        check=False,
    )
    assert found.returncode in (1, 10)
    assert said in found.stderr
    assert "Traceback" not in found.stderr
