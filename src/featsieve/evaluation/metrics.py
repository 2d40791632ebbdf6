"""How well a selected set meets the true one."""

from __future__ import annotations

from collections.abc import Collection, Hashable

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
