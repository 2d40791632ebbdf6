"""Venkateswara et al. (2015), Figure 2: time of the global solvers over (n, k)."""

from __future__ import annotations

from statistics import fmean

from featsieve.evaluation.benches._frame import Bench, Request, Results
from featsieve.evaluation.benches._quadratic import (
    QUICK_TRIALS,
    SDP_FORMS,
    TRIALS,
    cells,
    chosen_methods,
    experiments,
    figure_curves,
    values,
    warm_up_for,
)
from featsieve.evaluation.benches._report import Claim, Report, markdown_table
from featsieve.evaluation.surroundings import seconds_in_words


def report(request: Request, results: Results) -> Report:
    """Mean seconds of each method on the same random matrices."""
    names = chosen_methods(request.methods)

    def mean(n: int, k: int, name: str) -> float:
        return fmean(values(results, n, k, name, "seconds") or [float("nan")])

    sizes = experiments(request)
    rows = [[f"({n}, {k})", *(seconds_in_words(mean(n, k, m)) for m in names)] for n, k in sizes]
    n, k = sizes[-1]
    order = sorted(names, key=lambda name: mean(n, k, name))
    trials = request.repeats(TRIALS, QUICK_TRIALS)
    words = f"fastest first at ({n}, {k}): {', '.join(order)}"
    paper = [name for name in order if name in ("Linear", "Spectral", "SDP", "LowRank", "TPower")]
    return Report(
        "Venkateswara et al. (2015), Figure 2: time of the global solvers",
        [
            markdown_table(["(n, k)", *names], rows),
            f"Mean of {trials} random symmetric non-negative matrices, the same for all methods. "
            f"Compilation is not counted. The paper's figure is an image. {SDP_FORMS}",
        ],
        claims=[
            Claim("Linear is the fastest, Spectral and TPower follow closely",
                  set(paper[:3]) <= {"Linear", "Spectral", "TPower"}, words),
            Claim("SDP runs out of memory at n ≥ 700 (CVX with SDPT3, 16 GB)",
                  False, "ours has a low-rank factor and answers there"),
        ] if len(paper) == 5 else [],
        figures=[figure_curves(request, "times", "seconds", True, mean)],
        seeds=f"0 … {trials - 1} for each (n, k)",
    )  # fmt: skip


BENCH = Bench("p-cmi-fig2", cells, report, warm_up=warm_up_for)
