"""Pages: one list in several answers, as of one moment."""

from __future__ import annotations

import pytest

from contract.kubernetes.wire import Answer, Wire

#: Real clusters put a ConfigMap of their own into every namespace; of secrets there are none.
NAMES = ["c0", "c1", "c2", "c3", "c4"]


async def _five(wire: Wire) -> None:
    for name in NAMES:
        meta = {"name": name, "labels": {"half": "first" if name < "c3" else "second"}}
        (await wire.post("secrets", {"metadata": meta, "stringData": {"x": "1"}})).made()


async def _next(wire: Wire, page: Answer, limit: int = 2) -> Answer:
    query = {"continue": page["metadata.continue"]}
    return (await wire.get("secrets", limit=limit, **query)).ok()


async def test_pages_are_of_one_moment_whatever_is_written_meanwhile(wire: Wire) -> None:
    await _five(wire)

    first = (await wire.get("secrets", limit=2)).ok()
    (await wire.post("secrets", {"metadata": {"name": "c1b"}})).made()
    (await wire.delete("secrets/c3")).ok()
    (await wire.patch("secrets/c4", {"metadata": {"labels": {"half": "third"}}})).ok()
    second = await _next(wire, first)
    third = await _next(wire, second)

    assert [it.names for it in (first, second, third)] == [["c0", "c1"], ["c2", "c3"], ["c4"]]
    assert {it.revision for it in (first, second, third)} == {first.revision}
    assert third["items.0.metadata.labels.half"] == "second"


async def test_a_page_tells_how_many_are_left(wire: Wire) -> None:
    await _five(wire)

    first = (await wire.get("secrets", limit=2)).ok()
    second = await _next(wire, first)
    third = await _next(wire, second)

    assert [it["metadata.remainingItemCount"] for it in (first, second, third)] == [3, 1, None]
    assert third["metadata.continue"] is None


async def test_pages_may_be_of_different_sizes(wire: Wire) -> None:
    await _five(wire)

    first = (await wire.get("secrets", limit=1)).ok()
    rest = await _next(wire, first, limit=0)

    assert rest.names == NAMES[1:]


async def test_a_list_that_fits_is_one_page(wire: Wire) -> None:
    await _five(wire)

    answer = (await wire.get("secrets", limit=5)).ok()

    assert answer.names == NAMES
    assert answer["metadata"].keys() == {"resourceVersion"}


async def test_nobody_counts_what_is_selected(wire: Wire) -> None:
    await _five(wire)

    first = (await wire.get("secrets", limit=2, labelSelector="half=first")).ok()
    query = {"continue": first["metadata.continue"], "labelSelector": "half=first"}
    second = (await wire.get("secrets", limit=2, **query)).ok()

    assert (first.names, second.names) == (["c0", "c1"], ["c2"])
    assert first["metadata.remainingItemCount"] is None


async def test_pages_go_through_all_namespaces(wire: Wire) -> None:
    chosen = {"labelSelector": f"story={wire.namespace}"}
    for path in ("secrets", "elsewhere:secrets"):
        for name in ("b", "a"):
            meta = {"name": name, "labels": {"story": wire.namespace}}
            (await wire.post(path, {"metadata": meta})).made()

    seen: list[tuple[str, str]] = []
    more: dict[str, str] = {}
    while more or not seen:
        page = (await wire.get("/api/v1/secrets", limit=1, **chosen, **more)).ok()
        seen += [(it["metadata"]["namespace"], it["metadata"]["name"]) for it in page["items"]]
        token = page["metadata.continue"]
        more = {"continue": token} if token else {}

    # In the order of paths: a dash comes before a slash.
    assert seen == [(place, name) for place in (wire.elsewhere, wire.namespace) for name in "ab"]


async def test_a_negative_limit_is_none(wire: Wire) -> None:
    await _five(wire)

    assert (await wire.get("secrets", limit=-1)).ok().names == NAMES


@pytest.mark.parametrize(
    "token", ["nonsense", "e30", "eyJ2IjoieCJ9"], ids=["text", "empty", "other"]
)
async def test_a_token_is_one_that_a_page_gave(wire: Wire, token: str) -> None:
    answer = await wire.get("secrets", limit=1, **{"continue": token})

    answer.refused(400, "BadRequest", says="continue key is not valid")


async def test_a_token_knows_its_version_itself(wire: Wire) -> None:
    await _five(wire)
    first = (await wire.get("secrets", limit=2)).ok()

    query = {"continue": first["metadata.continue"], "resourceVersion": first.revision}
    answer = await wire.get("secrets", **query)

    answer.refused(
        400, "BadRequest", says="specifying resource version is not allowed when using continue"
    )
