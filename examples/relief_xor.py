"""Relief sees interactions, until noise hides who is near.

Two columns decide the class only together. Relief compares near rows, where near is meant in all
columns; with more columns of noise, the nearest rows are near by chance, and the two true columns
sink into the noise.
"""

import matplotlib.pyplot as plt
import numpy as np

from featsieve import ReliefF


def make_table(n_noise, rng):
    X = rng.uniform(-1, 1, size=(200, 2 + n_noise))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def main():
    counts = [2, 5, 10, 20, 50, 100, 200]
    true, noise = [], []
    for n_noise in counts:
        scores = ReliefF().fit(*make_table(n_noise, np.random.default_rng(0))).scores_
        true.append(scores[:2].min())
        noise.append(scores[2:].max())
    lost = next(n for n, t, e in zip(counts, true, noise, strict=True) if t < e)
    print(f"both true columns lead with fewer than {lost} columns of noise")
    figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
    ax.plot(counts, true, "o-", label="the weaker of the two true columns")
    ax.plot(counts, noise, "s--", label="the best column of noise")
    ax.set(xscale="log", xlabel="columns of noise", ylabel="ReliefF score")
    ax.set_xticks(counts, counts)
    ax.minorticks_off()
    ax.legend()
    return figure


if __name__ == "__main__":
    main().savefig("relief_xor.png")
