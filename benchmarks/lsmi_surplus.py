"""l1-LSMI where more columns are asked for than matter: time, count, and SMI of the answer.

With ``--old SRC``, the source folder of an older checkout, the same tables are given to its L1LSMI,
and the answers of both are judged by one estimator: the same centres and model selection.

python -m benchmarks.lsmi_surplus [--seeds N] [--old SRC] [--journal FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import featsieve
from benchmarks.frame import write_report
from featsieve.measures import lsmi

Table = tuple[Any, Any]
K = 5
N_DRAWS = 10  # of centres, for each judgement
WORKER = f"""
import json, sys, time, warnings
import numpy as np
from featsieve import L1LSMI
L1LSMI(n_features_to_select=2, n_init=2, random_state=0).fit(
    np.random.default_rng(0).normal(size=(50, 4)), np.arange(50) % 3
)
for line in sys.stdin:
    case = json.loads(line)
    X, y = np.array(case["X"]), np.array(case["y"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        fitted = L1LSMI(n_features_to_select={K}, random_state=case["seed"]).fit(X, y)
        seconds = time.perf_counter() - start
    answer = dict(seconds=seconds, warned=bool(caught), columns=fitted.indices_.tolist(),
                  weights=np.asarray(fitted.weights_).tolist())
    print(json.dumps(answer), flush=True)
"""


def two_of_six(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 6))
    return X, X[:, 0] ** 2 + X[:, 1] + 0.3 * rng.normal(size=200)


def xor_of_six(seed: int) -> Table:
    X = np.random.default_rng(seed).normal(size=(200, 6))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def one_line_of_six(seed: int) -> Table:
    """One column matters, and one more is a noisy copy of it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 6))
    X[:, 1] = X[:, 0] + 0.5 * X[:, 1]
    return X, X[:, 0] + 0.5 * rng.normal(size=200)


def eleven_classes(seed: int) -> Table:
    """Class means in three of ten columns."""
    return _classes_in(3, seed)


def eleven_classes_everywhere(seed: int) -> Table:
    """Class means in all ten columns, as in the speech data of eleven vowels."""
    return _classes_in(10, seed)


def _classes_in(n_columns: int, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    y = np.arange(660) % 11
    means = np.zeros((11, 10))
    means[:, :n_columns] = 1.5 * rng.normal(size=(11, n_columns))
    return means[y] + rng.normal(size=(660, 10)), y


DESIGNS: dict[str, tuple[Callable[[int], Table], float]] = {
    "200 × 6, a square and a line": (two_of_six, 2.0),
    "200 × 6, sign of a product": (xor_of_six, 2.0),
    "200 × 6, a line and a noisy copy": (one_line_of_six, 2.0),
    "660 × 10, 11 classes, three columns": (eleven_classes, 8.0),
    "660 × 10, 11 classes, all columns": (eleven_classes_everywhere, 8.0),
}


@dataclass(frozen=True)
class Answer:
    """What one fit gave; the SMIs, of the set and at the weights, for each draw of centres."""

    seconds: float
    warned: bool
    columns: list[int]
    weights: list[float]
    set_smi: list[float]
    weighted_smi: list[float]


class Fits:
    """One process of one version of the code, fitted with table after table."""

    def __init__(self, source: str) -> None:
        environment = {**os.environ, "PYTHONPATH": source}
        self._process = subprocess.Popen(
            [sys.executable, "-c", WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def answer(self, X: Any, y: Any, seed: int) -> Answer:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        case = json.dumps({"X": X.tolist(), "y": y.tolist(), "seed": seed})
        print(case, file=self._process.stdin, flush=True)
        given = json.loads(self._process.stdout.readline())
        columns = given["columns"]
        return Answer(
            given["seconds"],
            given["warned"],
            columns,
            given["weights"],
            judged_smi(X, y, np.isin(np.arange(X.shape[1]), columns)),
            judged_smi(X, y, np.array(given["weights"])),
        )


def judged_smi(X: Any, y: Any, weights: Any) -> list[float]:
    """The SMI of weighted columns with the same draws of centres for every version.

    One draw says little: at the same weights the estimate varies by a factor of two between draws.
    """
    kept = np.flatnonzero(weights)
    scaled = (X[:, kept] - X[:, kept].mean(axis=0)) / X[:, kept].std(axis=0, ddof=1)
    target = y if y.dtype.kind == "i" else (y - y.mean()) / y.std(ddof=1)
    return [lsmi(scaled * weights[kept], target, random_state=s).value for s in range(N_DRAWS)]


NOTE = f"""SMIs are means over {N_DRAWS} draws of centres, the same for both versions: at the same
weights one draw may give twice what another gives. Old is the code before the search for exactly k
columns (commit 110c2f9); where it has fewer or more than k columns, its SMI is that of another
problem, hence the figure for tables on which both have equally many. Times of the old code were
taken on a busy machine."""


class Journal:
    """The answers so far, by version, table and seed: old ones are slow to get."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known = json.loads(path.read_text()) if path and path.exists() else {}

    def answer(self, version: str, fits: Fits, name: str, seed: int) -> Answer:
        key = f"{version}: {name}, {seed}"
        if key not in self._known:
            self._known[key] = asdict(fits.answer(*DESIGNS[name][0](seed), seed))
            if self._path:
                self._path.write_text(json.dumps(self._known, indent=0))
        return Answer(**self._known[key])


def rows(name: str, versions: dict[str, Fits], n_seeds: int, journal: Journal) -> list[str]:
    """One line per version of the code."""
    answers = {
        version: [journal.answer(version, fits, name, seed) for seed in range(n_seeds)]
        for version, fits in versions.items()
    }
    return [line(name, version, answers) for version in versions]


def line(name: str, version: str, answers: dict[str, list[Answer]]) -> str:
    ours, allowed = answers[version], DESIGNS[name][1]
    seconds = [answer.seconds for answer in ours]
    exact = sum(len(answer.columns) == K for answer in ours)
    cells = [
        f"{name}, {version}",
        f"{np.median(seconds):.2f} s ({max(seconds):.2f} s)",
        f"{allowed:.0f} s",
        f"{exact} of {len(ours)}",
        str(sum(answer.warned for answer in ours)),
        f"{np.mean([answer.set_smi for answer in ours]):.4f}",
        f"{np.mean([answer.weighted_smi for answer in ours]):.4f}",
        gain(answers) if version == "new" else "",
    ]
    return "| " + " | ".join(cells) + " |"


def gain(answers: dict[str, list[Answer]]) -> str:
    """New less old at the weights: the mean over tables, and that of equally many columns."""
    if "old" not in answers:
        return ""
    pairs = list(zip(answers["new"], answers["old"], strict=True))
    alike = [(new, old) for new, old in pairs if len(new.columns) == len(old.columns)]
    return f"{mean_gain(pairs)}; of equal size ({len(alike)}): {mean_gain(alike)}"


def mean_gain(pairs: list[tuple[Answer, Answer]]) -> str:
    """With its standard error over tables and draws, and the lowest in standard errors of draws."""
    if not pairs:
        return "none"
    gains = np.array([np.subtract(new.weighted_smi, old.weighted_smi) for new, old in pairs])
    errors = gains.std(axis=1, ddof=1) / np.sqrt(gains.shape[1])
    z = gains.mean(axis=1) / np.maximum(errors, 1e-12)
    error = gains.mean(axis=1).std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else errors[0]
    return f"{gains.mean():+.3f} ± {error:.3f}, lowest {z.min():+.1f} standard errors"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--old", metavar="SRC")
    parser.add_argument("--journal", type=Path)
    parser.add_argument("--designs", nargs="*", default=list(DESIGNS))
    arguments = parser.parse_args()
    versions = {"new": Fits(str(Path(featsieve.__file__).parents[1]))}
    versions |= {"old": Fits(arguments.old)} if arguments.old else {}
    journal = Journal(arguments.journal)
    lines = [
        f"| table, k = {K}, {arguments.seeds} seeds | fit, median (most) | allowed "
        "| exactly k columns | fits with a warning | SMI of the set | SMI at the weights "
        "| SMI at the weights, new less old |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in arguments.designs:
        lines += rows(name, versions, arguments.seeds, journal)
        print(*lines[-len(versions) :], sep="\n", flush=True)
    write_report("lsmi-surplus", "More columns asked for than matter", "\n".join(lines), NOTE)


if __name__ == "__main__":
    main()
