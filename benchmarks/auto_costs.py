"""What a run of each method of AutoSelector's portfolio costs, next to what the race reckons with.

    python -m benchmarks.auto_costs

Seconds of processor time, the second of two fits, so that compilation is not measured; ten columns
are selected. A run that would take more than 5 s by the model is left out.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

from benchmarks.frame import write_report
from featsieve.methods.portfolio import PORTFOLIO, Entry

SHAPES = (
    (200, 10),
    (200, 200),
    (200, 2000),
    (60, 10_000),
    (1000, 10),
    (1000, 100),
    (1000, 1000),
    (20_000, 10),
    (20_000, 100),
    (300_000, 50),
    (1_000_000, 10),
)
K = 10
LONGEST = 5.0


def table(n: int, m: int, *, classes: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, m))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=n)
    return X, (y > 0).astype(int) if classes else y


def seconds(entry: Entry, n: int, m: int, *, classes: bool) -> float:
    method = entry.method.load()
    selector = method(**entry.parameters, n_features_to_select=min(K, m - 1))
    X, y = table(n, m, classes=classes)
    spent = []
    for _ in range(2):
        started = time.process_time()
        selector.fit(X, y)
        spent.append(time.process_time() - started)
    return min(spent)


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()  # answers --help
    warnings.simplefilter("ignore")
    lines = ["| method | rows | columns | target | modelled | measured | modelled ÷ measured |"]
    lines += ["|---" * 7 + "|"]
    for entry in PORTFOLIO:
        for n, m in SHAPES:
            for classes in (True, False):
                modelled = entry.cost(n, m, min(K, m - 1))
                skipped = entry.most_columns is not None and m > entry.most_columns
                takes = classes or entry.method.target != "classes"
                if modelled > LONGEST or skipped or not takes:
                    continue
                try:
                    measured = seconds(entry, n, m, classes=classes)
                except MemoryError:  # the method says so; the race does not start it either
                    continue
                target = "classes" if classes else "numbers"
                words = f"| {entry.name} | {n:,} | {m:,} | {target} | {modelled:.3g} s | "
                words += f"{measured:.3g} s | {modelled / measured:.2g} |"
                lines.append(words)
                print(words, flush=True)
    write_report("auto-costs", "The cost models of AutoSelector", __doc__.strip(), "\n".join(lines))


if __name__ == "__main__":
    main()
