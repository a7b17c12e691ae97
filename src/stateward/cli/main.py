"""The command table, and the promise that a user never sees a traceback for something we foresaw.

Exit codes: 0 done; 1 it failed; 2 what was asked for cannot be honoured; 130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from stateward import __version__
from stateward.cli.commands.crds import crds
from stateward.cli.commands.demo import demo
from stateward.cli.commands.doctor import doctor
from stateward.cli.commands.validate import validate
from stateward.core.clock import SystemClock
from stateward.core.errors import StatewardError, UsageError
from stateward.runtime.telling import logs

FAILED, MISUSED, INTERRUPTED = 1, 2, 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="stateward")
def stateward() -> None:
    """Keep FoundationDB and etcd clusters steady on Kubernetes."""


for command in (crds, demo, doctor, validate):
    stateward.add_command(command)


def main(arguments: Sequence[str]) -> int:
    """Run a command line; say what went wrong in one sentence; return the exit code."""
    logs.configure(sys.stderr, json=False, level="error", clock=SystemClock())
    try:
        result = stateward.main(list(arguments), prog_name="stateward", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return MISUSED
    except click.ClickException as error:
        return _complain(f"{_as_sentence(error)}; see 'stateward --help'", MISUSED)
    except UsageError as error:
        return _complain(error.sentence(), MISUSED)
    except StatewardError as error:
        return _complain(error.sentence(), FAILED)
    except (KeyboardInterrupt, click.Abort):
        return _complain("interrupted", INTERRUPTED)
    except BrokenPipeError:
        return 0  # whoever read us has enough
    except OSError as error:
        return _complain(f"the output must be writable: {error.strerror}", FAILED)
    return result if isinstance(result, int) else 0


def _as_sentence(error: click.ClickException) -> str:
    message = " ".join(error.format_message().split()).rstrip(".")
    return message[:1].lower() + message[1:]


def _complain(sentence: str, code: int) -> int:
    click.echo(f"stateward: {sentence}", err=True)
    return code
