"""The command table, and the promise that a user never sees a traceback for something we foresaw.

Exit codes: 0 done; 1 it failed; 2 what was asked for cannot be honoured; 130 interrupted.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from stateward import __version__
from stateward.core.clock import SystemClock
from stateward.core.errors import StatewardError, UsageError
from stateward.runtime.telling import logs

FAILED, MISUSED, INTERRUPTED = 1, 2, 130
_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}


#: Each command and what the list says about it. A command is imported when it is asked for: what
#: the embedded Kubernetes needs would cost every other one a second.
_COMMANDS = {
    "certs": "Print certificates for an etcd cluster, as secrets.",
    "crds": "Print or write our CustomResourceDefinitions.",
    "demo": "Watch an operator work, without a cluster.",
    "doctor": "Check what there is to work with: etcds, and your cluster.",
    "fdb": "Look at a FoundationDB cluster from outside of its operator.",
    "install": "Print the manifest that installs the operator.",
    "local": "A Kubernetes in this process, for kubectl.",
    "operator": "Run our operators on a cluster, until told to end.",
    "simulate": "Let the operator live where things go wrong at every call.",
    "validate": "Check manifests without a cluster.",
    "why": "Say what an object waits for, and what would unblock it.",
}


#: Modules of the extra `local`, without which the operator does.
_LOCAL = {"cel_expr_python", "cronsim", "cryptography", "jsonschema_rs", "re2"}


class _Table(click.Group):
    """The commands, by name; each lives in a module of its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        try:
            module = import_module(f"stateward.cli.commands.{cmd_name}")
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in _LOCAL:
                raise
            raise UsageError(
                f"`stateward {cmd_name}` needs the package {error.name}, which is not installed",
                hint="pip install 'stateward[local]'",
            ) from None
        found: click.Command = getattr(module, cmd_name)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_Table, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="stateward")
def stateward() -> None:
    """Keep FoundationDB and etcd clusters steady on Kubernetes."""


def main(arguments: Sequence[str]) -> int:
    """Run a command line; say what went wrong in one sentence; return the exit code."""
    logs.configure(sys.stderr, json=False, level="error", clock=SystemClock())
    try:
        result = stateward.main(list(arguments), prog_name="stateward", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return MISUSED
    except click.ClickException as error:
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else ""
        return _complain(f"{_as_sentence(error)}; see '{where or 'stateward'} --help'", MISUSED)
    except UsageError as error:
        return _complain(error.sentence(), MISUSED)
    except StatewardError as error:
        return _complain(error.sentence(), FAILED)
    except (KeyboardInterrupt, click.Abort):
        return _complain("interrupted", INTERRUPTED)
    except BrokenPipeError:
        return 0  # whoever read us has enough
    except OSError as error:
        return _complain(_refusal(error), FAILED)
    return result if isinstance(result, int) else 0


def _refusal(error: OSError) -> str:
    """Say what the system refused: of a file it says the name, of the output it knows none."""
    why = error.strerror or str(error)
    if error.filename is not None:
        return f"{os.fsdecode(error.filename)} must be usable: {why}"
    if error.errno in _UNWRITABLE:
        return f"the output must be writable: {why}"
    return f"the system must let us do our work: {why}"


def _as_sentence(error: click.ClickException) -> str:
    message = " ".join(error.format_message().split()).rstrip(".")
    return message[:1].lower() + message[1:]


def _complain(sentence: str, code: int) -> int:
    click.echo(f"stateward: {sentence}", err=True)
    return code
