"""Venkateswara et al. (2015), Figure 4: cross-validation error against the number of columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from featsieve.evaluation.benches._cmi_errors import (
    FOLDS,
    DataSet,
    chosen_methods,
    error_table,
    read_sets,
)
from featsieve.evaluation.benches._report import finish, markdown_table

# The paper shows Colon, Gisette and Musk2.
SHOWN = ("colon", "gisette", "musk2", "musk1", "madelon")


def run(
    data_dir: Path | None,
    *,
    trials: int | None = None,
    methods: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    quick: bool = False,
    out: Path | None = None,
) -> str:
    """``trials`` is the number of folds; without ``datasets``, those of the paper."""
    names = chosen_methods(methods)
    folds = trials or (3 if quick else FOLDS)
    sets = read_sets(data_dir, quick, datasets)
    shown = [data for data in sets if datasets or data.name in SHOWN] or sets[:3]
    return finish(
        "Venkateswara et al. (2015), Figure 4: mean error in percent of a linear SVM against k",
        *(f"## {data.name}\n{_curve(data, names, folds)}" for data in shown),
        out=out,
        packages=["scipy", "scikit-learn"],
    )


def _curve(data: DataSet, names: Sequence[str], folds: int) -> str:
    errors = error_table(data, names, folds)
    rows = [
        [str(k), *(f"{errors[name][k].mean():.1f}" if name in errors else "N/A" for name in names)]
        for k in data.ks
    ]
    return markdown_table(["k", *names], rows)
