"""Kubernetes quantities, so that sizes and shares are compared and added as numbers, never as text.

A quantity is a whole number of billionths plus the notation it was written in. Kubernetes keeps no
finer grain, so arithmetic is exact; what is finer in the text is rounded away from zero, because
somebody who asks for a little should not get nothing. The notation decides how the value prints and
nothing else: ``1Gi`` and ``1073741824`` are equal.

Two differences from the API server, on purpose: it caps binary amounts at 2^63 - 1 and we do not,
and it echoes some texts as they came (``1.500``) where we always print the canonical form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Self

_NANO = 10**9

#: Decimal suffixes by their power of ten, and binary ones by their power of 1024.
_DECIMAL = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_POWERS = {name: power for power, name in _DECIMAL.items()}
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")

# Three digits of exponent are beyond any real size, and keep a mistake from eating the memory.
_SHAPE = re.compile(
    r"(?P<sign>[+-]?)(?=\.?[0-9])(?P<whole>[0-9]*)\.?(?P<fraction>[0-9]*)"
    r"(?:(?P<binary>[KMGTPE]i)|(?P<decimal>[numkMGTPE])|[eE](?P<exponent>[+-]?0*[0-9]{1,3}))?"
)


class Form(Enum):
    """How a quantity likes to be written."""

    DECIMAL = "decimal"  #: 250m, 3, 5k
    BINARY = "binary"  #: 512Mi, 1Gi
    EXPONENT = "exponent"  #: 1e3


@dataclass(frozen=True, slots=True, order=True)
class Quantity:
    """An exact amount. Equality, order and hash look at the amount alone, not at the notation.

    >>> str(Quantity.parse("1024Mi")), str(Quantity.parse("0.5")), str(Quantity.parse("1000m"))
    ('1Gi', '500m', '1')
    >>> str(Quantity.parse("1Gi") * 3 + Quantity.parse("512Mi"))
    '3584Mi'
    """

    nano: int
    form: Form = field(default=Form.DECIMAL, compare=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a quantity as it stands in a manifest; raise ValueError when it is none."""
        found = _SHAPE.fullmatch(text)
        if found is None:
            raise ValueError(
                f"a quantity must look like '100m', '0.5', '2Gi' or '1e3', got {text!r}"
            )
        form, base, power = _notation(found)
        # Whole numbers alone: a fraction of Python's own would be found its lowest terms each time.
        above = int(found["whole"] + found["fraction"]) * _NANO * base ** max(power, 0)
        below = 10 ** len(found["fraction"]) * base ** max(-power, 0)
        nano = -(-above // below)
        return cls(-nano if found["sign"] == "-" else nano, form)

    @property
    def amount(self) -> Fraction:
        """The exact value."""
        return Fraction(self.nano, _NANO)

    def __int__(self) -> int:
        """Return the value in whole units; what is behind the point is cut off."""
        size = abs(self.nano) // _NANO
        return size if self.nano >= 0 else -size

    def whole(self) -> int:
        """Return the value in whole units (bytes, cores), rounded away from zero."""
        size = -(-abs(self.nano) // _NANO)
        return size if self.nano >= 0 else -size

    def __add__(self, other: Self) -> Self:
        return type(self)(self.nano + other.nano, self._form_with(other))

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.nano - other.nano, self._form_with(other))

    def __mul__(self, times: int) -> Self:
        return type(self)(self.nano * times, self.form)

    __rmul__ = __mul__

    def __str__(self) -> str:
        whole, rest = divmod(self.nano, _NANO)
        # Below 1024 a binary suffix would need a fraction, and Kubernetes prints none.
        if self.form is Form.BINARY and rest == 0 and abs(whole) >= 1024:
            return _binary_text(whole)
        return _decimal_text(self.nano, self.form)

    def _form_with(self, other: Self) -> Form:
        # Zero has no notation of its own, so that a sum may start with it.
        return self.form if self.nano else other.form


ZERO = Quantity(0)


def _notation(found: re.Match[str]) -> tuple[Form, int, int]:
    """Return the form, and the factor that its suffix stands for as a base and a power of it."""
    if found["binary"]:
        return Form.BINARY, 1024, _BINARY.index(found["binary"])
    if found["exponent"]:
        return Form.EXPONENT, 10, int(found["exponent"])
    return Form.DECIMAL, 10, _POWERS[found["decimal"] or ""]


def _binary_text(whole: int) -> str:
    power = 0
    while whole % 1024 == 0 and power < len(_BINARY) - 1:
        whole //= 1024
        power += 1
    return f"{whole}{_BINARY[power]}"


def _decimal_text(nano: int, form: Form) -> str:
    if nano == 0:
        return "0"
    power = -9
    while nano % 1000 == 0:
        nano //= 1000
        power += 3
    # Suffixes end at E: what is larger is written with an exponent whatever it came as.
    if power and (form is Form.EXPONENT or power not in _DECIMAL):
        return f"{nano}e{power}"
    return f"{nano}{_DECIMAL[power]}"
