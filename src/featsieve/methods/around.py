"""What selectors share that run another selector, and may come back with nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from featsieve.arrays import IntArray
from featsieve.errors import InputError, printable
from featsieve.input.boundary import Settings
from featsieve.input.parameters import brief, check_flag
from featsieve.protocols import Engine
from featsieve.result import SelectionResult
from featsieve.runtime.user_warnings import warn_user
from featsieve.schema import Schema
from featsieve.selector import BaseSelector

MISSES = 3
# How a table is read: what the inner selector says holds, unless it is said again outside.
READING = ("task", "categorical_features", "feature_groups")
UNITS = ("rescale", "takes_any_unit", "needs_target")


@dataclass(kw_only=True, eq=False, repr=False)
class AroundSelector(BaseSelector):
    """A selector that runs another one, reads the table as that one does, and may come back empty.

    Its answer has as many columns as pass; ``n_features_to_select`` is at most how many are kept.
    """

    allow_empty: bool = False

    def _inner(self) -> BaseSelector:
        raise NotImplementedError(f"{type(self).__name__} does not say what it runs")

    def _wanted_count(self) -> int | float | str | None:
        given = self.n_features_to_select
        return "auto" if given is None else given

    _offers_auto_count = True

    def _settings(self) -> Settings:
        check_flag("allow_empty", self.allow_empty)
        outer, inner = super()._settings(), self._inner()._settings()
        kept = {name: getattr(inner, name) for name in READING if self._is_default(name)}
        units = {
            name: getattr(inner, name) for name in ("rescale", "takes_any_unit", "needs_target")
        }
        return replace(outer, **kept, **units)

    def _is_default(self, name: str) -> bool:
        default = next(f.default for f in fields(self) if f.name == name)
        given = getattr(self, name)
        return given is None or (isinstance(given, str) and given == default)

    def _run(self, engine: Engine) -> Iterable[SelectionResult]:
        selector = self._inner()
        return selector._steps(engine, selector._count_for_statistics(engine.schema.n_units))

    @property
    def _needs_target(self) -> bool:
        try:
            return self._inner()._needs_target
        except InputError:  # said by fit
            return True

    def _store(self, engine: Any, result: SelectionResult, k: int | None) -> None:
        super()._store(engine, result, k)
        if not len(result.indices):
            self.explanation_ = self._explain_nothing(engine.schema, result)
            if not self.allow_empty:
                warn_user(self.explanation_)

    def _explain_nothing(self, schema: Any, result: SelectionResult) -> str:
        raise NotImplementedError(f"{type(self).__name__} does not explain an empty answer")

    def transform(self, X: Any) -> Any:
        """The selected columns, in the container and with the dtypes that X came in."""
        chosen = self._get_support_mask()
        if not chosen.any() and not self.allow_empty:
            raise InputError(
                f"{self.explanation_} Nothing is left to hand on; set allow_empty=True to let an "
                "empty selection pass."
            )
        return super().transform(X)


def inner_selector(given: Any, default: BaseSelector) -> BaseSelector:
    if given is None:
        return default
    if isinstance(given, BaseSelector) and not isinstance(given, AroundSelector):
        return given
    raise InputError(
        f"selector={brief(given)} is not a selector that can be run inside another one; give one "
        "of featsieve's, such as MRMR()."
    )


def nearest_misses(result: SelectionResult) -> IntArray:
    """The units that came closest."""
    order = result.indices if result.order is None else result.order
    return order[:MISSES]


def unit_names(schema: Schema, units: Iterable[int]) -> list[str]:
    return [printable(schema.unit_name(int(unit))) for unit in units]


def listed(names: list[str], most: int = 10) -> str:
    shown = ", ".join(names[:most])
    return f"{shown}, …" if len(names) > most else shown
