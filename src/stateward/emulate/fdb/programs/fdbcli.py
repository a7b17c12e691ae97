"""``fdbcli``, emulated: whoever controls the cluster runs its lines; nobody there is told here."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from typing import Final

from stateward.core.clock import SystemClock
from stateward.emulate.fdb.programs import called, flags
from stateward.emulate.fdb.programs.flags import Known, Misunderstood, Told
from stateward.emulate.fdb.programs.pace import Pace
from stateward.emulate.fdb.programs.typist import Typist
from stateward.emulate.fdb.talk import clusterfile, seeker, tls
from stateward.emulate.fdb.talk.council import Speaker
from stateward.emulate.fdb.talk.tls import Security

_VALUED: Final = (
    *("cluster_file", "log_dir", "log_group", "trace_format", "exec", "timeout", "api_version"),
    *("tls_certificate_file", "tls_key_file", "tls_ca_file", "tls_verify_peers", "tls_password"),
    *("memory", "status_from_json", "tls_disable_plaintext_connection"),
)
_KNOWN: Final = Known(
    valued={**{it: it for it in _VALUED}, "C": "cluster_file"},
    bare=frozenset(
        {
            *("log", "no_status", "no_hints", "debug_tls", "build_flags", "version", "v"),
            *("help", "h", "use_future_protocol_version"),
        }
    ),
    open_ended=("knob_",),
)
#: By what a client says for whom it works, unless a flag does.
_LOG_GROUP: Final = "FDB_NETWORK_OPTION_TRACE_LOG_GROUP"
_NO_TLS: Final = (
    "ERROR: fdbcli is not configured with TLS, but all of the coordinators have TLS addresses."
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run fdbcli to its end; return its code."""
    program = called.name("fdbcli")
    try:
        told = flags.read(list(sys.argv[1:] if argv is None else argv), _KNOWN)
        timeout = _seconds(told.values.get("timeout", "0"))
    except Misunderstood as error:
        called.warn(f"{error}\nTry `{program} --help' for more information.")
        return 1
    if told.bare & {"version", "v"}:
        called.say(called.version_text("FoundationDB CLI"))
        return 0
    if told.bare & {"help", "h"}:
        usage = f"usage: {program} [-C FILE] [--exec COMMANDS] [--timeout SECONDS] [OPTIONS]"
        called.say(f"{called.version_text('FoundationDB CLI')}\n{usage}")
        return 0
    try:
        typist = _typist(told, timeout)
    except (clusterfile.Unusable, ValueError) as error:
        called.warn(str(error))
        return 1
    if "exec" in told.values:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # as the real one: it takes its --timeout
        return asyncio.run(typist.run(told.values["exec"]))
    return _talk(typist)


def _seconds(text: str) -> float:
    if not text.isdigit():
        raise Misunderstood(f"ERROR: --timeout must be a whole number of seconds, got `{text}'")
    return float(text)


def _typist(told: Told, timeout: float) -> Typist:
    named = told.values.get("cluster_file", "")
    file = clusterfile.located(named, os.environ)
    security = Security.told(told.values, os.environ)
    future = "use_future_protocol_version" in told.bare
    speaker = Speaker(called.protocol(future=future), security)
    looking = seeker.of_file(file, speaker, named)
    if looking.string.all_tls and not security.is_there:
        raise clusterfile.Unusable(_NO_TLS)
    tls.check(security)
    pace = Pace.told(SystemClock(), os.environ)
    log_group = told.values.get("log_group") or os.environ.get(_LOG_GROUP, "default")
    return Typist(looking, str(file), timeout, pace, log_group)


def _talk(typist: Typist) -> int:
    """Run what is typed, line after line."""
    called.say(f"{called.BANNER}\nUsing cluster file `{typist.path}'.\n")
    while True:
        try:
            line = input("fdb> ")
        except EOFError:
            called.say("")
            return 0
        except KeyboardInterrupt:
            called.say("")
            continue
        if line.strip() in ("exit", "quit"):
            return 0
        try:
            asyncio.run(typist.run(line))
        except KeyboardInterrupt:
            called.say("^C")


if __name__ == "__main__":
    sys.exit(main())
