"""The checks of parameters: what they let pass, and the one sentence of a refusal."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from featsieve.errors import InputError
from featsieve.input.parameters import (
    check_choice,
    check_flag,
    check_fraction_or_count,
    check_integer,
    check_numbers,
    check_real,
    check_time,
    effective_n_jobs,
    parse_memory,
)

STRANGE = [None, "1", [1], {"a": 1}, np.array([1, 2]), np.nan, Decimal(1), object(), 1j, int]


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no words")


@pytest.mark.parametrize("value", [1, np.int8(1), np.uint64(1)])
def test_integers_of_any_kind(value):
    assert check_integer("n", value, 1) == 1
    assert type(check_integer("n", value, 1)) is int


@pytest.mark.parametrize("value", [*STRANGE, 0, 1.0, True, np.True_, math.inf])
def test_what_is_not_an_integer_from_one(value):
    with pytest.raises(InputError, match=r"^n=.* is not allowed; give an integer >= 1\.$"):
        check_integer("n", value, 1)


def test_an_integer_between_bounds():
    assert check_integer("n", 5, 2, 5) == 5
    with pytest.raises(InputError, match=r"^n=6 is not .*; give an integer from 2 to 5 or None\.$"):
        check_integer("n", 6, 2, 5, also="None")


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.5), np.int16(1), Fraction(1, 2)])
def test_numbers_of_any_kind(value):
    assert check_real("a", value, 0, 1) == float(value)


@pytest.mark.parametrize("value", [*STRANGE, -0.1, 1.1, math.inf, 10**400, True])
def test_what_is_not_a_number_from_zero_to_one(value):
    with pytest.raises(InputError, match=r"is not allowed; give a number >= 0 and <= 1\.$"):
        check_real("a", value, 0, 1)


@pytest.mark.parametrize(
    ("inclusive", "allowed", "words"),
    [
        ("both", [0, 1], ">= 0 and <= 1"),
        ("low", [0], ">= 0 and < 1"),
        ("high", [1], "> 0 and <= 1"),
        ("neither", [], "> 0 and < 1"),
    ],
)
def test_the_ends_of_an_interval(inclusive, allowed, words):
    for end in (0, 1):
        if end in allowed:
            assert check_real("a", end, 0, 1, inclusive=inclusive) == end
        else:
            with pytest.raises(InputError, match=f"give a number {words}"):
                check_real("a", end, 0, 1, inclusive=inclusive)


def test_a_number_above_a_bound():
    with pytest.raises(InputError, match=r"tol=0 is not allowed; give a finite number > 0\.$"):
        check_real("tol", 0, 0, inclusive="neither")


@pytest.mark.parametrize("value", [*STRANGE[1:], "median ", True])
def test_what_is_not_a_choice(value):
    with pytest.raises(InputError, match=r"give 'mean', 'median' or None\.$"):
        check_choice("rule", value, ("mean", "median", None))


def test_choices():
    assert check_choice("rule", np.str_("mean"), ("mean", None)) == "mean"
    assert check_choice("rule", None, ("mean", None)) is None


@pytest.mark.parametrize("value", [*STRANGE, 0, 1])
def test_what_is_not_a_flag(value):
    with pytest.raises(InputError, match=r"^f=.* is not allowed; give True or False\.$"):
        check_flag("f", value)


@pytest.mark.parametrize("value", [*STRANGE, 0, -1, 0.0, 1.0, 1.5, True])
def test_what_is_neither_a_fraction_nor_a_count(value):
    with pytest.raises(InputError, match=r"give an integer >= 1 or a fraction in \(0, 1\)\.$"):
        check_fraction_or_count("step", value)


def test_all_of_it_is_a_fraction_where_that_is_allowed():
    assert check_fraction_or_count("step", 1.0, inclusive="high") == 1.0


@pytest.mark.parametrize("values", [1.5, [1.5], (1.5,), np.array([1.5]), range(1, 2)])
def test_lists_of_numbers(values):
    assert check_numbers("sigmas", values, 0).dtype == np.float64


@pytest.mark.parametrize("values", [{}, [], "12", None, [1, "a"], [1, -1], [[1]], np.eye(2), set()])
def test_what_is_not_a_list_of_numbers(values):
    with pytest.raises(InputError, match="a list of at least one number, each a finite number > 0"):
        check_numbers("sigmas", values, 0, inclusive="neither")


@pytest.mark.parametrize(
    ("given", "n_bytes"),
    [("1GiB", 2**30), (" 1.5 kb ", 1500), (".5MB", 500_000), (7.9, 7), (np.int64(8), 8)],
)
def test_amounts_of_memory(given, n_bytes):
    assert parse_memory(given) == n_bytes


@pytest.mark.parametrize(
    "given", ["1..GB", "GB", "1 XB", "", "-1MB", "٣MB", math.inf, 0, 0.5, -3, True, *STRANGE[2:]]
)
def test_what_is_not_an_amount_of_memory(given):
    with pytest.raises(InputError, match=r"^memory_limit=.* is not allowed; give a number of byt"):
        parse_memory(given)


@pytest.mark.parametrize("given", [*STRANGE[1:], 0, -1, True])
def test_what_is_not_a_time(given):
    with pytest.raises(InputError, match=r"^max_time=.* is not allowed; give a number of seconds"):
        check_time(given)


@pytest.mark.parametrize("given", [*STRANGE[1:], 0, 1.0, True])
def test_what_is_not_a_number_of_threads(given):
    with pytest.raises(
        InputError, match=r"^n_jobs=.* is not allowed; give an integer from 1 to 4096, -1 "
    ):
        effective_n_jobs(given)


@pytest.mark.parametrize("given", [np.zeros((50, 50)), "x" * 1000, "a\nb", Unprintable()])
def test_a_refusal_is_one_short_line(given):
    with pytest.raises(InputError) as caught:
        check_integer("n", given, 1)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 130
