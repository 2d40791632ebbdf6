"""Dependence of strings: a spectrum kernel on promoter-like sequences.

HSIC needs kernels only, so the data may be strings: count all k-mers of each sequence, take inner
products of the counts, and hand the Gram matrix over as ``kernel="precomputed"``. Which region of
the sequences carries the classes? Half of the sequences hold a TATA box around position 20.
"""

from itertools import product

import numpy as np

from featsieve.inference import hsic_test
from featsieve.measures import hsic

LENGTH, WINDOW, BOX = 60, 15, "TATAAT"


def sequences(n, rng):
    """Random DNA; every second sequence has the box near position 20."""
    letters = rng.choice(list("ACGT"), size=(n, LENGTH))
    classes = np.arange(n) % 2
    for row in np.flatnonzero(classes):
        start = 20 + rng.integers(-3, 4)
        letters[row, start : start + len(BOX)] = list(BOX)
    return ["".join(row) for row in letters], classes


def spectrum_gram(texts, k=3):
    """Inner products of k-mer counts, scaled to unit diagonal."""
    words = ["".join(letters) for letters in product("ACGT", repeat=k)]
    place = {word: i for i, word in enumerate(words)}
    counts = np.zeros((len(texts), len(words)))
    for row, text in enumerate(texts):
        for i in range(len(text) - k + 1):
            counts[row, place[text[i : i + k]]] += 1
    counts /= np.linalg.norm(counts, axis=1, keepdims=True)
    return counts @ counts.T


def main():
    texts, classes = sequences(120, np.random.default_rng(0))
    print("window    HSIC        p (gamma)")
    for start in range(0, LENGTH - WINDOW + 1, WINDOW):
        gram = spectrum_gram([text[start : start + WINDOW] for text in texts])
        value = hsic(gram, classes, kernel="precomputed", target_kernel="delta")
        found = hsic_test(gram, classes, kernel="precomputed", method="gamma")
        print(f"{start:2d}–{start + WINDOW:2d}   {value:10.2e}   {found.pvalue:.1e}")


if __name__ == "__main__":
    main()
