"""Which frequencies answer to imagined movement?

A map of the HSIC of frequency bands, next to BAHSIC's own choice of single frequencies. Simulated
motor imagery: the μ rhythm near 12 Hz answers strongly, the β rhythm near 22 Hz weakly.
"""

from featsieve import BAHSIC
from featsieve.datasets import make_motor_imagery
from featsieve.evaluation.bands import band_map
from featsieve.plots import BandDisplay


def main():
    trials = make_motor_imagery(200, subject="al", n_channels=32, random_state=0)
    selector = BAHSIC(n_features_to_select=5).fit(trials.data, trials.target)
    chosen = trials.frequencies[selector.indices_]
    print("BAHSIC picks", ", ".join(f"{frequency:.1f} Hz" for frequency in chosen))
    bands = band_map(trials.data, trials.target, trials.frequencies, edges=range(2, 42, 2))
    print("best band: {:.0f}–{:.0f} Hz".format(*bands.best()))
    return BandDisplay.from_result(bands, title="HSIC of frequency bands, subject 'al'")


if __name__ == "__main__":
    main().figure_.savefig("motor_imagery_bands.png")
