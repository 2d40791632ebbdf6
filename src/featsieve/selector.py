"""The one scikit-learn-facing ``fit``: all selectors share it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import validate_data

from featsieve.arrays import IntArray
from featsieve.column_selection import ColumnSelection
from featsieve.engines.files import ParquetTable
from featsieve.engines.standardized import StandardizedEngine
from featsieve.errors import InputError
from featsieve.input.boundary import (
    Settings,
    open_engine,
    opened,
    refuse_other_than_tables,
    refuse_times,
    resolve_count,
)
from featsieve.input.columns import (
    check_names,
    column_names,
    is_dask,
    is_frame,
    is_sparse,
)
from featsieve.input.parameters import check_callback, check_flag, is_integer
from featsieve.procedures.pairing import Pairing
from featsieve.protocols import Engine, Procedure
from featsieve.result import COMPLETED, SelectionResult
from featsieve.runtime.fit_callbacks import CallbackSupportMixin, Phases, with_callbacks
from featsieve.runtime.progress import drive, finish
from featsieve.runtime.user_warnings import warn_user
from featsieve.schema import Schema


@dataclass(kw_only=True, eq=False, repr=False)
class BaseSelector(CallbackSupportMixin, ColumnSelection):
    """Everything but the procedure: input, counting, fitted attributes, ``transform``.

    Parameters are dataclass fields, so a subclass lists only its own. It says what to run in
    :meth:`_procedure`, and what it can do in class attributes: whether it understands NaN
    (``_takes_missing``) and sparse input (``_takes_sparse``), with which ddof columns are
    standardised (``_scale_ddof``; None: they stay as they are), whether it copes with numbers such
    as 1e200 by itself (``_takes_any_unit``), and whether it has a rule of its own for
    ``n_features_to_select="auto"`` (``_offers_auto_count``). Where they depend on
    parameters, they are properties that never raise.
    """

    n_features_to_select: int | float | str | None = None
    task: str = "auto"
    categorical_features: Any = "from_dtype"
    feature_groups: Any = None
    n_jobs: int | None = None
    max_time: float | None = None
    memory_limit: int | str = "1GiB"
    callback: Any = None

    # --- what a subclass says -------------------------------------------------------------------

    def _procedure(self) -> Procedure:
        raise NotImplementedError(f"{type(self).__name__} does not say what it runs")

    @property
    def _scale_ddof(self) -> int | None:
        return None

    @property
    def _takes_any_unit(self) -> bool:
        return False

    @property
    def _offers_auto_count(self) -> bool:
        return False

    def _wanted_count(self) -> int | float | str | None:
        return self.n_features_to_select

    # --- fit ------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Select columns of X for the target y.

        Parameters
        ----------
        X : array, sparse matrix, dataframe (pandas, polars, pyarrow), Dask collection, a table \
from :func:`featsieve.open_parquet`, or the path of a Parquet file or folder
        y : one value per row, or one row of outputs per row; a column's name with a Parquet table

        Returns
        -------
        self
        """
        self._refuse_params(params)
        return self._fit(X, y)

    def _refuse_params(self, params: dict[str, Any]) -> None:
        if params.pop("sample_weight", None) is not None:
            raise InputError(
                f"{type(self).__name__} does not take sample_weight; the method table lists the "
                "selectors that do."
            )
        if params:
            raise TypeError(
                f"{type(self).__name__}.fit() got an unexpected keyword argument "
                f"{next(iter(params))!r}"
            )

    def _fit(self, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        settings = self._settings()
        check_callback(settings.callback)
        with self._all_or_nothing():
            self._forget()
            self._fit_and_report(X, y, settings, sample_weight)
        return self

    @with_callbacks
    def _fit_and_report(self, X: Any, y: Any, settings: Settings, sample_weight: Any) -> None:
        phases = None
        if getattr(self, "_skl_callbacks", None):
            phases = Phases(self, settings.callback)
            settings = replace(settings, callback=phases)
        monitor = settings.monitor
        X = self._checked_input(X, y, reset=True)
        opening = partial(open_engine, X, y, settings, sample_weight=sample_weight)
        engine = finish(opening, monitor)
        k = resolve_count(self._wanted_count(), engine.schema.n_units, auto=True)
        self._store(engine, drive(self._steps(engine, k), monitor), k)
        if phases is not None:
            phases.end()

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Whatever ends a fit before its end, Ctrl-C included, leaves the estimator as it was."""
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _forget(self) -> None:
        """Attributes of an earlier fit are not those of this one."""
        for name in [name for name in vars(self) if name.endswith("_") and name[0] != "_"]:
            delattr(self, name)

    def _steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        procedure = self._procedure()
        if k is None and not self._offers_auto_count:
            procedure = self._auto_count(procedure)
            yield from procedure.steps(engine, None)
        else:
            yield from procedure.steps(self._scaled(engine), k)

    def _count_for_statistics(self, n_units: int) -> int | None:
        """How many units to select where others ask for statistics or frequencies of them all."""
        return resolve_count(self._wanted_count(), n_units, auto=True)

    @property
    def _scores_by_step(self) -> bool:
        """Scores of different units are not on one scale."""
        from featsieve.registry import find_method

        try:
            return find_method(type(self).__name__).score.by_step
        except KeyError:  # a user's own class: its order is safe to compare
            return True

    def _auto_count(self, procedure: Procedure) -> Procedure:
        """The rule of all methods that have none of their own."""
        from featsieve.procedures.auto_count import AutoCount

        seed = getattr(self, "random_state", 0)
        return AutoCount(
            procedure, self._scaled, int(seed) if is_integer(seed) and seed >= 0 else 0
        )

    def _settings(self) -> Settings:
        return Settings(
            task=self.task,
            categorical_features=self.categorical_features,
            feature_groups=self.feature_groups,
            n_jobs=self.n_jobs,
            max_time=self.max_time,
            memory_limit=self.memory_limit,
            callback=self.callback,
            takes_missing=self._takes_missing,
            rescale=check_flag("standardize", getattr(self, "standardize", True)),
            takes_any_unit=self._takes_any_unit,
            needs_target=self._needs_target,
        )

    def _scaled(self, engine: Any) -> Engine:
        check_flag("standardize", getattr(self, "standardize", True))
        ddof = self._scale_ddof
        return engine if ddof is None else StandardizedEngine(engine, ddof)

    @property
    def _takes_missing(self) -> bool:
        return False

    @property
    def _takes_sparse(self) -> bool:
        return True

    @property
    def _needs_target(self) -> bool:
        return True

    def _checked_input(self, X: Any, y: Any, *, reset: bool) -> Any:
        """scikit-learn's own checks for arrays; names and number of columns for everything else."""
        X = opened(X)
        if isinstance(X, ParquetTable) or is_dask(X):
            self._check_lazy_columns(X, y, reset)
            return X
        refuse_other_than_tables(X, y)
        if reset and y is None and self._needs_target:
            self._refuse_no_target()
        names = None if is_sparse(X) else column_names(X)
        if names is not None:
            check_names(names)
        if names is not None and is_frame(X):
            validate_data(self, X, skip_check_array=True, reset=reset)
            if reset:
                self._name_columns(names)
            return X
        if reset:
            refuse_times(X)
        return validate_data(
            self,
            X,
            accept_sparse=["csr", "csc"] if self._takes_sparse else False,
            dtype="numeric" if reset else None,
            # fit names the column and counts; transform follows scikit-learn's rule for arrays.
            ensure_all_finite=not (reset or self._takes_missing),
            ensure_min_samples=2 if reset else 1,
            reset=reset,
        )

    def _check_lazy_columns(self, X: Any, y: Any, reset: bool) -> None:
        target = y if isinstance(y, str) else getattr(X, "target", None)
        names = column_names(X)
        if names is not None:
            names = [name for name in names if name != target]
        n_columns = X.shape[1] if names is None else len(names)
        if reset:
            self.n_features_in_ = n_columns
            self._name_columns(names)
        elif n_columns != self.n_features_in_:
            raise InputError(
                f"X has {n_columns} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )

    def _name_columns(self, names: Sequence[Any] | None) -> None:
        if names is not None and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _refuse_no_target(self) -> None:
        raise InputError(
            f"This {type(self).__name__} estimator requires y to be passed, but the target y is "
            "None; give one value per row."
        )

    # --- fitted attributes ----------------------------------------------------------------------

    def _store(self, engine: Any, result: SelectionResult, k: int | None) -> None:
        schema: Schema = engine.schema
        self.task_ = engine.target.task
        self.result_ = replace(result, names=schema.unit_names)
        self.indices_ = schema.columns_of_units(result.indices)
        self.support_ = np.zeros(schema.n_columns, dtype=bool)
        self.support_[self.indices_] = True
        owner = schema.unit_of_column
        self.scores_ = np.asarray(result.scores, dtype=np.float64)[owner]
        self.ranking_ = _unit_ranking(result, schema.n_units)[owner]
        if "n_iter" in result.extras:
            self.n_iter_ = int(result.extras["n_iter"])
        if "pvalues" in result.extras:
            self.pvalues_ = np.asarray(result.extras["pvalues"])[owner]
        if k is not None and len(result.indices) != k:
            warn_user(
                f"{type(self).__name__} found {len(result.indices)} features where {k} were asked "
                f"for ({_why_not_k(result)})."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._takes_missing
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.categorical = True
        tags.target_tags.required = self._needs_target
        tags.target_tags.multi_output = True
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class PairingSelector(BaseSelector):
    """A selector whose procedure is one measure × search pair.

    ``_measure_type`` is the class of its measure, which knows what input it takes.
    """

    @property
    def _measure_type(self) -> type:
        raise NotImplementedError(f"{type(self).__name__} does not name the class of its measure")

    def _pairing(self) -> Pairing:
        raise NotImplementedError(f"{type(self).__name__} does not name its measure and search")

    def _procedure(self) -> Procedure:
        return self._pairing()

    @property
    def _takes_missing(self) -> bool:
        return bool(getattr(self._measure_type, "takes_missing", False))

    @property
    def _scale_ddof(self) -> int | None:
        ddof: int | None = getattr(self._measure_type, "scale_ddof", None)
        return ddof if getattr(self, "standardize", True) else None


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


def _unit_ranking(result: SelectionResult, n_units: int) -> IntArray:
    """1 = selected; then 2, 3, … along the full order where there is one, else 2."""
    ranking = np.full(n_units, 2, dtype=np.intp)
    if result.order is not None:
        is_chosen = np.zeros(n_units, dtype=bool)
        is_chosen[result.indices] = True
        others = result.order[~is_chosen[result.order]]
        ranking[others] = np.arange(2, 2 + len(others))
    ranking[result.indices] = 1
    return ranking


def _why_not_k(result: SelectionResult) -> str:
    if result.stop_reason != COMPLETED:
        return f"the run was stopped: {result.stop_reason}"
    return "the method has no more to offer"
