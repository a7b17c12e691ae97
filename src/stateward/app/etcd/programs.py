"""Images of etcd on a local cluster: a real etcd of this machine stands for each of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import Final

from stateward.app.etcd.available import Found, nearest, of_minor
from stateward.core.version import Version
from stateward.local.agent.images import (
    Answer,
    Asked,
    ImageRefused,
    Images,
    ProgramMissing,
    built_in,
    located,
    parts_of,
)

#: The repositories in which etcd is published.
REPOSITORIES: Final = (
    "quay.io/coreos/etcd",
    "gcr.io/etcd-development/etcd",
    "registry.k8s.io/etcd",
)
#: All that those images have in them.
_TOOLS: Final = ("etcd", "etcdctl", "etcdutl")
#: ``v3.5.35``; a registry may count its builds (``3.5.15-0``) or name a machine (``-arm64``).
_TAG: Final = re.compile(
    r"v?(?P<version>\d+\.\d+\.\d+(?:-(?:alpha|beta|rc)[.\d]*)?)(?:-(?:\d+|[a-z]+\d\w*))?"
)
#: Says the first word on the log and becomes the rest.
_SAY_AND_RUN: Final = 'printf "%s\\n" "$0" >&2; exec "$@"'


class StandIn(Enum):
    """Which etcd may run for a version that this machine does not have."""

    #: Another patch of the same minor release: what tests want, and whoever tries an upgrade.
    SAME_MINOR = "same minor"
    #: Whatever there is, and the container's log says so: for a demonstration.
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Choice:
    """The etcd that runs for an image, and what whoever looks on should know about it."""

    found: Found
    #: A sentence for people; empty when it is just what was asked for and all is well.
    note: str


def version_of_tag(tag: str) -> Version | None:
    """Return the version that a tag of an etcd image names, or None.

    >>> [str(version_of_tag(it)) for it in ("v3.5.35", "3.5.15-0", "v3.6.0-rc.1", "latest")]
    ['3.5.35', '3.5.15', '3.6.0-rc.1', 'None']
    """
    found = _TAG.fullmatch(tag)
    try:
        return Version.parse(found["version"]) if found else None
    except ValueError:  # a number that begins with a zero
        return None


def choose(image: str, found: Sequence[Found], stand_in: StandIn) -> Choice:
    """Return which etcd runs for an image; raise ImageRefused when none may."""
    _, tag = parts_of(image)
    wanted = version_of_tag(tag)
    if wanted is None:
        raise ImageRefused(
            f'the tag of image "{image}" must name a version of etcd, as in v3.6.16',
            hint="write the version that is wanted",
        )
    best = of_minor(wanted, found)
    if best is None and stand_in is StandIn.ANY:
        best = nearest(wanted, found)
    if best is None:
        raise ImageRefused(
            f"etcd {wanted.major}.{wanted.minor} must be on this machine to run image"
            f' "{image}"; there is {_listed(found)}',
            hint=f"`stateward local get-etcd --version {wanted}` fetches it,"
            " or name one in STATEWARD_ETCD_BIN",
        )
    return Choice(best, _note(wanted, best))


def _note(wanted: Version, found: Found) -> str:
    said = []
    if found.version != wanted:
        said.append(f"etcd {wanted} is not on this machine, {found} runs in its place")
    if found.caveat:
        said.append(found.caveat)
    return "; ".join(said)


def _listed(found: Sequence[Found]) -> str:
    return ", ".join(f"{it.version} ({it.source})" for it in found) or "none at all"


@dataclass(frozen=True, slots=True)
class EtcdProgram:
    """Stands for images of etcd: runs the words of a container with the etcd that was chosen."""

    found: Sequence[Found]
    stand_in: StandIn = StandIn.SAME_MINOR

    def __call__(self, asked: Asked) -> Answer:
        """Return what to run; raise ImageRefused or ProgramMissing when that cannot be."""
        choice = choose(asked.image, self.found, self.stand_in)
        words = asked.words or ("etcd",)
        argv = (_program(words[0], choice.found, asked), *words[1:])
        if not choice.note or Path(words[0]).name != "etcd":
            return Answer(argv)
        note = f"stateward: {choice.note}"
        return Answer((located("sh", asked), "-c", _SAY_AND_RUN, note, *argv))


def _program(word: str, found: Found, asked: Asked) -> str:
    """Return what a word means in these images: one of their three programs, and nothing else."""
    path = PurePosixPath(word)
    if path.name in _TOOLS and str(path.parent) in {".", "/usr/local/bin", "/"}:
        place = found.path if path.name == "etcd" else found.path.parent / path.name
        if place.is_file():
            return str(place)
    raise ProgramMissing(
        f'image "{asked.image}" has {", ".join(_TOOLS)} and nothing else: the command must begin'
        f' with one of them that {found} has, got "{word}"',
        hint="there is no shell in it, here as in the real one",
    )


def images_with_etcd(found: Sequence[Found], stand_in: StandIn = StandIn.SAME_MINOR) -> Images:
    """Return the images that a local cluster knows, those of etcd among them."""
    images = built_in()
    for repository in REPOSITORIES:
        images.add(repository, EtcdProgram(found, stand_in))
    return images
