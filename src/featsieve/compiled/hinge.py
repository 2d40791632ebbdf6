"""Block coordinate descent for squared hinge loss with a penalty on the norm of each block."""

from __future__ import annotations

from typing import Any

import numpy as np

from featsieve.compiled.inlining import kernel


@kernel()
def descend_hinge(
    columns: Any,
    sign: Any,
    slack: Any,
    coef: Any,
    starts: Any,
    step: Any,
    penalty: Any,
    tol: float,
    sweeps: int,
) -> Any:
    """Minimise ½ Σ max(0, slack)² + Σ_g penalty_g ‖B_g‖; returns (sweeps done, violation).

    ``columns`` has one column of the table per row and ``sign`` one problem per row; ``slack`` is
    1 − sign·(decision), ``coef`` is B (columns × problems); both are changed in place. Block g is
    the columns ``starts[g] … starts[g + 1]``; ``step[g]`` is one over the largest eigenvalue of its
    X'X, so that each step descends whichever rows come to count. The violation is the largest
    change of a sweep, as a slope.
    """
    n_problems, n_rows = slack.shape
    worst = np.inf
    for sweep in range(sweeps):
        worst = 0.0
        for block in range(len(step)):
            first, last = starts[block], starts[block + 1]
            moved = coef[first:last].copy()
            norm = 0.0
            for column in range(first, last):
                values = columns[column]
                for problem in range(n_problems):
                    slope = 0.0
                    for row in range(n_rows):
                        if slack[problem, row] > 0.0:
                            slope += sign[problem, row] * slack[problem, row] * values[row]
                    moved[column - first, problem] += step[block] * slope
                    norm += moved[column - first, problem] ** 2
            norm = np.sqrt(norm)
            threshold = step[block] * penalty[block]
            keep = 1.0 - threshold / norm if norm > threshold else 0.0
            for column in range(first, last):
                values = columns[column]
                for problem in range(n_problems):
                    change = keep * moved[column - first, problem] - coef[column, problem]
                    if change != 0.0:
                        coef[column, problem] += change
                        worst = max(worst, abs(change) / step[block])
                        for row in range(n_rows):
                            slack[problem, row] -= change * sign[problem, row] * values[row]
        if worst <= tol:
            return sweep + 1, worst
    return sweeps, worst
