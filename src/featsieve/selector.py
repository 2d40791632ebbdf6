"""The one scikit-learn-facing ``fit``: all selectors share it."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from featsieve.arrays import IntArray
from featsieve.column_selection import ColumnSelection
from featsieve.engines.standardized import StandardizedEngine
from featsieve.errors import InputError
from featsieve.input.boundary import Settings, checked_table, open_engine
from featsieve.input.parameters import (
    Check,
    check_flag,
    check_parameters,
    is_integer,
    settle_parameters,
)
from featsieve.procedures.pairing import Pairing
from featsieve.protocols import Engine, Procedure
from featsieve.result import COMPLETED, SelectionResult
from featsieve.runtime.fit_callbacks import CallbackSupportMixin, Phases, with_callbacks
from featsieve.runtime.progress import drive
from featsieve.runtime.user_warnings import warn_user
from featsieve.schema import Dependence, Schema


@dataclass(kw_only=True, eq=False, repr=False)
class BaseSelector(CallbackSupportMixin, ColumnSelection):
    """Everything but the procedure: input, counting, fitted attributes, ``transform``.

    Parameters are dataclass fields, so a subclass lists only its own. It says what to run in
    :meth:`_procedure`, and the rest in class attributes (where they depend on parameters, in
    properties that never raise):

    - what it takes: NaN (``_takes_missing``), sparse input (``_takes_sparse``), numbers such as
      1e200 (``_takes_any_unit``), no target at all (``_needs_target``);
    - with which ddof columns are standardised, unless ``standardize=False`` (``_scale_ddof``; None:
      they stay as they are);
    - which words ``n_features_to_select`` may be (``_count_rules``), and whether the procedure
      itself finds the count for them (``_offers_auto_count``);
    - the checks of its parameters (``_checks``), all done before anything is read;
    - which fields and extras of a result become fitted attributes, as they are
      (``_result_attributes``) or one per column (``_column_attributes``), and which private ones
      the next fit has to forget (``_private_state``).
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

    @property
    def _scale_ddof(self) -> int | None:
        return None

    @property
    def _takes_missing(self) -> bool:
        return False

    @property
    def _takes_sparse(self) -> bool:
        return True

    @property
    def _takes_any_unit(self) -> bool:
        return False

    @property
    def _needs_target(self) -> bool:
        return True

    @property
    def _offers_auto_count(self) -> bool:
        return False

    _count_rules: ClassVar[tuple[str, ...]] = ("auto",)
    _checks: ClassVar[Mapping[str, Check]] = {}
    _private_state: ClassVar[tuple[str, ...]] = ()
    _result_attributes: ClassVar[Mapping[str, str]] = {}
    _column_attributes: ClassVar[Mapping[str, str]] = {}

    @property
    def _task(self) -> str:
        """As what the target is read."""
        return self.task

    def _procedure(self) -> Procedure:
        raise NotImplementedError(f"{type(self).__name__} does not say what it runs")

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
        if name := next(iter(params), None):
            raise TypeError(
                f"{type(self).__name__}.fit() got an unexpected keyword argument {name!r}"
            )

    def _fit(self, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        with self._all_or_nothing():
            self._forget()
            self._fit_and_report(X, y, sample_weight)
        return self

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """What ends a fit early, Ctrl-C included, changes nothing; no end changes parameters."""
        before = self.__dict__.copy()
        given = {name: before[name] for name in before if "_" not in name[0] + name[-1]}
        try:
            yield
            self.__dict__.update(given)
        except BaseException:
            self.__dict__ = before
            raise

    def _forget(self) -> None:
        """Attributes of an earlier fit are not those of this one."""
        fitted = [name for name in vars(self) if name.endswith("_") and name[0] != "_"]
        for name in (*fitted, *self._private_state):
            self.__dict__.pop(name, None)

    @with_callbacks
    def _fit_and_report(self, X: Any, y: Any, sample_weight: Any) -> None:
        settings, phases = self._settings(), None
        if getattr(self, "_skl_callbacks", None):
            phases = Phases(self, settings.callback)
            settings = replace(settings, callback=phases)
        run = _Run(self, X, y, settings, sample_weight)
        result = drive(run.steps(), settings.monitor)
        self._store(run.engine, result, run.count)
        if phases is not None:
            phases.end()

    def _steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        if k is None and not self._offers_auto_count:
            yield from self._auto_count(self._procedure()).steps(engine, None)
        else:
            scaled = self._scaled(engine)
            yield from self._procedure().steps(scaled, k)

    def _count_for_statistics(self, n_units: int) -> int | None:
        """How many units to select where others ask for statistics or frequencies of them all."""
        return resolve_count(self._wanted_count(), n_units)

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
        seed = int(seed) if is_integer(seed) and seed >= 0 else 0
        return AutoCount(procedure, self._scaled, seed, getattr(self, "_dependence", None))

    def _within(self, dependence: Dependence) -> Self:
        """For a run inside folds of another: folds of one's own keep together what those do."""
        self._dependence = dependence
        return self

    def _settings(self) -> Settings:
        """The parameters that all selectors share, resolved; all others checked."""
        settings = Settings(
            n_features_to_select=self._wanted_count(),
            count_rules=self._count_rules,
            takes_missing=self._takes_missing,
            takes_sparse=self._takes_sparse,
            takes_any_unit=self._takes_any_unit,
            needs_target=self._needs_target,
            owner=type(self).__name__,
            task=self._task,
            categorical_features=self.categorical_features,
            feature_groups=self.feature_groups,
            n_jobs=self.n_jobs,
            max_time=self.max_time,
            memory_limit=self.memory_limit,
            callback=self.callback,
            rescale=getattr(self, "standardize", True),
        )
        settle_parameters(self, self._checks)
        return settings

    def _scaled(self, engine: Engine) -> Engine:
        ddof = self._scale_ddof
        if ddof is None or not check_flag("standardize", getattr(self, "standardize", True)):
            return engine
        return StandardizedEngine(engine, ddof)

    # --- fitted attributes ----------------------------------------------------------------------

    def _store(self, engine: Engine, result: SelectionResult, k: int | None) -> None:
        schema, extras = engine.schema, result.extras
        ranking = _unit_ranking(result, schema.n_units)
        self.n_features_in_ = schema.n_columns
        if schema.is_named:
            self.feature_names_in_ = np.asarray(schema.names, dtype=object)
        self.task_ = engine.target.task
        self.result_ = replace(result, names=schema.unit_names)
        self.indices_ = schema.columns_of_units(result.indices)
        self.support_ = np.zeros(schema.n_columns, dtype=bool)
        self.support_[self.indices_] = True
        owner = schema.unit_of_column
        self.scores_ = np.asarray(result.scores, dtype=np.float64)[owner]
        self.ranking_ = ranking[owner]
        if "n_iter" in extras:
            self.n_iter_ = int(extras["n_iter"])
        if "pvalues" in extras:
            self.pvalues_ = np.asarray(extras["pvalues"])[owner]
        if "adjusted_bh" in extras:
            self.adjusted_pvalues_ = np.asarray(extras["adjusted_bh"])[owner]
        if "guarantee" in extras:
            self.guarantee_ = str(extras["guarantee"])
        parts = {**vars(result), **extras}
        for name, key in self._result_attributes.items():
            setattr(self, name, parts[key])
        for name, key in self._column_attributes.items():
            setattr(self, name, np.asarray(parts[key])[owner])
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


@dataclass
class _Run:
    """One fit: the table is opened under the driver, as part of what it drives."""

    selector: BaseSelector
    X: Any
    y: Any
    settings: Settings
    sample_weight: Any
    engine: Engine = field(init=False)
    count: int | None = field(init=False)

    def steps(self) -> Iterator[SelectionResult]:
        settings = self.settings
        X = checked_table(self.X, self.y, settings)
        self.engine = open_engine(X, self.y, settings, sample_weight=self.sample_weight)
        n_units = self.engine.schema.n_units
        self.count = resolve_count(settings.n_features_to_select, n_units)
        yield from self.selector._steps(self.engine, self.count)


@dataclass(kw_only=True, eq=False, repr=False)
class PairingSelector(BaseSelector):
    """A selector whose procedure is one measure × search pair.

    ``_measure_type`` is the class of its measure, which knows what input and which parameters it
    takes; ``_checks`` are those of its search.
    """

    @property
    def _measure_type(self) -> type:
        raise NotImplementedError(f"{type(self).__name__} does not name the class of its measure")

    @property
    def _takes_missing(self) -> bool:
        return bool(getattr(self._measure_type, "takes_missing", False))

    @property
    def _scale_ddof(self) -> int | None:
        ddof: int | None = getattr(self._measure_type, "scale_ddof", None)
        return ddof

    def _settings(self) -> Settings:
        settings = super()._settings()
        check_parameters(self, getattr(self._measure_type, "checks", {}))
        return settings

    def _pairing(self) -> Pairing:
        raise NotImplementedError(f"{type(self).__name__} does not name its measure and search")

    def _procedure(self) -> Procedure:
        return self._pairing()


@dataclass(kw_only=True, eq=False, repr=False)
class MayBeEmpty(BaseSelector):
    """A selector whose answer may have no column; then ``explanation_`` says why.

    ``allow_empty``: whether ``transform`` lets an empty selection pass. If not, ``fit`` warns and
    ``transform`` raises.
    """

    allow_empty: bool = False

    _checks: ClassVar[Mapping[str, Check]] = {"allow_empty": check_flag}

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


def resolve_count(wanted: int | float | str | None, n_units: int) -> int | None:
    """How many units a checked ``n_features_to_select`` means; None where a rule finds the number.

    >>> resolve_count(None, 5), resolve_count(0.4, 5), resolve_count(3, 5), resolve_count("auto", 5)
    (2, 2, 3, None)
    """
    if wanted is None:
        return max(1, n_units // 2)
    if isinstance(wanted, str):
        return None
    if not isinstance(wanted, numbers.Integral):
        return max(1, int(wanted * n_units))
    if wanted > n_units:
        warn_user(
            f"n_features_to_select={wanted} is more than the {n_units} features there are; "
            "all of them are kept."
        )
    return min(int(wanted), n_units)


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
