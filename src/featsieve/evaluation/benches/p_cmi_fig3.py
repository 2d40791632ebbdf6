"""Venkateswara et al. (2015), Figure 3: how far the global solvers come above Linear's value."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from featsieve.evaluation.benches._quadratic import OURS, Trial, figure, mean_gain
from featsieve.evaluation.benches._report import finish, markdown_table

CLAIM = "The paper's claim: TPower and LowRank come further above Linear than Spectral and SDP do."


def run(
    data_dir: Path | None,
    *,
    trials: int | None = None,
    methods: Sequence[str] | None = None,
    quick: bool = False,
    out: Path | None = None,
) -> str:
    """Mean gain over Linear in percent on the same random matrices (``data_dir`` is not used)."""
    experiments, names, runs, repeats = figure(trials, methods, quick)
    gains = {(n, k): {name: mean_gain(runs, n, k, name) for name in names} for n, k in experiments}
    rows = [[f"({n}, {k})", *(f"{g:+.2f} %" for g in gains[n, k].values())] for n, k in experiments]
    overall = {name: fmean(gain[name] for gain in gains.values()) for name in names}
    order = sorted(names, key=lambda name: -overall[name])
    return finish(
        "Venkateswara et al. (2015), Figure 3: x'Qx above Linear's",
        markdown_table(["(n, k)", *names], rows),
        f"Mean of {repeats} random symmetric non-negative matrices, the same for all methods.",
        CLAIM,
        "Measured, best first: " + ", ".join(f"{n} ({overall[n]:+.2f} %)" for n in order) + ".",
        *(_ours_against_the_rest(runs) if OURS in names else ()),
        out=out,
        packages=["numpy", "scipy", "numba"],
    )


def _ours_against_the_rest(runs: Sequence[Trial]) -> list[str]:
    """On how many matrices ours is above, level with or below the best of all others."""
    ours = [t.value for t in runs if t.method == OURS]
    rest = [t for t in runs if t.method != OURS]
    per_matrix = len(rest) // len(ours)
    best = [max(t.value for t in rest[i : i + per_matrix]) for i in range(0, len(rest), per_matrix)]
    ties = sum(abs(a - b) <= 1e-12 * b for a, b in zip(ours, best, strict=True))
    above = sum(a > b * (1 + 1e-12) for a, b in zip(ours, best, strict=True))
    return [
        f"{OURS} against the best of all others, matrix by matrix: above on {above}, level on "
        f"{ties}, below on {len(ours) - above - ties} of {len(ours)}."
    ]
