"""How many units a round of a greedy search takes."""

from __future__ import annotations

import numbers


def round_size(step: float, current: int) -> int:
    """A count as it is; a fraction of the current count as P-HSIC's authors take it.

    >>> round_size(3, 10), round_size(0.1, 10), round_size(0.1, 5)
    (3, 2, 1)
    """
    if isinstance(step, numbers.Integral):
        return int(step)
    return int(step * current) + 1
