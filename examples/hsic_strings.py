"""Dependence of strings: a spectrum kernel on promoter-like sequences.

HSIC needs kernels only, so the data may be strings: a spectrum kernel compares the substrings of
two sequences. Which region of the sequences carries the classes? Half of the sequences hold a TATA
box around position 20.
"""

import numpy as np

from featsieve.inference import hsic_test
from featsieve.measures import MismatchKernel, SpectrumKernel, hsic

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
    spectrum, mismatch = SpectrumKernel(length=3), MismatchKernel(length=4, n_mismatches=1)
    print("window    HSIC        p (spectrum)   p (mismatch)")
    for start in range(0, LENGTH - WINDOW + 1, WINDOW):
        parts = [text[start : start + WINDOW] for text in texts]
        value = hsic(parts, classes, kernel=spectrum, target_kernel="delta")
        p, q = (
            hsic_test(parts, classes, kernel=kernel, method="gamma").pvalue
            for kernel in (spectrum, mismatch)
        )
        print(f"{start:2d}–{start + WINDOW:2d}   {value:10.2e}   {p:.1e}        {q:.1e}")


if __name__ == "__main__":
    main()
