"""A whole split pod: init container, sidecar and fdbmonitor, each seeing the same folder elsewhere."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import aiohttp

from local.keepers.runs import Run, fdbserver, outcome, running, variables_of, words_of

CONF = """\
[general]
kill_on_configuration_change = false
restart_delay = 60
[fdbserver.1]
command = $BINARY_DIR/fdbserver
cluster_file = /var/fdb/data/fdb.cluster
class = {role}
locality_zoneid = $FDB_ZONE_ID
public_address = $FDB_PUBLIC_IP:4501
"""


class Pod:
    """Folders of a pod, and what each of its containers is told."""

    def __init__(self, folder: Path) -> None:
        self.config, self.shared, self.data = folder / "config", folder / "shared", folder / "data"
        for it in (self.config, self.shared, self.data):
            it.mkdir()
        self.programs = fdbserver(folder / "programs").parent
        (self.config / "fdb.cluster").write_text("a:b@127.0.0.1:4501")

    def write(self, role: str) -> None:
        (self.config / "fdbmonitor.conf").write_text(CONF.format(role=role))

    def env(self, mounts: dict[str, Path], **more: str) -> dict[str, str]:
        return {
            "STATEWARD_MOUNTS": json.dumps({k: str(v) for k, v in mounts.items()}),
            "STATEWARD_FDB_PROGRAMS": str(self.programs),
            "FDB_PUBLIC_IP": "127.0.0.1",
            "FDB_ZONE_ID": "z1",
            **more,
        }

    def sidecar_env(self, version: str) -> dict[str, str]:
        mounts = {"/var/input-files": self.config, "/var/output-files": self.shared}
        return self.env(mounts, STATEWARD_FDB_VERSION=version)

    def main_env(self) -> dict[str, str]:
        return self.env({"/var/dynamic-conf": self.shared, "/var/fdb/data": self.data})


def words(*more: str) -> tuple[str, ...]:
    return (
        *("--copy-file", "fdb.cluster", "--input-monitor-conf", "fdbmonitor.conf"),
        *("--copy-binary", "fdbserver", "--main-container-version", "7.3.79", *more),
    )


MAIN = (
    *("--conffile", "/var/dynamic-conf/fdbmonitor.conf"),
    *("--lockfile", "/var/dynamic-conf/fdbmonitor.lockfile"),
)


async def tell(run: Run, path: str) -> int:
    address = (await run.said("Listening on ")).removeprefix("Listening on ")
    async with aiohttp.ClientSession() as session, session.post(f"http://{address}{path}") as it:
        return it.status


async def test_a_split_pod_lives_and_is_upgraded(tmp_path: Path) -> None:
    pod = Pod(tmp_path)
    pod.write("log")
    code, lines = await outcome("sidecar", *words("--init-mode"), env=pod.sidecar_env("7.3.79"))
    assert code == 0, lines
    async with running("fdbmonitor", *MAIN, env=pod.main_env()) as main:
        await main.said("FDBD joined cluster.")
        (pid,) = main.children()
        shown = variables_of(pid)["STATEWARD_COMMAND_LINE"]
        assert shown.startswith("/usr/bin/fdbserver --class log --cluster_file /var/fdb/data/")
        assert words_of(pid)[3] == str(pod.data / "fdb.cluster")
        assert shown.endswith("--locality_zoneid z1 --public_address 127.0.0.1:4501")

        sidecar_words = words("--bind-address", "127.0.0.1:0")
        async with running("sidecar", *sidecar_words, env=pod.sidecar_env("7.4.1")) as sidecar:
            await sidecar.said("Listening on ")
            await main.said("Found new configuration for fdbserver.1")
            pod.write("storage")
            assert await tell(sidecar, "/copy_monitor_conf") == 200
            await main.said("Found new configuration for fdbserver.1", 2)
            assert main.children() == [pid]
        await killed(main, pid)
        (pid,) = main.children()
        shown = variables_of(pid)["STATEWARD_COMMAND_LINE"]
        assert shown.startswith("/var/dynamic-conf/bin/7.4.1/fdbserver --class storage")
        assert await main.end() == 0


async def killed(run: Run, pid: int) -> None:
    os.kill(pid, signal.SIGUSR1)
    await run.said("FDBD joined cluster.", 2)
