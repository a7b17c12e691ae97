"""`stateward crds`: the CustomResourceDefinitions of our kinds, made from the Python types."""

from __future__ import annotations

from pathlib import Path

import click

from stateward.app.kinds import KINDS, PRODUCTS, definitions
from stateward.core.errors import UsageError
from stateward.kube.crd.text import to_yaml


@click.command()
@click.option("--out", default="", metavar="DIR", help="Write one file a kind into this folder.")
@click.option("--example", is_flag=True, help="Add the kind of the example operator.")
def crds(out: str, *, example: bool) -> None:
    """Print the CustomResourceDefinitions of our kinds, or write them to a folder."""
    made = definitions(KINDS if example else PRODUCTS)
    if not out:
        click.echo(to_yaml(*made.values()), nl=False)
        return
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, document in made.items():
            (folder / name).write_text(to_yaml(document), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{out}: must be a folder that can be written: {error.strerror}") from None
    click.echo(f"crds: wrote {len(made)} to {folder}")
