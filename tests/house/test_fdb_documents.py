"""What docs/foundationdb says is what the code does: the steps, the guards, every reason."""

from __future__ import annotations

import ast
import asyncio
import json
import re
from pathlib import Path
from typing import cast

import pytest
import yaml

from fakes.fdb_views import spec
from stateward.app.validation import problems
from stateward.cli.commands.fdb import detect_missing
from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.fdb.api.group import GroupConditionType
from stateward.fdb.api.kind import CLUSTER_KIND, CLUSTERS
from stateward.fdb.api.questions import uses_locks
from stateward.fdb.cluster.hands.tools import Tools
from stateward.fdb.cluster.pipeline import steps
from stateward.fdb.guards import database
from stateward.fdb.tell import conditions
from stateward.fdb.tell.backups import backup_conditions, restore
from stateward.fdb.tell.backups.metrics import GAUGES as BACKUP_GAUGES
from stateward.fdb.tell.metrics import GAUGES
from stateward.kube.client import MergePatch
from stateward.kube.codec import plain
from stateward.kube.crd.kind import crd
from stateward.kube.errors import ApiError
from stateward.kube.manifests import read
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CUSTOM_RESOURCES
from stateward.local.rules.admission import Author, Strictness
from stateward.local.schema.served import served_api
from stateward.sim.loop import SimClock

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs/foundationdb"
SOURCE = ROOT / "src/stateward/fdb"
EXAMPLES = sorted((ROOT / "examples/foundationdb").glob("*.yaml"))
OUTCOMES = {"Stop", "Retry", "Wait", "Blocked"}
WORD = re.compile(r"[A-Z][A-Za-z]+")


def words(name: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", (DOCS / name).read_text()))


def called(tree: ast.AST, names: set[str]) -> set[str]:
    """Return every reason that is given to one of some functions, as a text."""
    found = set()
    for it in ast.walk(tree):
        if isinstance(it, ast.Call) and isinstance(it.func, ast.Name) and it.func.id in names:
            texts = [one.value for one in it.args if isinstance(one, ast.Constant)]
            found |= {one for one in texts if isinstance(one, str) and WORD.fullmatch(one)}
    return found


def test_the_pipeline_lists_all_steps_in_their_order():
    made = [it.name for it in steps(cast("Tools", Tools(None, None, None, None)))]  # type: ignore[arg-type]
    text = (DOCS / "pipeline.md").read_text().partition("| step |")[2].partition("\nThen")[0]
    told = [word for row in text.splitlines() for word in re.findall(r"`(\w+)`", row[:40])]
    assert [it for it in told if it in made] == made


def test_every_guard_has_its_row():
    every = {
        it.name
        for it in ast.parse(Path(str(database.__file__)).read_text()).body
        if isinstance(it, ast.FunctionDef)
        and not it.name.startswith("_")
        and "Refusal" in ast.unparse(it.returns or ast.Constant(""))
    }
    assert every - words("pipeline.md") == set()


def test_every_reason_is_explained():
    said = set()
    for path in [*SOURCE.glob("cluster/**/*.py"), *SOURCE.glob("groups/**/*.py")]:
        said |= called(ast.parse(path.read_text()), OUTCOMES | {"waiting_for", "done", "waits"})
    assert said - words("conditions.md") == set()


def test_every_reason_of_backups_and_restores_is_explained():
    said = set()
    for folder in ("backups", "decide/backups"):
        for path in (SOURCE / folder).glob("**/*.py"):
            said |= called(ast.parse(path.read_text()), OUTCOMES | {"done", "_forgotten"})
    told = {it for path in (SOURCE / "tell/backups").glob("*.py") for it in reasons(path)}
    assert (said | told | {*backup_conditions.TYPES, *restore.TYPES}) - words("backups.md") == set()


def reasons(path: Path) -> set[str]:
    """Return every reason that is given in a condition: the second of three."""
    found = set()
    for it in ast.walk(ast.parse(path.read_text())):
        if isinstance(it, ast.Tuple) and len(it.elts) == 3 and isinstance(it.elts[1], ast.Constant):
            found.add(str(it.elts[1].value))
    return {it for it in found if WORD.fullmatch(it)}


def test_every_condition_is_explained():
    told = words("conditions.md")
    assert set(conditions.TYPES) - told == set()
    later = {"ProcessHasHighRunLoopBusy"}
    assert {str(it) for it in GroupConditionType} - told == later


def test_what_needs_the_lock_is_listed() -> None:
    """Whoever shares a database learns there whether its operators take turns."""
    (told,) = re.findall(r"Where other operators may act.*?\) every", topologies(), re.DOTALL)
    for asked in (
        {"databaseConfiguration": {"usable_regions": 2}},
        {"databaseConfiguration": {"redundancy_mode": "three_data_hall"}},
        {"faultDomain": {"zoneCount": 3}},
        {"automationOptions": {"synchronizationMode": "global"}},
        {"lockOptions": {"disableLocks": False}},
    ):
        assert uses_locks(spec(**asked))
        (inner,) = asked.values()
        (field, value), *_ = inner.items()
        shown = {str(value), field, field.removeprefix("usable_")}
        assert any(it in told for it in shown - {"2", "3", "False"}), asked


def topologies() -> str:
    return (DOCS / "topologies.md").read_text()


def test_examples_show_how_operators_share_a_database() -> None:
    every = [it for path in EXAMPLES for it in yaml.safe_load_all(path.read_text())]
    asked = [it["spec"] for it in every]
    together = [it for it in asked if "synchronizationMode" in it.get("automationOptions", {})]
    assert len({it["processGroupIDPrefix"] for it in together}) == 2
    assert all(it["lockOptions"]["denyList"] for it in together)
    words = next(path.read_text() for path in EXAMPLES if "denyList" in path.read_text())
    assert len(set(re.findall(r"--lease-name (\w+)", words))) == 2


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda it: it.stem)
def test_an_example_can_be_honoured(path: Path) -> None:
    found = read(path.read_text(), path.name)
    assert [one for it in found for one in problems(it)] == []


def test_the_readme_shows_which_foundationdb_runs() -> None:
    shown = (ROOT / "README.md").read_text().partition("## FoundationDB")[2]
    (version,) = re.findall(r"^shop .*?(\d+\.\d+\.\d+.*?)  ", shown, re.MULTILINE)
    assert version.endswith(" EMULATED"), "what is not real says so wherever it is shown"


def test_the_command_of_the_job_is_shown_as_it_works_beside_a_local_cluster() -> None:
    (shown,) = re.findall(
        r"^\$ (stateward fdb .*)", (DOCS / "detection.md").read_text(), re.MULTILINE
    )
    taken = {name for it in detect_missing.params for name in it.opts}
    asked = set(re.findall(r"--[a-z-]+", shown))
    assert asked <= taken
    assert "--addresses" in asked


# ------------------------------------------------------------------ the tutorial
TUTORIAL = (DOCS / "tutorial.md").read_text()
PATCH = re.compile(r"kubectl patch fdb (\w+) --type=merge -p '(.*?)'(.*)")
#: By what a line of a terminal may begin: all of it is there once the lines before it were typed.
TYPED = re.compile(
    r"export |stateward (?:local up|crds|operator|validate) |kubectl |one=\$\(kubectl "
    r"|\.venv/bin/python -m stateward\.|bin/fdbcli -C fdb\.cluster |rm -r "
)


def blocks(language: str) -> list[str]:
    """Return what stands between fences of a language."""
    parts = TUTORIAL.split("```")[1::2]
    return [it.removeprefix(language) for it in parts if it.startswith(f"{language}\n")]


def test_the_manifest_of_the_tutorial_can_be_honoured() -> None:
    (text,) = blocks("yaml")
    assert [problem for it in read(text, "shop.yaml") for problem in problems(it)] == []


def test_all_of_the_tutorial_can_be_typed() -> None:
    shown = [it for it in blocks("") if not it.lstrip().startswith("NAME ")]
    lines = [line for it in shown for line in it.strip().splitlines()]
    assert [it for it in lines if not TYPED.match(it)] == []
    assert lines[-1] == "rm -r here bin shop.yaml fdb.cluster", "and nothing of it is left"


@pytest.mark.virtual
async def test_the_changes_of_the_tutorial_are_taken_and_refused_as_it_says() -> None:
    """One after the other, by a server that knows the kind with all its rules."""
    api = served_api(Ports(SimClock(asyncio.get_running_loop()), Chance(1)))
    author = Author(strictness=Strictness.STRICT)
    api.create(CUSTOM_RESOURCES, "", plain(crd(CLUSTER_KIND)), author)
    api.create(CLUSTERS, "default", yaml.safe_load(blocks("yaml")[0]), author)

    def refused(name: str, text: str) -> bool:
        try:
            api.patch(CLUSTERS, ObjectKey("default", name), MergePatch(json.loads(text)), author)
        except ApiError:
            return True
        return False

    changes = PATCH.findall(TUTORIAL)
    assert len(changes) >= 4
    assert [refused(*it[:2]) for it in changes] == ["# refused" in said for *_, said in changes]
    document = api.get(CLUSTERS, ObjectKey("default", "shop")).document()
    found = read(json.dumps(document), "shop")
    assert [one for it in found for one in problems(it)] == [], "the typo is mended in the end"


def test_the_list_of_metrics_is_the_code_s() -> None:
    text = (DOCS / "operations.md").read_text()
    listed = re.findall(r"^\| `(stateward_fdb_\w+)` \| ([^|]*?) ?\|", text, re.MULTILINE)
    every = {**GAUGES, **BACKUP_GAUGES}
    assert dict(listed) == {
        name: ", ".join(f"`{it}`" for it in labels) for name, (_, labels) in every.items()
    }
