"""Quantities: what is read, what is printed, and the arithmetic between them."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.core.quantity import ZERO, Form, Quantity

quantities = st.builds(Quantity, st.integers(-(10**33), 10**33), st.sampled_from(Form))


def q(text: str) -> Quantity:
    return Quantity.parse(text)


@pytest.mark.parametrize(
    ("text", "amount", "printed"),
    [
        ("0", 0, "0"),
        ("0Mi", 0, "0"),
        ("-0", 0, "0"),
        ("1", 1, "1"),
        ("+1", 1, "1"),
        ("-1", -1, "-1"),
        ("007", 7, "7"),
        ("100m", Fraction(1, 10), "100m"),
        ("1000m", 1, "1"),
        ("1500m", Fraction(3, 2), "1500m"),
        ("0.5", Fraction(1, 2), "500m"),
        (".5", Fraction(1, 2), "500m"),
        ("5.", 5, "5"),
        ("1.5", Fraction(3, 2), "1500m"),
        ("128974848", 128974848, "128974848"),
        ("1000", 1000, "1k"),
        ("1k", 1000, "1k"),
        ("1000k", 10**6, "1M"),
        ("1E", 10**18, "1E"),
        ("1000E", 10**21, "1e21"),
        ("250u", Fraction(250, 10**6), "250u"),
        ("3n", Fraction(3, 10**9), "3n"),
        ("1Ki", 1024, "1Ki"),
        ("1Gi", 2**30, "1Gi"),
        ("1024Mi", 2**30, "1Gi"),
        ("1500Mi", 1500 * 2**20, "1500Mi"),
        ("1.5Gi", 3 * 2**29, "1536Mi"),
        ("-2048Ki", -(2**21), "-2Mi"),
        ("1024Ei", 2**70, "1024Ei"),
        ("1e3", 1000, "1e3"),
        ("1E3", 1000, "1e3"),
        ("15e2", 1500, "1500"),
        ("12e+06", 12 * 10**6, "12e6"),
        ("1e-3", Fraction(1, 1000), "1e-3"),
    ],
)
def test_reads_and_prints(text: str, amount: Fraction | int, printed: str) -> None:
    assert (q(text).amount, str(q(text))) == (amount, printed)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("0.5Ki", "512"),  # below 1024 there is no binary suffix without a fraction
        ("1.0001Ki", "1024102400u"),  # and none for a value that is not whole
        ("0.1n", "1n"),  # finer than a billionth: away from zero
        ("-0.1n", "-1n"),
        ("1.0000000001", "1000000001n"),
        ("1e-99", "1e-9"),
    ],
)
def test_never_loses_what_was_asked_for(text: str, printed: str) -> None:
    assert str(q(text)) == printed


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "1 Gi", " 1", "1\n"),
        *("+", "-", ".", "Gi", "--1", "1.2.3", "1,5"),
        *("1gi", "1K", "1KI", "1Gib", "1mm", "1e", "1e1000", "1e3Ki"),
        *("abc", "NaN", "0x10", "٣"),
    ],
)
def test_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="a quantity must look like"):
        q(text)


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (q("1Gi") + q("1Gi"), "2Gi"),
        (q("1Gi") + q("1G"), "2073741824"),  # the notation of the first; a suffix only if exact
        (q("1G") + q("1Gi"), "2073741824"),
        (ZERO + q("1Gi"), "1Gi"),
        (sum([q("512Mi"), q("512Mi")], ZERO), "1Gi"),
        (q("1") - q("100m"), "900m"),
        (q("1Gi") - q("1Gi"), "0"),
        (q("250m") * 3, "750m"),
        (4 * q("250m"), "1"),
        (q("512Mi") * 2, "1Gi"),
        (q("1e3") * 5, "5e3"),
    ],
)
def test_arithmetic(value: Quantity, printed: str) -> None:
    assert str(value) == printed


@pytest.mark.parametrize(
    ("text", "whole"), [("100m", 1), ("2", 2), ("2001m", 3), ("-100m", -1), ("0", 0), ("1Ki", 1024)]
)
def test_whole_units_round_away_from_zero(text: str, whole: int) -> None:
    assert q(text).whole() == whole


@given(quantities)
def test_as_a_number_of_python_it_is_cut(value: Quantity) -> None:
    assert int(value) == int(value.amount)


SUFFIXES = {"n": -9, "m": -3, "": 0, "k": 3, "E": 18, "e-12": -12, "e0": 0, "e12": 12}


@given(st.integers(0, 10**12), st.integers(0, 14), st.sampled_from([*SUFFIXES]))
def test_all_is_read_to_the_billionth_and_what_is_finer_goes_up(
    digits: int, places: int, suffix: str
) -> None:
    written = f"{digits:0{places + 1}d}"
    text = f"{written[: len(written) - places]}.{written[len(written) - places :]}{suffix}"
    exact = Fraction(digits, 10**places) * Fraction(10) ** SUFFIXES[suffix] * 10**9
    assert q(text).nano == ceil(exact)
    assert q(f"-{text}").nano == -ceil(exact)


def test_notation_is_not_value() -> None:
    assert q("1Gi") == q("1073741824")
    assert len({q("1"), q("1000m"), q("1e0"), q("1.0")}) == 1


@given(quantities)
def test_text_is_read_back(value: Quantity) -> None:
    again = q(str(value))
    assert (again, hash(again)) == (value, hash(value))


@given(quantities)
def test_printing_settles(value: Quantity) -> None:
    # Not at once: a binary quantity without a factor of 1024 prints as 5000, which is read as 5k.
    once = str(q(str(value)))
    assert str(q(once)) == once


@given(quantities, quantities)
def test_order_is_that_of_the_amounts(a: Quantity, b: Quantity) -> None:
    assert (a < b, a == b, a > b) == (
        a.amount < b.amount,
        a.amount == b.amount,
        a.amount > b.amount,
    )


@given(quantities, quantities, st.integers(-1000, 1000))
def test_arithmetic_is_exact(a: Quantity, b: Quantity, times: int) -> None:
    assert (a + b).amount == a.amount + b.amount
    assert (a - b) + b == a
    assert (a * times).amount == a.amount * times


@given(st.sampled_from(["", "-"]), st.integers(0, 10**30), st.integers(1, 20))
def test_rounding_is_away_from_zero_and_by_less_than_a_billionth(
    sign: str, digits: int, places: int
) -> None:
    text = str(digits).zfill(places + 1)
    rounded, exact = q(f"{sign}{text[:-places]}.{text[-places:]}"), Fraction(digits, 10**places)
    assert 0 <= abs(rounded.amount) - exact < Fraction(1, 10**9)
    assert (rounded.nano < 0) is bool(sign and digits)
