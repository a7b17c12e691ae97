"""What holds something back, as the status of every kind of ours tells it."""

from __future__ import annotations

from typing import Annotated

from stateward.kube.codec import Part
from stateward.kube.crd.fields import Field


class Blocker(Part):
    """A guard that refused something, and what would satisfy it."""

    step: Annotated[str, Field(description="What was held back.")] = ""
    guard: Annotated[str, Field(description="Which rule held it back.")] = ""
    message: Annotated[str, Field(description="Why, in plain words.")] = ""
    hint: Annotated[str, Field(description="What to do about it.")] = ""
    since: Annotated[str | None, Field(description="Since when.", format="date-time")] = None
