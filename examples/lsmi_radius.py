"""Weights grow with the radius of the l1 ball.

l1-LSMI bounds the sum of the weights and looks for the radius at which as many weights as asked
for are not zero. On the and-or data the four causes, X1 to X4, come in; the echoes X8 to X10, each
better alone, stay out.
"""

import numpy as np

from featsieve import L1LSMI
from featsieve.datasets import make_and_or
from featsieve.plots import PathDisplay


def main():
    data = make_and_or(400, random_state=0)
    selector = L1LSMI(n_features_to_select=4, random_state=0).fit(data.data, data.target)
    steps = sorted(selector.result_.path, key=lambda step: step.radius)
    print("columns:", [data.feature_names[j] for j in sorted(selector.indices_)])
    print(f"radius: {selector.radius_:.3g}, SMI: {selector.smi_:.2f}")
    display = PathDisplay(
        np.array([step.radius for step in steps]),
        np.array([step.weights for step in steps]).T,
        data.feature_names,
        selected=selector.indices_.tolist(),
        label="radius",
    )
    return display.plot()


if __name__ == "__main__":
    main().figure_.savefig("lsmi_radius.png")
