"""How many units a round of a greedy search takes."""

from __future__ import annotations

import numbers

from featsieve.errors import InputError


def check_step(step: float) -> None:
    whole = isinstance(step, numbers.Integral) and not isinstance(step, bool) and step >= 1
    fraction = (
        isinstance(step, numbers.Real) and not isinstance(step, numbers.Integral) and 0 < step < 1
    )
    if not (whole or fraction):
        raise InputError(f"step={step!r} is not possible; give a count from 1, or a fraction < 1.")


def round_size(step: float, current: int) -> int:
    """A count as it is; a fraction of the current count as P-HSIC's authors take it.

    >>> round_size(3, 10), round_size(0.1, 10), round_size(0.1, 5)
    (3, 2, 1)
    """
    if isinstance(step, numbers.Integral):
        return int(step)
    return int(step * current) + 1
