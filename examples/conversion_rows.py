"""A penalty on the rows of a transformation removes columns.

HSFS looks for two combinations of the columns with the largest HSIC. The penalty is on the largest
entry of each row, so a column leaves all combinations at once. The two columns that decide the
class together stay to the end; 20 columns of noise go.
"""

import matplotlib.pyplot as plt
import numpy as np

from featsieve import HSFS
from featsieve.datasets import make_binary_xor
from featsieve.plots import PathDisplay


def main():
    data = make_binary_xor(200, random_state=0)
    selector = HSFS(n_features_to_select=2, random_state=0).fit(data.data, data.target)
    print("columns:", sorted(selector.indices_.tolist()))
    print("rows of W that are left:", np.count_nonzero(np.abs(selector.components_).max(axis=1)))
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(10, 3.8), width_ratios=[1.4, 1], layout="constrained"
    )
    PathDisplay.from_estimator(selector, ax=left)
    left.set(ylabel="size of the column's row")
    left.invert_xaxis()
    combined = data.data @ selector.components_[:, 0]
    classes = [combined[data.target == label] for label in np.unique(data.target)]
    right.hist(classes, bins=20, histtype="stepfilled", alpha=0.7)
    right.set(xlabel="first combination of the columns", ylabel="rows of each class")
    return figure


if __name__ == "__main__":
    main().savefig("conversion_rows.png")
