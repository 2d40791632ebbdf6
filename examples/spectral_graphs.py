"""Two graphs of the same wines.

Fisher's score joins wines of the same cultivar; the Laplacian score with neighbours never looks at
the cultivar and joins wines that are alike. Where the classes are the clusters of the data, the two
agree; ash, which follows neither, is last in both.
"""

import matplotlib.pyplot as plt
from scipy.stats import rankdata
from sklearn.datasets import load_wine

from featsieve import FisherScore, LaplacianScore


def main():
    wine = load_wine()
    fisher = FisherScore().fit(wine.data, wine.target).scores_
    neighbours = LaplacianScore(graph="knn").fit(wine.data, wine.target).scores_
    by_class, by_cluster = rankdata(-fisher), rankdata(-neighbours)
    figure, ax = plt.subplots(figsize=(6.5, 4.6), layout="constrained")
    ax.plot([1, 13], [1, 13], ls=":", lw=1, color="#B0B0B0")
    ax.scatter(by_class, by_cluster)
    for x, y, name in zip(by_class, by_cluster, wine.feature_names, strict=True):
        short = name.replace("od280/od315_of_diluted_wines", "od280/od315").replace("_", " ")
        ax.annotate(short, (x, y), xytext=(5, 4), textcoords="offset points", fontsize=8)
    ax.set(xlabel="rank by FisherScore (classes)", ylabel="rank by LaplacianScore (neighbours)")
    ax.set_xlim(0, 16.5)
    ax.invert_yaxis()
    print("last by classes:   ", wine.feature_names[by_class.argmax()])
    print("last by neighbours:", wine.feature_names[by_cluster.argmax()])
    return figure


if __name__ == "__main__":
    main().savefig("spectral_graphs.png")
