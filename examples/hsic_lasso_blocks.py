"""HSIC Lasso keeps one of each set of copies.

Two signals act on the target in a non-linear way, each in five noisy copies. Ranked by HSIC, all
copies of the stronger signal come first. HSIC Lasso solves one convex problem for all columns: a
copy of what is already there adds little and gets no weight.
"""

import matplotlib.pyplot as plt
import numpy as np

from featsieve import HSICLasso, HSICRanking


def make_table(n, rng):
    signals = rng.normal(size=(n, 2))
    copies = np.repeat(signals, 5, axis=1) + 0.2 * rng.normal(size=(n, 10))
    y = np.abs(signals[:, 0]) + 0.6 * np.sin(2 * signals[:, 1]) + 0.1 * rng.normal(size=n)
    return np.column_stack([copies, rng.normal(size=(n, 10))]), y


def main():
    X, y = make_table(300, np.random.default_rng(0))
    colours = ["#0072B2"] * 5 + ["#D55E00"] * 5 + ["#B0B0B0"] * 10
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.2), layout="constrained")
    for ax, method in zip(axes, (HSICRanking, HSICLasso), strict=True):
        selector = method(n_features_to_select=2).fit(X, y)
        print(f"{method.__name__:12} takes columns", sorted(selector.indices_.tolist()))
        ax.bar(range(20), selector.scores_, color=colours)
        ax.set(title=method.__name__, xlabel="column", xticks=[0, 4, 5, 9, 10, 19])
    axes[0].set_ylabel("HSIC")
    axes[1].set_ylabel("weight")
    return figure


if __name__ == "__main__":
    main().savefig("hsic_lasso_blocks.png")
