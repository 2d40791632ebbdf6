"""The best score, and the smallest set that is as good.

A wrapper asks your model. Its best cross-validated score is often reached with many columns; the
parsimonious rule takes the smallest set within one standard error of it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB

from featsieve import WrapperSelector


def main():
    wine = load_wine(as_frame=True)
    selector = WrapperSelector(GaussianNB(), n_features_to_select="parsimonious", cv=5)
    selector.fit(wine.data, wine.target)
    sizes, scores, errors = map(np.array, zip(*selector.result_.extras["score_curve"], strict=True))
    best, chosen = sizes[scores.argmax()], len(selector.indices_)
    print(f"best score with {best} columns, within one standard error with {chosen}:")
    print(", ".join(selector.get_feature_names_out()))
    figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
    ax.plot(sizes, scores, "o-")
    ax.fill_between(sizes, scores - errors, scores + errors, alpha=0.2, lw=0)
    ax.axhline(scores.max() - errors[scores.argmax()], ls=":", lw=1, color="#B0B0B0")
    ax.axvline(best, ls="--", lw=1, color="#009E73", label=f"best: {best}")
    ax.axvline(chosen, ls="-", lw=1, color="#D55E00", label=f"parsimonious: {chosen}")
    ax.set(xlabel="number of columns", ylabel="cross-validated accuracy")
    ax.legend()
    return figure


if __name__ == "__main__":
    main().savefig("wrapper_parsimonious.png")
