"""Copies of the columns count the false discoveries.

Twelve of 60 columns matter. Every column runs against a copy that knows nothing of the target; W
is how far it is ahead. Columns of noise fall to both sides of zero alike, so those far below zero
tell how many false ones to expect far above: the threshold follows.
"""

import matplotlib.pyplot as plt
import numpy as np

from featsieve import KnockoffSelector


def main():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 60))
    y = X[:, :12].sum(axis=1) + 2 * rng.normal(size=400)
    selector = KnockoffSelector(fdr=0.2, random_state=0).fit(X, y)
    selected = set(selector.indices_.tolist())
    true = len(selected & set(range(12)))
    print(f"{len(selected)} columns pass, {true} of the 12 true ones among them")
    figure, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
    order = np.argsort(-selector.statistics_)
    colours = np.where(order < 12, "#D55E00", "#B0B0B0")
    ax.bar(range(60), selector.statistics_[order], color=colours)
    ax.axhline(selector.threshold_, ls="--", lw=1, label="threshold for 20 % false discoveries")
    ax.axhline(-selector.threshold_, ls=":", lw=1, label="its mirror image")
    ax.set(xlabel="columns, sorted (orange: those that matter)", ylabel="W", xticks=[])
    ax.legend()
    return figure


if __name__ == "__main__":
    main().savefig("knockoff_statistics.png")
