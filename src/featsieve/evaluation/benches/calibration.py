"""Do the guarantees hold? False columns and power of knockoffs, stability selection and FOCI."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np

from featsieve.arrays import BoolArray, FloatArray, IntArray
from featsieve.evaluation.benches._frame import Bench, Request, Results, by_name, trial_values
from featsieve.evaluation.benches._report import Claim, Report, markdown_table, mean_and_error
from featsieve.evaluation.cells import Cell
from featsieve.inference.knockoffs.copies import CopyModel, fit_copy_model
from featsieve.inference.knockoffs.diagnostic import MISFIT, exchangeability_pvalue
from featsieve.inference.knockoffs.filter import knockoff_threshold
from featsieve.input.boundary import Settings, open_engine
from featsieve.methods.foci import FOCI
from featsieve.methods.knockoffs import KnockoffSelector
from featsieve.methods.stability import StabilitySelector
from featsieve.protocols import Engine
from featsieve.registry import find_method
from featsieve.runtime.seeds import derived_seed

TRIALS, QUICK_TRIALS = 200, 2
FDR = 0.2
PFER = 1.0
METHODS = {
    name: name
    for name in (
        "PearsonRanking",
        "MaxRel",
        "MRMR",
        "JMI",
        "HSICRanking",
        "BAHSIC",
        "HSICLasso",
        "LSMIRanking",
        "ReliefF",
        "LassoSelector",
    )
}
QUICK_METHODS = ("PearsonRanking", "MaxRel", "LassoSelector")
SLOW = ("HSICLasso", "LSMIRanking")
WIDE, DEAREST = 500, 2
ROUNDS = (25, 50, 100)
ENOUGH = 20  # trials for a verdict on a method
STABLE = ("PearsonRanking", "LassoSelector")


@dataclass(frozen=True)
class Design:
    """Gaussian columns with a given correlation; the target is a function of some of them."""

    n: int
    width: int
    n_signals: int
    correlation: Callable[[int], FloatArray]
    effect: Callable[[FloatArray], FloatArray] = lambda X: X
    size: float = 0.5

    def draw(self, seed: int) -> tuple[FloatArray, FloatArray, IntArray]:
        rng = np.random.default_rng(seed)
        factor = np.linalg.cholesky(self.correlation(self.width))
        X = rng.normal(size=(self.n, self.width)) @ factor.T
        signals = np.sort(rng.choice(self.width, self.n_signals, replace=False))
        signs = rng.choice([-1.0, 1.0], self.n_signals)
        y = self.effect(X[:, signals]) @ (self.size * signs) + rng.normal(size=self.n)
        return X, y, signals


def _equal(rho: float, width: int) -> FloatArray:
    return (1 - rho) * np.eye(width) + rho


def _autoregressive(rho: float, width: int) -> FloatArray:
    places = np.arange(width)
    return np.asarray(rho ** np.abs(np.subtract.outer(places, places)))


def _curved(X: FloatArray) -> FloatArray:
    return np.asarray((X**2 - 1.0) + X)


DESIGNS = {
    "equal 0.25, 200 × 200, 60 signals": Design(200, 200, 60, partial(_equal, 0.25)),
    "AR(0.5), 500 × 500, 30 signals": Design(500, 500, 30, partial(_autoregressive, 0.5)),
    "curved, AR(0.5), 300 × 100, 20 signals": Design(
        300, 100, 20, partial(_autoregressive, 0.5), _curved
    ),
    "no signal, equal 0.25, 200 × 200": Design(200, 200, 0, partial(_equal, 0.25)),
}
QUICK_DESIGNS = {
    "quick, AR(0.5), 150 × 40, 15 signals": Design(150, 40, 15, partial(_autoregressive, 0.5))
}
ALL_DESIGNS = {**DESIGNS, **QUICK_DESIGNS}
COLUMNS: dict[str, Callable[[np.random.Generator], FloatArray]] = {
    "Gaussian": lambda rng: rng.normal(size=(1000, 50)),
    "t(3)": lambda rng: rng.standard_t(3, size=(1000, 50)),
    "Poisson(3)": lambda rng: rng.poisson(3.0, size=(1000, 50)).astype(np.float64),
    "two values": lambda rng: rng.integers(0, 2, (1000, 50)).astype(np.float64),
}


def designs(request: Request) -> dict[str, Design]:
    return QUICK_DESIGNS if request.quick else DESIGNS


@dataclass(frozen=True)
class Table:
    """One draw of a design with its copies: all methods see the same."""

    engine: Engine
    model: CopyModel
    is_signal: BoolArray


@lru_cache(maxsize=1)
def table(name: str, seed: int) -> Table:
    design = ALL_DESIGNS[name]
    X, y, signals = design.draw(seed)
    engine = open_engine(X, y, Settings(task="regression"))
    is_signal = np.zeros(design.width, dtype=np.bool_)
    is_signal[signals] = True
    return Table(engine, fit_copy_model(engine, "mvr", seed), is_signal)


def knockoff_trial(name: str, method: str, seed: int) -> dict[str, Any]:
    """What :class:`KnockoffSelector` selects with this seed, without its diagnostic."""
    drawn = table(name, seed)
    inner = find_method(method).load()()
    procedure = KnockoffSelector(inner, fdr=FDR, random_state=seed)._procedure()
    W = procedure.statistics(drawn.engine, drawn.model, derived_seed(seed, 0))
    null = W[~drawn.is_signal]
    return {
        **_errors(np.flatnonzero(knockoff_threshold(W, FDR) <= W), drawn.is_signal),
        "null_ahead": int((null > 0).sum()),
        "null_behind": int((null < 0).sum()),
    }


def stability_trial(name: str, method: str, seed: int) -> dict[str, Any]:
    design = ALL_DESIGNS[name]
    X, y, signals = design.draw(seed)
    inner = find_method(method).load()()
    selector = StabilitySelector(inner, pfer=PFER, random_state=seed, allow_empty=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that nothing passes, for one
        selector.fit(X, y)
    is_signal = np.zeros(design.width, dtype=np.bool_)
    is_signal[signals] = True
    return {
        **_errors(selector.indices_, is_signal),
        "false": int((~is_signal[selector.indices_]).sum()),
    }


def _errors(selected: IntArray, is_signal: Any) -> dict[str, float]:
    right = int(is_signal[selected].sum())
    return {
        "fdp": (len(selected) - right) / max(1, len(selected)),
        "power": right / max(1, int(is_signal.sum())),
        "n_selected": len(selected),
    }


def diagnostic_trial(columns: str, seed: int) -> bool:
    X = COLUMNS[columns](np.random.default_rng(seed))
    engine = open_engine(X, X[:, 0] + 0.5, Settings(task="regression"))
    model = fit_copy_model(engine, "mvr", seed)
    copies = model.copies(X, np.arange(len(X)), seed)
    rng = np.random.default_rng(seed)
    pvalue = exchangeability_pvalue(model.scaling.apply(X), model.scaling.apply(copies), rng)
    return pvalue < MISFIT


def foci_trial(seed: int) -> list[int]:
    """x₁, x₁₀, x₂₀ among 100 columns for y = x₁x₁₀ + x₂₀² at n = 2,000."""
    X = np.random.default_rng(seed).normal(size=(2000, 100))
    y = X[:, 0] * X[:, 9] + X[:, 19] ** 2
    return sorted(int(c) for c in FOCI().fit(X, y).indices_)


def cells(request: Request) -> list[Cell]:
    """In rounds, so that a run that is cut off says something about everything.

    What costs more comes to each round later.
    """
    trials = request.repeats(TRIALS, QUICK_TRIALS)
    ends = sorted({*(end for end in ROUNDS if end < trials), trials})
    rounds = [range(start, end) for start, end in pairwise([0, *ends])]
    turns = [(number, cost) for number in range(len(rounds)) for cost in range(DEAREST + 1)]
    turns.sort(key=lambda turn: (sum(turn), turn[0]))
    foci_seeds = range(1 if request.quick else 20)
    foci = [Cell(("foci", str(seed)), partial(foci_trial, seed)) for seed in foci_seeds]
    return foci + [cell for number, cost in turns for cell in _turn(request, rounds[number], cost)]


def _cost(name: str, method: str) -> int:
    """0, 1 or ``DEAREST``."""
    return (ALL_DESIGNS[name].width >= WIDE) + (method in SLOW)


def _turn(request: Request, seeds: range, cost: int) -> list[Cell]:
    """Seed by seed, so that methods share a draw and its copies."""
    methods = _methods(request)
    made = [
        Cell(("knockoffs", name, method, str(seed)), partial(knockoff_trial, name, method, seed))
        for name in designs(request)
        for seed in seeds
        for method in methods
        if _cost(name, method) == cost
    ]
    made += [
        Cell(("stability", name, method, str(seed)), partial(stability_trial, name, method, seed))
        for method in STABLE
        if method in methods
        for name in designs(request)
        if _cost(name, method) == cost
        for seed in seeds
    ]
    if cost:
        return made
    return made + [
        Cell(("diagnostic", columns, str(seed)), partial(diagnostic_trial, columns, seed))
        for columns in COLUMNS
        for seed in seeds
    ]


def _methods(request: Request) -> list[str]:
    if request.quick and not request.methods:
        return list(QUICK_METHODS)
    return by_name(request.methods, METHODS, "the calibration")


def report(request: Request, results: Results) -> Report:
    return Report(
        "Calibration: do the guarantees hold?",
        [
            _knockoff_section(request, results),
            _stability_section(request, results),
            _diagnostic_section(results),
            _foci_section(results),
        ],
        claims=_claims(request, results),
        seeds="0 … trials − 1, the same draws for every method",
    )


def _knockoff_section(request: Request, results: Results) -> str:
    rows = []
    for name in designs(request):
        for method in _methods(request):
            trials = trial_values(results, "knockoffs", name, method)
            if trials:
                rows.append(_knockoff_row(name, method, trials))
    head = ["design", "method", "trials", "false share", "any selected", "power", "null W > 0"]
    return f"## Knockoffs at a false discovery rate of {FDR:.0%}\n\n" + markdown_table(head, rows)


def _knockoff_row(name: str, method: str, trials: list[Any]) -> list[str]:
    fdp, error = mean_and_error([t["fdp"] for t in trials])
    power, power_error = mean_and_error([t["power"] for t in trials])
    chosen = sum(t["n_selected"] > 0 for t in trials) / len(trials)
    share, share_error = _null_share(trials)
    return [
        name,
        method,
        str(len(trials)),
        f"{fdp:.3f} ± {error:.3f}",
        f"{chosen:.3f}",
        f"{power:.3f} ± {power_error:.3f}",
        f"{share:.3f} ± {share_error:.3f}",
    ]


def _null_share(trials: list[Any]) -> tuple[float, float]:
    """How often a column without an effect is ahead of its copy, ties left out, by draws."""
    counts = [(t["null_ahead"], t["null_ahead"] + t["null_behind"]) for t in trials]
    return mean_and_error([ahead / apart for ahead, apart in counts if apart])


def _stability_section(request: Request, results: Results) -> str:
    rows = []
    for name in designs(request):
        for method in STABLE:
            trials = trial_values(results, "stability", name, method)
            if trials:
                false, error = mean_and_error([float(t["false"]) for t in trials])
                power, _ = mean_and_error([t["power"] for t in trials])
                rows.append(
                    [name, method, str(len(trials)), f"{false:.3f} ± {error:.3f}", f"{power:.3f}"]
                )
    head = ["design", "method", "trials", "false columns", "power"]
    title = f"## Stability selection with at most {PFER:g} false columns expected\n\n"
    return title + markdown_table(head, rows)


def _diagnostic_section(results: Results) -> str:
    rows = [
        [columns, str(len(flags)), f"{sum(flags) / len(flags):.3f}"]
        for columns in COLUMNS
        if (flags := trial_values(results, "diagnostic", columns))
    ]
    title = "## How often the diagnostic warns (n = 1,000, 50 columns)\n\n"
    return title + markdown_table(["columns", "trials", "share"], rows)


def _foci_section(results: Results) -> str:
    selections = trial_values(results, "foci")
    exact = sum(chosen == [0, 9, 19] for chosen in selections)
    contained = sum({0, 9, 19} <= set(chosen) for chosen in selections)
    return (
        "## FOCI: x₁, x₁₀, x₂₀ among 100 columns for y = x₁x₁₀ + x₂₀², n = 2,000\n\n"
        f"All three selected for {contained} of {len(selections)} seeds, exactly these for {exact}."
    )


def _claims(request: Request, results: Results) -> list[Claim]:
    claims = [_false_share_claim(request, results, name) for name in designs(request)]
    claims.append(_null_claim(request, results))
    claims.append(_stability_claim(request, results))
    for columns in COLUMNS:
        flags = trial_values(results, "diagnostic", columns)
        if flags:
            claims.append(_warning_claim(columns, sum(flags) / len(flags)))
    return claims


def _false_share_claim(request: Request, results: Results, name: str) -> Claim:
    """Of the methods with enough trials; the others are named."""
    enough = min(ENOUGH, request.repeats(TRIALS, QUICK_TRIALS))
    above, missing, judged = [], [], 0
    for method in _methods(request):
        trials = trial_values(results, "knockoffs", name, method)
        if len(trials) < enough:
            missing.append(f"{method} ({len(trials)})")
            continue
        judged += 1
        fdp, error = mean_and_error([t["fdp"] for t in trials])
        if fdp > FDR + 2 * error:
            above.append(f"{method} {fdp:.3f} ± {error:.3f}")
    words = [f"{judged} methods with {enough} trials or more", *above]
    if missing:
        words.append("too few trials to say: " + ", ".join(missing))
    return Claim(
        f"the mean false share is at most {FDR:.0%} within 2 standard errors on {name}",
        judged > 0 and not above,
        "; ".join(words),
    )


def _null_claim(request: Request, results: Results) -> Claim:
    """Of many cells some are beyond 2 standard errors by chance."""
    n_cells, above = 0, []
    for name in designs(request):
        for method in _methods(request):
            trials = trial_values(results, "knockoffs", name, method)
            share, error = _null_share(trials)
            n_cells += len(trials) >= ENOUGH
            if len(trials) >= ENOUGH and share > 0.5 + 3 * error:
                above.append(f"{method} on {name} {share:.3f} ± {error:.3f}")
    return Claim(
        "a column without an effect is ahead of its copy half of the time at most, within 3 "
        "standard errors",
        not above,
        "; ".join([f"{n_cells} cells", *above]),
    )


def _stability_claim(request: Request, results: Results) -> Claim:
    worst = 0.0
    for name in designs(request):
        for method in STABLE:
            trials = trial_values(results, "stability", name, method)
            if trials:
                false, error = mean_and_error([float(t["false"]) for t in trials])
                worst = max(worst, false - 2 * error)
    return Claim(
        f"stability selection has at most {PFER:g} false columns within 2 standard errors",
        worst <= PFER,
        f"the largest mean less 2 standard errors is {worst:.2f}",
    )


def _warning_claim(columns: str, share: float) -> Claim:
    if columns == "Gaussian":
        return Claim("it warns of Gaussian columns in at most 5%", share <= 0.05, f"{share:.1%}")
    return Claim(f"it warns of {columns} columns in at least 90%", share >= 0.9, f"{share:.1%}")


BENCH = Bench("calibration", cells, report)
