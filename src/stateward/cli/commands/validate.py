"""`stateward validate FILE...`: find what is wrong with manifests before a cluster does."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from stateward.app import validation
from stateward.core.errors import UsageError
from stateward.kube import manifests


@click.command()
@click.argument("files", nargs=-1, required=True)
def validate(files: tuple[str, ...]) -> int:
    """Check manifests: known kinds, no misspelt fields, values that can be honoured.

    A dash reads standard input. What depends on what a cluster has is the API server's to check.
    Exit code 1: a manifest has a problem; 2: a file cannot be read.
    """
    broken: list[UsageError] = []
    results: list[bool] = []
    for source in files:
        try:
            results += [_is_fine(manifest) for manifest in manifests.read(_text_of(source), source)]
        except UsageError as error:
            broken.append(error)
    if not results and not broken:
        raise UsageError(
            f"{', '.join(files)}: there must be at least one document",
            hint="name a file that has one",
        )
    if results:
        click.echo(f"validate: {sum(results)} of {len(results)} manifests are fine")
    for another in broken[1:]:
        click.echo(f"stateward: {another.sentence()}", err=True)
    if broken:
        raise broken[0]
    return 0 if all(results) else 1


def _is_fine(manifest: manifests.Manifest) -> bool:
    found = list(validation.problems(manifest))
    click.echo(f"{'✖' if found else '✔'} {manifest}")
    for problem in found:
        click.echo(f"    {problem}")
    return not found


def _text_of(source: str) -> str:
    try:
        return sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{source}: must be readable: {error.strerror}", hint="name a file of manifests"
        ) from None
    except UnicodeDecodeError:
        raise UsageError(f"{source}: must be UTF-8 text", hint="name a file of manifests") from None
