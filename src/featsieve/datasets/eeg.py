"""Simulated motor-imagery EEG in the shape of the recordings of Song et al. (2007), section 6.3.

The real recordings cannot be shipped. The simulation keeps what the paper's experiment uses: five
subjects, 118 channels at 100 Hz, two kinds of imagination, a μ rhythm near 12 Hz that responds
strongly, a β rhythm near 22 Hz that responds weakly, and nothing else that responds.

Everything is drawn in the frequency domain (a stationary Gaussian signal has independent Fourier
coefficients), so a trial's spectrum is exact and its time course is one inverse transform.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils import Bunch

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.datasets.sampling import Seed, bunch, generator
from featsieve.errors import InputError
from featsieve.input.parameters import check_integer, check_real

Subject = Literal["aa", "al", "av", "aw", "ay"]
ComplexArray = npt.NDArray[np.complexfloating]

SAMPLING_RATE = 100.0
N_TIMES = 350  # 3.5 s of imagination a trial
N_BACKGROUND = 24
BATCH = 16  # trials at a time, which bounds the memory
AREA_SIZE = np.array([1.0, 1.0, 0.5])
N_PATCH = 12  # generators of a rhythm in one area, so that its power is not a single draw
MU_WIDTH, BETA_WIDTH = 0.8, 1.2  # Hz, standard deviation of a rhythm's spectral peak
# Positions on the unit hemisphere (right, front, up): hand areas beside the vertex, the foot on it.
BACK, LEFT_SIDE, RIGHT_SIDE = (0.0, -0.9, 0.4), (-0.9, 0.2, 0.3), (0.9, 0.2, 0.3)
ALPHA, ALPHA_WIDTH, MUSCLE_FROM = 9.0, 0.8, 25.0  # Hz: what does not answer
N_IDLE, IDLE_SPREAD = 4, 0.6
HAND_LEFT, HAND_RIGHT, FOOT = (-0.6, 0.0, 0.8), (0.6, 0.0, 0.8), (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Rhythms:
    """One subject: peak frequencies in Hz, and the drop of each rhythm's amplitude in imagination.

    ``spread`` is the standard deviation of a trial's log amplitude: what makes trials overlap.
    """

    mu: float
    beta: float
    mu_drop: float
    beta_drop: float
    spread: float


# Strengths follow the order of the paper's Table 2: 'al' answers best, 'av' worst.
SUBJECTS: dict[str, Rhythms] = {
    "aa": Rhythms(mu=11.5, beta=22.0, mu_drop=0.45, beta_drop=0.25, spread=0.40),
    "al": Rhythms(mu=12.0, beta=22.5, mu_drop=0.75, beta_drop=0.45, spread=0.25),
    "av": Rhythms(mu=10.5, beta=21.0, mu_drop=0.38, beta_drop=0.22, spread=0.45),
    "aw": Rhythms(mu=12.0, beta=23.0, mu_drop=0.60, beta_drop=0.35, spread=0.32),
    "ay": Rhythms(mu=12.5, beta=22.0, mu_drop=0.55, beta_drop=0.30, spread=0.30),
}


def make_motor_imagery(
    n_samples: int = 280,
    *,
    subject: Subject = "al",
    n_channels: int = 118,
    return_signals: bool = False,
    idle_rhythms: float = 0.0,
    random_state: Seed = None,
) -> Bunch:
    """Trials of imagined hand or foot movement; the columns are powers at 175 frequencies.

    A row is one trial: the power spectrum of its 3.5 s, averaged over all channels, as step (ii) of
    the paper's experiment makes it. Imagining the right hand (class 0) weakens the μ and β rhythms
    of the left hand area, and half as much of the right one; imagining the foot (class 1) weakens
    those of the vertex, also half as much.

    Parameters
    ----------
    n_samples
        Number of trials, half of each class (one more of class 0 if odd), in random order.
    subject
        One of ``"aa"``, ``"al"``, ``"av"``, ``"aw"``, ``"ay"``: how strongly the rhythms answer.
    n_channels
        Number of electrodes.
    return_signals
        Also give ``signals``, float32, trials × channels × 350 samples at 100 Hz
        (46 MB for 280 trials of 118 channels).
    idle_rhythms
        Amplitude of what real recordings hold besides the rhythms that answer: an α rhythm at the
        back of the head near 9 Hz and muscle activity at its sides above 25 Hz, both of which vary
        from trial to trial whatever is imagined. 0 leaves them out.
    random_state
        Seed; the same seed gives the same trials.

    Returns
    -------
    Bunch
        ``data`` (n_samples × 175, power), ``target`` (0 hand, 1 foot), ``relevant`` (columns within
        three widths of the μ or the β peak), ``frequencies`` in Hz, ``feature_names``,
        ``target_names``, ``subject``, ``sampling_rate``, ``signals`` if asked for, ``DESCR``.

    Examples
    --------
    >>> trials = make_motor_imagery(20, random_state=0)
    >>> trials.data.shape, trials.feature_names[34]
    ((20, 175), '10.00 Hz')
    """
    n, rng = check_integer("n_samples", n_samples, 1), generator(random_state)
    if subject not in SUBJECTS:
        raise InputError(f"subject={subject!r} is unknown; give one of {', '.join(SUBJECTS)}.")
    rhythms, montage = SUBJECTS[subject], _electrodes(check_integer("n_channels", n_channels, 1))
    frequencies = np.fft.rfftfreq(N_TIMES, 1 / SAMPLING_RATE)
    target = rng.permutation(np.arange(n) % 2)
    data = np.empty((n, len(frequencies) - 1))
    signals = np.empty((n, len(montage), N_TIMES), dtype=np.float32) if return_signals else None
    idle = check_real("idle_rhythms", idle_rhythms, 0)
    for trials, spectra in _batches(rng, rhythms, montage, frequencies, target, idle):
        power = spectra.real**2 + spectra.imag**2
        data[trials] = power.mean(axis=0)[:, 1:]  # the mean (0 Hz) is left out
        if signals is not None:
            signals[trials] = np.fft.irfft(spectra, N_TIMES, norm="ortho").swapaxes(0, 1)
    extras = {} if signals is None else {"signals": signals}
    return bunch(
        data,
        target,
        _responsive(frequencies[1:], rhythms).tolist(),
        f"Simulated motor imagery, subject {subject}, after Song et al. (2007), section 6.3.",
        feature_names=[f"{f:.2f} Hz" for f in frequencies[1:]],
        target_names=["hand", "foot"],
        frequencies=frequencies[1:],
        sampling_rate=SAMPLING_RATE,
        subject=subject,
        **extras,
    )


def _responsive(frequencies: FloatArray, rhythms: Rhythms) -> IntArray:
    """Columns within three widths of a peak that answers."""
    near_mu = np.abs(frequencies - rhythms.mu) <= 3 * MU_WIDTH
    near_beta = np.abs(frequencies - rhythms.beta) <= 3 * BETA_WIDTH
    return np.flatnonzero(near_mu | near_beta)


def _electrodes(n_channels: int) -> FloatArray:
    """Evenly spread points on the upper half of the unit sphere (a Fibonacci spiral)."""
    position = np.arange(n_channels) + 0.5
    height = 1.0 - position / n_channels
    angle = position * np.pi * (3.0 - np.sqrt(5.0))
    radius = np.sqrt(1.0 - height**2)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), height])


def _reach(montage: FloatArray, sources: FloatArray, width: float) -> FloatArray:
    """How strongly each electrode sees each source: channels × sources, falling with distance."""
    squared = ((montage[:, None, :] - sources[None, :, :]) ** 2).sum(axis=2)
    return np.asarray(np.exp(-squared / (2 * width**2)))


def _peak(frequencies: FloatArray, centre: float, width: float) -> FloatArray:
    """Amplitude spectrum of a rhythm."""
    return np.asarray(np.exp(-((frequencies - centre) ** 2) / (4 * width**2)))


def _left_over(drop: float, labels: Array) -> FloatArray:
    """What is left of a rhythm in the (left hand, right hand, foot) areas, one row per trial."""
    hand, foot = [1 - drop, 1 - drop / 2, 1.0], [1.0, 1.0, 1 - drop / 2]
    return np.asarray(AREA_SIZE * np.array([hand, foot])[labels])


def _sources(
    rng: np.random.Generator, n_trials: int, n_sources: int, shape: FloatArray
) -> ComplexArray:
    """Fourier coefficients of independent sources with this amplitude spectrum."""
    parts = rng.standard_normal((2, n_sources, n_trials, len(shape))) * (shape / np.sqrt(2.0))
    parts[1, ..., [0, -1]] = 0.0  # 0 Hz and the Nyquist frequency of a real signal are real
    return np.asarray(parts[0] + 1j * parts[1])


def _batches(
    rng: np.random.Generator,
    rhythms: Rhythms,
    montage: FloatArray,
    frequencies: FloatArray,
    target: Array,
    idle: float,
) -> Iterator[tuple[slice, ComplexArray]]:
    """Fourier coefficients of some trials after others, channels × trials × frequencies."""
    places = rng.standard_normal((N_BACKGROUND, 3))
    places /= np.linalg.norm(places, axis=1, keepdims=True)
    background = _reach(montage, places, 0.6)
    patches = np.repeat([HAND_LEFT, HAND_RIGHT, FOOT], N_PATCH, axis=0)
    rhythmic = _reach(montage, patches + 0.25 * rng.standard_normal(patches.shape), 0.2)
    pink = 1.0 / np.sqrt(1.0 + frequencies)  # power falls as 1/f
    sensor = np.full(len(frequencies), 0.3)
    mu = 3.0 * _peak(frequencies, rhythms.mu, MU_WIDTH)
    beta = 1.5 * _peak(frequencies, rhythms.beta, BETA_WIDTH)
    for start in range(0, len(target), BATCH):
        labels = target[start : start + BATCH]
        n = len(labels)
        spectra = _sources(rng, n, len(montage), sensor)
        spectra += np.tensordot(background, _sources(rng, n, N_BACKGROUND, pink), axes=1)
        for peak, drop in ((mu, rhythms.mu_drop), (beta, rhythms.beta_drop)):
            size = _left_over(drop, labels) * np.exp(rhythms.spread * rng.standard_normal((n, 3)))
            sizes = np.repeat(size.T, N_PATCH, axis=0)[:, :, None]
            spectra += np.tensordot(rhythmic, sizes * _sources(rng, n, len(patches), peak), axes=1)
        if idle:
            spectra += idle * _idle(rng, montage, frequencies, n)
        yield slice(start, start + n), spectra


def _idle(
    rng: np.random.Generator, montage: FloatArray, frequencies: FloatArray, n: int
) -> ComplexArray:
    """Rhythms that do not answer: α at the back, muscles at both sides; channels × trials × …"""
    alpha = _peak(frequencies, ALPHA, ALPHA_WIDTH)
    muscle = np.where(frequencies >= MUSCLE_FROM, 0.5, 0.0)
    total = np.zeros((len(montage), n, len(frequencies)), dtype=complex)
    for source, shape in ((BACK, alpha), (LEFT_SIDE, muscle), (RIGHT_SIDE, muscle)):
        reach = _reach(montage, np.repeat([source], N_IDLE, axis=0), 0.4)
        size = np.exp(IDLE_SPREAD * rng.standard_normal(n))[None, :, None]
        total += np.tensordot(reach, size * _sources(rng, n, N_IDLE, shape), axes=1)
    return total
