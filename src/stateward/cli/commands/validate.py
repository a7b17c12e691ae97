"""`stateward validate FILE...`: find what is wrong with manifests before a cluster does."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from stateward.app import validation
from stateward.core.errors import UsageError
from stateward.kube import manifests


@click.command(short_help="Check manifests without a cluster.")
@click.argument("files", nargs=-1, required=True)
def validate(files: tuple[str, ...]) -> int:
    """Check manifests: known kinds, no misspelt fields, values of the right type.

    A dash reads standard input.
    """
    wrong = 0
    checked = 0
    for source in files:
        for manifest in manifests.read(_text_of(source), source):
            checked += 1
            found = list(validation.problems(manifest))
            wrong += bool(found)
            click.echo(f"{'✖' if found else '✔'} {manifest}")
            for problem in found:
                click.echo(f"    {problem}")
    if not checked:
        raise UsageError(f"{', '.join(files)}: there must be at least one document")
    click.echo(f"validate: {checked - wrong} of {checked} manifests are fine")
    return 1 if wrong else 0


def _text_of(source: str) -> str:
    try:
        return sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{source}: must be readable: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{source}: must be UTF-8 text") from None
