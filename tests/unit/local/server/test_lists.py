"""Lists: pages of one moment, revisions, selectors, and the forms they come in."""

from __future__ import annotations

import pytest

from unit.local.server.site import CONFIGS, TABLE, Reply, Site, serving

PARTIAL = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


def names(answer: Reply) -> list[str]:
    assert answer.status == 200, answer.text
    return [it["metadata"]["name"] for it in answer.json["items"]]


async def with_configs(site: Site, count: int) -> None:
    for number in range(count):
        await site.put_config(f"c{number}", odd=str(number % 2))


async def test_pages_show_one_moment() -> None:
    async with serving() as site:
        await with_configs(site, 5)
        first = await site.get(f"{CONFIGS}?limit=2")
        await site.ask("DELETE", f"{CONFIGS}/c3")
        await site.put_config("c22")
        meta = first.json["metadata"]
        second = await site.get(f"{CONFIGS}?limit=2&continue={meta['continue']}")
        third = await site.get(f"{CONFIGS}?limit=2&continue={second.json['metadata']['continue']}")

        assert [names(it) for it in (first, second, third)] == [["c0", "c1"], ["c2", "c3"], ["c4"]]
        left = [it.json["metadata"].get("remainingItemCount") for it in (first, second, third)]
        assert left == [3, 1, None]
        assert {it.json["metadata"]["resourceVersion"] for it in (first, second, third)} == {
            meta["resourceVersion"]
        }


async def test_with_a_selector_nobody_counts_the_rest() -> None:
    async with serving() as site:
        await with_configs(site, 5)
        first = await site.get(f"{CONFIGS}?limit=2&labelSelector=odd%3D0")
        token = first.json["metadata"]["continue"]
        second = await site.get(f"{CONFIGS}?limit=2&labelSelector=odd%3D0&continue={token}")

        assert [names(first), names(second)] == [["c0", "c2"], ["c4"]]
        assert "remainingItemCount" not in first.json["metadata"]


async def test_a_page_that_comes_too_late() -> None:
    async with serving() as site:
        await with_configs(site, 3)
        token = (await site.get(f"{CONFIGS}?limit=1")).json["metadata"]["continue"]
        await site.put_config("d")
        site.api.store.compact()

        assert (await site.get(f"{CONFIGS}?limit=1&continue={token}")).refusal[:2] == (
            410,
            "Expired",
        )


@pytest.mark.parametrize("token", ["nonsense", "e30", "%21%21", "bm9uZQ"])
async def test_a_token_that_nobody_gave(token: str) -> None:
    async with serving() as site:
        assert (await site.get(f"{CONFIGS}?continue={token}")).refusal[:2] == (400, "BadRequest")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?resourceVersion=0", ["c0", "c1", "c2"]),
        ("?resourceVersion={first}", ["c0", "c1", "c2"]),
        ("?resourceVersion={first}&resourceVersionMatch=NotOlderThan", ["c0", "c1", "c2"]),
        ("?resourceVersion={first}&resourceVersionMatch=Exact", ["c0"]),
        ("?resourceVersion={first}&limit=5", ["c0"]),
    ],
)
async def test_which_moment_is_shown(query: str, found: list[str]) -> None:
    async with serving() as site:
        first = (await site.put_config("c0"))["metadata"]["resourceVersion"]
        await site.put_config("c1")
        await site.put_config("c2")

        assert names(await site.get(CONFIGS + query.format(first=first))) == found


@pytest.mark.parametrize(
    ("query", "refusal"),
    [
        ("?resourceVersion=999999", (504, "Timeout")),
        ("?resourceVersion=yesterday", (400, "BadRequest")),
        ("?resourceVersionMatch=Exact", (422, "Invalid")),
        ("?resourceVersion=0&resourceVersionMatch=Exact", (422, "Invalid")),
        ("?resourceVersion=1&resourceVersionMatch=Roughly", (422, "Invalid")),
        ("?resourceVersion=1&continue=eyJyZXZpc2lvbiI6MSwiYWZ0ZXIiOiIifQ", (400, "BadRequest")),
        ("?limit=many", (400, "BadRequest")),
        ("?labelSelector=a%3D%3D%3Db", (400, "BadRequest")),
        ("?fieldSelector=spec.color%3Dred", (400, "BadRequest")),
    ],
)
async def test_lists_that_are_refused(query: str, refusal: tuple[int, str]) -> None:
    async with serving() as site:
        assert (await site.get(CONFIGS + query)).refusal[:2] == refusal


async def test_an_object_of_a_future_revision() -> None:
    async with serving() as site:
        await site.put_config("a")

        assert (await site.get(f"{CONFIGS}/a?resourceVersion=999999")).refusal[0] == 504


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/api/v1/configmaps", ["default/a", "kube-public/b"]),
        ("/api/v1/namespaces/kube-public/configmaps", ["kube-public/b"]),
        ("/api/v1/configmaps?fieldSelector=metadata.namespace%3Ddefault", ["default/a"]),
        ("/api/v1/configmaps?fieldSelector=metadata.name!%3Da", ["kube-public/b"]),
    ],
)
async def test_where_and_which(path: str, found: list[str]) -> None:
    async with serving() as site:
        await site.put_config("a")
        await site.post("/api/v1/namespaces/kube-public/configmaps", {"metadata": {"name": "b"}})
        items = (await site.get(path)).json["items"]

        assert [f"{it['metadata']['namespace']}/{it['metadata']['name']}" for it in items] == found


# ------------------------------------------------------------------ forms
@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("", "ConfigMapList"),
        ("*/*", "ConfigMapList"),
        ("application/json", "ConfigMapList"),
        ("application/vnd.kubernetes.protobuf,application/json", "ConfigMapList"),
        (TABLE, "Table"),
        (f"application/json;as=Table;v=v9;g=meta.k8s.io,{TABLE}", "Table"),
        ("application/json;as=Table;v=v1beta1;g=meta.k8s.io", "Table"),
        (PARTIAL, "PartialObjectMetadataList"),
    ],
)
async def test_a_list_in_the_form_that_is_asked_for(accept: str, kind: str) -> None:
    async with serving() as site:
        answer = await site.get(CONFIGS, Accept=accept)

        assert (answer.status, answer.json["kind"]) == (200, kind)


@pytest.mark.parametrize(
    "accept",
    [
        "text/html",
        "application/vnd.kubernetes.protobuf",
        "application/json;as=Chart;v=v1;g=meta.k8s.io",
    ],
)
async def test_a_form_that_there_is_not(accept: str) -> None:
    async with serving() as site:
        assert (await site.get(CONFIGS, Accept=accept)).refusal[:2] == (406, "NotAcceptable")


async def test_metadata_alone() -> None:
    async with serving() as site:
        made = await site.put_config("a", app="x")
        one = PARTIAL.replace("List", "")

        answer = await site.get(f"{CONFIGS}/a", Accept=one)
        assert answer.json == {
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": made["metadata"],
        }
        listed = (await site.get(CONFIGS, Accept=PARTIAL)).json["items"]
        assert listed == [answer.json]


@pytest.mark.parametrize(
    ("include", "shown"),
    [
        ("", "PartialObjectMetadata"),
        ("Metadata", "PartialObjectMetadata"),
        ("Object", "ConfigMap"),
        ("None", ""),
    ],
)
async def test_a_line_carries_its_object(include: str, shown: str) -> None:
    async with serving() as site:
        await site.put_config("a")
        table = (await site.get(f"{CONFIGS}?includeObject={include}", Accept=TABLE)).json

        assert [it["name"] for it in table["columnDefinitions"]] == ["Name", "Data", "Age"]
        assert table["rows"][0]["cells"][:2] == ["a", 0]
        assert (table["rows"][0]["object"] or {}).get("kind", "") == shown


async def test_a_line_cannot_carry_anything() -> None:
    async with serving() as site:
        assert (await site.get(f"{CONFIGS}?includeObject=All", Accept=TABLE)).refusal[0] == 400
