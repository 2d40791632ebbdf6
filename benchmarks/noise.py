"""No leak: on pure noise, the nested error of every method is that of a coin.

    python -m benchmarks.noise [--repeats 20] [--methods A,B] [--journal FILE]

60 rows, 2,000 columns of noise and two classes of equal size. Every method selects 5 columns inside
each of 3 folds (AutoSelector races inside them), and five nearest neighbours judge the others. The
same columns selected on all rows show how far below chance resubstitution lies.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.frame import RESULTS
from featsieve.evaluation.journal import Journal
from featsieve.evaluation.surroundings import circumstances
from featsieve.registry import METHODS, find_method
from featsieve.runtime import progress
from featsieve.runtime.pool import single_threaded_blas

N_ROWS, N_COLUMNS, COUNT, CHANCE = 60, 2000, 5, 0.5
LEFT_OUT = {"FeatureSelector", "WrapperSelector", "KnockoffSelector", "StabilitySelector"}
QUICK = {"n_init": 2, "max_iter": 20, "n_basis": 30, "cv": 3, "random_state": 0, "n_trees": 30}
LIMIT = 20.0


def selector(name: str) -> Any:
    chosen = find_method(name).load()(n_features_to_select=COUNT, task="classification")
    known = chosen.get_params(deep=False)
    settings = {word: value for word, value in QUICK.items() if word in known}
    if name == "LassoSelector":
        settings["cv"] = 0
    return chosen.set_params(max_time=LIMIT, **settings)


def error_rate(columns: Any, X: Any, y: Any, train: Any, test: Any) -> float:
    model = KNeighborsClassifier(5).fit(X[train][:, columns], y[train])
    return float(np.mean(model.predict(X[test][:, columns]) != y[test]))


def one_repeat(name: str, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(N_ROWS, N_COLUMNS)), rng.permutation(N_ROWS) % 2
    folds = list(StratifiedKFold(3, shuffle=True, random_state=seed).split(X, y))
    with warnings.catch_warnings(), single_threaded_blas():
        warnings.simplefilter("ignore")
        nested = [
            error_rate(selector(name).fit(X[train], y[train]).indices_, X, y, train, test)
            for train, test in folds
        ]
        chosen = selector(name).fit(X, y).indices_
    leaking = [error_rate(chosen, X, y, train, test) for train, test in folds]
    return {"nested": float(np.mean(nested)), "resubstitution": float(np.mean(leaking))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--methods", type=lambda text: text.split(","))
    parser.add_argument("--journal", type=Path, default=Path("noise.jsonl"))
    arguments = parser.parse_args()
    progress.perf_counter = time.process_time  # type: ignore[attr-defined] # a shared machine
    journal = Journal(arguments.journal, {"rows": N_ROWS, "columns": N_COLUMNS, "count": COUNT})
    names = arguments.methods or [m.name for m in METHODS if m.name not in LEFT_OUT]
    lines = ["# Pure noise", "", __doc__.partition("\n\n")[2].partition("\n\n")[2].strip(), ""]
    lines += ["| method | nested error | standard error | within 3 | resubstitution | repeats |"]
    lines += ["|---" * 6 + "|"]
    for name in names:
        lines.append(_row(name, journal, arguments.repeats))
        print(lines[-1], flush=True)
        text = "\n".join([*lines, "", circumstances(("numpy", "scikit-learn"))])
        (RESULTS / "noise.md").write_text(text + "\n", encoding="utf-8")


def _row(name: str, journal: Journal, repeats: int) -> str:
    pieces = []
    for seed in range(repeats):
        try:
            pieces.append(journal.piece((name, seed), lambda n=name, s=seed: one_repeat(n, s)))
        except Exception as error:  # a method that fails is a row
            return f"| {name} | failed: {' '.join(str(error).split())[:100]} | | | | |"
    nested = np.array([piece["nested"] for piece in pieces])
    leaking = np.mean([piece["resubstitution"] for piece in pieces])
    spread = nested.std(ddof=1) / np.sqrt(len(nested))
    verdict = "yes" if abs(nested.mean() - CHANCE) <= 3 * spread else "**no**"
    return (
        f"| {name} | {nested.mean():.3f} | {spread:.3f} | {verdict} | {leaking:.3f} | "
        f"{len(nested)} |"
    )


if __name__ == "__main__":
    main()
