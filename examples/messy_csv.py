"""From a messy CSV to a model.

scikit-learn's wine data, made as untidy as exports are: semicolons and decimal commas, a
percentage, an id, a date, an empty and a constant column, gaps, a code that gives the target away,
and wines without a cultivar. ``load_table`` puts right what can be put right, as ``featsieve
select`` does, and a pipeline goes on from there.
"""

import csv
import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from featsieve import MRMR
from featsieve.io import load_table

CULTIVARS = ("Barolo", "Grignolino", "Barbera")
ADDED = ["sample_id", "bottled", "laboratory", "remarks", "bin"]


def write_messy_csv(path):
    """The wine data with the usual troubles."""
    wine = load_wine()
    rng = np.random.default_rng(0)
    names = [name.split("/")[0] for name in wine.feature_names]
    with open(path, "w", newline="", encoding="utf-8") as out:
        lines = csv.writer(out, delimiter=";")
        lines.writerow([*ADDED, *names, "cultivar"])
        for number, (row, label) in enumerate(zip(wine.data, wine.target, strict=True)):
            cells = [f"{value:.2f}".replace(".", ",") for value in row]
            cells[0] += " %"
            for gap in np.flatnonzero(rng.random(len(cells)) < 0.02):
                cells[gap] = "NA"
            bottled = datetime.date(2024, 1, 1) + datetime.timedelta(days=int(rng.integers(700)))
            cultivar = "" if number % 45 == 7 else CULTIVARS[label]
            added = [f"W{1000 + number}", bottled.isoformat(), "north", "", f"R{label + 1}"]
            lines.writerow([*added, *cells, cultivar])


def main():
    with TemporaryDirectory() as folder:
        path = Path(folder) / "wine.csv"
        write_messy_csv(path)
        X, y = load_table(path, "cultivar", drop=["sample_id", "bin"], missing="impute")
    print(f"{X.num_rows} rows, {X.num_columns} columns after tidying")
    names = [name for name in X.column_names if name not in ("laboratory", "bottled")]
    table = np.column_stack([X.column(name).to_numpy() for name in names])
    counts, means = [1, 2, 3, 4, 6, 8, 13], []
    for count in counts:
        model = make_pipeline(
            MRMR(n_features_to_select=count), StandardScaler(), LogisticRegression()
        )
        means.append(cross_val_score(model, table, y, cv=5).mean())
    chosen = MRMR(n_features_to_select=4).fit(table, y)
    print("four columns:", ", ".join(names[j] for j in chosen.indices_))
    figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
    ax.plot(counts, means, "o-")
    ax.set(xlabel="columns selected by mRMR", ylabel="cross-validated accuracy", xticks=counts)
    return figure


if __name__ == "__main__":
    main().savefig("messy_csv.png")
