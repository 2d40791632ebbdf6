"""Which of 400 correlations are more than chance?

A permutation test gives every column a p-value; with 400 columns, about 20 of them fall below 0.05
by chance alone. The dashed lines are the thresholds that count the tests.
"""

import numpy as np

from featsieve import PearsonRanking
from featsieve.datasets import make_sparse_linear
from featsieve.plots import ManhattanDisplay


def main():
    data = make_sparse_linear(300, n_features=400, random_state=0)
    ranking = PearsonRanking(n_features_to_select=10, n_permutations=9999, random_state=0)
    order = np.random.default_rng(0).permutation(400)  # the true columns lie anywhere
    ranking.fit(data.data[:, order], data.target)
    is_true = np.isin(order, data.relevant)
    below = ranking.pvalues_ < 0.05
    kept = ranking.result_.extras["adjusted_bh"] < 0.05
    true = len(data.relevant)
    print(f"p < 0.05: {below.sum()} columns, {below[is_true].sum()} of the {true} true ones")
    print(f"adjusted: {kept.sum()} columns, {kept[is_true].sum()} of the {true} true ones")
    return ManhattanDisplay.from_estimator(ranking)


if __name__ == "__main__":
    main().figure_.savefig("pearson_manhattan.png")
