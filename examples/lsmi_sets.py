"""The best single columns are not the best set.

Squared-loss mutual information (SMI) of sets of one to four columns of the and-or data. Ranked one
by one, the three echoes of the target, X8 to X10, come first, and up to three columns nothing is
better. But the echoes repeat each other, and the four causes, X1 to X4, which l1-LSMI takes as a
set, together tell more than any set with echoes.
"""

import matplotlib.pyplot as plt

from featsieve import L1LSMI, LSMIRanking
from featsieve.datasets import make_and_or
from featsieve.measures import lsmi


def main():
    data = make_and_or(300, random_state=0)
    counts = [1, 2, 3, 4]
    figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
    for method, style in ((LSMIRanking, "s--"), (L1LSMI, "o-")):
        values = []
        for count in counts:
            selector = method(n_features_to_select=count, random_state=0)
            columns = sorted(selector.fit(data.data, data.target).indices_)
            values.append(lsmi(data.data[:, columns], data.target, random_state=0).value)
            names = ", ".join(data.feature_names[j] for j in columns)
            print(f"{method.__name__:12} {count}: SMI {values[-1]:.2f}  {names}")
        ax.plot(counts, values, style, label=method.__name__)
    ax.set(xlabel="number of columns", ylabel="SMI of the set", xticks=counts)
    ax.legend()
    return figure


if __name__ == "__main__":
    main().savefig("lsmi_sets.png")
