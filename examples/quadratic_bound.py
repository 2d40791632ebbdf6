"""How far from the best set can a fast answer be?

Every pair of columns of the breast cancer data gets its conditional mutual information. Choosing
the k columns with the largest sum over pairs is hard; each solver gives a set, and the best of the
upper bounds says how much better any set could be.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from featsieve.discretize import Quantile
from featsieve.measures import cmi_matrix
from featsieve.quadratic import solve

SOLVERS = ("linear", "spectral", "tpower", "lowrank", "auto")


def main():
    data = load_breast_cancer()
    codes = Quantile(n_bins=5).fit(data.data).transform(data.data)
    Q = cmi_matrix(codes, data.target)
    counts = [2, 4, 6, 8, 10, 12, 15]
    figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
    answers = {k: {s: solve(Q, k, solver=s, random_state=0) for s in SOLVERS} for k in counts}
    for marker, solver in zip("osD^v", SOLVERS, strict=True):
        gaps = []
        for k in counts:
            bound = min(answer.upper_bound for answer in answers[k].values())
            gaps.append(100 * (1 - answers[k][solver].value / bound))
        print(f"{solver:9} at most {max(gaps):.2f} % below the best set")
        ax.plot(counts, gaps, marker=marker, label=solver)
    ax.set(xlabel="number of columns k", ylabel="below the upper bound, %")
    ax.legend()
    return figure


if __name__ == "__main__":
    main().savefig("quadratic_bound.png")
