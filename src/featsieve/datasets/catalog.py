"""The papers' real data sets by the papers' names, and where each can be had.

Sizes are the papers' (rows × columns), so that a download can be held against them. The OpenML
names and versions were written down from knowledge, without a connection to check them: a set
whose size differs from the paper's is reported with ``matches_paper=False``.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Literal

from featsieve.errors import InputError


@dataclass(frozen=True)
class Entry:
    """One data set: ``shipped`` names scikit-learn's loader, ``openml`` a name and version."""

    name: str
    papers: tuple[str, ...]
    n_samples: int
    n_features: int
    task: Literal["classification", "regression"] = "classification"
    shipped: str | None = None
    openml: tuple[str, int] | None = None
    note: str = ""


LSMI, HSIC = "Jitkrittum et al. 2013", "Song et al. 2007"
CMI, L1INF = "Venkateswara et al. 2015", "Masaeli et al. 2010"

ENTRIES: tuple[Entry, ...] = (
    Entry("abalone", (LSMI, HSIC), 4177, 8, "regression", openml=("abalone", 1)),
    Entry(
        "adult", (HSIC,), 48842, 14, openml=("adult", 2), note="the paper drew fewer than 2000 rows"
    ),
    Entry("arcene", (HSIC, L1INF), 100, 10000, openml=("arcene", 1), note="training part"),
    Entry(
        "arrhythmia", (CMI,), 420, 258, openml=("arrhythmia", 1), note="452 rows before cleaning"
    ),
    Entry("australian", (HSIC,), 690, 14, openml=("Australian", 4)),
    Entry("bcancer", (LSMI,), 277, 9, openml=("breast-cancer", 1), note="complete rows of 286"),
    Entry("bodyfat", (HSIC,), 252, 14, "regression", openml=("bodyfat", 1)),
    Entry("breastcancer", (HSIC,), 683, 9, openml=("breast-w", 1), note="complete rows of 699"),
    Entry("cleveland", (HSIC,), 303, 13, openml=("heart-c", 1)),
    Entry("colon", (CMI,), 62, 2000, note="the three-level version of the MI papers"),
    Entry("covertype", (HSIC,), 581012, 54, openml=("covertype", 3)),
    Entry(
        "cpuact", (LSMI,), 3000, 21, "regression", openml=("cpu_act", 1), note="3000 of 8192 rows"
    ),
    Entry("ctslices", (LSMI,), 53500, 379, "regression"),
    Entry("derm", (HSIC,), 366, 34, openml=("dermatology", 1)),
    Entry("dexter", (L1INF,), 600, 20000, openml=("dexter", 1)),
    Entry("diabetes", (), 442, 10, "regression", shipped="load_diabetes"),
    Entry("digits", (), 1797, 64, shipped="load_digits", note="the test part of optdigits"),
    Entry("flaresolar", (LSMI,), 1066, 9, note="Rätsch's benchmark version"),
    Entry("german", (LSMI, HSIC), 1000, 20, openml=("credit-g", 1)),
    Entry("gisette", (HSIC, L1INF, CMI), 6000, 5000, openml=("gisette", 2)),
    Entry("glass", (LSMI, L1INF), 214, 9, openml=("glass", 1)),
    Entry("heart", (HSIC,), 270, 13, openml=("heart-statlog", 1)),
    Entry("hepatitis", (HSIC,), 155, 19, openml=("hepatitis", 1)),
    Entry("housing", (LSMI, HSIC), 506, 13, "regression", openml=("boston", 1)),
    Entry("image", (LSMI,), 1155, 18, note="Rätsch's benchmark version of segment"),
    Entry("ionosphere", (LSMI, HSIC), 351, 33, openml=("ionosphere", 1), note="34 with a constant"),
    Entry("iris", (), 150, 4, shipped="load_iris"),
    Entry("isolet", (LSMI,), 6238, 617, openml=("isolet", 1), note="parts 1 to 4 of 7797 rows"),
    Entry(
        "leukemia", (CMI,), 72, 7070, openml=("leukemia", 1), note="7129 columns before filtering"
    ),
    Entry("lung", (CMI,), 73, 325),
    Entry("lymphoma", (CMI,), 96, 4026, openml=("lymphoma_9classes", 1)),
    Entry("madelon", (HSIC, L1INF, CMI), 2000, 500, openml=("madelon", 1), note="training part"),
    Entry("msd", (LSMI,), 10000, 90, "regression", openml=("year", 1), note="10000 of 515345 rows"),
    Entry("multi-feat", (CMI,), 2000, 649, note="six separate sets (mfeat-*) on OpenML"),
    Entry("musk1", (LSMI, HSIC), 476, 166),
    Entry("musk2", (LSMI, CMI), 6598, 166, openml=("musk", 1), note="167 with the molecule's name"),
    Entry(
        "optdigits", (HSIC, CMI), 3823, 64, openml=("optdigits", 1), note="training part of 5620"
    ),
    Entry("promoter", (CMI,), 106, 57, openml=("molecular-biology_promoters", 1)),
    Entry("satimage", (LSMI, HSIC), 6435, 36, openml=("satimage", 1)),
    Entry("segment", (LSMI, HSIC), 2310, 18, openml=("segment", 1), note="19 with a constant"),
    Entry("senseval2", (LSMI,), 534, 50),
    Entry("sonar", (LSMI, HSIC), 208, 60, openml=("sonar", 1)),
    Entry("spambase", (CMI,), 4601, 57, openml=("spambase", 1)),
    Entry("spectf", (LSMI, HSIC), 267, 44, openml=("SPECTF", 1)),
    Entry("speech", (LSMI,), 400, 50, note="in-house data of the authors, never published"),
    Entry(
        "splice", (HSIC,), 3190, 60, openml=("splice", 1), note="the paper used LIBSVM's 1000 rows"
    ),
    Entry("svmguide2", (HSIC,), 391, 20),
    Entry("svmguide3", (HSIC,), 1243, 22, openml=("svmguide3", 1)),
    Entry("usps", (HSIC,), 9298, 256, openml=("USPS", 1)),
    Entry("vehicle", (LSMI, HSIC), 846, 18, openml=("vehicle", 1)),
    Entry("vowel", (LSMI, HSIC), 990, 13, openml=("vowel", 1)),
    Entry(
        "waveform", (CMI,), 5000, 21, openml=("waveform-5000", 1), note="40 with pure noise columns"
    ),
    Entry("wdbc", (HSIC,), 569, 30, shipped="load_breast_cancer"),
    Entry("wine", (LSMI, HSIC, L1INF), 178, 13, shipped="load_wine"),
)
# Other spellings that the papers use.
ALIASES = {
    "musk": "musk1",
    "specft": "spectf",
    "multifeat": "multi-feat",
    "dermatology": "derm",
    "cpu_act": "cpuact",
    "breast-cancer": "bcancer",
    "promoters": "promoter",
}
BY_NAME = {entry.name: entry for entry in ENTRIES}


def dataset_names(*, offline: bool = False) -> list[str]:
    """The names :func:`fetch` knows; with ``offline=True`` those that need no connection.

    >>> dataset_names(offline=True)
    ['diabetes', 'digits', 'iris', 'wdbc', 'wine']
    """
    return [entry.name for entry in ENTRIES if entry.shipped or not offline]


def find(name: str) -> Entry:
    """The entry of a name in any spelling of the papers, or the nearest names in one sentence."""
    plain = str(name).strip().lower()
    plain = ALIASES.get(plain, plain)
    if plain in BY_NAME:
        return BY_NAME[plain]
    near = difflib.get_close_matches(plain, [*BY_NAME, *ALIASES], n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else "dataset_names() lists them all."
    raise InputError(f"{name!r} is not a data set of the papers; {hint}")
