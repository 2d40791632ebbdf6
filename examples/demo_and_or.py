"""Three echoes of the target hide its four causes.

The target is (cause 1 and cause 2) or (cause 3 and cause 4). Three columns repeat it with errors:
each of them is better alone than any cause. The causes together are better than the echoes
together (the and-or data of Jitkrittum et al. 2013).
"""

import matplotlib.pyplot as plt
import numpy as np

from featsieve import L1LSMI, MaxRel, PearsonRanking
from featsieve.datasets import make_and_or

NAMES = [
    *(f"cause {j}" for j in (1, 2, 3, 4)),
    *(f"noise {j}" for j in (5, 6, 7)),
    *(f"echo {j}" for j in (8, 9, 10)),
]


def main():
    data = make_and_or(400, random_state=0)
    selectors = [
        PearsonRanking(n_features_to_select=4),
        MaxRel(n_features_to_select=4),
        L1LSMI(n_features_to_select=4, random_state=0),
    ]
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), sharey=True, layout="constrained")
    for ax, selector in zip(axes, selectors, strict=True):
        selector.fit(data.data, data.target)
        selected = np.isin(np.arange(10), selector.indices_)
        name = type(selector).__name__
        print(f"{name:14} takes", ", ".join(NAMES[j] for j in sorted(selector.indices_)))
        ax.barh(NAMES, selector.scores_, color=np.where(selected, "#D55E00", "#B0B0B0"))
        ax.set(title=name, xlabel="score")
    axes[0].invert_yaxis()
    return figure


if __name__ == "__main__":
    main().savefig("demo_and_or.png")
