"""Song et al. (2007), Table 2 and Figure 2: simulated frequency bands of motor imagery."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from featsieve.arrays import Array, FloatArray
from featsieve.datasets import make_motor_imagery
from featsieve.errors import InputError
from featsieve.evaluation.bands import BandMap, band_map, nearest_neighbours
from featsieve.evaluation.benches._report import finish, markdown_table
from featsieve.evaluation.common_spatial_patterns import (
    CSP,
    ComplexArray,
    band_covariances,
    with_delay,
)
from featsieve.methods.hsic import BAHSIC

SUBJECTS = ("aa", "al", "av", "aw", "ay")
PAPER = {
    "CSP": ("17.5 ± 2.5", "3.1 ± 1.2", "32.1 ± 2.5", "7.3 ± 2.7", "6.0 ± 1.6"),
    "CSSP": ("14.9 ± 2.9", "2.4 ± 1.3", "33.0 ± 2.7", "5.4 ± 1.9", "6.2 ± 1.5"),
    "BAHSIC": ("13.7 ± 4.3", "1.9 ± 1.3", "30.5 ± 3.3", "6.1 ± 3.8", "9.0 ± 6.0"),
}
MANUAL_BAND = (8.0, 40.0)  # Hz
DELAY = 0.05  # seconds: a quarter of a period apart near 5 Hz, half of one near 10 Hz
N_FREQUENCIES = 5
TRIALS, QUICK_TRIALS, QUICK_CHANNELS, CHANNELS = 50, 1, 24, 118


@dataclass(frozen=True)
class Recording:
    """One subject: spectra averaged over channels, and the channels' Fourier coefficients."""

    power: FloatArray
    y: Array
    frequencies: FloatArray
    coefficients: ComplexArray

    @property
    def manual(self) -> Array:
        return (self.frequencies >= MANUAL_BAND[0]) & (self.frequencies <= MANUAL_BAND[1])


def record(subject: str, n_channels: int) -> Recording:
    trials: Any = make_motor_imagery(
        subject=subject,
        n_channels=n_channels,
        return_signals=True,
        random_state=0,
    )
    coefficients = np.fft.rfft(trials.signals, axis=2)[:, :, 1:].astype(np.complex64)
    return Recording(trials.data, trials.target, trials.frequencies, coefficients)


Covariances = Callable[[Array], FloatArray]  # of all trials, given the training ones


def csp(recording: Recording) -> Covariances:
    """CSP after the manual filter."""
    fixed = band_covariances(recording.coefficients, recording.manual)
    return lambda train: fixed


def cssp(recording: Recording) -> Covariances:
    """CSP of channels and their delayed copies, after the manual filter."""
    delayed = with_delay(recording.coefficients, recording.frequencies, DELAY)
    fixed = band_covariances(delayed, recording.manual)
    return lambda train: fixed


def bahsic(recording: Recording) -> Covariances:
    """CSP on the frequencies that BAHSIC picks from the training spectra, and their neighbours."""

    def covariances(train: Array) -> FloatArray:
        selector = BAHSIC(n_features_to_select=N_FREQUENCIES)
        chosen = selector.fit(recording.power[train], recording.y[train]).indices_
        kept = nearest_neighbours(chosen, len(recording.frequencies))
        return band_covariances(recording.coefficients, kept)

    return covariances


METHODS: dict[str, Callable[[Recording], Covariances]] = {
    "CSP": csp,
    "CSSP": cssp,
    "BAHSIC": bahsic,
}


def errors(recording: Recording, method: str, trials: int) -> FloatArray:
    """Test error (%) of each 2-fold cross-validation."""
    covariances = METHODS[method](recording)
    means = []
    for seed in range(trials):
        folds = StratifiedKFold(2, shuffle=True, random_state=seed)
        parts = folds.split(recording.power, recording.y)
        means.append(np.mean([_fold_error(recording.y, covariances, *fold) for fold in parts]))
    return 100.0 * np.array(means)


def _fold_error(y: Array, covariances: Covariances, train: Array, test: Array) -> float:
    of_trials = covariances(train)
    patterns = CSP.fit(of_trials[train], y[train])
    scaler = StandardScaler().fit(patterns.features(of_trials[train]))
    seen, unseen = (scaler.transform(patterns.features(of_trials[part])) for part in (train, test))
    return float(np.mean(SVC(kernel="linear").fit(seen, y[train]).predict(unseen) != y[test]))


def run(
    data_dir: Path | None,
    *,
    trials: int | None = None,
    methods: Sequence[str] | None = None,
    quick: bool = False,
    out: Path | None = None,
) -> str:
    """Five simulated subjects (``data_dir`` is not used): the recordings cannot be shipped."""
    names = _chosen(methods)
    repeats = trials or (QUICK_TRIALS if quick else TRIALS)
    n_channels = QUICK_CHANNELS if quick else CHANNELS
    columns: dict[str, list[str]] = {name: [] for name in names}
    maps = {}
    for subject in SUBJECTS:
        recording = record(subject, n_channels)
        for name in names:
            percent = errors(recording, name, repeats)
            columns[name].append(f"{percent.mean():.1f} ± {percent.std():.1f}")
        maps[subject] = band_map(
            recording.power, recording.y, recording.frequencies, edges=np.arange(2.0, 42.0, 2.0)
        )
    return finish(
        f"Song et al. (2007), Table 2: errors (%) on simulated motor imagery, {repeats} × 2-fold",
        _table(columns),
        f"{n_channels} channels, 280 trials a subject. The paper's rows are real recordings: only "
        "the order of the subjects can be compared. In the simulation nothing but the two rhythms "
        "and a smooth background is inside 8–40 Hz, so the manual filter loses nothing, while five "
        "frequencies and their neighbours may leave β out (looked at for subject al only).",
        _bands(maps),
        out=out,
        packages=["scipy", "scikit-learn"],
    )


def _chosen(methods: Sequence[str] | None) -> list[str]:
    if not methods:
        return list(METHODS)
    by_name = {name.lower(): name for name in METHODS}
    unknown = [name for name in methods if name.lower() not in by_name]
    if unknown:
        raise InputError(
            f"there is no method {unknown[0]!r} here; allowed are {', '.join(METHODS)}."
        )
    return [by_name[name.lower()] for name in methods]


def _table(columns: dict[str, list[str]]) -> str:
    rows = []
    for name, cells in columns.items():
        rows += [[name, *cells], [f"{name} (paper)", *PAPER[name]]]
    return markdown_table(["method", *SUBJECTS], rows)


def _bands(maps: dict[str, BandMap]) -> str:
    """Figure 2 in words: where HSIC peaks, and how the μ and β bands compare with the rest."""
    rows = []
    for subject, bands in maps.items():
        low, high = bands.best()
        mu, beta, other = (_value(bands, *band) for band in ((10, 14), (20, 24), (30, 34)))
        rows.append([subject, f"{low:.0f}–{high:.0f} Hz", *(f"{v:.1e}" for v in (mu, beta, other))])
    header = ["subject", "best band", "HSIC 10–14 Hz (μ)", "HSIC 20–24 Hz (β)", "HSIC 30–34 Hz"]
    return "## Figure 2: HSIC over lower and upper cut-offs\n" + markdown_table(header, rows)


def _value(bands: BandMap, low: float, high: float) -> float:
    i, j = (int(np.flatnonzero(bands.edges == edge)[0]) for edge in (low, high))
    return float(bands.values[i, j])
