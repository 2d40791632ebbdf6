"""From the word or object a user gives to a discretiser."""

from __future__ import annotations

from typing import Any

from featsieve.discretize.base import Discretizer
from featsieve.discretize.caim import CAIM
from featsieve.discretize.quantile import Quantile
from featsieve.discretize.widths import EqualWidth, SigmaCuts
from featsieve.errors import InputError

WORDS = ("quantile", "equal_width", "sigma", "caim")


def choose_discretizer(
    given: Any, n_bins: int, parameter: str = "discretizer"
) -> Discretizer | None:
    """A discretiser by its word, as it is, or None for data that are codes already.

    >>> choose_discretizer("quantile", 3)
    Quantile(n_bins=3)
    """
    if given is None or isinstance(given, Discretizer):
        return given
    match given:
        case "quantile":
            return Quantile(n_bins)
        case "equal_width":
            return EqualWidth(n_bins)
        case "sigma":
            return SigmaCuts()
        case "caim":
            return CAIM()
    allowed = ", ".join(map(repr, WORDS))
    raise InputError(
        f"{parameter}={given!r} is not known; give {allowed}, an object of featsieve.discretize, "
        "or None for columns that are codes already."
    )
