"""Venkateswara et al. (2015), Figure 2: time of the global solvers over (n, k)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from featsieve.evaluation.benches._quadratic import figure, mean_seconds
from featsieve.evaluation.benches._report import finish, markdown_table
from featsieve.evaluation.surroundings import seconds_in_words

CLAIM = (
    "The paper's claim: Linear is the fastest, followed closely by Spectral and TPower; SDP (CVX "
    "with SDPT3) runs out of memory at n ≥ 700; LowRank is slow."
)


def run(
    data_dir: Path | None,
    *,
    trials: int | None = None,
    methods: Sequence[str] | None = None,
    quick: bool = False,
    out: Path | None = None,
) -> str:
    """Mean seconds of each method on the same random matrices (``data_dir`` is not used)."""
    experiments, names, results, repeats = figure(trials, methods, quick)
    rows = [
        [f"({n}, {k})", *(seconds_in_words(mean_seconds(results, n, k, name)) for name in names)]
        for n, k in experiments
    ]
    n, k = experiments[-1]
    order = sorted(names, key=lambda name: mean_seconds(results, n, k, name))
    return finish(
        "Venkateswara et al. (2015), Figure 2: time of the global solvers",
        markdown_table(["(n, k)", *names], rows),
        f"Mean of {repeats} random symmetric non-negative matrices, the same for all methods.",
        CLAIM,
        f"Measured, fastest first at ({n}, {k}): {', '.join(order)}.",
        out=out,
        packages=["numpy", "scipy", "numba"],
    )
