"""Whether images tell two lines of releases apart: what runs, and what is asked for.

Until all processes change at once, pods have images of the version that runs. Where both have the
same one, pods that are made anew would start what nobody understands, zone after zone.
"""

from __future__ import annotations

from collections.abc import Iterable

from stateward.core.errors import SpecInvalid
from stateward.core.version import Version
from stateward.fdb.api.questions import image_of
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.names import MAIN_CONTAINER, SIDECAR_CONTAINER
from stateward.fdb.model.versions import are_compatible

_FIELDS = {MAIN_CONTAINER: "mainContainer", SIDECAR_CONTAINER: "sidecarContainer"}


def must_tell_lines_apart(
    spec: FoundationDBClusterSpec, classes: Iterable[ProcessClass], running: Version
) -> None:
    """Raise if one image is to be of two versions that do not understand each other."""
    if are_compatible(Version.parse(spec.version), running):
        return
    for process_class in classes:
        for container, field in _FIELDS.items():
            now = image_of(spec, process_class, container, str(running))
            if now == image_of(spec, process_class, container, spec.version):
                raise SpecInvalid(
                    f"spec.{field}.imageConfigs",
                    f"must give {running}, which runs, and {spec.version} images of their own, got"
                    f" {now} for both",
                    hint="keep the entry with the tag of what runs, and say its version in it; add"
                    f" another one with version: {spec.version} and its tag",
                )
