"""Words about custom kinds: a kind ``Thing`` in a group that only one story knows."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from contract.kubernetes.wire import Answer, Wire
from stateward.core.chance import Chance

Json: TypeAlias = dict[str, Any]

TEXT: Json = {"type": "string"}
NUMBER: Json = {"type": "integer"}
OPEN: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def fields(**properties: Json) -> Json:
    """Return the schema of an object with these fields."""
    return {"type": "object", "properties": properties}


def listed(items: Json, **more: Any) -> Json:
    """Return the schema of a list."""
    return {"type": "array", "items": items} | more


def mapped(values: Json, **more: Any) -> Json:
    """Return the schema of a map."""
    return {"type": "object", "additionalProperties": values} | more


def keyed(*keys: str, **properties: Json) -> Json:
    """Return the schema of a list of objects with keys."""
    items = fields(**properties) | {"required": list(keys)}
    return listed(items) | {
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": list(keys),
    }


def embedded(**properties: Json) -> Json:
    """Return the schema of an object of any kind inside another."""
    told = fields(**properties) if properties else dict(OPEN)
    return told | {"x-kubernetes-embedded-resource": True}


def as_set(items: Json) -> Json:
    """Return the schema of a list in which nothing is twice."""
    return listed(items, maxItems=9) | {"x-kubernetes-list-type": "set"}


def ruled(schema: Json, rule: str, **more: Any) -> Json:
    """Return a schema with one rule more."""
    rules = [*schema.get("x-kubernetes-validations", ()), {"rule": rule, **more}]
    return schema | {"x-kubernetes-validations": rules}


def whole(spec: Json, status: Json = OPEN) -> Json:
    """Return the schema of a kind whose objects have a spec and a status."""
    return fields(spec=spec, status=status)


def version(schema: Json, name: str = "v1", *, storage: bool = True, **more: Any) -> Json:
    """Return one version of a kind."""
    told = {"name": name, "served": True, "storage": storage}
    return told | {"schema": {"openAPIV3Schema": schema}} | more


def definition(group: str, *versions: Json, **spec: Any) -> Json:
    """Return a definition of things."""
    names = {"plural": "things", "kind": "Thing"}
    body = {"group": group, "scope": "Namespaced", "names": names, "versions": list(versions)}
    return {"metadata": {"name": f"things.{group}"}, "spec": body | spec}


def told(answer: Answer) -> list[str]:
    """Return why something was refused, as ``spec.size: Invalid value: …``."""
    assert answer.code == 422, f"{answer.code}: {answer.body}"
    return sorted(f"{it['field']}: {it['message']}" for it in answer["details.causes"])


def own_group() -> str:
    """Return a group that nobody else uses."""
    return f"g{Chance.from_system().suffix(8)}.example.com"


@dataclass(frozen=True, slots=True)
class Things:
    """A kind on a server, and what a story does with its objects."""

    wire: Wire
    group: str
    namespaced: bool = True

    @property
    def definition(self) -> str:
        """Where the definition is."""
        return f"customresourcedefinitions/things.{self.group}"

    def at(self, name: str = "", *, version: str = "v1") -> str:
        """Return where an object is; without a name, where all of them are."""
        place = f"/namespaces/{self.wire.namespace}" if self.namespaced else ""
        return f"/apis/{self.group}/{version}{place}/things{'/' if name else ''}{name}"

    def body(self, name: str = "a", *, version: str = "v1", **parts: Any) -> Json:
        """Return an object with these parts."""
        named = {"apiVersion": f"{self.group}/{version}", "kind": "Thing"}
        meta = {"name": name, **parts.pop("metadata", {})}
        return named | {"metadata": meta} | parts

    async def post(self, spec: Any, name: str = "a", **query: Any) -> Answer:
        """Ask for a new object with this spec."""
        return await self.wire.post(self.at(), self.body(name, spec=spec), **query)

    async def made(self, spec: Any, name: str = "a") -> Answer:
        """Make an object with this spec."""
        return (await self.post(spec, name)).made()

    async def change(self, spec: Any, name: str = "a", **query: Any) -> Answer:
        """Ask for another spec, by a merge patch."""
        return await self.wire.patch(self.at(name), {"spec": spec}, **query)

    async def get(self, name: str = "a", *, version: str = "v1", **query: Any) -> Answer:
        """Read an object."""
        return await self.wire.get(self.at(name, version=version), **query)

    async def redefine(self, *versions: Json, **spec: Any) -> Answer:
        """Ask for another definition of the kind."""
        return await self.wire.patch(self.definition, {"spec": {"versions": list(versions)} | spec})

    async def served(self, version: str = "v1") -> None:
        """Wait until a version is served."""

        async def is_served() -> bool:
            return (await self.wire.get(self.at(version=version))).code == 200

        await self.wire.until(is_served)

    async def takes(self, spec: Any) -> None:
        """Wait until an object with this spec would be taken: a changed schema is in force."""

        async def is_taken() -> bool:
            answer = await self.post(spec, "probe", dryRun="All", fieldValidation="Strict")
            return answer.code == 201

        await self.wire.until(is_taken)

    async def refuses(self, spec: Any) -> None:
        """Wait until an object with this spec would be refused: a changed schema is in force."""

        async def is_refused() -> bool:
            answer = await self.post(spec, "probe", dryRun="All", fieldValidation="Strict")
            return answer.code in {400, 422}

        await self.wire.until(is_refused)

    async def defaults(self, value: Any) -> None:
        """Wait until ``spec.a`` is filled in so: a changed schema is in force."""

        async def is_filled() -> bool:
            return bool((await self.post({}, "probe", dryRun="All"))["spec.a"] == value)

        await self.wire.until(is_filled)

    async def condition(self, kind: str) -> Json:
        """Return what the definition says of itself."""
        told = (await self.wire.get(self.definition))["status.conditions"] or []
        return next((it for it in told if it["type"] == kind), {})


@asynccontextmanager
async def things(wire: Wire, spec: Json, **version_terms: Any) -> AsyncGenerator[Things, None]:
    """Have things served, whose specs are as this schema says."""
    async with defined(wire, version(whole(spec), **version_terms)) as kind:
        yield kind


@asynccontextmanager
async def defined(wire: Wire, *versions: Json, **spec: Any) -> AsyncGenerator[Things, None]:
    """Have things served, and remove the kind at the end of the story."""
    kind = Things(wire, own_group(), namespaced=spec.get("scope") != "Cluster")
    document = definition(kind.group, *versions, **spec)
    (await wire.post("customresourcedefinitions", document)).made()
    try:
        for it in versions:
            if it["served"]:
                await kind.served(it["name"])
        yield kind
    finally:
        await wire.delete(kind.definition)
