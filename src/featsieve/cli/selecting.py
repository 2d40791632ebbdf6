"""One run of one method on one table: shared by ``demo``, ``select`` and ``compare``."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any

from featsieve.cli.choice import Shape, choose_method
from featsieve.cli.outcome import Outcome, describe, plain
from featsieve.cli.progress import Bar
from featsieve.cli.running import UsageError, say
from featsieve.errors import InputError
from featsieve.io.model import Split
from featsieve.registry import find_method
from featsieve.result import COMPLETED, INTERRUPTED, TIME_LIMIT

PERMUTATIONS = 1000
MOST_CELLS = 10_000_000
_STOPPED = {
    TIME_LIMIT: "the time limit was reached; this is the best answer so far.",
    INTERRUPTED: "interrupted; this is the best answer so far.",
}


@dataclass(frozen=True)
class Job:
    """The data of a run, with what the choice of a method and the answer need to know."""

    split: Split
    n_rows: int
    target: str
    on_disk: bool = False

    @property
    def shape(self) -> Shape:
        missing = False if self.on_disk else has_missing(self.split.X)
        return Shape(self.n_rows, len(self.split.names), self.on_disk, missing)


def has_missing(X: Any) -> bool:
    """Whether a cell is missing, in any container that readers hand out."""
    import numpy as np

    if hasattr(X, "column_names"):
        return any(_column_misses(column) for column in X.columns)
    values = X if isinstance(X, np.ndarray) else X.data
    return bool(values.dtype.kind == "f" and np.isnan(values).any())


def _column_misses(column: Any) -> bool:
    import pyarrow.compute as pc
    import pyarrow.types as kinds

    if column.null_count:
        return True
    return bool(kinds.is_floating(column.type) and pc.any(pc.is_nan(column)).as_py())


def run_method(
    job: Job,
    arguments: argparse.Namespace,
    name: str | None = None,
    available: frozenset[str] | None = None,
) -> Outcome:
    """Fit the named method, or an ``available`` one that suits the data; say what it found."""
    if name is None:
        method, reason = choose_method(job.shape, available)
    else:
        method, reason = find_method(name).name, "as asked for"
    return _fit(job, arguments, method, reason)


def _fit(job: Job, arguments: argparse.Namespace, method: str, reason: str) -> Outcome:
    asked = dict(getattr(arguments, "param", []))
    started = time.perf_counter()
    with Bar(quiet=arguments.quiet) as bar:
        selector = _selector(job, arguments, method, asked, bar)
        selector.fit(job.split.X, job.split.y)
    elapsed = time.perf_counter() - started
    outcome = _outcome(job, selector, method, reason, arguments.seed, elapsed)
    if outcome.stop_reason != COMPLETED and not arguments.quiet:
        say(_STOPPED.get(outcome.stop_reason, f"stopped: {outcome.stop_reason}."))
    return outcome


def _selector(
    job: Job, arguments: argparse.Namespace, method: str, asked: dict[str, Any], bar: Bar
) -> Any:
    """The method with those of our settings that it has parameters for."""
    build: Any = find_method(method).load()
    known = build().get_params(deep=False)
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise InputError(
            f"{method} has no parameter {unknown[0]!r}; it has {', '.join(sorted(known))}."
        )
    settings = {
        "n_features_to_select": arguments.k,
        "task": getattr(arguments, "task", "auto"),
        "categorical_features": job.split.categorical,
        "random_state": arguments.seed,
        "n_jobs": arguments.jobs,
        "max_time": arguments.max_time,
        "memory_limit": arguments.memory_limit,
        "n_permutations": _permutations(job, arguments),
        "callback": bar,
    }
    selector = build(**({name: v for name, v in settings.items() if name in known} | asked))
    _check_words(arguments, method, selector)
    return selector


def _check_words(arguments: argparse.Namespace, method: str, selector: Any) -> None:
    """What the command line offers for all methods, and this one does not have."""
    if arguments.k == "auto" and not selector._offers_auto_count:
        raise UsageError(f"-k auto is not possible with {method}; give a number or a fraction.")
    if arguments.permutations and not hasattr(selector, "n_permutations") and not arguments.quiet:
        say(f"note: {method} tests no columns, so --permutations has no effect.")


def _permutations(job: Job, arguments: argparse.Namespace) -> int:
    if arguments.permutations is not None:
        return int(arguments.permutations)
    small = job.n_rows * len(job.split.names) <= MOST_CELLS
    return PERMUTATIONS if small and not job.on_disk else 0


def _outcome(
    job: Job, selector: Any, method: str, reason: str, seed: int | None, elapsed: float
) -> Outcome:
    hidden = {"callback", "random_state"}
    params = selector.get_params(deep=False)
    return Outcome(
        method=method,
        reason=reason,
        columns=describe(selector, job.split.names),
        params={name: plain(v) for name, v in params.items() if name not in hidden},
        seed=seed,
        elapsed=elapsed,
        stop_reason=selector.result_.stop_reason,
        task=selector.task_,
        n_rows=job.n_rows,
        target=job.target,
    )
