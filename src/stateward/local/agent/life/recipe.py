"""How a container is to be run on this machine: its program, words, variables and folders."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stateward.kube.codec import Json
from stateward.local.agent.actions import Target
from stateward.local.agent.environment import PodView, environment, expanded
from stateward.local.agent.files import lastwords
from stateward.local.agent.files.mounts import VARIABLE, Mounts
from stateward.local.agent.files.volumes import mounts_of
from stateward.local.agent.images import Answer, Asked
from stateward.local.agent.life.tools import Tools, ports_of
from stateward.local.agent.processes import Launch

#: The variable in which a program finds the address to listen on.
ADDRESS = "STATEWARD_ADDRESS"


@dataclass(frozen=True, slots=True)
class Recipe:
    """One container of a pod, with all that is known of the pod."""

    spec: Json
    pod: PodView
    places: Mapping[str, Path]
    tools: Tools

    @property
    def name(self) -> str:
        """The container."""
        return str(self.spec["name"])

    @property
    def image(self) -> str:
        """Its image."""
        return str(self.spec.get("image", ""))

    def check(self) -> None:
        """Raise ImageRefused, ConfigMissing or NotMounted when it cannot be run now."""
        self._answer(*self._surroundings())

    def launch(self) -> Launch:
        """Return what to start for the container itself."""
        env, mounts = self._surroundings(is_start=True)
        answer = self._answer(env, mounts)
        cwd = self._folder(mounts)
        everything = {**self._base(mounts), **env, **answer.env}
        return Launch(answer.argv, everything, cwd, self.mark, emulated=answer.emulated)

    def target(self) -> Target:
        """Return whom probes and hooks ask: with the variables and folders of this moment."""
        env, mounts = self._surroundings()
        more = self._answer(env, mounts).env  # with which the container's own programs are found
        everything, folder = {**self._base(mounts), **env, **more}, self._folder(mounts)

        def launch(words: tuple[str, ...]) -> Launch:
            argv = tuple(mounts.translated(word) for word in words) or ("false",)
            found = shutil.which(argv[0], path=everything.get("PATH")) or argv[0]
            return Launch((found, *argv[1:]), everything, folder, self.mark)

        return Target(self.pod.address, ports_of(self.spec), launch)

    def last_words(self) -> bytes:
        """Return what the container wrote about its end."""
        return lastwords.read(self._last_words_file())

    def _surroundings(self, *, is_start: bool = False) -> tuple[dict[str, str], Mounts]:
        env = environment(self.spec, self.pod, self.tools.lookup)
        file = self._last_words_file()
        mounts = mounts_of(self.spec, self.places, env, file, fresh=is_start)
        return {name: mounts.translated(value) for name, value in env.items()}, mounts

    def _answer(self, env: Mapping[str, str], mounts: Mounts) -> Answer:
        def words(name: str) -> tuple[str, ...]:
            said = self.spec.get(name) or ()
            return tuple(mounts.translated(expanded(str(word), env)) for word in said)

        asked = Asked(
            image=self.image,
            command=words("command"),
            args=words("args"),
            env={**self._base(mounts), **env},
            namespace=self.pod.metadata.namespace,
            pod=self.pod.metadata.name,
            address=self.pod.address,
            mounts=mounts,
        )
        return self.tools.images.find(self.image)(asked)

    def _base(self, mounts: Mounts) -> dict[str, str]:
        """Return what every program has in its environment."""
        name = self.pod.spec.get("hostname") or self.pod.metadata.name
        return {
            **self.tools.host_env,
            "HOSTNAME": name,
            ADDRESS: self.pod.address,
            VARIABLE: mounts.as_json(),
        }

    def _folder(self, mounts: Mounts) -> Path:
        wanted = self.spec.get("workingDir") or ""
        place = mounts.place_of(wanted) if wanted else None
        folder = place or self.tools.folders.work(self.pod.metadata.uid, self.name)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _last_words_file(self) -> Path:
        return self.tools.folders.last_words(self.pod.metadata.uid, self.name)

    @property
    def mark(self) -> str:
        """What all processes of the container carry."""
        return f"{self.pod.metadata.uid}/{self.name}"
