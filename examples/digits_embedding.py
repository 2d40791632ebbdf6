"""Sixteen pixels are enough to keep the digits apart.

t-SNE of 200 handwritten digits, drawn from all 64 pixels and from the 16 that mRMR selects. The
labels are used for the selection, not for the maps.
"""

from sklearn.datasets import load_digits

from featsieve import MRMR
from featsieve.plots import EmbeddingDisplay


def main():
    X, y = load_digits(n_class=6, return_X_y=True)
    X, y = X[:200], y[:200]
    selector = MRMR(n_features_to_select=16).fit(X, y)
    print("pixels (row, column):", [divmod(j, 8) for j in sorted(selector.indices_.tolist())])
    return EmbeddingDisplay.from_estimator(selector, X, y, random_state=0)


if __name__ == "__main__":
    main().figure_.savefig("digits_embedding.png")
