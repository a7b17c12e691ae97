"""`stateward install`: what is printed where, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from stateward.app.install import chart
from stateward.cli.main import main


def test_without_options_it_prints_the_plain_manifest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install"]) == 0
    said = capsys.readouterr()
    plain = (Path(__file__).parents[3] / "deploy" / "stateward.yaml").read_text()
    assert said.out == plain.partition("\n")[2]
    assert "rollout status deployment/stateward" in said.err


def test_what_was_chosen_is_in_it_and_single_values_win(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("replicas: 5\nlog: {level: debug}\n")
    words = ["--namespace", "ops", "--name", "ward", "--watch", "shop", "--watch", "bank"]
    words += ["--image", "registry.example:5000/ward:7", "--values", str(file)]
    words += ["--replicas", "4", "--set", "replicas=3", "--without-namespace"]
    assert main(["install", *words]) == 0
    made = [it for it in yaml.safe_load_all(capsys.readouterr().out) if it]

    (deployment,) = (it for it in made if it["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    said = {it["name"]: it["value"] for it in container["env"]}
    assert deployment["metadata"]["name"] == "ward"
    assert deployment["metadata"]["namespace"] == "ops"
    assert deployment["spec"]["replicas"] == 3
    assert container["image"] == "registry.example:5000/ward:7"
    assert (said["STATEWARD_NAMESPACE"], said["STATEWARD_LOG_LEVEL"]) == ("shop,bank", "debug")
    assert not any(it["kind"] == "Namespace" for it in made)


@pytest.mark.parametrize(
    ("image", "parts"),
    [
        ("ward", {"repository": "ward", "tag": "", "digest": ""}),
        ("a:5000/ward", {"repository": "a:5000/ward", "tag": "", "digest": ""}),
        ("a:5000/ward:1", {"repository": "a:5000/ward", "tag": "1", "digest": ""}),
        ("ward@sha256:1", {"repository": "ward", "tag": "", "digest": "sha256:1"}),
    ],
)
def test_how_an_image_is_read(image: str, parts: dict[str, str]) -> None:
    from stateward.cli.commands.install import _image  # noqa: PLC0415

    assert _image(image) == parts


def test_it_shows_what_can_be_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "--show-values"]) == 0
    assert yaml.safe_load(capsys.readouterr().out) == chart.usual_values()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--namespace", "Ops"], "--namespace must be of a-z"),
        (["--name", "a.b"], "--name must be of a-z"),
        (["--watch", "a", "--cluster-wide"], "one of --watch and --cluster-wide must be chosen"),
        (["--watch", "A"], "watch.namespaces[0]: must match"),
        (["--set", "watch.selector='a b'"], "watch.selector: must be a label selector"),
        (["--replicas", "0"], "replicas: must be 1 to 9, got 0"),
        (
            ["--set", "products={etcd: false, foundationdb: false}"],
            "products: one of etcd, foundationdb must be true",
        ),
        (["--values", "no-such-file"], "no-such-file: must be a file of values"),
        (["--values", "/"], "/: must be a file of values"),
    ],
)
def test_what_is_refused(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["install", *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"stateward: {sentence}")
