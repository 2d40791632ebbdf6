"""How well a selected set meets the true one, and how far methods are from the best one."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence

from featsieve.errors import InputError


def f_measure(selected: Collection[Hashable], relevant: Collection[Hashable]) -> float:
    """Harmonic mean of precision and recall of a selection (Jitkrittum et al. 2013, 6.2).

    It is 1 exactly when the selected set is the relevant set, and 0 when they share nothing.

    Parameters
    ----------
    selected
        What was selected: indices or names, in any order; an empty selection scores 0.
    relevant
        The true ones; at least one.

    Examples
    --------
    >>> f_measure([0, 1, 2, 7], [0, 1, 2, 3])
    0.75
    """
    chosen, true = set(selected), set(relevant)
    if not true:
        raise InputError("relevant is empty; give the indices of at least one true column.")
    # 2pr/(p + r) with p = hits/|chosen| and r = hits/|true|
    return 2 * len(chosen & true) / (len(chosen) + len(true))


def l2_distance_score(errors: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """How far each method is from the best one of each data set, over all sets at once.

    The square root of the summed squared differences (Song et al. 2007, section 6.2): one bad
    failure costs more than many small lags. 0 is a method that is best everywhere.

    Parameters
    ----------
    errors
        Method → one error per data set, the same sets in the same order.

    Examples
    --------
    >>> l2_distance_score({"A": [1.0, 6.0], "B": [4.0, 2.0]})
    {'A': 4.0, 'B': 3.0}
    """
    lengths = {len(values) for values in errors.values()}
    if len(lengths) != 1 or lengths == {0}:
        raise InputError("errors must hold the same data sets, at least one, for every method.")
    best = [min(values) for values in zip(*errors.values(), strict=True)]
    return {
        method: math.dist(values, best) if _all_finite(values) else math.inf
        for method, values in errors.items()
    }


def _all_finite(values: Sequence[float]) -> bool:
    if any(math.isnan(value) for value in values):
        raise InputError("errors holds NaN; give a method that failed 100 %, or leave it out.")
    return all(math.isfinite(value) for value in values)
