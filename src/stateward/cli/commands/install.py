"""`stateward install`: the manifest of the operator, with what was chosen."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import Any

import click

from stateward.app.install import chart, choices
from stateward.app.install.generated import as_text, namespace_of
from stateward.app.settings import selector
from stateward.core.errors import UsageError
from stateward.core.naming import dns_label_problem
from stateward.kube.codec import Json


@click.command(short_help="Print the manifest that installs the operator.")
@click.option(
    "--namespace", default="stateward", show_default=True, help="Where the operator runs."
)
@click.option("--name", default="stateward", show_default=True, help="How its objects are called.")
@click.option("--watch", multiple=True, metavar="NAME", help="Look after this namespace; repeat.")
@click.option("--cluster-wide", is_flag=True, help="Look after all namespaces.")
@click.option("--replicas", type=int, help="How many instances; one acts.  [default: 2]")
@click.option("--image", metavar="NAME[:TAG|@DIGEST]", help="The image to run.")
@click.option("--values", multiple=True, metavar="FILE", help="Values of the chart; repeat.")
@click.option("--set", "words", multiple=True, metavar="PATH=VALUE", help="One value; repeat.")
@click.option("--without-namespace", is_flag=True, help="The namespace is there already.")
@click.option("--show-values", is_flag=True, help="Print all values of the chart, and end.")
def install(
    namespace: str, name: str, *, without_namespace: bool, show_values: bool, **given: Any
) -> None:
    """Print what `helm install` would install, for kubectl apply --server-side -f -.

    Without options the operator looks after its own namespace alone. Nothing is changed anywhere:
    this only prints.
    """
    if show_values:
        click.echo(chart.values_text(), nl=False)
        return
    for option, value in (("--namespace", namespace), ("--name", name)):
        if (problem := dns_label_problem(value)) is not None:
            raise UsageError(f"{option} {problem}")
    usual = chart.usual_values()
    values = reduce(choices.laid_over, _chosen(**given), usual)
    choices.check(values, chart.schema())
    selector("watch.selector", values["watch"]["selector"])
    release = chart.Release(name, namespace)
    first = [] if without_namespace else [namespace_of(release)]
    click.echo(as_text([*first, *chart.objects(release, values)]), nl=False)
    click.echo(chart.notes(release, values), err=True)


def _chosen(
    *,
    watch: tuple[str, ...],
    cluster_wide: bool,
    replicas: int | None,
    image: str | None,
    values: tuple[str, ...],
    words: tuple[str, ...],
) -> list[Json]:
    """Return what was chosen, the strongest last: files, then options, then single values."""
    if watch and cluster_wide:
        raise UsageError("one of --watch and --cluster-wide must be chosen")
    options: Json = {}
    if watch or cluster_wide:
        options["watch"] = {"namespaces": list(watch), "clusterWide": cluster_wide}
    if replicas is not None:
        options["replicas"] = replicas
    if image is not None:
        options["image"] = _image(image)
    files = [choices.from_text(it, _text(it)) for it in values]
    return [*files, options, *map(choices.from_word, words)]


def _text(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: must be a file of values: {error}") from None


def _image(text: str) -> Json:
    """Read ``name:tag`` or ``name@digest``; the port of a registry is no tag."""
    name, _, digest = text.partition("@")
    head, colon, tag = name.rpartition(":")
    if not colon or "/" in tag:
        head, tag = name, ""
    return {"repository": head, "tag": tag, "digest": digest}
