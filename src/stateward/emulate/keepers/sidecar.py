"""The sidecar of the split images: copies files for fdbmonitor, and answers over HTTP.

``python -m stateward.emulate.keepers.sidecar --copy-file fdb.cluster --input-monitor-conf F``. With
``--init-mode`` it copies once and ends.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from stateward.core.errors import UsageError
from stateward.core.peers import rules as peers
from stateward.emulate.keepers.image import VERSION_FILE, Image
from stateward.emulate.keepers.split.substitutions import Wishes, substitutions
from stateward.emulate.keepers.split.work import Orders, Work

_NAME = "foundationdb-kubernetes-sidecar"


def main(argv: Sequence[str] | None = None) -> int:
    """Copy, and then answer until a signal or a call ends it; return the exit code."""
    given = _parser().parse_args(argv)
    try:
        image = Image.of(os.environ, VERSION_FILE)
        _say(image.banner(_NAME))
        work = _work(given, image)
        rules = peers.parse(_option(given.tls_verify_peers, "FDB_TLS_VERIFY_PEERS"))
        work.copy_all()
        if given.init_mode:
            return 0
        return asyncio.run(_serve(given, image, work, rules))
    except UsageError as error:
        _say(f"{_NAME}: {error.sentence()}")
        return 1


async def _serve(given: argparse.Namespace, image: Image, work: Work, rules: peers.Rules) -> int:
    # Who copies once has nobody to answer to.
    from stateward.emulate.keepers.split.api import Api  # noqa: PLC0415
    from stateward.emulate.keepers.split.serving import Door, Papers  # noqa: PLC0415

    papers = Papers(*_papers(given, image)) if given.tls else None

    async def renew() -> None:
        await door.renew()

    api = Api(work, rules if given.tls else None, renew)
    door = Door(api.app(), papers)
    try:
        _say(f"Listening on {await door.open(_address(given, work.values))}")
        return await _until_told(api.restart)
    finally:
        await door.close()


async def _until_told(restart: asyncio.Event) -> int:
    """Return the exit code: 0 after a signal, 1 when a restart was asked for."""
    ended = asyncio.Event()
    for it in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(it, ended.set)
    waiting = [asyncio.create_task(it.wait()) for it in (ended, restart)]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()
    return 1 if restart.is_set() else 0


def _work(given: argparse.Namespace, image: Image) -> Work:
    wishes = Wishes(
        image.version,
        given.main_container_version,
        given.main_container_conf_dir,
        given.substitute_variable,
        given.public_ip_family,
    )
    orders = Orders(
        source=image.places.path(given.input_dir),
        target=image.places.path(given.output_dir),
        files=given.copy_file,
        programs=given.copy_binary,
        libraries=given.copy_library,
        required=given.require_not_empty,
        monitor_conf=given.input_monitor_conf,
        main_version=given.main_container_version,
    )
    return Work(orders, image, substitutions(os.environ, wishes))


def _address(given: argparse.Namespace, values: Mapping[str, str]) -> str:
    if given.bind_address:
        return str(given.bind_address)
    return f"{values['FDB_POD_IP'] or values['FDB_PUBLIC_IP']}:8080"


def _papers(given: argparse.Namespace, image: Image) -> tuple[Path, Path, Path]:
    certificate, key, authority = (
        _option(getattr(given, f"tls_{name}_file"), f"FDB_TLS_{name.upper()}_FILE")
        for name in ("certificate", "key", "ca")
    )
    if not (certificate and key and authority):
        raise UsageError(
            "with --tls a certificate, its key and an authority must be given",
            hint="set FDB_TLS_CERTIFICATE_FILE, FDB_TLS_KEY_FILE and FDB_TLS_CA_FILE",
        )
    path = image.places.path
    return path(certificate), path(key), path(authority)


def _option(given: str, variable: str) -> str:
    return given or os.environ.get(variable, "")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - a program speaks


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=_NAME, allow_abbrev=False, description=f"EMULATED: Stateward's own {_NAME}"
    )
    for name in ("init-mode", "tls"):
        parser.add_argument(f"--{name}", action="store_true")
    texts = {
        "bind-address": "",
        "tls-certificate-file": "",
        "tls-ca-file": "",
        "tls-key-file": "",
        "tls-verify-peers": "",
        "input-dir": "/var/input-files",
        "output-dir": "/var/output-files",
        "input-monitor-conf": "",
        "main-container-version": "",
        "main-container-conf-dir": "/var/dynamic-conf",
    }
    for name, default in texts.items():
        parser.add_argument(f"--{name}", default=default)
    for name in ("substitute-variable", "copy-file", "copy-binary", "copy-library"):
        parser.add_argument(f"--{name}", action="append", default=[])
    parser.add_argument("--require-not-empty", action="append", default=[])
    parser.add_argument("--public-ip-family", type=int, choices=(4, 6))
    return parser


if __name__ == "__main__":
    sys.exit(main())
