"""HSIC on the wine data against the P-LSMI authors' own figures.

python -m benchmarks.hsic_golden --golden FOLDER   (with wine.csv and baselines_toy.json)
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from benchmarks.frame import write_report
from featsieve.input.boundary import Settings, open_engine
from featsieve.measures import HSIC
from featsieve.runtime.ordering import best_first


def authors_figures(folder: Path) -> tuple[np.ndarray, float]:
    cases = json.loads((folder / "baselines_toy.json").read_text())
    case = next(c for c in cases if c["method"] == "hsic_biased_median")
    return np.array(case["hsic_single"]), case["hsic_all"]


def our_figures(folder: Path) -> tuple[np.ndarray, float]:
    table = np.loadtxt(folder / "wine.csv", delimiter=",")
    X, y = table[:, :-1], table[:, -1]
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    measure = HSIC(estimator="biased", target_kernel="delta")
    bound = measure.bind(open_engine(X, y, Settings(task="classification")))
    return bound.scores(), bound.value(range(X.shape[1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--golden", type=Path, required=True)
    folder = parser.parse_args().golden
    (single, together), (ours, ours_together) = authors_figures(folder), our_figures(folder)
    same = best_first(ours).tolist() == best_first(single).tolist()
    write_report(
        "hsic_golden",
        "HSIC on wine against the authors' figures",
        f"- Single columns: largest relative difference {np.abs(ours / single - 1).max():.1e}; "
        f"ranking {'the same' if same else 'DIFFERENT'}.\n"
        f"- All columns together: relative difference {abs(ours_together / together - 1):.1e}.",
    )


if __name__ == "__main__":
    main()
