"""Chance as a port: every random number, jitter and generated name comes from here.

Streams are named, so that one more draw in one part of a program does not shift the draws of
another: a simulation seed stays useful while the code around it changes.
"""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

#: What Kubernetes uses for generated names: no vowels, no look-alikes.
_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


class Chance:
    """A stream of random draws that the same seed and name always repeat."""

    __slots__ = ("_name", "_random", "_seed")

    def __init__(self, seed: int | str, name: str = "") -> None:
        self._seed = seed
        self._name = name
        digest = hashlib.sha256(f"{seed}|{name}".encode()).digest()
        self._random = random.Random(int.from_bytes(digest, "big"))

    @classmethod
    def from_system(cls) -> Chance:
        """Return a stream nobody can repeat, for production."""
        return cls(os.urandom(16).hex())

    def stream(self, name: str) -> Chance:
        """Return an independent stream that depends on the seed and the name alone."""
        return Chance(self._seed, f"{self._name}/{name}")

    def fraction(self) -> float:
        """Return a number in [0, 1)."""
        return self._random.random()

    def between(self, low: float, high: float) -> float:
        """Return a number in [low, high)."""
        return low + (high - low) * self._random.random()

    def below(self, bound: int) -> int:
        """Return a whole number in [0, bound)."""
        return self._random.randrange(bound)

    def happens(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self._random.random() < probability

    def choice(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        return options[self._random.randrange(len(options))]

    def jittered(self, value: float, share: float = 0.1) -> float:
        """Return ``value`` moved by at most ``share`` of itself, up or down."""
        return value * (1 + share * (2 * self._random.random() - 1))

    def uuid(self) -> str:
        """Return a random (version 4) UUID."""
        bits = (self._random.getrandbits(128) & ~(0xF << 76) | (4 << 76)) & ~(3 << 62) | (2 << 62)
        text = f"{bits:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def suffix(self, length: int = 5) -> str:
        """Return letters for a generated object name."""
        return "".join(self.choice(_SUFFIX_LETTERS) for _ in range(length))
