"""Four kinds of dependence: what correlation sees, and what HSIC sees.

The p-values say how surprising the sample would be if the two columns were independent: of the
correlation by permutation, of HSIC by a gamma distribution fitted to its permutations.
"""

import matplotlib.pyplot as plt
import numpy as np

from featsieve.inference import hsic_test, permutation_test


def shapes(n, rng):
    x, noise = rng.uniform(-1, 1, n), rng.normal(size=n)
    angle = rng.uniform(0, 2 * np.pi, n)
    return {
        "line": (x, x + 0.4 * noise),
        "parabola": (x, x**2 + 0.1 * noise),
        "circle": (np.cos(angle) + 0.1 * noise, np.sin(angle) + 0.1 * rng.normal(size=n)),
        "independent": (x, noise),
    }


def main():
    figure, axes = plt.subplots(1, 4, figsize=(11, 3), layout="constrained")
    for ax, (name, (x, y)) in zip(axes, shapes(150, np.random.default_rng(0)).items(), strict=True):
        linear = permutation_test(x[:, None], y, n_permutations=999, random_state=0).pvalues[0]
        any_kind = hsic_test(x, y, method="gamma").pvalue
        print(f"{name:12} correlation p = {linear:.3f}   HSIC p = {any_kind:.1e}")
        ax.scatter(x, y, s=8)
        ax.set(title=name, xticks=[], yticks=[])
        ax.set_xlabel(f"correlation p = {linear:.3f}\nHSIC p = {any_kind:.1e}")
    return figure


if __name__ == "__main__":
    main().savefig("hsic_shapes.png")
