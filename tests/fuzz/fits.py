"""What a fit may do with a case: everything else is a problem."""

from __future__ import annotations

import copy
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import parallel_config

from featsieve.errors import InputError
from featsieve.registry import TARGET_UNIT, find_method
from tests.fuzz.cases import Case
from tests.fuzz.containers import SPARSE, contain, unchanged
from tests.fuzz.targets import NUMBERS, REFUSED

CLASS_PER_ROW = "classes of one row each"
NOT_CONVERGED = ("KKT residual", "did not converge", "eigenvectors of the graph converged")
# Without a count these keep what their control of errors lets pass.
COUNT_THEMSELVES = ("KnockoffSelector", "StabilitySelector")
ROUNDED = ("other unit of the target",)
ROUNDINGS = 10
NEAR = 1e-6  # scores this close, relative to the largest, may be in either order
FINER = 1e-5  # of a solver's tolerance
FINEST = 1e-10
# Nothing is computed otherwise, so not a bit may differ.
IDENTICAL = ("repeated fit", "n_jobs=2", "unit of columns", "unit of the target")

Ask = Callable[..., "Outcome"]  # a fit with some parameters changed


@dataclass(frozen=True)
class Outcome:
    """A selection with its warnings, or the sentence of a refusal; ``problem`` if it is neither."""

    indices: tuple[int, ...] = ()
    scores: Any = None
    warned: tuple[str, ...] = ()
    refusal: str | None = None
    problem: str | None = None

    @property
    def in_words(self) -> str:
        shown = ", ".join(f"{j}: {self.scores[j]:.9g}" for j in self.indices[:5])
        return f"({shown}{', …' if len(self.indices) > 5 else ''})"

    @property
    def is_unsettled(self) -> bool:
        """The user was told that a solver has not converged: rounding may have grown."""
        return any(words in warning for warning in self.warned for words in NOT_CONVERGED)

    @property
    def is_meaningless(self) -> bool:
        """The user was told that every row is a class of its own: all columns are alike."""
        return any(CLASS_PER_ROW in warning for warning in self.warned)


def run(selector: Any, X: Any, y: Any) -> Outcome:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with parallel_config(backend="threading"):  # a wrapper would start processes
                selector.fit(X, y)
        except InputError as error:
            return Outcome(refusal=str(error))
        except Exception as error:
            if raised_by_scikit_learn(error) or _raised_by_the_model(selector, error):
                return Outcome(refusal=str(error))
            return Outcome(problem=in_one_line(error))
    strange = [w for w in caught if w.category is not UserWarning]
    if hasattr(selector, "estimator"):  # a user's model may say what it wants
        strange = []
    if strange:
        return Outcome(problem=f"{strange[0].category.__name__}: {strange[0].message}"[:300])
    return Outcome(
        tuple(map(int, selector.indices_)),
        np.asarray(selector.scores_, dtype=np.float64),
        tuple(str(w.message) for w in caught),
    )


def in_one_line(error: BaseException) -> str:
    """What was raised, and in which line."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/featsieve/" in frame.filename.replace("\\", "/")]
    last = (ours or frames)[-1]
    where = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
    return f"{type(error).__name__} at {where}: {error}"[:300]


def raised_by_scikit_learn(error: Exception) -> bool:
    """A refusal of its input checks."""
    last = traceback.extract_tb(error.__traceback__)[-1].filename.replace("\\", "/")
    return isinstance(error, (ValueError, TypeError)) and "/sklearn/utils/" in last


def _raised_by_the_model(selector: Any, error: Exception) -> bool:
    """A wrapper hands on what the user's estimator says."""
    frames = traceback.extract_tb(error.__traceback__)
    return hasattr(selector, "estimator") and any("/sklearn/" in f.filename for f in frames)


def same_selection(a: Outcome, b: Outcome, *, by_step: bool = False) -> bool:
    """The same columns in the same order with the same scores, up to the first tie.

    Where the two first differ, the criterion is to be equal but for rounding: from there on even
    the sets may differ. Scores ``by_step`` compare a column only with those of the same step.
    """
    if len(a.indices) != len(b.indices) or a.scores is None or b.scores is None:
        return False
    width = NEAR * np.abs(a.scores[np.isfinite(a.scores)]).max(initial=0.0)

    def near(x: Any, y: Any) -> bool:
        return bool(np.allclose(x, y, rtol=0, atol=width, equal_nan=True))

    for i, j in zip(a.indices, b.indices, strict=True):
        if i != j:
            is_tie = near(a.scores[i], b.scores[j])
            return is_tie and (by_step or near(a.scores[i], a.scores[j]))
    return near(a.scores, b.scores)


def identical(a: Outcome, b: Outcome) -> bool:
    return a.indices == b.indices and np.array_equal(a.scores, b.scores, equal_nan=True)


def problems(case: Case, tally: Counter[str] | None = None) -> Iterator[str]:
    """Everything that does not hold of this case; nothing if all does."""
    tally = Counter() if tally is None else tally
    values = case.values()
    y = case.target_values(values)
    X = case.contained(values)
    before = copy.deepcopy((X, y))
    selector = case.selector()
    first = run(selector, X, y)
    if first.problem:
        yield first.problem
        return
    tally["fit refused" if first.refusal else "fit answered"] += 1
    if not unchanged(before, (X, y)):
        yield "the input was changed"
    if first.refusal is None:
        yield from _unusable(case)
        yield from _attributes(case, selector, first)
        yield from _transformed(selector, X, first)
    for name, ask in _again(case, selector, values, X, y):
        other = ask()
        tally[f"same for: {name}"] += 1
        tally[f"fits of {case.method}"] += other.refusal is None
        for words in _difference(case, name, first, other):
            reason = _reason(case, name, (first, _fit_of(case, X, y)), (other, ask))
            if reason is None and name in ROUNDED and _is_settled_by_rounding(case, first):
                reason = "that the last digit of the target makes as well"
            if reason:
                tally[f"differences {reason}"] += 1
            else:
                yield words


def _unusable(case: Case) -> Iterator[str]:
    """Some tables must not get an answer."""
    uses_target = find_method(case.method).target != "nothing"
    if case.target in REFUSED and case.target != "nothing" and uses_target:
        yield f"a target was taken that cannot be used: {case.target}"
    takes_gaps = case.selector().__sklearn_tags__().input_tags.allow_nan
    if not takes_gaps and not np.isfinite(case.values().astype(np.float64)).all():
        yield "a cell was taken that is not a number"


def _attributes(case: Case, selector: Any, outcome: Outcome) -> Iterator[str]:
    n_columns = case.shape[1]
    chosen = outcome.indices
    counts_itself = case.count is None and case.method in COUNT_THEMSELVES
    if len(chosen) != case.n_wanted and not outcome.warned and not counts_itself:
        yield f"{len(chosen)} columns where {case.n_wanted} were asked for, without a warning"
    if len(set(chosen)) != len(chosen) or not set(chosen) <= set(range(n_columns)):
        yield f"indices_ {chosen} are not distinct columns"
    if sorted(chosen) != np.flatnonzero(selector.support_).tolist():
        yield "support_ and indices_ differ"
    if outcome.scores.shape != (n_columns,):
        yield f"scores_ have the shape {outcome.scores.shape}, not one number per column"
    if np.isinf(outcome.scores).any():
        yield "an infinite score"


def _transformed(selector: Any, X: Any, outcome: Outcome) -> Iterator[str]:
    """The selected columns, in the container that was given."""
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        try:
            chosen = selector.transform(X)
        except Exception as error:
            yield f"transform: {in_one_line(error)}"
            return
    if chosen.shape[1] != len(outcome.indices):
        yield f"transform gives {chosen.shape[1]} columns for {len(outcome.indices)} selected"
    if not isinstance(X, list) and type(chosen) is not type(X) and not isinstance(X, np.ndarray):
        yield f"transform gives a {type(chosen).__name__} for a {type(X).__name__}"


def _fit_of(case: Case, X: Any, y: Any, container: str | None = None, **fixed: Any) -> Ask:
    return lambda **params: run(case.selector(container, **fixed, **params), X, y)


def _again(case: Case, selector: Any, values: Any, X: Any, y: Any) -> Iterator[tuple[str, Ask]]:
    """The same question asked in other ways."""
    yield "repeated fit", lambda: run(selector, X, y)
    yield "n_jobs=2", _fit_of(case, X, y, n_jobs=2)
    # A user's model may refuse words, and treat units and sparse cells as it likes.
    is_sparse = case.container in SPARSE or case.container == "sparse columns"
    is_odd = case.categories or case.scale != "plain" or is_sparse
    if case.container != "array" and not (case.method == "WrapperSelector" and is_odd):
        yield "container", _fit_of(case, contain("array", values), y, "array")
    if case.is_general and case.is_deterministic:
        order = np.random.default_rng([case.seed, 2]).permutation(case.shape[1])
        ask = _fit_of(case, case.contained(values[:, order]), y)
        yield "order of columns", lambda **params: _reordered(ask(**params), order)
    if case.dtype == "float64" and case.scale == "plain" and case.method != "WrapperSelector":
        yield from _other_units(case, values, y)  # a user's model may depend on units


def _other_units(case: Case, values: Any, y: Any) -> Iterator[tuple[str, Ask]]:
    rng = np.random.default_rng([case.seed, 3])
    powers = 2.0 ** rng.integers(-30, 30, case.shape[1])
    powers[list(case.coded)] = 1.0
    yield "unit of columns", _fit_of(case, case.contained(values * powers), y)
    if not case.is_general:
        return
    factors = 10.0 ** rng.uniform(-9, 9, case.shape[1])
    yield "other unit of columns", _fit_of(case, case.contained(values * factors), y)
    if case.target in NUMBERS and isinstance(y, np.ndarray) and y.dtype == np.float64:
        yield "unit of the target", _in_unit(case, values, y, 2.0 ** rng.integers(-30, 30))
        yield "other unit of the target", _in_unit(case, values, y, 10.0 ** rng.uniform(-9, 9))


def _in_unit(case: Case, values: Any, y: Any, factor: float) -> Ask:
    """Scores that are in the unit of the target are brought back."""
    ask = _fit_of(case, case.contained(values), y * factor)
    if find_method(case.method).score.unit != TARGET_UNIT:
        return ask

    def brought_back(**params: Any) -> Outcome:
        outcome = ask(**params)
        return (
            outcome if outcome.scores is None else replace(outcome, scores=outcome.scores / factor)
        )

    return brought_back


def _is_settled_by_rounding(case: Case, first: Outcome) -> bool:
    """Whether the answer is another one for a target with other last digits.

    In another unit the digits of the target are rounded. Where two cuts of a tree are tied, that
    decides between them; then so does rounding in the unit that was given.
    """
    values = case.values()
    y, X = case.target_values(values), case.contained(values)
    by_step = find_method(case.method).score.by_step
    for draw in range(ROUNDINGS):
        signs = np.random.default_rng([case.seed, 4, draw]).choice([-np.inf, np.inf], y.shape)
        other = run(case.selector(), X, np.nextafter(y, signs))
        if other.scores is not None and not same_selection(first, other, by_step=by_step):
            return True
    return False


def _reordered(outcome: Outcome, order: Any) -> Outcome:
    """In the numbers of the columns as they were."""
    if outcome.scores is None:
        return outcome
    scores = np.empty_like(outcome.scores)
    scores[order] = outcome.scores
    return replace(outcome, indices=tuple(order[list(outcome.indices)].tolist()), scores=scores)


def _difference(case: Case, name: str, first: Outcome, other: Outcome) -> Iterator[str]:
    by_step = find_method(case.method).score.by_step
    if other.problem:
        yield f"{name}: {other.problem}"
    elif (first.refusal is None) != (other.refusal is None):
        yield f"{name}: refused once only ({first.refusal or other.refusal})"
    elif first.refusal is not None:
        return
    elif not same_selection(first, other, by_step=by_step):
        yield f"{name}: {first.in_words} and {other.in_words}"
    elif name in IDENTICAL and not identical(first, other):
        yield f"{name}: not to the last bit"


def _reason(
    case: Case, name: str, first: tuple[Outcome, Ask], other: tuple[Outcome, Ask]
) -> str | None:
    """Why two answers may differ by more than rounding.

    Where rounding differs, an iterative solver may stop one step earlier or later. How far apart
    the two ends are is bounded by ``tol`` times a number that depends on the table (the condition
    of the problem), which is not known; but it is proportional to ``tol``. So the same solver
    with a finer ``tol`` has to bring the two answers together, or the difference is a defect.
    """
    (a, ask_a), (b, ask_b) = first, other
    if name in IDENTICAL or a.scores is None or b.scores is None:
        return None
    if a.is_unsettled and b.is_unsettled:
        return "after a warning that the solver did not converge"
    if a.is_meaningless and b.is_meaningless:
        return "after a warning that every row is a class of its own"
    tol = case.selector().get_params(deep=False).get("tol")
    if tol is None:
        return None
    finer = [ask(tol=max(FINER * tol, FINEST)) for ask in (ask_a, ask_b)]
    if any(outcome.problem or outcome.refusal for outcome in finer):
        return None
    by_step = find_method(case.method).score.by_step
    return "that a finer tol removes" if same_selection(*finer, by_step=by_step) else None
