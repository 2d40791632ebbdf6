"""Does AutoSelector keep its time limit, on small, tall and wide tables?

    python -m benchmarks.auto_time

Two small fits come first, so that compilation is not measured. The promise is the limit + 10 % +
2 s of wall time; a race that ends earlier keeps any limit.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np

from benchmarks.frame import RESULTS
from featsieve import AutoSelector
from featsieve.evaluation.surroundings import circumstances

SHAPES = {"small": (300, 20), "tall": (300_000, 50), "wide": (200, 10_000), "mixed": (2000, 500)}
LIMITS = (1.0, 8.0)


def table(n: int, m: int, *, classes: bool) -> tuple[np.ndarray, np.ndarray]:
    """Two columns that act together, one that acts alone, and noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, m))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=n)
    return X, (y > 0).astype(int) if classes else y


def seconds_of(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()  # answers --help
    warnings.simplefilter("ignore")
    lines = ["# AutoSelector and its time limit", "", __doc__.rpartition("\n\n")[2].strip(), ""]
    lines += ["| table | rows | columns | target | limit | seconds | within | stopped by |"]
    lines += ["|---" * 8 + "|"]
    for classes in (True, False):
        AutoSelector(max_time=60).fit(*table(120, 8, classes=classes))
    for name, (n, m) in SHAPES.items():
        for classes in (True, False):
            X, y = table(n, m, classes=classes)
            for limit in LIMITS:
                selector = AutoSelector(max_time=limit)
                seconds = seconds_of(lambda s=selector, X=X, y=y: s.fit(X, y))
                kept = "yes" if seconds <= 1.1 * limit + 2.0 else "**no**"
                words = f"| {name} | {n:,} | {m:,} | {'classes' if classes else 'numbers'} | "
                words += f"{limit:g} | {seconds:.2f} | {kept} | {selector.result_.stop_reason} |"
                lines.append(words)
                print(lines[-1], flush=True)
    text = "\n".join([*lines, "", circumstances(("numpy", "scikit-learn"))])
    (RESULTS / "auto-time.md").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
