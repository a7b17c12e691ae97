"""fdb-kubernetes-monitor, the program of the unified image: launcher, sidecar or init container.

``python -m stateward.emulate.keepers.kubernetes_monitor --mode launcher --input-dir D``. Every flag
may also be a variable of the same name (``--input-dir``: ``INPUT_DIR``); the flag wins.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from stateward.core.errors import UsageError
from stateward.core.ports import Ports
from stateward.emulate.keepers import files
from stateward.emulate.keepers.image import Image
from stateward.emulate.keepers.unified.copies import Wishes, copies
from stateward.emulate.keepers.unified.logs import Log

_NAME = "fdb-kubernetes-monitor"
_MODES = ("launcher", "sidecar", "init")
_EXPORT = re.compile(r"export ([A-Za-z0-9_]+)=(.*)")


def main(argv: Sequence[str] | None = None) -> int:
    """Run in the mode that was asked for; return the exit code."""
    given = _parser(os.environ).parse_args(argv)
    ports = Ports.of_this_machine()
    try:
        image = Image.of(os.environ, Path(given.version_file))
    except UsageError as error:
        print(f"{_NAME}: {error.sentence()}", file=sys.stderr)  # noqa: T201 - no log yet
        return 1
    log = Log(
        sys.stdout, ports.clock, image.places.path(given.log_path) if given.log_path else None
    )
    log.info(image.banner(_NAME))
    try:
        return _run(given, image, log, ports)
    except UsageError as error:
        log.trouble(error.sentence())
        return 1
    finally:
        log.close()


def _run(given: argparse.Namespace, image: Image, log: Log, ports: Ports) -> int:
    if given.mode not in _MODES:  # by a variable, which argparse does not look at
        raise UsageError(f"the mode must be one of {', '.join(_MODES)}, got {given.mode}")
    if given.mode == "launcher":
        return asyncio.run(_launch(given, image, log, ports))
    wishes = Wishes(
        source=image.places.path(given.input_dir),
        target=image.places.path(given.output_dir),
        files=given.copy_file,
        programs=given.copy_binary,
        libraries=given.copy_library,
        primary_library=given.copy_primary_library,
        required=given.require_not_empty,
        programs_folder=given.binary_output_dir,
    )
    as_sidecar = given.mode == "sidecar"
    wanted = copies(wishes, image, as_sidecar=as_sidecar)
    if not as_sidecar or given.main_container_version != image.version:
        for it in wanted:
            files.copy(it)
            log.info("copied", inputPath=str(it.source), outputPath=str(it.target))
    if as_sidecar:
        asyncio.run(_idle(log))
    return 0


async def _idle(log: Log) -> None:
    ended = asyncio.Event()
    for it in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(it, ended.set)
    log.info("all is copied, waiting for the end")
    await ended.wait()


async def _launch(given: argparse.Namespace, image: Image, log: Log, ports: Ports) -> int:
    # A sidecar has nobody to talk to, and is spared what is needed for that.
    from stateward.emulate.keepers.unified import launcher, web  # noqa: PLC0415

    where = web.door(given.listen_address, os.environ)
    if given.certificate_path:
        where = replace(
            where,
            certificate=image.places.path(given.certificate_path),
            key=image.places.path(given.certificate_key_path),
        )
    if given.process_count < 1:
        raise UsageError(f"--process-count must be 1 or more, got {given.process_count}")
    options = launcher.Options(
        config=image.places.path(given.input_dir) / given.input_monitor_conf,
        own=given.fdbserver_path,
        shared=given.shared_binary_dir,
        processes=given.process_count,
        door=where,
        extra=_extra(image, given.additional_env_file, log),
        watches_node=given.enable_node_watch,
    )
    return await launcher.run(options, image, log, ports)


def _extra(image: Image, name: str, log: Log) -> dict[str, str]:
    """Return the variables of a file of ``export NAME=value``; other lines are told and left."""
    if not name:
        return {}
    found: dict[str, str] = {}
    try:
        lines = image.places.path(name).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--additional-env-file {name} must be a text: {error}") from error
    for line in lines:
        if match := _EXPORT.fullmatch(line):
            found[match[1]] = match[2]
        else:
            log.trouble("a line of the environment file is not understood", line=line)
    return found


def _parser(environment: Mapping[str, str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=_NAME, allow_abbrev=False, description=f"EMULATED: Stateward's own {_NAME}"
    )
    parser.add_argument("--mode", choices=_MODES, default="launcher")
    texts = {
        "fdbserver-path": "/usr/bin/fdbserver",
        "input-dir": ".",
        "input-monitor-conf": "config.json",
        "log-path": "",
        "output-dir": ".",
        "version-file": "/var/fdb/version",
        "shared-binary-dir": "/var/fdb/shared-binaries/bin",
        "binary-output-dir": "",
        "copy-primary-library": "",
        "main-container-version": "",
        "additional-env-file": "",
        "listen-address": ":8081",
        "certificate-path": "",
        "certificate-key-path": "",
    }
    for name, default in texts.items():
        parser.add_argument(f"--{name}", default=default)
    for name in ("copy-file", "copy-binary", "copy-library", "require-not-empty"):
        parser.add_argument(f"--{name}", action="append", default=[])
    parser.add_argument("--process-count", type=int, default=1)
    for name in ("enable-pprof", "enable-node-watch"):
        parser.add_argument(f"--{name}", action=argparse.BooleanOptionalAction, default=False)
    _default_from(environment, parser)
    return parser


def _default_from(environment: Mapping[str, str], parser: argparse.ArgumentParser) -> None:
    """Let variables stand for flags that are not given."""
    for action in parser._actions:  # noqa: SLF001 - there is no other way to ask
        text = environment.get(action.dest.upper())
        if text is None or not action.option_strings:
            continue
        if isinstance(action.default, list):
            action.default = [text]
        elif isinstance(action.default, bool):
            action.default = text.lower() in {"1", "t", "true"}
        elif action.dest != "help":
            action.default = text


if __name__ == "__main__":
    sys.exit(main())
