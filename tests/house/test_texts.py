"""The repository speaks of itself alone, and its documents are true."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import stateward
from stateward.app.kinds import PRODUCTS, definitions
from stateward.core.errors import StatewardError
from stateward.kube.crd.text import to_yaml

ROOT = Path(__file__).parents[2]

#: Addresses of machines and registries, and the marks of unfinished work.
FORBIDDEN = re.compile(
    r"/root/|/work/|pypi\.org|files\.pythonhosted|proxy\.golang|registry\.npmjs|deb\.debian"
    r"|\bTODO\b|\bFIXME\b|\bXXX\b"
)


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:  # a source archive has no history
        return [p for p in ROOT.rglob("*") if p.is_file() and ".venv" not in p.parts]
    return [ROOT / name for name in listed.stdout.splitlines()]


def test_no_machine_and_no_registry_is_named():
    found = []
    for path in tracked():
        if path == Path(__file__) or path.suffix in {".png", ".json"} or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [f"{path.relative_to(ROOT)}: {hit}" for hit in set(FORBIDDEN.findall(text)) if hit]

    assert found == []


def every_error() -> list[type[StatewardError]]:
    for module in pkgutil.walk_packages(stateward.__path__, "stateward."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found: list[type[StatewardError]] = []
    waiting = [StatewardError]
    while waiting:
        kind = waiting.pop()
        found.append(kind)
        waiting.extend(kind.__subclasses__())
    return found


def test_every_reason_is_documented():
    documented = set(
        re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/reasons.md").read_text(), re.MULTILINE)
    )
    reasons = {kind.reason for kind in every_error() if kind.__module__.startswith("stateward")}

    assert reasons - documented == set()


def test_the_definitions_in_deploy_are_fresh():
    folder = ROOT / "deploy/crds"
    written = {path.name: path.read_text() for path in folder.glob("*.yaml")}

    assert written == {name: to_yaml(crd) for name, crd in definitions(PRODUCTS).items()}, (
        "run: make crds"
    )


def test_the_changelog_knows_this_version():
    assert f"## {stateward.__version__}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize(
    "document", sorted(ROOT.glob("*.md")) + sorted(ROOT.glob("docs/**/*.md")), ids=str
)
def test_links_lead_somewhere(document):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text())

    assert [link for link in links if not (document.parent / link).exists()] == []


def test_the_lock_files_hold_what_the_project_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    locked = (ROOT / "requirements/runtime.txt").read_text().lower()
    every = project["project"]["dependencies"] + project["project"]["optional-dependencies"]["fdb"]
    names = [re.split(r"[<>=~! ]", it)[0].lower() for it in every]

    assert [name for name in names if f"{name}==" not in locked] == []


def test_the_readme_lists_every_example():
    listed = re.findall(r"\]\((examples/[^)]+\.yaml)\)", (ROOT / "README.md").read_text())
    there = [str(it.relative_to(ROOT)) for it in ROOT.glob("examples/**/*.yaml")]

    assert sorted(listed) == sorted(there)
