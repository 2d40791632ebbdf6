"""Which states of a numeric target let the information criteria choose good columns?

``python -m benchmarks.target_bins --data FOLDER`` takes every ``NAME.parquet`` with a numeric
``target`` of more than 15 values, and adds a target in which one value is spoilt.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from benchmarks.frame import write_report
from featsieve import CMIM, JMI, MRMR
from featsieve.arrays import FloatArray
from featsieve.discretize import EqualWidth, Quantile

BINS: dict[str, Any] = {
    "quantile, 5": Quantile(5),
    "quantile, 10": Quantile(10),
    "equal width, 5": EqualWidth(5),
    "sigma": "sigma",
    "auto": "auto",
}
JUDGES = (
    make_pipeline(StandardScaler(), KNeighborsRegressor(5)),
    DecisionTreeRegressor(min_samples_leaf=10, random_state=0),
)
WHAT = """The share of the target's variance that 5-nearest neighbours and a tree leave unexplained
in 5-fold cross-validation, from the 5 columns that mRMR, JMI and CMIM choose (the mean of all six),
for different states of the target."""
MOST_ROWS = 3000
SELECTED = 5


def regression_sets(folder: Path) -> Iterator[tuple[str, Any, FloatArray]]:
    import pandas as pd

    for path in sorted(folder.glob("*.parquet")):
        frame = pd.read_parquet(path)
        target = frame["target"]
        if target.dtype.kind in "fi" and target.nunique() > 15:
            frame = frame.sample(min(len(frame), MOST_ROWS), random_state=0)
            yield path.stem, frame.drop(columns="target"), frame["target"].to_numpy(float)
    yield "one spoilt value", *spoilt()


def spoilt() -> tuple[Any, FloatArray]:
    import pandas as pd

    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 20))
    y = X[:, 2] + 0.7 * X[:, 3] + 0.5 * X[:, 4] * X[:, 2] + 0.3 * rng.normal(size=1500)
    y[7] = 1e6
    return pd.DataFrame(X).rename(columns=str), y


def unexplained(X: Any, y: FloatArray, bins: Any) -> float:
    """The mean share of the variance that the judges leave, over the three criteria."""
    import pandas as pd

    judged = np.clip(y, *np.quantile(y, [0.001, 0.999]))
    shares = []
    for method in (MRMR, JMI, CMIM):
        selector = method(
            n_features_to_select=min(SELECTED, X.shape[1]),
            target_discretizer=bins,
            task="regression",
        )
        chosen = X.columns[selector.fit(X, y).indices_]
        columns = pd.get_dummies(X[chosen]).astype(float).fillna(0).to_numpy()
        folds = KFold(5, shuffle=True, random_state=0)
        for judge in JUDGES:
            error = cross_val_predict(judge, columns, judged, cv=folds) - judged
            shares.append(np.mean(error**2) / judged.var())
    return float(np.mean(shares))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    folder = parser.parse_args().data
    lines = [f"| set | {' | '.join(BINS)} |", "|---" * (len(BINS) + 1) + "|"]
    for name, X, y in regression_sets(folder):
        shares = [f"{unexplained(X, y, bins):.3f}" for bins in BINS.values()]
        lines.append(f"| {name} | {' | '.join(shares)} |")
    write_report("target_bins", "States of a numeric target", WHAT, "\n".join(lines))


if __name__ == "__main__":
    main()
