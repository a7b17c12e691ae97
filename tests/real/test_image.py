"""The image as it is made here: twice the same, and it runs as nobody on a root nobody can write."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from tools.image import __main__ as command
from tools.image import application, debian
from tools.image.errors import ImageImpossible

from stateward import __version__

UNREACHABLE = re.compile("Could not (resolve|connect)|Failed to fetch|Temporary failure")
GROUP = pytest.mark.xdist_group("image")  # it is made once
pytestmark = [
    GROUP,
    pytest.mark.skipif(
        shutil.which("apt-get") is None
        or shutil.which("chroot", path="/usr/sbin:/usr/bin") is None,
        reason="the image is made of Debian's packages, by apt-get, and tried in a chroot",
    ),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the image twice: the second one from what the first one says that it has."""
    folder = tmp_path_factory.mktemp("image")
    try:
        debian.fetch(folder / "first", ("media-types",))
    except ImageImpossible as error:
        if UNREACHABLE.search(str(error)):
            pytest.skip(f"Debian's archives cannot be reached: {error}")
        raise
    assert command.main(["--output", str(folder / "one.tar")]) == 0
    again = ["--output", str(folder / "two.tar"), "--packages", str(folder / "one.packages")]
    assert command.main(again) == 0
    return folder


def test_two_builds_are_one_image(real_programs: str, made: Path) -> None:
    assert (made / "one.tar").read_bytes() == (made / "two.tar").read_bytes()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may change the root directory")
def test_it_runs_as_nobody_without_a_shell(real_programs: str, made: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    unpack(made / "one.tar", tmp_path)
    programs = [it.name for it in (tmp_path / "usr/bin").iterdir()]
    assert programs == ["python3.11"]
    assert not list(tmp_path.glob("bin/*"))

    user = f"--userspec={application.USER}:{application.USER}"
    entry = command.CONFIG["Entrypoint"]
    environment = dict(it.split("=", 1) for it in command.CONFIG["Env"])
    run = ["/usr/sbin/chroot", user, str(tmp_path), *entry]
    version = subprocess.run(
        [*run, "--version"], capture_output=True, text=True, check=True, env=environment
    )
    assert version.stdout == f"stateward, version {__version__}\n"
    lost = subprocess.run(
        [*run, "operator", "--kubeconfig", "/none"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert lost.stderr.startswith("stateward: kubeconfig /none must exist")
    compiled = tmp_path / application.HOME / "stateward" / "__pycache__"
    assert any(compiled.iterdir()), "what is read-only cannot be compiled later"


def unpack(image: Path, root: Path) -> None:
    with tarfile.open(image) as files:
        content = {it.name: files.extractfile(it).read() for it in files}  # type: ignore[union-attr]

    def blob(named: dict) -> bytes:
        return content[f"blobs/{named['digest'].replace(':', '/')}"]

    (entry,) = json.loads(content["index.json"])["manifests"]
    for layer in json.loads(blob(entry))["layers"]:
        plain = root / "layer.tar"
        plain.write_bytes(gzip.decompress(blob(layer)))
        subprocess.run(["tar", "xf", str(plain), "-C", str(root)], check=True)
        plain.unlink()
