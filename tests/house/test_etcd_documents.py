"""What docs/etcd says is what the code does: the flowchart, the metrics, the manifests, the numbers."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest
import yaml

from stateward.app.validation import problems
from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.etcd.api.kind import ETCD_CLUSTER_KIND, ETCD_CLUSTERS
from stateward.etcd.decide import chart
from stateward.etcd.tell.metrics import COUNTERS, GAUGES
from stateward.kube.client import JsonPatch, MergePatch
from stateward.kube.codec import plain
from stateward.kube.crd.kind import crd
from stateward.kube.errors import ApiError
from stateward.kube.manifests import read
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CUSTOM_RESOURCES
from stateward.local.rules.admission import Author, Strictness
from stateward.local.schema.served import served_api
from stateward.sim.loop import SimClock

pytestmark = pytest.mark.virtual
ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs/etcd"
FLOWCHART = (DOCS / "flowchart.md").read_text()
TUTORIAL = (DOCS / "tutorial.md").read_text()
OPERATIONS = (DOCS / "operations.md").read_text()

#: Rows before the chart, and the two that are not rows of a table in it.
AROUND = {"0", "1", "paused", "11"}


def rows_of_the_code() -> list[str]:
    """The chart's labels, in the order in which they are asked."""
    tables = (chart.OWNERSHIP, chart.SILENCE, chart.IDENTITY, chart.NO_QUORUM, chart.QUORUM)
    return list(dict.fromkeys(label for table in tables for label, _ in table))


def test_the_table_has_every_row_of_the_chart_in_its_order():
    listed = re.findall(r"^\| ([0-9]\w*(?:,\w+)*|paused) \|", FLOWCHART, re.MULTILINE)

    assert [it for it in listed if it not in AROUND] == rows_of_the_code()
    assert set(listed) > AROUND


def test_the_drawing_has_every_row_of_the_chart():
    drawing = FLOWCHART.partition("```mermaid")[2].partition("```")[0]
    drawn = set(re.findall(r"[\"\[({]([0-9]\w*(?:,\w+)*): ", drawing))

    assert drawn == set(rows_of_the_code()) | {"11"}


def test_every_refusal_in_the_drawing_has_a_page():
    refused = set(re.findall(r"refuse: (\w+)", FLOWCHART))

    assert refused
    assert [it for it in refused if not (DOCS / f"conditions/{it}.md").is_file()] == []


def test_the_list_of_metrics_is_the_code_s():
    listed = re.findall(r"^\| `(stateward_etcd_\w+)` \| ([^|]*?) ?\|", OPERATIONS, re.MULTILINE)
    families = GAUGES | COUNTERS

    assert dict(listed) == {
        name: ", ".join(f"`{it}`" for it in labels) for name, (_, labels) in families.items()
    }


def blocks() -> list[str]:
    """Every manifest in the documents."""
    texts = [page.read_text() for page in sorted(DOCS.glob("*.md"))]
    return [
        it
        for text in texts
        for it in re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    ]


def quoted() -> list[str]:
    """Manifests that a command has in it."""
    return re.findall(r"<<< '(\{.*\})'", TUTORIAL)


@pytest.mark.parametrize("text", blocks() + quoted())
def test_a_manifest_in_a_document_can_be_honoured(text):
    manifests = read(text, "a document")

    assert manifests
    assert [problem for it in manifests for problem in problems(it)] == []


def test_there_are_manifests_to_look_at():
    assert len(blocks()) >= 3
    assert len(quoted()) == 1


@pytest.mark.parametrize(
    "path", sorted((ROOT / "examples/etcd").glob("*.yaml")), ids=lambda p: p.name
)
def test_an_example_can_be_honoured(path):
    assert [problem for it in read(path.read_text(), path.name) for problem in problems(it)] == []


PATCH = re.compile(r"kubectl patch etcd (\w+) --type=(merge|json) -p '(.*?)'(.*)")


async def test_the_changes_of_the_tutorial_are_taken_and_refused_as_it_says() -> None:
    """One after the other, by a server that knows the kind with all its rules."""
    api = served_api(Ports(SimClock(asyncio.get_running_loop()), Chance(1)))
    author = Author(strictness=Strictness.STRICT)
    api.create(CUSTOM_RESOURCES, "", plain(crd(ETCD_CLUSTER_KIND)), author)
    for body in map(yaml.safe_load, blocks()):
        api.create(ETCD_CLUSTERS, "default", body, author)

    def refused(name: str, kind: str, text: str) -> bool:
        patch = MergePatch(json.loads(text)) if kind == "merge" else JsonPatch(json.loads(text))
        try:
            api.patch(ETCD_CLUSTERS, ObjectKey("default", name), patch, author)
        except ApiError:
            return True
        return False

    changes = PATCH.findall(TUTORIAL)
    assert len(changes) >= 7
    assert [refused(*it[:3]) for it in changes] == ["# refused" in said for *_, said in changes]


def test_every_law_is_in_the_table_of_laws() -> None:
    """Whoever is told ``E-S7`` can look it up, and where it is judged is where the table says."""
    table = (ROOT / "docs/reliability.md").read_text().partition("## Laws")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `([^`]+)` \|.*\| (.*) \|$", table, re.MULTILINE))
    source = ROOT / "src/stateward/sim"
    named: dict[str, set[str]] = {}
    for path in (*source.glob("laws/*.py"), *source.glob("etcd/**/*.py")):
        for law in re.findall(r"""(?:report\(\s*|law = )"([A-Z][A-Z0-9'-]*)\"""", path.read_text()):
            named.setdefault(law, set()).add(path.name)
    assert len(named) > 30
    assert not named.keys() - rows.keys()
    strays = {law: it for law, it in named.items() if it - {"life.py"} - set(_files(rows[law]))}
    assert not strays


def _files(cell: str) -> list[str]:
    return [it.rpartition("/")[2] for it in re.findall(r"`([^`]+)`", cell)]
