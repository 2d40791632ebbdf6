"""One run of one method on one table: shared by ``demo``, ``select`` and ``compare``."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from featsieve.cli.outcome import Outcome, describe, finite, plain
from featsieve.cli.parser import BY_P_VALUES
from featsieve.cli.progress import Bar
from featsieve.cli.running import UsageError, say, tell
from featsieve.errors import InputError
from featsieve.input.parameters import parse_memory
from featsieve.io.gaps import fill_missing, rows_without_gaps
from featsieve.io.look_on_disk import impute_on_disk
from featsieve.io.model import Split, quoted
from featsieve.registry import find_method, score_of
from featsieve.result import COMPLETED, INTERRUPTED, TIME_LIMIT

PERMUTATIONS = 1000
MOST_CELLS = 10_000_000
CONTROLLED = "LassoSelector"
TESTED = frozenset({"n_permutations", "alpha"})  # parameters of methods with p-values of their own
# Parameters that an option sets, with its name and what it is when it is left out.
_OPTIONS = {
    "n_features_to_select": ("k", "-k", "auto"),
    "task": ("task", "--task", "auto"),
    "random_state": ("seed", "--seed", 0),
    "max_time": ("max_time", "--max-time", None),
    "memory_limit": ("memory_limit", "--memory-limit", "1GiB"),
    "n_jobs": ("jobs", "--jobs", None),
    "n_permutations": ("permutations", "--permutations", None),
}
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
    notes: tuple[str, ...] = ()


def has_missing(X: Any) -> bool:
    """Whether a cell is missing or infinite, in any container that readers hand out."""
    import numpy as np

    if hasattr(X, "column_names"):
        return any(_column_misses(column) for column in X.columns)
    values = X if isinstance(X, np.ndarray) else X.data
    return bool(values.dtype.kind == "f" and not np.isfinite(values).all())


def _column_misses(column: Any) -> bool:
    import pyarrow.compute as pc
    import pyarrow.types as kinds

    if column.null_count:
        return True
    return bool(kinds.is_floating(column.type) and not pc.all(pc.is_finite(column)).as_py())


def run_method(
    job: Job,
    arguments: argparse.Namespace,
    name: str | None = None,
) -> Outcome:
    """Fit the named method, or race several of them; say what was found."""
    if name is not None:
        return _fit(job, arguments, find_method(name).name, "as asked for")
    if _control(arguments):
        return _fit(job, arguments, CONTROLLED, "the usual method under error control")
    return _raced(_fit(job, arguments, "AutoSelector", ""))


def _raced(outcome: Outcome) -> Outcome:
    """The outcome of a race says who won it and how."""
    selector = outcome.selector
    row = selector.race_[0]
    return replace(outcome, reason=f"a race on inner folds; {selector.method_} {row['outcome']}")


def _fit(job: Job, arguments: argparse.Namespace, method: str, reason: str) -> Outcome:
    started = time.perf_counter()
    with Bar(quiet=arguments.quiet) as bar:
        selector = build_selector(job, arguments, method, bar)
        job = without_gaps(job, selector, arguments)
        with _resumed(arguments):
            selector.fit(job.split.X, job.split.y)
    elapsed = time.perf_counter() - started
    seed = getattr(selector, "random_state", arguments.seed)  # which --param may have set
    outcome = _outcome(job, selector, method, reason, seed, elapsed)
    if arguments.format == "csv":  # which has no place for sentences
        for sentence in filter(None, (outcome.guarantee, outcome.explanation)):
            tell(arguments, sentence)
    if outcome.stop_reason != COMPLETED and not arguments.quiet:
        say(_STOPPED.get(outcome.stop_reason, f"stopped: {outcome.stop_reason}."))
    return outcome


@contextmanager
def _resumed(arguments: argparse.Namespace) -> Iterator[None]:
    """With --resume, the steps of the search are kept and used again."""
    path = getattr(arguments, "resume", None)
    if path is None:
        yield
        return
    from featsieve.runtime.journal import recording

    with recording(path) as journal:
        yield
    if journal.n_recalled:
        tell(arguments, f"resumed: {journal.n_recalled} steps were taken from {path}.")
    elif journal.n_known:
        tell(arguments, f"note: {path} holds steps of other data or settings; none was used.")
    elif not journal.n_recorded:
        tell(arguments, "note: this method has no steps that could be kept; --resume did nothing.")


def build_selector(
    job: Job, arguments: argparse.Namespace, method: str, bar: Bar | None = None
) -> Any:
    """The method with those of our settings that it has parameters for."""
    asked = dict(getattr(arguments, "param", []))
    build: Any = find_method(method).load()
    known = build().get_params(deep=False)
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise UsageError(
            f"{method} has no parameter {unknown[0]!r}; it has {', '.join(sorted(known))}."
        )
    _require_one_voice(arguments, asked)
    settings = {
        "n_features_to_select": arguments.k,
        "task": getattr(arguments, "task", "auto"),
        "categorical_features": job.split.categorical,
        "random_state": arguments.seed,
        "n_jobs": arguments.jobs,
        "memory_limit": arguments.memory_limit,
        "n_permutations": _permutations(job, arguments),
        "callback": bar,
    }
    if arguments.max_time is not None:  # else the method's own limit, which a race has
        settings["max_time"] = arguments.max_time
    control = _control(arguments)
    _check_count_rule(arguments, method, known, control)
    if control is not None:
        del settings["n_features_to_select"]
    selector = build(**({name: v for name, v in settings.items() if name in known} | asked))
    _check_words(arguments, method, selector)
    return selector if control is None else _controlled(selector, control, arguments)


def _require_one_voice(arguments: argparse.Namespace, asked: Mapping[str, Any]) -> None:
    for name in asked.keys() & _OPTIONS.keys():
        attribute, option, default = _OPTIONS[name]
        given = getattr(arguments, attribute, default)
        if given not in (default, asked[name]):
            raise UsageError(
                f"{option} {given} and --param {name}={asked[name]} set the same thing; "
                f"leave one of them out."
            )


def _check_count_rule(
    arguments: argparse.Namespace, method: str, known: Mapping[str, Any], control: Any
) -> None:
    """Adjusted p-values decide the count only for methods that have them."""
    if arguments.k not in BY_P_VALUES:
        return
    if arguments.permutations == 0:
        raise UsageError(
            f"-k {arguments.k} counts by p-values, and --permutations 0 leaves them out; give "
            "--permutations 1000."
        )
    if known.keys() >= TESTED and control is None:
        return
    if control is not None:
        raise UsageError(
            f"-k {arguments.k} is a guarantee itself; leave --fdr and --stability out."
        )
    raise UsageError(
        f"-k {arguments.k} counts the columns whose adjusted p-values pass, and {method} has none; "
        "give --method pc, maxrel or nmiranking."
    )


def _control(arguments: argparse.Namespace) -> dict[str, Any] | None:
    """The selector around the method that --fdr or --stability asks for, with its level."""
    fdr, stability = getattr(arguments, "fdr", None), getattr(arguments, "stability", False)
    if fdr is not None and stability:
        raise UsageError("--fdr and --stability are two kinds of guarantee; give one of them.")
    if fdr is not None:
        return {"around": "KnockoffSelector", "fdr": fdr}
    return {"around": "StabilitySelector"} if stability else None


def _controlled(selector: Any, control: dict[str, Any], arguments: argparse.Namespace) -> Any:
    around: Any = find_method(control.pop("around")).load()
    most = None if arguments.k == "auto" else arguments.k
    shared = ("n_jobs", "max_time", "memory_limit", "callback")
    return around(
        selector=selector,
        n_features_to_select=most,
        allow_empty=True,
        random_state=arguments.seed,
        **{name: getattr(selector, name) for name in shared},
        **control,
    )


def without_gaps(job: Job, selector: Any, arguments: argparse.Namespace) -> Job:
    """Missing cells filled in, or their rows left out, where the method cannot take them."""
    how = getattr(arguments, "missing", "refuse")
    takes_gaps = selector.__sklearn_tags__().input_tags.allow_nan
    if how == "refuse" or takes_gaps:
        return job
    if job.on_disk:
        return _imputed_on_disk(job, arguments) if how == "impute" else job
    if not has_missing(job.split.X):
        return job
    if not hasattr(job.split.X, "column_names"):
        raise InputError(
            "the matrix has missing cells, which this method does not take; give a file of columns "
            "(CSV, Parquet) or a method that takes them."
        )
    return _dropped(job, arguments) if how == "drop" else _imputed(job, arguments)


def _imputed(job: Job, arguments: argparse.Namespace) -> Job:
    X, names = fill_missing(job.split.X, job.split.names)
    if not names:  # what misses cells is refused for its type
        return job
    note = (
        f"{quoted(names)}: missing or infinite cells were filled in for the scores (medians, and a "
        "state of their own for text); --missing drop or refuse does otherwise"
    )
    return _changed(job, replace(job.split, X=X), job.n_rows, note, arguments)


def _imputed_on_disk(job: Job, arguments: argparse.Namespace) -> Job:
    X, names = impute_on_disk(job.split.X, parse_memory(arguments.memory_limit))
    if not names:
        return job
    note = (
        f"{quoted(names)}: missing or infinite cells are filled in for the scores as the file is "
        "read (medians of a sample, and a state of their own for text); --missing refuse does not"
    )
    return _changed(job, replace(job.split, X=X), job.n_rows, note, arguments)


def _dropped(job: Job, arguments: argparse.Namespace) -> Job:
    import numpy as np

    X, rows = rows_without_gaps(job.split.X)
    split = replace(job.split, X=X, y=np.asarray(job.split.y)[rows])
    n_gone = job.n_rows - len(rows)
    note = f"{n_gone} rows with missing or infinite cells were left out (--missing drop)"
    return _changed(job, split, len(rows), note, arguments)


def _changed(job: Job, split: Split, n_rows: int, note: str, arguments: argparse.Namespace) -> Job:
    tell(arguments, f"note: {note}.")
    return replace(job, split=split, n_rows=n_rows, notes=(*job.notes, note))


def _check_words(arguments: argparse.Namespace, method: str, selector: Any) -> None:
    """What the command line offers for all methods, and this one does not have."""
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
    score = score_of(selector)
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
        notes=job.notes,
        score=str(score),
        symbol=score.symbol,
        threshold=finite(getattr(selector, "threshold_", math.nan)),
        guarantee=getattr(selector, "guarantee_", ""),
        explanation=getattr(selector, "explanation_", ""),
        by_step=score.by_step,
        selector=selector,
    )


def with_gains(job: Job, outcome: Outcome) -> Outcome:
    """The outcome with what each selected column adds, given those above it."""
    from featsieve.report.contribution import EXPLAINED, explained_shares, gains, sampled

    selector, split = outcome.selector, job.split
    values, target = sampled(split.X, split.y, selector.indices_[:EXPLAINED].tolist())
    added = gains(explained_shares(values, target, outcome.task))
    return replace(outcome, columns=describe(selector, split.names, added))


def write_report(path: str, job: Job, outcome: Outcome, **facts: Any) -> None:
    """A page about the outcome; ``facts`` are further fields of the report's content."""
    from featsieve.report import describe, write

    known = {
        "target": outcome.target,
        "reason": outcome.reason,
        "params": outcome.params,
        "seed": outcome.seed,
        "elapsed": outcome.elapsed,
        "notes": outcome.notes,
    }
    split = job.split
    write(path, describe(outcome.selector, split.X, split.y, names=split.names, **(known | facts)))
