"""FOCI stops by itself.

The target is a product of two columns plus the square of a third, among five columns of noise. The
coefficient of conditional dependence grows while true columns come in, and falls with the first
column of noise: there the search ends.
"""

import matplotlib.pyplot as plt
import numpy as np

from featsieve import FOCI


def main():
    X = np.random.default_rng(0).normal(size=(500, 8))
    y = X[:, 2] * X[:, 5] + X[:, 7] ** 2
    stopped = FOCI().fit(X, y)
    print("stops with columns", sorted(stopped.indices_.tolist()))
    longer = FOCI(n_features_to_select=6).fit(X, y)
    values = longer.scores_[longer.indices_]
    figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
    ax.plot(range(1, 7), values, "o-")
    ax.axvline(len(stopped.indices_), ls="--", lw=1, color="#D55E00", label="where FOCI stops")
    ax.set_xticks(range(1, 7), [f"+ column {j}" for j in longer.indices_])
    ax.set_ylabel("conditional dependence of the set")
    ax.legend()
    return figure


if __name__ == "__main__":
    main().savefig("foci_stops.png")
