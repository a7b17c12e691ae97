"""The image that stands for FoundationDB's on nodes: upon the operator's, with programs that run."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

from tools.cluster import database
from tools.cluster.database import Database
from tools.image import archive

from stateward.emulate.fdb.programs import shims


def operator(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "opt").mkdir(parents=True)
    (root / "opt" / "ours.py").write_text("pass")
    layers = [archive.layer(root, lambda it: True)]
    config = {"User": "65532:65532", "Env": ["PATH=/usr/bin"], "Labels": {"a": "b"}}
    path = tmp_path / "operator.tar"
    archive.write(archive.image(layers, config, "amd64", "stateward:1"), path)
    return path


def opened(path: Path) -> tuple[Any, list[dict[str, str]], str]:
    """Return the settings of an image, the files of each layer, and its name."""
    with tarfile.open(path) as files:
        content = {it.name: files.extractfile(it).read() for it in files}  # type: ignore[union-attr]

    def blob(about: Any) -> bytes:
        return content[f"blobs/{about['digest'].replace(':', '/')}"]

    (entry,) = json.loads(content["index.json"])["manifests"]
    manifest = json.loads(blob(entry))
    layers = []
    for it in manifest["layers"]:
        with tarfile.open(fileobj=io.BytesIO(blob(it))) as files:
            found = {one.name: files.extractfile(one) for one in files if one.isfile()}
            layers.append({name: one.read().decode() for name, one in found.items() if one})
    name = entry["annotations"]["io.containerd.image.name"]
    return json.loads(blob(manifest["config"]))["config"], layers, name


def test_it_is_the_operators_image_with_programs_and_says_that_they_are_emulated(
    tmp_path: Path,
) -> None:
    it = Database("7.3.63")
    config, layers, name = opened(database.write(it, operator(tmp_path), tmp_path / "fdb.tar"))

    assert name == "docker.io/foundationdb/fdb-kubernetes-monitor:7.3.63"
    assert config["User"] == "65532:65532", "what is not said otherwise is the operator's"
    assert config["Entrypoint"] == ["/usr/bin/fdb-kubernetes-monitor"]
    assert config["Labels"]["stateward.dev/emulated"] == "true"
    assert "EMULATED" in config["Labels"]["org.opencontainers.image.description"]
    below, added = layers
    assert below == {"opt/ours.py": "pass"}
    every = {**shims.DATABASE, **shims.KEEPERS}
    library = "usr/lib/fdb/multiversion/libfdb_c_7.3.so"
    assert added.keys() == {f"usr/bin/{it}" for it in every} | {"var/fdb/version", library}
    assert added[library].startswith("EMULATED")
    assert added["var/fdb/version"] == "7.3.63\n"


def test_real_programs_are_in_it_where_there_are_some(tmp_path: Path) -> None:
    for name in shims.DATABASE:
        (tmp_path / name).write_text("real")
    (tmp_path / "libfdb_c.so").write_text("real")
    programs = {name: tmp_path / name for name in shims.DATABASE}
    it = Database("7.3.79", programs, tmp_path / "libfdb_c.so")
    config, (_, added), _ = opened(database.write(it, operator(tmp_path), tmp_path / "fdb.tar"))

    assert config["Labels"]["stateward.dev/emulated"] == "false"
    assert {added[f"usr/bin/{name}"] for name in shims.DATABASE} == {"real"}
    assert added["usr/lib/fdb/multiversion/libfdb_c_7.3.so"] == "real"
    assert "keepers.kubernetes_monitor" in added["usr/bin/fdb-kubernetes-monitor"], "ours anyway"


def test_its_programs_run_without_a_shell_whoever_calls_them(tmp_path: Path) -> None:
    text = database.script(shims.DATABASE["fdbcli"], "7.3.63")
    # Here Python is elsewhere, and so are we.
    text = text.replace("/usr/bin/python3.11", sys.executable)
    home = Path(shims.__file__).parents[4]
    program = tmp_path / "fdbcli"
    program.write_text(text.replace("/opt/stateward", str(home)))
    program.chmod(0o755)
    env = {it: value for it, value in os.environ.items() if it != "PYTHONPATH"}

    done = subprocess.run(
        [program, "--version"], capture_output=True, text=True, env=env, check=False
    )

    assert "(v7.3.63)" in done.stdout, done.stderr
    assert "EMULATED" in done.stdout
