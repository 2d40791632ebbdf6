"""Three signals, four copies of each: which columns does a criterion take?

The target is the sum of three signals of different strength; each comes in four noisy copies, next
to four columns of noise. MaxRel looks at each column alone and takes the copies of the strongest
signal first. mRMR and CMIM take one copy of each. JMI, which counts what pairs tell together, takes
a second copy of the strongest: two noisy copies tell more than one.
"""

import matplotlib.pyplot as plt
import numpy as np

from featsieve import CMIM, JMI, MRMR, MaxRel

SIGNALS, COPIES = ("a", "b", "c"), 4


def make_table(n, rng):
    signals = rng.normal(size=(n, 3))
    copies = np.repeat(signals, COPIES, axis=1) + 0.3 * rng.normal(size=(n, 3 * COPIES))
    X = np.column_stack([copies, rng.normal(size=(n, 4))])
    return X, signals @ [1.0, 0.8, 0.6] + 0.2 * rng.normal(size=n)


def main():
    X, y = make_table(1000, np.random.default_rng(0))
    names = [f"{s}{j}" for s in SIGNALS for j in range(1, COPIES + 1)]
    names += [f"noise {j}" for j in range(1, 5)]
    figure, ax = plt.subplots(figsize=(8.5, 2.9), layout="constrained")
    methods = (MaxRel, MRMR, JMI, CMIM)
    for row, method in enumerate(methods):
        order = method(n_features_to_select=3).fit(X, y).indices_
        print(f"{method.__name__:7}", ", ".join(names[j] for j in order))
        ax.scatter(range(len(names)), [row] * len(names), s=12, color="#B0B0B0")
        for step, column in enumerate(order, start=1):
            ax.scatter(column, row, s=210, color="#D55E00")
            ax.text(column, row, step, ha="center", va="center", color="white", weight="bold")
    ax.set_xticks(range(len(names)), names, rotation=45, ha="right")
    ax.set_yticks(range(len(methods)), [method.__name__ for method in methods])
    ax.set_ylim(-0.6, len(methods) - 0.4)
    ax.invert_yaxis()
    return figure


if __name__ == "__main__":
    main().savefig("information_redundancy.png")
