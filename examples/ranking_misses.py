"""What a linear ranking misses, and what is found instead.

The class depends on the signs of two columns together. Neither tells anything alone, so a ranking
by correlation takes two columns of noise. l1-LSMI weighs all columns at once and finds the pair.
"""

import matplotlib.pyplot as plt
import numpy as np

from featsieve import L1LSMI, PearsonRanking
from featsieve.datasets import make_binary_xor


def draw_rows(ax, data):
    for label, marker in zip(np.unique(data.target), "o^", strict=True):
        rows = data.target == label
        ax.scatter(*data.data[rows, :2].T, s=9, marker=marker, label=f"class {label}")
    ax.set(xlabel="column 0", ylabel="column 1", title="the rows, in the two true columns")


def draw_scores(ax, selector, title):
    selected = np.isin(np.arange(selector.n_features_in_), selector.indices_)
    colours = np.where(selected, "#D55E00", "#B0B0B0")
    ax.bar(np.arange(len(selected)), selector.scores_, color=colours)
    ax.set(xlabel="column", xticks=[0, 1, 5, 10, 15, 20], title=title)


def main():
    data = make_binary_xor(200, random_state=0)
    linear = PearsonRanking(n_features_to_select=2).fit(data.data, data.target)
    joint = L1LSMI(n_features_to_select=2, random_state=0).fit(data.data, data.target)
    print("true columns:  ", sorted(data.relevant))
    print("PearsonRanking:", sorted(linear.indices_.tolist()))
    print("L1LSMI:        ", sorted(joint.indices_.tolist()))
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    draw_rows(axes[0], data)
    draw_scores(axes[1], linear, "correlation takes noise")
    axes[1].set_ylabel("|correlation| with the class")
    draw_scores(axes[2], joint, "l1-LSMI takes the pair")
    axes[2].set_ylabel("weight")
    return figure


if __name__ == "__main__":
    main().savefig("ranking_misses.png")
