"""What the schema of a custom kind asks of its objects, compiled once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from stateward.kube.codec import Json
from stateward.kube.errors import Cause
from stateward.local.schema import causes, validators
from stateward.local.schema.complaints import NOWHERE, broken
from stateward.local.schema.custom import structural
from stateward.local.schema.custom.rules import Place, broken_rules, place_of

if TYPE_CHECKING:
    from jsonschema_rs import Draft4Validator

_NOT_ASKED: Final = (
    "some validation rules were not checked because the object was invalid;"
    " correct the existing errors to complete validation"
)


class CustomSchema:
    """One schema, ready to be asked about objects."""

    def __init__(self, schema: Json) -> None:
        self.schema = schema
        self._validator: Draft4Validator = validators.of_custom(schema)
        self._rules: Place | None = place_of(schema)

    def fill(self, document: Json) -> None:
        """Fill in defaults, and drop nulls that mean nothing, in place."""
        structural.fill(document, self.schema)

    def problems(self, new: Json, old: Json | None) -> Iterator[Cause]:
        """Yield what is wrong with an object; what was so before is let pass."""
        found = False
        if not self._validator.is_valid(new):
            for cause in broken(self._validator, new, old, self.schema):
                found = True
                yield cause
        for cause in structural.misfits(new, self.schema):
            found = True
            yield cause
        # Rules may rely on the types, so they are asked only of what has them.
        if self._rules is not None and not found:
            yield from broken_rules(self._rules, new, old)
        elif self._rules is not None:
            yield causes.invalid(NOWHERE, None, _NOT_ASKED)
