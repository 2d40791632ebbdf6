"""Dependence of strings: a spectrum kernel on promoter-like sequences.

HSIC needs kernels only, so the data may be strings: a spectrum kernel compares the substrings of
two sequences. Which region of the sequences carries the classes? Half of the sequences hold a TATA
box around position 20.
"""

import matplotlib.pyplot as plt
import numpy as np

from featsieve.inference import hsic_test
from featsieve.measures import MismatchKernel, SpectrumKernel

LENGTH, WINDOW, BOX = 60, 15, "TATAAT"


def sequences(n, rng):
    """Random DNA; every second sequence has the box near position 20."""
    letters = rng.choice(list("ACGT"), size=(n, LENGTH))
    classes = np.arange(n) % 2
    for row in np.flatnonzero(classes):
        start = 20 + rng.integers(-3, 4)
        letters[row, start : start + len(BOX)] = list(BOX)
    return ["".join(row) for row in letters], classes


def main():
    texts, classes = sequences(120, np.random.default_rng(0))
    kernels = {"spectrum": SpectrumKernel(length=3), "mismatch": MismatchKernel(length=4)}
    figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
    for marker, (name, kernel) in zip("os", kernels.items(), strict=True):
        starts, logs = range(0, LENGTH - WINDOW + 1, 5), []
        for start in starts:
            parts = [text[start : start + WINDOW] for text in texts]
            logs.append(-np.log10(hsic_test(parts, classes, kernel=kernel, method="gamma").pvalue))
        ax.plot([start + WINDOW / 2 for start in starts], logs, marker=marker, label=name)
        print(f"{name}: the window at {starts[int(np.argmax(logs))]} tells most")
    ax.axvspan(17, 29, color="#B0B0B0", alpha=0.2, lw=0, label="where the box is")
    ax.axhline(-np.log10(0.05), ls=":", lw=1, color="#B0B0B0")
    ax.set(xlabel="middle of a window of 15 letters", ylabel="−log10 p of HSIC")
    ax.legend()
    return figure


if __name__ == "__main__":
    main().savefig("hsic_strings.png")
