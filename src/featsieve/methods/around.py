"""What selectors share that run another selector."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from sklearn.base import clone

from featsieve.errors import InputError
from featsieve.input.boundary import Settings
from featsieve.input.parameters import brief, is_integer, is_word
from featsieve.protocols import Engine
from featsieve.result import SelectionResult
from featsieve.runtime.seeds import derived_seed
from featsieve.runtime.user_warnings import each_said_once
from featsieve.selector import BaseSelector, MayBeEmpty

# How a table is read: what the inner selector says holds, unless it is said again outside.
READING = ("task", "categorical_features", "feature_groups")
INNER_STREAM = 2**20  # of seeds; those before it are of pairs and copies
UNITS = ("rescale", "takes_any_unit", "needs_target")


@dataclass(kw_only=True, eq=False, repr=False)
class AroundSelector(MayBeEmpty):
    """A selector that runs another one, and reads the table as that one does.

    Its answer has as many columns as pass; ``n_features_to_select`` is at most how many are kept.
    """

    def _fit_and_report(self, X: Any, y: Any, sample_weight: Any) -> None:
        """What the inner selector has to say of each of its runs is said once."""
        with each_said_once():
            super()._fit_and_report(X, y, sample_weight)

    def _inner(self) -> BaseSelector:
        raise NotImplementedError(f"{type(self).__name__} does not say what it runs")

    def _wanted_count(self) -> int | float | str | None:
        count = self.n_features_to_select
        return "auto" if count is None else count

    _offers_auto_count = True

    def _settings(self) -> Settings:
        outer, inner = super()._settings(), self._inner()._settings()
        kept = {name: getattr(inner, name) for name in READING if self._is_default(name)}
        units = {name: getattr(inner, name) for name in UNITS}
        return replace(outer, **kept, **units)

    def _is_default(self, name: str) -> bool:
        default = next(f.default for f in fields(self) if f.name == name)
        value = getattr(self, name)
        return value is None or is_word(value, default)

    def _seeded_inner(self) -> BaseSelector:
        """With a seed wherever it has none, so that the seed outside settles the answer."""
        inner = self._inner()
        seed: Any = getattr(self, "random_state", None)
        if not is_integer(seed):
            return inner
        seeds = {
            name: derived_seed(int(seed), INNER_STREAM)
            for name, value in inner.get_params().items()
            if value is None and name.rpartition("__")[2] == "random_state"
        }
        return clone(inner).set_params(**seeds) if seeds else inner

    def _run(self, engine: Engine) -> Iterable[SelectionResult]:
        selector = self._seeded_inner()
        return selector._steps(engine, self._inner_count(engine.schema.n_units))

    def _inner_count(self, n_units: int) -> int | None:
        return self._inner()._count_for_statistics(n_units)

    @property
    def _needs_target(self) -> bool:
        try:
            return self._inner()._needs_target
        except InputError:  # said by fit
            return True


def inner_selector(given: Any, default: BaseSelector) -> BaseSelector:
    if given is None:
        return default
    if isinstance(given, BaseSelector) and not isinstance(given, AroundSelector):
        return given
    raise InputError(
        f"selector={brief(given)} is not a selector that can be run inside another one; give one "
        "of featsieve's, such as MRMR()."
    )
