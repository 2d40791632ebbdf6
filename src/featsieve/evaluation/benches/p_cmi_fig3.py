"""Venkateswara et al. (2015), Figure 3: how far the global solvers come above Linear's value."""

from __future__ import annotations

from statistics import fmean

from featsieve.evaluation.benches._frame import Bench, Request, Results
from featsieve.evaluation.benches._quadratic import (
    OURS,
    QUICK_TRIALS,
    SDP_FORMS,
    TRIALS,
    cells,
    chosen_methods,
    experiments,
    figure_curves,
    gains,
    values,
    warm_up_for,
)
from featsieve.evaluation.benches._report import Claim, Report, markdown_table, mean_and_error


def report(request: Request, results: Results) -> Report:
    """Mean gain over Linear in percent on the same random matrices."""
    names, sizes = chosen_methods(request.methods), experiments(request)

    def cell(n: int, k: int, name: str) -> str:
        mean, error = mean_and_error(gains(results, n, k, name))
        return f"{mean:+.2f} ± {error:.2f} %"

    def mean(n: int, k: int, name: str) -> float:
        return mean_and_error(gains(results, n, k, name))[0]

    rows = [[f"({n}, {k})", *(cell(n, k, name) for name in names)] for n, k in sizes]
    overall = {name: fmean(mean(n, k, name) for n, k in sizes) for name in names}
    trials = request.repeats(TRIALS, QUICK_TRIALS)
    return Report(
        "Venkateswara et al. (2015), Figure 3: x'Qx above Linear's",
        [
            markdown_table(["(n, k)", *names], rows),
            f"Mean of {trials} random symmetric non-negative matrices, the same for all methods. "
            f"The paper's figure is an image. {SDP_FORMS}",
            "Best first: " + _order(overall) + ".",
            *_ours_against_the_rest(request, results),
        ],
        claims=_claims(overall),
        figures=[figure_curves(request, "gains", "% above Linear", False, mean)],
        seeds=f"0 … {trials - 1} for each (n, k)",
    )


def _order(overall: dict[str, float]) -> str:
    order = sorted(overall, key=lambda name: -overall[name])
    return ", ".join(f"{name} ({overall[name]:+.2f} %)" for name in order)


def _claims(overall: dict[str, float]) -> list[Claim]:
    if not {"TPower", "LowRank", "Spectral", "SDP", "SDP, plain"} <= set(overall):
        return []
    least = min(overall["TPower"], overall["LowRank"])
    claims = []
    for form in ("SDP, plain", "SDP"):
        most = max(overall["Spectral"], overall[form])
        measured = f"LowRank {overall['LowRank']:+.2f} %, {form} {overall[form]:+.2f} %"
        text = f"TPower and LowRank come further above Linear than Spectral and SDP ({form})"
        claims.append(Claim(text, least > most, measured))
    return claims


def _ours_against_the_rest(request: Request, results: Results) -> list[str]:
    """On how many matrices ours is above, level with or below the best of all others."""
    names = chosen_methods(request.methods)
    if OURS not in names:
        return []
    above = level = total = 0
    for n, k in experiments(request):
        ours = values(results, n, k, OURS, "value")
        others = [values(results, n, k, name, "value") for name in names if name != OURS]
        for value, *rest in zip(ours, *others, strict=False):
            above += value > max(rest) * (1 + 1e-12)
            level += abs(value - max(rest)) <= 1e-12 * max(rest)
            total += 1
    return [
        f"{OURS} against the best of all others, matrix by matrix: above on {above}, level on "
        f"{level}, below on {total - above - level} of {total}."
    ]


BENCH = Bench("p-cmi-fig3", cells, report, warm_up=warm_up_for)
