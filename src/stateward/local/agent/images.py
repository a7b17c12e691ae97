"""Which program stands for which image. Operators' packages add their own.

An image is never fetched: a :class:`Program` says what to run on this machine for a container, or
refuses with a sentence that people find in the container's status.
"""

from __future__ import annotations

import fnmatch
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from stateward.core.errors import UsageError
from stateward.local.agent.files.mounts import Mounts
from stateward.local.agent.programs import web


class ImageRefused(UsageError):
    """No program can stand for an image here."""


class ProgramMissing(UsageError):
    """An image is known, and the program that a container wants of it is not there."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a container asks for: words and variables with mount paths already translated."""

    image: str
    command: tuple[str, ...]
    args: tuple[str, ...]
    env: Mapping[str, str]
    namespace: str
    pod: str
    address: str
    mounts: Mounts

    @property
    def words(self) -> tuple[str, ...]:
        """The command and its arguments, for images without an entry point of their own."""
        return (*self.command, *self.args)


@dataclass(frozen=True, slots=True)
class Answer:
    """What to run: the words, and variables beside those that the container asks for."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    #: Whether it only behaves like what is in the image: people read so in the status.
    emulated: bool = False


#: Says what to run for a container, or raises :class:`ImageRefused` or :class:`ProgramMissing`.
Program: TypeAlias = Callable[[Asked], Answer]


def parts_of(image: str) -> tuple[str, str]:
    """Return the repository, without the default registry, and the tag.

    >>> parts_of("docker.io/library/busybox:1.36"), parts_of("localhost:5000/a@sha256:00")
    (('busybox', '1.36'), ('localhost:5000/a', 'latest'))
    """
    name = image.partition("@")[0]
    head, slash, tail = name.rpartition("/")
    last, _, tag = tail.partition(":")
    repository = f"{head}{slash}{last}"
    for prefix in ("docker.io/", "index.docker.io/", "library/"):
        repository = repository.removeprefix(prefix)
    return repository, tag or "latest"


class Images:
    """All that is known; what was added last is asked first."""

    def __init__(self) -> None:
        self._programs: list[tuple[str, Program]] = []

    def add(self, pattern: str, program: Program) -> None:
        """Let a program stand for a repository (``*`` fits anything), or for some of its tags.

        ``registry/name`` fits all tags of it, ``registry/name:3.5.*`` those that begin so.
        """
        self._programs.insert(0, (pattern, program))

    def find(self, image: str) -> Program:
        """Return the program of an image; raise ImageRefused with what is known."""
        repository, tag = parts_of(image)
        for pattern, program in self._programs:
            is_tagged = ":" in pattern.rpartition("/")[2]
            if fnmatch.fnmatchcase(f"{repository}:{tag}" if is_tagged else repository, pattern):
                return program
        known = ", ".join(sorted(pattern for pattern, _ in self._programs))
        raise ImageRefused(
            f'no program stands for image "{image}" on this machine; known: {known}',
            hint="images are not fetched here: add a program with Images.add(PATTERN, PROGRAM)",
        )


def built_in() -> Images:
    """Return the images that are known from the start."""
    images = Images()
    for name in ("busybox", "alpine", "debian", "ubuntu", "bash"):
        images.add(name, shell)
    images.add("python", python)
    images.add("registry.k8s.io/pause", pause)
    images.add("stateward.dev/web", web_server)
    return images


def shell(asked: Asked) -> Answer:
    """Run the words with the programs of this machine; without words, a shell that ends at once."""
    words = asked.words or ("sh",)
    if words[0] == "busybox" and len(words) > 1 and not shutil.which("busybox"):
        words = words[1:]
    return Answer((located(words[0], asked), *words[1:]))


def python(asked: Asked) -> Answer:
    """Run the Python that we run on, with none of our packages in its way."""
    words = asked.words or ("python3",)
    if Path(words[0]).name in {"python", "python3"}:
        return Answer((sys.executable, *words[1:]))
    return shell(asked)


def pause(asked: Asked) -> Answer:
    """Do nothing until told to end."""
    script = 'trap "exit 0" TERM INT; sleep infinity & wait'
    return Answer((located("sh", asked), "-c", script))


def web_server(asked: Asked) -> Answer:
    """Run our small web server, unless the container brings a command of its own."""
    if asked.command:
        return shell(asked)
    return Answer((sys.executable, "-I", "-S", str(web.__file__), *asked.args))


def located(word: str, asked: Asked) -> str:
    """Return where a program is on this machine; raise ProgramMissing when it is not."""
    path = asked.env.get("PATH") or os.environ.get("PATH", os.defpath)
    found = shutil.which(word, path=path) or shutil.which(word)
    if found is None:
        raise ProgramMissing(
            f'image "{asked.image}" is run by programs of this machine, and "{word}" must be one'
            " that can be found on PATH",
            hint="install it, or give the container another command",
        )
    return found
