"""The admission of a server that people meet: everything that kube-apiserver asks of a write."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from stateward.kube.codec import Json
from stateward.kube.errors import BadRequest, Cause
from stateward.kube.resources import CUSTOM_RESOURCES, NAMESPACES
from stateward.local.kinds import Kind
from stateward.local.rules.admission import Author, Refusal
from stateward.local.schema import namespaces
from stateward.local.schema.builtin import checks, decisions, defaults, status_checks
from stateward.local.schema.custom import advice
from stateward.local.schema.custom.definition_checks import definition_problems, status_problems
from stateward.local.schema.custom.objects import CustomSchema
from stateward.local.schema.custom.scales import scale_problems
from stateward.local.schema.reading import (
    check_applied,
    read_built_in,
    read_custom,
    say_nothing,
)
from stateward.local.store import Store
from stateward.local.unheeded import unheeded


class FullAdmission:
    """Schemas, defaults, namespaces and all that has to make sense."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._schemas: dict[tuple[str, str], CustomSchema] = {}

    def read(
        self, kind: Kind, document: Json, author: Author, refusal: Refusal = BadRequest
    ) -> None:
        """Drop what is unknown and fill in defaults, in place."""
        if kind.schema is not None:
            read_custom(kind, document, kind.schema, author, refusal)
        elif kind.built_in:
            read_built_in(kind, document, author, refusal)
            author.warnings.extend(unheeded(kind.resource.name, document))
            if kind.resource.name == CUSTOM_RESOURCES.name:
                author.warnings.extend(advice.on_formats(document))
        self._fill(kind, document)

    def read_applied(self, kind: Kind, body: Json) -> None:
        """Raise when somebody applies what the schema does not name."""
        check_applied(kind, body)

    def fill(self, kind: Kind, document: Json) -> None:
        """Fill in defaults, in place; who applied a null said nothing."""
        if kind.built_in:
            say_nothing(kind, document)
        self._fill(kind, document)

    def _fill(self, kind: Kind, document: Json) -> None:
        if kind.built_in:
            defaults.fill(kind.resource.name, document)
        elif kind.schema is not None:
            self._schema(kind, kind.schema).fill(document)

    def admit_new(self, kind: Kind, document: Json) -> None:
        """Add what the server itself decides; raise when its namespace takes nothing."""
        if kind.resource.namespaced:
            namespaces.check_open(self._store, kind, document["metadata"])
        if kind.built_in:
            decisions.decide_new(kind.resource.name, document, self._store)

    def admit_changed(self, kind: Kind, old: Json, new: Json) -> None:
        """Add what the server itself decides of a changed object."""
        if kind.built_in:
            decisions.decide_changed(kind.resource.name, old, new, self._store)

    def problems(
        self, kind: Kind, new: Json, old: Json | None, subresource: str
    ) -> Iterable[Cause]:
        """Say what makes no sense, of a new object or of a changed one."""
        if kind.schema is not None:
            found = self._schema(kind, kind.schema).problems(new, old)
            return chain(found, scale_problems(kind.scale, new))
        if kind.resource.name == CUSTOM_RESOURCES.name:
            return status_problems(new) if subresource else definition_problems(new, old)
        if subresource == "status" and kind.built_in:
            return status_checks.status_problems(kind.resource.name, new, old)
        if subresource or not kind.built_in:
            return ()
        return checks.problems(kind.resource.name, new)

    def check_deletion(self, kind: Kind, document: Json) -> None:
        """Raise Forbidden for the namespaces without which there is no cluster."""
        if kind.resource.name == NAMESPACES.name:
            namespaces.check_deletion(document)

    def _schema(self, kind: Kind, schema: Json) -> CustomSchema:
        """Return the schema of a custom kind, compiled; another schema is compiled anew."""
        place = kind.resource.name, kind.resource.version
        known = self._schemas.get(place)
        if known is None or known.schema is not schema:
            known = self._schemas[place] = CustomSchema(schema)
        return known
