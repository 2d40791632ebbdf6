"""What selectors share that keep what passes a test: nothing may pass, and that is explained."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from featsieve.arrays import IntArray
from featsieve.errors import InputError, printable
from featsieve.input.boundary import Settings
from featsieve.input.parameters import check_flag
from featsieve.result import SelectionResult
from featsieve.runtime.user_warnings import warn_user
from featsieve.schema import Schema
from featsieve.selector import BaseSelector

MISSES = 3


@dataclass(kw_only=True, eq=False, repr=False)
class MayBeEmpty(BaseSelector):
    """A selector whose answer may have no column; then ``explanation_`` says why.

    ``allow_empty``: whether ``transform`` lets an empty selection pass. If not, ``fit`` warns and
    ``transform`` raises.
    """

    allow_empty: bool = False

    def _settings(self) -> Settings:
        check_flag("allow_empty", self.allow_empty)
        return super()._settings()

    def _store(self, engine: Any, result: SelectionResult, k: int | None) -> None:
        super()._store(engine, result, k)
        if not len(result.indices):
            self.explanation_ = self._explain_nothing(engine.schema, result)
            if not self.allow_empty:
                warn_user(self.explanation_)

    def _explain_nothing(self, schema: Schema, result: SelectionResult) -> str:
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


def nearest_misses(result: SelectionResult) -> IntArray:
    """The units that came closest."""
    order = result.indices if result.order is None else result.order
    return order[:MISSES]


def unit_names(schema: Schema, units: Iterable[int]) -> list[str]:
    return [printable(schema.unit_name(int(unit))) for unit in units]


def listed(names: list[str], most: int = 10) -> str:
    shown = ", ".join(names[:most])
    return f"{shown}, …" if len(names) > most else shown
