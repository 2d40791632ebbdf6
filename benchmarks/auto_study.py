"""Why AutoSelector combines instead of choosing: what the leaderboard's sets say.

    python -m benchmarks.auto_study --data FOLDER --journal a.jsonl b.jsonl [--study FILE]

Only the sets of the tuning half (:func:`benchmarks.leaderboard_report.is_tuning`) are looked at.
From the columns that every method selected: what an oracle would gain that always knew the best of
a few methods; how well errors on inner folds of the learning rows predict the errors on the judged
rows; and what is gained by taking the set with the least inner error, by votes alone, by forward
selection with leave-one-out errors alone, and by forward selection whose ties are decided by votes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.stats import spearmanr

from benchmarks.leaderboard import Bench, load, splits
from benchmarks.leaderboard_peers import PEERS
from benchmarks.leaderboard_report import MOST_ERROR, RESULTS, finished_sets, is_tuning, read
from featsieve.evaluation.journal import Journal
from featsieve.evaluation.surroundings import circumstances
from featsieve.input.boundary import Settings, open_engine
from featsieve.methods.portfolio import PORTFOLIO
from featsieve.procedures import combination
from featsieve.procedures.combination import Combination, count_votes
from featsieve.procedures.judging.judges import JUDGES
from featsieve.procedures.judging.rows import Court, draw_rows, split_rows
from featsieve.runtime.ordering import best_first
from featsieve.runtime.pool import single_threaded_blas

VOTERS = [entry.name for entry in PORTFOLIO]
MARGINS = (0.0, 0.5, 1.0, 2.0)
INNER, VOTES = "least inner error", "votes alone"
Cell = tuple[str, int, int]


def forward_name(margin: float) -> str:
    if not margin:
        return "leave-one-out errors alone"
    return f"errors, votes within {margin:g} standard errors"


class Study:
    """One table and split after the other; what was computed is in a journal."""

    def __init__(self, records: Any, data: Path, journal: Journal) -> None:
        self.data, self.journal = data, journal
        self.cells: dict[Cell, dict[str, Any]] = {}
        for (name, split, method, k), piece in records:
            if is_tuning(name) and "columns" in piece:
                self.cells.setdefault((name, split, k), {})[method] = piece

    def run(self) -> None:
        for name in sorted({cell[0] for cell in self.cells}):
            table = load(self.data / f"{name}.parquet")
            for split, (train, test) in enumerate(splits(table)):
                counts = sorted(k for n, s, k in self.cells if (n, s) == (name, split))
                work = _Split(self, table, train, test, (name, split), counts)
                for k in counts:
                    for variant, choose in work.variants(k):
                        self.journal.piece((name, split, k, variant), choose)
            print(name, flush=True)


class _Split:
    """The learning and the judged rows of one table."""

    def __init__(self, study: Study, table: Any, train: Any, test: Any, at: Any, counts: Any):
        self.study, self.table, self.train, self.test = study, table, train, test
        self.at, self.counts, self.bench = at, counts, Bench(study.journal, (), [])
        settings = Settings(takes_missing=True, task=table.task)
        self.engine = open_engine(table.frame.iloc[train], table.y[train], settings)

    def sets(self, k: int) -> dict[str, np.ndarray]:
        found = self.study.cells[*self.at, k]
        return {m: np.array(found[m]["columns"]) for m in VOTERS if m in found}

    def variants(self, k: int) -> Iterator[tuple[str, Callable[[], Any]]]:
        ballots = [
            {c: self.sets(c)[m] for c in self.counts if m in self.sets(c)} for m in self.sets(k)
        ]
        yield INNER, lambda: self.least_inner(k)
        n_units = self.table.n_columns
        yield VOTES, lambda: self.judged(best_first(count_votes(ballots, n_units, [k]))[:k])
        for margin in MARGINS:
            yield forward_name(margin), lambda m=margin: self.judged(self.forward(ballots, k, m))

    def forward(self, ballots: Any, k: int, margin: float) -> np.ndarray:
        with patch.object(combination, "LEVEL", margin), single_threaded_blas():
            return Combination(ballots, 0, 500).sets(self.engine, [k])[k].indices

    def least_inner(self, k: int) -> dict[str, Any]:
        """Also the rank correlation of inner losses and outer errors over the methods."""
        sample = draw_rows(self.engine, 0)
        folds, court = split_rows(sample, 5, 0), Court(sample, list(JUDGES.values()), 0)
        sets = self.sets(k)
        inner = {
            m: float(np.mean([court.verdict(fold, units).losses for fold in folds]))
            for m, units in sets.items()
        }
        outer = [np.mean(self.study.cells[*self.at, k][m]["errors"]) for m in sets]
        rho = spearmanr(list(inner.values()), outer)[0] if len(set(outer)) > 1 else np.nan
        best = min(inner, key=lambda m: inner[m])
        return {**self.judged(sets[best]), "rho": None if np.isnan(rho) else float(rho)}

    def judged(self, columns: np.ndarray) -> dict[str, Any]:
        errors = self.bench.errors(self.table, self.train, self.test, np.asarray(columns))
        return {"errors": errors, "columns": np.asarray(columns).tolist()}


def report(study: Study) -> list[str]:
    best = _by_set({c: min(map(_error, p.values())) for c, p in study.cells.items()})
    rows = [*_single_rows(study, best), *_oracle_rows(study, best)]
    rhos = []
    for variant in (INNER, VOTES, *map(forward_name, MARGINS)):
        pieces = {c: study.journal[*c, variant] for c in study.cells}
        errors = _by_set({c: _error(p) for c, p in pieces.items()})
        rows.append((variant, float((errors - best).mean())))
        rhos += [p["rho"] for p in pieces.values() if p.get("rho") is not None]
    n_sets = len({c[0] for c in study.cells})
    return [
        "# Why AutoSelector combines",
        "",
        __doc__.partition("\n\n")[2].partition("\n\n")[2].strip(),
        "",
        f"{n_sets} sets. Inner losses of the portfolio's sets (5 folds, three judges) and errors "
        f"on the judged rows have a mean rank correlation of {np.mean(rhos):.2f} over the methods: "
        "close methods cannot be told apart.",
        "",
        "| what is taken | mean excess error over the best method of each table and count |",
        "|---|---|",
        *(f"| {words} | {value:.4f} |" for words, value in rows),
        "",
        circumstances(("scikit-learn",)),
    ]


def _methods(study: Study) -> list[str]:
    return sorted({m for cell in study.cells.values() for m in cell})


def _single_rows(study: Study, best: np.ndarray) -> list[tuple[str, float]]:
    """The six methods that come closest to the best one of each table and count."""
    rows = []
    for method in _methods(study):
        errors = _by_set({c: _error(p.get(method), p) for c, p in study.cells.items()})
        rows.append((f"always {method}", float((errors - best).mean())))
    return sorted(rows, key=lambda row: row[1])[:6]


def _oracle_rows(study: Study, best: np.ndarray) -> list[tuple[str, float]]:
    """What a choice with hindsight among two, three and all methods would have."""

    def oracle(names: Any) -> float:
        cells = {c: min(_error(p.get(m), p) for m in names) for c, p in study.cells.items()}
        return float((_by_set(cells) - best).mean())

    ours = [m for m in _methods(study) if m not in PEERS]
    groups = [min(combinations(ours, size), key=oracle) for size in (2, 3)]
    rows = [(f"oracle over {', '.join(group)}", oracle(group)) for group in groups]
    return [*rows, ("oracle over the portfolio", oracle(VOTERS))]


def _error(piece: Any, others: Any = None) -> float:
    """The mean over the judges; a method without an answer gets the worst one."""
    if piece is None:
        return max(_error(p) for p in others.values())
    return float(np.minimum(piece["errors"], MOST_ERROR).mean())


def _by_set(errors: dict[Cell, float]) -> np.ndarray:
    names = dict.fromkeys(cell[0] for cell in errors)
    return np.array([np.mean([e for c, e in errors.items() if c[0] == name]) for name in names])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--journal", type=Path, nargs="+", required=True)
    parser.add_argument("--study", type=Path, default=Path("auto_study.jsonl"))
    arguments = parser.parse_args()
    records = [record for path in arguments.journal for record in read(path)]
    done = finished_sets(records)
    study = Study(
        [r for r in records if r[0][0] in done], arguments.data, Journal(arguments.study, {})
    )
    started = time.process_time()
    study.run()
    print(f"{time.process_time() - started:.0f} CPU seconds")
    lines = report(study)
    (RESULTS / "auto-study.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
