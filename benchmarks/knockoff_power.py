"""Power of knockoffs beside knockpy's, on the same draws.

    python -m benchmarks.knockoff_power [--trials 200] [--designs A B] [--journal FILE]

Four comparisons at a false discovery rate of 20 %: with the true covariance given to both; with
Ledoit and Wolf's on both sides, which is what knockpy estimates; each with the covariance that it
estimates; and the latter at equal false shares: the side whose realised share is higher gets the
stricter level that brings it down to the other's. Marginal statistics (Pearson) and coefficients of
the cross-validated lasso, S by minimal variance-based reconstructability on both sides; for
marginal statistics also copies as far away as possible (``spread="sdp"``) on our side. A run that
was cut off goes on from its journal.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.frame import write_report
from benchmarks.knockoff_covariance import METHODS, PACKAGES, PEERS, correlation_model, run_cells
from featsieve.arrays import BoolArray, FloatArray
from featsieve.evaluation.benches._report import markdown_table, mean_and_error
from featsieve.evaluation.benches.calibration import DESIGNS as CALIBRATION
from featsieve.evaluation.benches.calibration import FDR, Design, _errors
from featsieve.evaluation.cells import Cell, Key
from featsieve.inference.knockoffs.copies import fit_copy_model
from featsieve.inference.knockoffs.covariance import Spread
from featsieve.inference.knockoffs.filter import knockoff_threshold
from featsieve.input.boundary import Settings, open_engine
from featsieve.methods.knockoffs import KnockoffSelector
from featsieve.runtime.pool import single_threaded_blas
from featsieve.runtime.seeds import derived_seed

NAME = "knockoff_power"
DESIGNS = {name: design for name, design in CALIBRATION.items() if design.n_signals}
LEVELS = tuple(round(0.01 * step, 2) for step in range(1, 21))
COVARIANCES = ("true", "estimated")
SAME = "Ledoit–Wolf"
FARTHEST = "estimated, spread='sdp'"
KINDS = {"true": "true", SAME: SAME}  # any other is our own estimate
SIDES = ("featsieve", "knockpy")
Answers = dict[Key, Any]


def trial(name: str, covariance: str, side: str, seed: int) -> dict[str, Any]:
    """(False share, power) of both statistics at every level, on one draw."""
    design = DESIGNS[name]
    X, y, signals = design.draw(seed)
    is_signal = np.zeros(design.width, dtype=np.bool_)
    is_signal[signals] = True
    statistics = our_statistics if side == "featsieve" else peer_statistics
    with warnings.catch_warnings(), single_threaded_blas():
        warnings.simplefilter("ignore")
        return {
            method: curve(W, is_signal)
            for method, W in statistics(design, covariance, X, y, seed).items()
        }


def our_statistics(
    design: Design, covariance: str, X: FloatArray, y: FloatArray, seed: int
) -> dict[str, FloatArray]:
    engine = open_engine(X, y, Settings(task="regression"))
    kind = KINDS.get(covariance, "featsieve")
    spread: Spread = "sdp" if covariance == FARTHEST else "mvr"
    model = fit_copy_model(engine, spread, seed, correlation_model(kind, design, X))
    W = {}
    for method, selector in METHODS.items():
        if covariance == FARTHEST and method != "Pearson":
            continue
        procedure = KnockoffSelector(selector(), fdr=FDR, random_state=seed)._procedure()
        W[method] = procedure.statistics(engine, model, derived_seed(seed, 0))
    return W


def peer_statistics(
    design: Design, covariance: str, X: FloatArray, y: FloatArray, seed: int
) -> dict[str, FloatArray]:
    from knockpy import KnockoffFilter

    given = design.correlation(design.width) if covariance == "true" else None
    np.random.seed(seed)  # noqa: NPY002 - it draws from the global state
    W = {}
    known: dict[str, Any] = {}  # its S, which costs most, is computed once per draw
    for method, statistic in PEERS.items():
        peer = KnockoffFilter(ksampler="gaussian", fstat=statistic)
        peer.forward(X, y, Sigma=given, fdr=FDR, knockoff_kwargs=known)
        known = {"S": peer.ksampler.fetch_S()}
        W[method] = np.asarray(peer.W)
    return W


def curve(W: FloatArray, is_signal: BoolArray) -> list[list[float]]:
    outcomes = [_errors(np.flatnonzero(knockoff_threshold(W, q) <= W), is_signal) for q in LEVELS]
    return [[round(outcome["fdp"], 4), round(outcome["power"], 4)] for outcome in outcomes]


def cells(names: Sequence[str], trials: int) -> list[Cell]:
    """Draw by draw, so that a run that is cut off has equally many of everything."""
    sides = [(covariance, side) for covariance in COVARIANCES for side in SIDES]
    return [
        Cell((name, covariance, side, str(seed)), partial(trial, name, covariance, side, seed))
        for seed in range(trials)
        for name in names
        for covariance, side in [*sides, (SAME, SIDES[0]), (FARTHEST, SIDES[0])]
    ]


def report(answers: Answers) -> str:
    rows = []
    for name in DESIGNS:
        for method in METHODS:
            for covariance in COVARIANCES:
                sides = both_sides(answers, name, method, covariance, covariance)
                rows.append([name, method, covariance, *compared(*sides)])
            rows.append([name, method, "estimated; equal shares", *compared(*sides, equal=True)])
            sides = both_sides(answers, name, method, SAME, "estimated")
            rows.append([name, method, f"{SAME} on both sides", *compared(*sides)])
        sides = both_sides(answers, name, "Pearson", FARTHEST, "estimated")
        rows.append([name, "Pearson", FARTHEST, *compared(*sides)])
        rows.append([name, "Pearson", f"{FARTHEST}; equal shares", *compared(*sides, equal=True)])
    head = ["design", "statistic", "covariance", "draws", "power", "knockpy's", "difference", ""]
    rows = [row for row in rows if len(row) > 3]
    table = markdown_table([*head, "false share", "knockpy's"], rows)
    return f"{verdict(rows)}\n\n{table}"


def verdict(rows: Sequence[Sequence[str]]) -> str:
    """Where the power is more than two standard errors below knockpy's."""
    lines = []
    for covariance in dict.fromkeys(row[2] for row in rows):
        compared_rows = [row for row in rows if row[2] == covariance]
        below = [
            f"{method} on {name} ({difference}; false shares {ours} and {peers})"
            for name, method, _, _, _, _, difference, sign, ours, peers in compared_rows
            if sign
        ]
        words = f"below in {len(below)} of {len(compared_rows)} comparisons"
        lines.append("- " + ": ".join([covariance, words, *(["; ".join(below)] if below else [])]))
    head = "Where the power is more than two standard errors below knockpy's:"
    return "\n".join([head, "", *lines])


def both_sides(
    answers: Answers, name: str, method: str, our_covariance: str, covariance: str
) -> tuple[FloatArray, FloatArray]:
    """Draws × levels × (false share, power) of each side, on the draws that both have."""
    ours_key, peer_key = (name, our_covariance, SIDES[0]), (name, covariance, SIDES[1])
    seeds = [key[3] for key in answers if key[:3] == ours_key and (*peer_key, key[3]) in answers]
    ours, peer = (
        np.array([answers[(*key, seed)][method] for seed in seeds]) for key in (ours_key, peer_key)
    )
    return ours, peer


def compared(ours: FloatArray, peer: FloatArray, *, equal: bool = False) -> list[str]:
    """Nothing for fewer than two draws."""
    if len(ours) < 2:
        return []
    at = [len(LEVELS) - 1] * 2  # 20 %
    if equal:
        share = min(side[:, at[0], 0].mean() for side in (ours, peer))
        at = [level_for(side, share) for side in (ours, peer)]
    left, right = ours[:, at[0]], peer[:, at[1]]
    difference, error = mean_and_error((left[:, 1] - right[:, 1]).tolist())
    return [
        str(len(left)),
        f"{left[:, 1].mean():.3f}",
        f"{right[:, 1].mean():.3f}",
        f"{difference:+.3f} ± {error:.3f}",
        "**below**" if difference < -2 * error else "",
        *(share_in_words(side[:, 0]) for side in (left, right)),
    ]


def level_for(side: FloatArray, share: float) -> int:
    """The level whose realised false share is nearest."""
    return int(np.abs(side[:, :, 0].mean(axis=0) - share).argmin())


def share_in_words(shares: FloatArray) -> str:
    mean, error = mean_and_error(shares.tolist())
    return f"{mean:.3f} ± {error:.3f}" + (" **above**" if mean > FDR + 2 * error else "")


def main() -> None:
    identity = {"bench": NAME, "fdr": FDR, "levels": LEVELS}
    intro, answers = run_cells(identity, __doc__, list(DESIGNS), cells)
    write_report(NAME, "Power of knockoffs", intro, report(answers), packages=PACKAGES)


if __name__ == "__main__":
    main()
