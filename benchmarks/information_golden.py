"""Golden figures that belong to real data: FEAST's orders and scores, CMI matrices, CAIM, QPFS.

``python -m benchmarks.information_golden --golden FOLDER`` reads feast_golden.json and its like
from a folder that is not part of this project, and says how far ours are from them.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.frame import write_report
from featsieve import CIFE, CMIM, DISR, ICAP, JMI, MIFS, MRMR, QPFS, CondMI, MaxRel
from featsieve.discretize import CAIM
from featsieve.measures import cmi_matrix, conditional_mutual_information

SELECTORS: dict[str, type] = {
    "MIM": MaxRel,
    "mRMR_D": MRMR,
    "JMI": JMI,
    "CMIM": CMIM,
    "DISR": DISR,
    "ICAP": ICAP,
    "CondMI": CondMI,
    "MIFS_beta1": MIFS,
    "CIFE": CIFE,
}


def read(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    table = np.loadtxt(folder / f"{name}.csv", delimiter=",")
    return table[:, :-1], table[:, -1]


def feast_row(name: str, X: np.ndarray, y: np.ndarray, expected: dict[str, Any]) -> list[str]:
    order = [column for column in expected["order0"] if column >= 0]
    selector = SELECTORS[name](
        n_features_to_select=len(expected["order0"]), discretizer=None, task="classification"
    ).fit(X, y)
    bits = np.full(len(order), np.log(2))
    if name == "DISR":
        bits[1:] = 1.0
    wanted = np.array(expected["score"][: len(order)]) * bits
    difference = np.abs(np.array(selector.result_.trace[: len(order)]) - wanted).max()
    return [
        _order_words(selector.indices_[: len(order)].tolist(), order, X, y),
        f"{difference:.0e}",
    ]


def _order_words(ours: list[int], order: list[int], X: np.ndarray, y: np.ndarray) -> str:
    if ours == order:
        return "identical"
    first = next(p for p, (a, b) in enumerate(zip(ours, order, strict=True)) if a != b)
    given = [" ".join(map(str, row)) for row in X[:, ours[:first]].astype(int)]
    mine, theirs = (
        conditional_mutual_information(X[:, column].astype(int), y, given)
        for column in (ours[first], order[first])
    )
    pair = f"{ours[first]} and {order[first]}"
    return f"a tie at step {first + 1}: {pair} differ by {mine - theirs:.0e}"


def feast(folder: Path) -> str:
    golden = json.loads((folder / "feast_golden.json").read_text())
    lines = [
        "| data | criterion | order | scores, largest difference in nats |",
        "|---|---|---|---|",
    ]
    for data, criteria in golden.items():
        X, y = read(folder, f"disc_{data}")
        for name in SELECTORS:
            row = feast_row(name, X, y, criteria[name])
            lines.append(f"| {data} | {name} | {' | '.join(row)} |")
    return "\n".join(lines)


def others(folder: Path) -> str:
    lines = ["| figure | largest difference |", "|---|---|"]
    for data, expected in json.loads((folder / "bqp_cmi_golden.json").read_text()).items():
        X, y = read(folder, f"disc_{data}")
        gap = np.abs(cmi_matrix(X, y) - np.array(expected["H"])).max()
        lines.append(f"| CMI matrix, {data} | {gap:.0e} |")
    cuts = json.loads((folder / "caim_golden.json").read_text())["wine"]
    cut_points = CAIM().fit(*read(folder, "wine")).cuts_
    gap = max(np.abs(cut_points[int(j)] - np.array(c["cuts"])).max() for j, c in cuts.items())
    lines.append(f"| CAIM cuts, wine | {gap:.0e} |")
    for row in json.loads((folder / "baselines_toy.json").read_text()):
        if "qpfs" in row["method"]:
            fitted = QPFS(n_features_to_select=2).fit(*read(folder, row["dataset"][:-4]))
            gap = np.abs(fitted.weights_ - row["w"]).max()
            alpha = abs(fitted.alpha_ - row["alpha"])
            lines.append(f"| QPFS w (α), {row['dataset']} | {gap:.0e} ({alpha:.0e}) |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--golden", type=Path, required=True)
    folder = parser.parse_args().golden
    write_report(
        "information_golden",
        "Information: figures of other programs",
        feast(folder),
        "Where an order differs, candidates tie: FEAST's rounding decides, ours takes the lowest "
        "index; scores stay the same.",
        others(folder),
        packages=["scipy", "numba"],
    )


if __name__ == "__main__":
    main()
