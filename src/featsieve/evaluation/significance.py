"""Is one method better than another? Tests over paired errors, and the papers' ways to count."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.errors import InputError
from featsieve.evaluation.metrics import as_numbers
from featsieve.input.parameters import check_choice, check_real
from featsieve.schema import power_of_two

Kind = Literal["paired", "welch"]
Decision = Literal["win", "tie", "loss"]
LEVEL = 0.05


@dataclass(frozen=True)
class PairedTest:
    """``pvalue`` is small when the errors of A are below those of B by more than chance."""

    statistic: float
    pvalue: float
    difference: float
    kind: Kind


def paired_test(a: Any, b: Any, *, kind: Kind = "paired") -> PairedTest:
    """One-sided t-test of the hypothesis that A has smaller errors than B.

    Parameters
    ----------
    a, b
        Errors of the two methods; for ``"paired"`` on the same folds or trials, in the same order.
    kind
        ``"paired"`` (Venkateswara et al. 2015; Jitkrittum et al. 2013) or ``"welch"`` (unpaired,
        unequal variances; Song et al. 2007).

    Where the errors do not vary at all, the p-value is 0, 0.5 or 1 by the sign of the difference.

    Examples
    --------
    >>> round(paired_test([1, 2, 3], [2, 4, 4]).pvalue, 4)
    0.0286
    """
    check_choice("kind", kind, ("paired", "welch"))
    ours, theirs = _errors("a", a), _errors("b", b)
    unit = float(power_of_two(np.array([np.abs(ours).max(), np.abs(theirs).max(), 1e-300]).max()))
    if kind == "paired" and len(ours) != len(theirs):
        raise InputError(
            f"a has {len(ours)} errors and b has {len(theirs)}; a paired test needs both methods "
            "on the same folds."
        )
    ours, theirs = ours * unit, theirs * unit  # squares neither overflow nor vanish
    difference = float(ours.mean() - theirs.mean()) / unit
    statistic, freedom = (_paired if kind == "paired" else _welch)(ours, theirs)
    if np.isnan(statistic):
        return _certain(difference, kind)
    from scipy.stats import t

    return PairedTest(statistic, float(t.cdf(statistic, freedom)), difference, kind)


def _errors(name: str, values: Any) -> FloatArray:
    errors = as_numbers(name, values)
    if errors.ndim != 1 or len(errors) < 2 or not np.isfinite(errors).all():
        raise InputError(f"{name} must be a list of at least two finite errors.")
    return errors


def _certain(difference: float, kind: Kind) -> PairedTest:
    if difference == 0:
        return PairedTest(0.0, 0.5, 0.0, kind)
    return PairedTest(math.copysign(math.inf, difference), float(difference > 0), difference, kind)


def _paired(a: FloatArray, b: FloatArray) -> tuple[float, float]:
    gaps = a - b
    return _ratio(gaps.mean(), gaps.var(ddof=1) / len(gaps), a, b), len(gaps) - 1


def _welch(a: FloatArray, b: FloatArray) -> tuple[float, float]:
    parts = np.array([a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)])
    statistic = _ratio(float(a.mean() - b.mean()), parts.sum(), a, b)
    if np.isnan(statistic):
        return statistic, np.nan
    return statistic, parts.sum() ** 2 / (parts**2 / [len(a) - 1, len(b) - 1]).sum()


def _ratio(difference: float, variance: float, a: FloatArray, b: FloatArray) -> float:
    """NaN where the variance is nothing but rounding."""
    size = max(np.abs(a).max(), np.abs(b).max())
    return np.nan if variance <= (1e-14 * size) ** 2 else float(difference / np.sqrt(variance))


def win_tie_loss(
    a: Mapping[Any, Any], b: Mapping[Any, Any], *, level: float = LEVEL, kind: Kind = "paired"
) -> Decision:
    """What most counts of columns decide (Venkateswara et al. 2015, Tables III and IV).

    At each k the errors of the folds are compared by one-sided tests; A wins, loses or ties. Of
    decisions that are equally frequent a tie comes first: no winner without a majority.

    Parameters
    ----------
    a, b
        k → errors of the folds; the k that both have are compared.

    Examples
    --------
    >>> win_tie_loss({5: [1, 2, 1], 6: [1, 1, 2]}, {5: [9, 8, 9], 6: [7, 8, 8]})
    'win'
    """
    common = [k for k in a if k in b]
    if not common:
        raise InputError("a and b have no number of columns in common.")
    counts = Counter(decide(a[k], b[k], level=level, kind=kind) for k in common)
    if counts["win"] > max(counts["tie"], counts["loss"]):
        return "win"
    return "loss" if counts["loss"] > max(counts["tie"], counts["win"]) else "tie"


def decide(a: Any, b: Any, *, level: float = LEVEL, kind: Kind = "paired") -> Decision:
    """Win, tie or loss of A at one k."""
    check_real("level", level, 0, 1, inclusive="neither")
    if paired_test(a, b, kind=kind).pvalue < level:
        return "win"
    return "loss" if paired_test(b, a, kind=kind).pvalue < level else "tie"


def bold_face(
    errors: Mapping[str, Any], *, level: float = LEVEL, kind: Kind = "paired"
) -> list[str]:
    """The best method and those not significantly worse (Jitkrittum et al. 2013, Table 7).

    Song et al. (2007) mark theirs the same way, with ``kind="welch"``. The best has the smallest
    mean error; every other method whose errors a one-sided test does not find larger is marked too.

    Examples
    --------
    >>> bold_face({"A": [1.0, 1.1, 0.9], "B": [1.1, 1.0, 0.9], "C": [3.0, 3.1, 3.2]})
    ['A', 'B']
    """
    check_real("level", level, 0, 1, inclusive="neither")
    if not errors:
        return []
    means = {name: _errors(name, values).mean() for name, values in errors.items()}
    best = min(means, key=lambda name: means[name])
    rest = {name: paired_test(errors[best], e, kind=kind) for name, e in errors.items()}
    return [name for name in errors if name == best or rest[name].pvalue >= level]


def top_counts(marked: Sequence[Sequence[str]], methods: Sequence[str]) -> dict[str, int]:
    """How often each method is among the marked ones (the last row of Table 7)."""
    counts = Counter(name for names in marked for name in names)
    return {method: counts[method] for method in methods}
