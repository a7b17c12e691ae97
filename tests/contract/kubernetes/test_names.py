"""Names: who gives them, which are allowed, and that each is given once."""

from __future__ import annotations

import pytest

from contract.kubernetes.wire import Wire


async def test_a_name_is_given_once(wire: Wire) -> None:
    (await wire.post("configmaps", {"metadata": {"name": "a"}})).made()

    again = await wire.post("configmaps", {"metadata": {"name": "a"}})

    again.refused(409, "AlreadyExists", says='configmaps "a" already exists')


@pytest.mark.parametrize("name", ["Upper", "under_score", "-dash", "a..b", "ümlaut", "a" * 254])
async def test_an_odd_name_is_refused(wire: Wire, name: str) -> None:
    answer = await wire.post("configmaps", {"metadata": {"name": name}})

    answer.refused(422, "Invalid", "FieldValueInvalid metadata.name")
