"""Checks of parameters: the same question is asked, and refused, in the same words everywhere.

Each function returns the checked value, and refuses in one sentence: "n_init=0 is not allowed; give
an integer >= 1."
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from copy import copy
from typing import Any, Literal, TypeVar

import numpy as np

from featsieve.arrays import Array, FloatArray
from featsieve.errors import InputError

T = TypeVar("T")
Check = Callable[[str, Any], Any]  # of a parameter's name and its value
Ends = Literal["both", "low", "high", "neither"]

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
LONGEST_VALUE = 60
MOST_THREADS = 4096
NO_NUMBERS = (bool, np.bool_, np.timedelta64)  # although the last one is a subclass of integers


def not_allowed(name: str, value: Any, allowed: str) -> InputError:
    """The one sentence of all parameters; the caller raises it."""
    return InputError(f"{name}={brief(value)} is not allowed; give {allowed}.")


def brief(value: Any) -> str:
    """A value on one line, cut short.

    >>> brief("x" * 100), brief(np.eye(2))
    ("'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...", 'array([[1., 0.], [0., 1.]])')
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a user's object may fail at anything
        text = f"an object of {type(value).__name__}"
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."


def check_parameters(estimator: Any, checks: Mapping[str, Check]) -> None:
    """Each parameter of an estimator by the check that is listed under its name.

    A named method may have fewer parameters than the measure and the search that it stands for.
    """
    for name, check in checks.items():
        if hasattr(estimator, name):
            check(name, getattr(estimator, name))


def settle_parameters(estimator: Any, checks: Mapping[str, Check]) -> None:
    """For a fit, which puts back what was given: no NumPy scalars, and then all are checked."""
    vars(estimator).update(_python_numbers(vars(estimator)))  # get_params reads the signature
    check_parameters(estimator, checks)


def unless(word: str | None, check: Check) -> Check:
    """The same check for a parameter that may also be this word, or None."""

    def checked(name: str, value: Any) -> Any:
        return value if value is word or is_word(value, word) else check(name, value)

    return checked


def is_word(value: Any, word: Any) -> bool:
    """Never == on a foreign object: an array would answer with an array."""
    return isinstance(value, str) and value == word


def is_integer(value: Any) -> bool:
    """True and 1.0 are not integers here, nor are NumPy's durations, which say that they are."""
    return isinstance(value, numbers.Integral) and not isinstance(value, NO_NUMBERS)


def is_real(value: Any) -> bool:
    """A real number that is not NaN; it may be infinite."""
    if not isinstance(value, numbers.Real) or isinstance(value, NO_NUMBERS):
        return False
    try:
        return not math.isnan(float(value))
    except OverflowError:
        return False


def _python_numbers(values: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters without NumPy scalars: ``np.uint8(5) - 6`` is 255."""
    return {name: _python_number(value) for name, value in values.items()}


def _python_number(value: Any) -> Any:
    """Of an estimator that has NumPy scalars a copy with numbers."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        given = value.get_params(deep=False)
        plain = _python_numbers(given)
        if any(plain[name] is not part for name, part in given.items()):
            value = copy(value)
            vars(value).update(plain)
    elif isinstance(value, (np.bool_, np.floating)) or is_integer(value):
        return value.item() if isinstance(value, np.generic) else value
    return value


def check_integer(
    name: str, value: Any, minimum: int, maximum: int | None = None, *, also: str = ""
) -> int:
    """``also`` names what the caller allows besides, for example ``"None"``.

    >>> check_integer("n_init", np.int64(3), 1)
    3
    """
    if is_integer(value) and minimum <= value and (maximum is None or value <= maximum):
        return int(value)
    bounds = f">= {minimum}" if maximum is None else f"from {minimum} to {maximum}"
    raise not_allowed(name, value, _either(f"an integer {bounds}", also))


def check_real(
    name: str,
    value: Any,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    inclusive: Ends = "both",
    also: str = "",
) -> float:
    """A finite number between two bounds; ``inclusive`` says which of them are allowed themselves.

    >>> check_real("alpha", 1, 0, 1)
    1.0
    """
    if is_real(value) and math.isfinite(float(value)):
        number = float(value)
        above = number > low or (number == low and inclusive in ("both", "low"))
        below = number < high or (number == high and inclusive in ("both", "high"))
        if above and below:
            return number
    raise not_allowed(name, value, _either(_interval(low, high, inclusive), also))


def check_choice(name: str, value: Any, allowed: Iterable[T], *, also: str = "") -> T:
    """One of a few words (or None, True, False).

    >>> check_choice("solver", "exact", ("exact", "auto"))
    'exact'
    """
    words = tuple(allowed)
    for word in words:
        if is_word(value, word) or value is word:
            return word
    raise not_allowed(name, value, _either(", ".join(map(repr, words[:-1])), repr(words[-1]), also))


def check_flag(name: str, value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise not_allowed(name, value, "True or False")


def check_random_state(name: str, value: Any) -> Any:
    is_seed = is_integer(value) and 0 <= int(value) < 2**32
    if value is None or is_seed or isinstance(value, np.random.Generator | np.random.RandomState):
        return value
    raise not_allowed(name, value, "an integer from 0 to 2**32 - 1, a NumPy generator or None")


def check_fraction_or_count(
    name: str, value: Any, *, inclusive: Ends = "neither", also: str = ""
) -> float | int:
    """An integer is a count, any other number a fraction of something.

    >>> check_fraction_or_count("step", 2), check_fraction_or_count("step", 0.5)
    (2, 0.5)
    """
    if is_integer(value) and value >= 1:
        return int(value)
    if is_real(value) and not isinstance(value, numbers.Integral):
        share = float(value)
        if 0 < share < 1 or (share == 1 and inclusive in ("both", "high")):
            return share
    closing = "]" if inclusive in ("both", "high") else ")"
    raise not_allowed(
        name, value, _either("an integer >= 1", f"a fraction in (0, 1{closing}", also)
    )


def check_numbers(
    name: str,
    values: Any,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    inclusive: Ends = "both",
    also: str = "",
) -> FloatArray:
    """A list of at least one finite number; a single number is a list of one."""
    several = values if isinstance(values, (Sequence, np.ndarray, range)) else (values,)
    try:
        if isinstance(values, (str, bytes)) or np.ndim(several) != 1 or not len(several):
            raise InputError
        return np.array([check_real(name, v, low, high, inclusive=inclusive) for v in several])
    except (ValueError, TypeError):
        allowed = f"a list of at least one number, each {_interval(low, high, inclusive)}"
        raise not_allowed(name, values, _either(allowed, also)) from None


def check_array(name: str, values: Any, allowed: str) -> Array:
    """Lists whose rows differ in length are not an array."""
    try:
        return np.asarray(values)
    except ValueError:
        raise not_allowed(name, values, allowed) from None


def _interval(low: float, high: float, inclusive: Ends) -> str:
    lower = ">=" if inclusive in ("both", "low") else ">"
    upper = "<=" if inclusive in ("both", "high") else "<"
    bounds = [f"{lower} {low:g}"] if math.isfinite(low) else []
    bounds += [f"{upper} {high:g}"] if math.isfinite(high) else []
    number = "a finite number" if len(bounds) < 2 else "a number"
    return f"{number} {' and '.join(bounds)}".rstrip()


def _either(*alternatives: str) -> str:
    """
    >>> _either("an integer >= 1", "'auto'", "None")
    "an integer >= 1, 'auto' or None"
    """
    given = [words for words in alternatives if words]
    return given[0] if len(given) == 1 else f"{', '.join(given[:-1])} or {given[-1]}"


# --- parameters that all selectors share ----------------------------------------------------------


def refuse_no_object(name: str, given: Any, method: str, example: str) -> None:
    """A word, a class or a function where an object is needed."""
    if isinstance(given, type) or not hasattr(given, method):
        raise InputError(
            f"{name}={brief(given)} is not a {name}; give an object, such as {example}."
        )


def check_count(n_features_to_select: Any, rules: Sequence[str] = ()) -> Any:
    """How many units to keep: a count, a fraction, one of the ``rules`` that finds it, or None.

    >>> check_count(3), check_count(0.5), check_count("auto", ["auto"])
    (3, 0.5, 'auto')
    """
    given = n_features_to_select
    if given is None or (isinstance(given, str) and given in rules):
        return given
    is_count = is_integer(given) and given >= 1
    is_share = is_real(given) and not isinstance(given, numbers.Integral) and 0 < given <= 1
    if is_count or is_share:
        return given
    allowed = ", ".join(["an integer >= 1", "a fraction in (0, 1]", *rules])
    raise not_allowed("n_features_to_select", given, f"{allowed} or None for half")


def effective_n_jobs(n_jobs: Any) -> int:
    """Number of threads: None as scikit-learn (one, or joblib's context), −1 all cores."""
    import joblib

    if n_jobs is None or (is_integer(n_jobs) and 0 < abs(n_jobs) <= MOST_THREADS):
        return int(joblib.effective_n_jobs(n_jobs if n_jobs is None else int(n_jobs)))
    allowed = f"an integer from 1 to {MOST_THREADS}, -1 for all processors or None"
    raise not_allowed("n_jobs", n_jobs, allowed)


def format_bytes(n_bytes: int) -> str:
    """
    >>> format_bytes(1 << 30), format_bytes(1536)
    ('1.0 GiB', '1.5 KiB')
    """
    size = float(n_bytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def parse_memory(memory_limit: Any) -> int:
    """Bytes of ``"1GiB"``, ``"500 MB"`` or a number.

    >>> parse_memory("1GiB"), parse_memory(1024)
    (1073741824, 1024)
    """
    amount = float(memory_limit) if is_real(memory_limit) else _spelled_bytes(memory_limit)
    if math.isfinite(amount) and amount >= 1:
        return int(amount)
    raise not_allowed(
        "memory_limit", memory_limit, "a number of bytes, or for example '1GiB' or '500MB'"
    )


def _spelled_bytes(memory_limit: Any) -> float:
    """NaN for what is not an amount."""
    if not isinstance(memory_limit, str):
        return math.nan
    spelled = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-zA-Z]*)\s*", memory_limit, re.ASCII)
    if not spelled or spelled[2].upper() not in UNITS:
        return math.nan
    return float(spelled[1]) * UNITS[spelled[2].upper()]


def check_time(max_time: Any) -> float | None:
    if max_time is None:
        return None
    if is_real(max_time) and max_time > 0:
        return float(max_time)
    raise not_allowed("max_time", max_time, "a number of seconds > 0 or None")


def check_callback(callback: Any) -> Any:
    if callback is None or callable(callback):
        return callback
    raise not_allowed("callback", callback, "a function of one argument or None")


def check_sample_weight(sample_weight: Any, n_samples: int) -> FloatArray | None:
    """Finite, non-negative, one per row; a single number means no weights."""
    if sample_weight is None:
        return None
    weight = _as_numbers(sample_weight)
    if weight.ndim > 1:
        raise InputError("Sample weights must be 1D array or scalar: give one number per row.")
    if weight.ndim and weight.shape != (n_samples,):
        raise InputError(
            f"sample_weight.shape == {weight.shape}, expected {(n_samples,)}; give one per row."
        )
    if not np.isfinite(weight).all() or (weight < 0).any() or not weight.any():
        raise InputError(
            "sample_weight holds a negative or infinite number or NaN, or only zeros; give numbers "
            ">= 0, some of them above 0."
        )
    return weight if weight.ndim else None


def _as_numbers(sample_weight: Any) -> FloatArray:
    try:
        values: Any = np.ma.asarray(sample_weight)
        if values.dtype.kind not in "biufO":
            raise TypeError
        with np.errstate(over="ignore"):  # of long doubles: infinite, and refused as such
            return np.asarray(values.astype(np.float64).filled(np.nan))
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"sample_weight is {brief(sample_weight)}, not numbers; give one number per row (a "
            "column itself, not its name) or None."
        ) from None


FEWEST_ROWS = 2


def check_lengths(n_x: int, y: Any) -> None:
    n_y = _length(y, n_x)
    if n_x != n_y:
        raise InputError(
            f"X has {n_x} rows and y has {n_y}: inconsistent numbers of samples; give one target "
            "value per row."
        )


def check_rows(n_rows: int, *, are_more: bool = False) -> None:
    """``are_more``: than those that were seen before."""
    if n_rows < (1 if are_more else FEWEST_ROWS):
        raise InputError(
            f"the table has n_samples = {n_rows} rows; at least {FEWEST_ROWS} are needed (more "
            "than 1 sample)."
        )


def _length(values: Any, otherwise: int) -> int:
    """Rows of what is not looked at further."""
    shape = getattr(values, "shape", ())
    if shape:
        return int(shape[0])
    return len(values) if isinstance(values, Sized) else otherwise


def refuse_constant_with_weight(counted: Array) -> None:
    """Rows of weight 0 are as if they were not there."""
    if any((column == column[0]).all() for column in counted.T):
        raise InputError(
            f"the target has only one value in the {len(counted)} rows with sample_weight > 0, so "
            "nothing can depend on it; give weight to rows with other values."
        )
