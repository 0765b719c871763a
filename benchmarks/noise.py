"""Draws a second on one core, random bits included: ours, and OpenDP's vector mechanism in the same run.

The machine may be busy, so ratios are what counts. The last line names the smallest ratio to OpenDP.
With TUMULT=PYTHON, the interpreter of an environment of its own that has tmlt.core, its sampler runs beside them.
"""

from __future__ import annotations

import os
import resource
import subprocess
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import opendp.prelude as dp

from safetab.census.geography_levels import GeographyLevel
from safetab.census.iterations import IterationLevel
from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.distributions.discrete_gaussian import DiscreteGaussian
from safetab.distributions.discrete_laplace import DiscreteLaplace
from safetab.mechanisms.noisy_count import indices_whose_noise_may_exceed, noisy_count
from safetab.privacy.addressed_bits import AddressedBits
from safetab.privacy.calibration import Noise
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.exact_counts import ExactCounts
from safetab.privacy.ledger import DrawingRight, Ledger
from safetab.privacy.measurement_event import MeasurementEvent
from safetab.privacy.stages import Stage
from safetab.products.safetab_p.safetab_p import SAFETAB_P
from safetab.products.safetab_p.tables import PERSONS, TOTAL

DRAWS, OPENDP_DRAWS, REPEATS = 4_000_000, 20_000, 5
EMPTY_GROUPS = 266_586_338
LEVEL = PopulationGroupLevel(GeographyLevel.TRACT, IterationLevel.DETAILED)
SIGMAS = {
    "1.53": Fraction(2500, 1067),
    "5.61": Fraction(5000, 159),
    "16.82": Fraction(15000, 53),
    "25": Fraction(625),
    "75": Fraction(5625),
}


def right_to_draw(noise: Noise, stage: Stage = Stage.STAGE_2) -> DrawingRight:
    is_gaussian = noise.mechanism == DiscreteGaussian.mechanism
    definition = PrivacyDefinition.ZCDP if is_gaussian else PrivacyDefinition.PURE_DP
    cost = 1 / ((2 if is_gaussian else 1) * noise.parameter)
    event = MeasurementEvent(SAFETAB_P, PERSONS, LEVEL, stage, definition, 1, cost)
    return Ledger({event.measured: cost}, AddressedBits.of_the_operating_system()).charge(event)


def cpu_seconds(work: Callable[[], object]) -> float:
    """The best of a few times."""
    best = float("inf")
    for _ in range(REPEATS):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


def our_rate(noise: Noise) -> float:
    zeros = ExactCounts(np.arange(DRAWS), np.zeros((DRAWS, 1), dtype=np.int64))
    right = right_to_draw(noise)
    noisy_count(zeros.between(0, 10), TOTAL, right)  # builds the table
    return DRAWS / cpu_seconds(lambda: noisy_count(zeros, TOTAL, right))


def opendp_rate(noise: Noise) -> float:
    space = (dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64"))
    if noise.mechanism == DiscreteGaussian.mechanism:
        mechanism = dp.m.make_gaussian(*space, scale=noise.width)
    else:
        mechanism = dp.m.make_laplace(space[0], dp.l1_distance(T="i64"), scale=noise.width)
    zeros = [0] * OPENDP_DRAWS
    return OPENDP_DRAWS / cpu_seconds(lambda: mechanism(zeros))


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


def tumult_rate(noise: Noise) -> float | None:
    """Draws a second of Tumult Core's discrete Gaussian, if an environment with it was named."""
    python = os.environ.get("TUMULT")
    if not python or noise.mechanism != DiscreteGaussian.mechanism:
        return None
    program = [python, "-c", TUMULT_PROGRAM, str(noise.parameter)]
    return float(subprocess.run(program, check=True, capture_output=True, text=True).stdout)


def bit_source_rate(bits: AddressedBits) -> float:
    """Blocks of 16 bytes a second."""
    return DRAWS / cpu_seconds(lambda: [bits._stream(1, first, 1 << 15) for first in range(0, DRAWS, 1 << 15)])


def decide_empty_groups() -> tuple[float, int]:
    stage_1 = right_to_draw(DiscreteGaussian(SIGMAS["16.82"]), Stage.STAGE_1)
    stage_2 = right_to_draw(DiscreteGaussian(SIGMAS["5.61"]))
    started, found = time.process_time(), 0
    for first in range(0, EMPTY_GROUPS, 1 << 22):
        end = min(first + (1 << 22), EMPTY_GROUPS)
        found += len(indices_whose_noise_may_exceed(21, first, end, stage_2))
        found += len(indices_whose_noise_may_exceed(970, first, end, stage_1))
    return time.process_time() - started, found


def main() -> None:
    dp.enable_features("contrib")
    bits = AddressedBits.of_the_operating_system()
    source = bit_source_rate(bits)
    print(f"bit source: {source / 1e6:.0f} million blocks of 16 bytes a second")
    noises: dict[str, Noise] = {f"sigma {name}": DiscreteGaussian(squared) for name, squared in SIGMAS.items()}
    noises["geometric scale 10"] = DiscreteLaplace(Fraction(10))
    ratios = {}
    for name, noise in noises.items():
        ours, theirs = our_rate(noise), opendp_rate(noise)
        ratios[name] = ours / theirs
        tumult = tumult_rate(noise)
        beside = f"; Tumult Core {tumult / 1e6:.4f}, ratio {ours / tumult:,.0f}" if tumult else ""
        print(
            f"{name:20} ours {ours / 1e6:6.1f} million/s, {ours / source:.2f} of the bit source;"
            f" OpenDP {theirs / 1e6:.3f} million/s; ratio {ratios[name]:,.0f}{beside}"
        )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, found = decide_empty_groups()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{EMPTY_GROUPS:,} empty groups, two stages: {seconds:.1f} CPU seconds, {found:,} left, {grown:.0f} MB more")
    least = min(ratios, key=lambda name: ratios[name])
    print(f"smallest ratio to OpenDP: {ratios[least]:,.0f} ({least})")


if __name__ == "__main__":
    main()
