"""Draws a second on one core, random bits included.

Ours and OpenDP's vector mechanism are measured in the same run. The machine may be busy, so ratios
are what counts, and the two sides take turns. The last lines name the smallest ratio of each kind
of noise to OpenDP, and of discrete Gaussian noise to the bit source. With TUMULT=PYTHON, the
interpreter of an environment of its own that has tmlt.core, its sampler runs beside them.
"""

from __future__ import annotations

import os
import resource
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import opendp.prelude as dp

from safetab.core.mechanisms.noisy_count import indices_whose_noise_may_exceed, noisy_count
from safetab.core.noise.discrete_gaussian import DiscreteGaussian
from safetab.core.noise.discrete_laplace import DiscreteLaplace
from safetab.core.noise.noise_distribution import NoiseDistribution
from safetab.core.privacy.addressed_bits import AddressedBits
from safetab.core.privacy.calibration import Stage
from safetab.core.privacy.exact_counts import ExactCounts
from safetab.core.privacy.ledger import DrawingRight, Ledger
from safetab.core.privacy.measurement_event import MeasurementEvent
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.census.sensitivity import Sensitivity
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.safetab_p.safetab_p import PERSONS, SAFETAB_P, TOTAL
from safetab.model.us.us_census import DETAILED, US

DRAWS, OPENDP_DRAWS, REPEATS = (
    1 << 20,
    1_000,
    60,
)  # ours: as many as a run draws at once; both take about 10 ms
EMPTY_GROUPS = 266_586_338
LEVEL = PopulationGroupLevel(US.area_level("TRACT"), DETAILED)
SIGMAS = {
    "1.53": Fraction(2500, 1067),
    "5.61": Fraction(5000, 159),
    "16.82": Fraction(15000, 53),
    "25": Fraction(625),
    "75": Fraction(5625),
    "1000": Fraction(1_000_000),
}
SCALES = ("1/2", "1", "2", "5", "10", "20", "50", "100", "300", "1000")


def right_to_draw(noise: NoiseDistribution, stage: Stage = Stage.STAGE_2) -> DrawingRight:
    is_gaussian = noise.mechanism == DiscreteGaussian.mechanism
    definition = PrivacyDefinition.ZCDP if is_gaussian else PrivacyDefinition.PURE_DP
    cost = 1 / ((2 if is_gaussian else 1) * noise.parameter)
    event = MeasurementEvent(
        SAFETAB_P, PERSONS, LEVEL, stage, definition, Sensitivity.of_groups(1), cost
    )
    return Ledger({event.measured: cost}, AddressedBits.of_the_operating_system()).charge(event)


def cpu_seconds_in_turn(works: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """The least of a few times of each, taken in turn."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(REPEATS):
        for name, work in works.items():
            started = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - started)
    return best


def our_draws(noise: NoiseDistribution) -> Callable[[], object]:
    zeros = ExactCounts(np.arange(DRAWS), np.zeros((DRAWS, 1), dtype=np.int64))
    right = right_to_draw(noise)
    noisy_count(zeros, TOTAL, right)  # builds the table, and compiles
    return lambda: noisy_count(zeros, TOTAL, right)


def opendp_draws(noise: NoiseDistribution) -> Callable[[], object]:
    space = (dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64"))
    if noise.mechanism == DiscreteGaussian.mechanism:
        mechanism = dp.m.make_gaussian(*space, scale=noise.width)
    else:
        mechanism = dp.m.make_laplace(space[0], dp.l1_distance(T="i64"), scale=noise.width)
    zeros = [0] * OPENDP_DRAWS
    return lambda: mechanism(zeros)


def block_draws() -> Callable[[], object]:
    """As many blocks of 16 bytes, from the cipher alone."""
    bits = AddressedBits.of_the_operating_system()
    return lambda: [bits._stream(1, first, 1 << 14) for first in range(0, DRAWS, 1 << 14)]


TUMULT_PROGRAM = """
import sys, time
from fractions import Fraction
from tmlt.core.random.discrete_gaussian import sample_dgauss
squared = Fraction(sys.argv[1])
started = time.process_time()
for _ in range(2000):
    sample_dgauss(squared)
print(2000 / (time.process_time() - started))
"""


def tumult_rate(noise: NoiseDistribution) -> float | None:
    """Draws a second of Tumult Core's discrete Gaussian, if an environment with it was named."""
    python = os.environ.get("TUMULT")
    if not python or noise.mechanism != DiscreteGaussian.mechanism:
        return None
    program = [python, "-c", TUMULT_PROGRAM, str(noise.parameter)]
    return float(subprocess.run(program, check=True, capture_output=True, text=True).stdout)


def decide_empty_groups() -> tuple[float, int]:
    stage_1 = right_to_draw(DiscreteGaussian(SIGMAS["16.82"]), Stage.STAGE_1)
    stage_2 = right_to_draw(DiscreteGaussian(SIGMAS["5.61"]))
    started, found = time.process_time(), 0
    for first in range(0, EMPTY_GROUPS, 1 << 22):
        end = min(first + (1 << 22), EMPTY_GROUPS)
        found += len(indices_whose_noise_may_exceed(21, first, end, stage_2))
        found += len(indices_whose_noise_may_exceed(970, first, end, stage_1))
    return time.process_time() - started, found


@dataclass(frozen=True)
class Beside:
    """Draws a second."""

    ours: float
    opendp: float
    bit_source: float
    tumult: float | None

    def __str__(self) -> str:
        tumult = (
            f"; Tumult Core {self.tumult / 1e6:.4f}, ratio {self.ours / self.tumult:,.0f}"
            if self.tumult
            else ""
        )
        return (
            f"ours {self.ours / 1e6:6.1f} million/s, {self.ours / self.bit_source:.2f} of the bit"
            f" source ({self.bit_source / 1e6:.0f}); OpenDP {self.opendp / 1e6:.3f},"
            f" ratio {self.ours / self.opendp:,.0f}{tumult}"
        )


def measured(noise: NoiseDistribution) -> Beside:
    works = {"ours": our_draws(noise), "bits": block_draws(), "opendp": opendp_draws(noise)}
    seconds = cpu_seconds_in_turn(works)
    ours, bits, opendp = (
        DRAWS / seconds["ours"],
        DRAWS / seconds["bits"],
        OPENDP_DRAWS / seconds["opendp"],
    )
    return Beside(ours, opendp, bits, tumult_rate(noise))


def measured_and_told(noises: Mapping[str, NoiseDistribution]) -> dict[str, Beside]:
    found = {}
    for name, noise in noises.items():
        found[name] = measured(noise)
        print(f"{name:22} {found[name]}", flush=True)
    return found


def tell_empty_groups() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, found = decide_empty_groups()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(
        f"{EMPTY_GROUPS:,} empty groups, two stages: {seconds:.1f} CPU seconds, {found:,} left,"
        f" {grown:.0f} MB more"
    )


def main() -> None:
    dp.enable_features("contrib")
    gaussian = measured_and_told(
        {f"sigma {name}": DiscreteGaussian(squared) for name, squared in SIGMAS.items()}
    )
    geometric = measured_and_told(
        {f"geometric scale {scale}": DiscreteLaplace(Fraction(scale)) for scale in SCALES}
    )
    tell_empty_groups()
    for kind, rates in (("discrete Gaussian", gaussian), ("geometric", geometric)):
        least = min(rates, key=lambda name: rates[name].ours / rates[name].opendp)
        print(
            f"{kind}: smallest ratio to OpenDP {rates[least].ours / rates[least].opendp:,.0f}"
            f" ({least})"
        )
    least = min(gaussian, key=lambda name: gaussian[name].ours / gaussian[name].bit_source)
    share = gaussian[least].ours / gaussian[least].bit_source
    print(f"discrete Gaussian: smallest share of the bit source {share:.2f} ({least})")


if __name__ == "__main__":
    main()
