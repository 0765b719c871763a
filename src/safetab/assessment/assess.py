"""The exact counts once, and many independent runs of the algorithm on them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from safetab.assessment.assess_run import AssessedLevel, AssessedRuns
from safetab.assessment.classes import MeasuredAs
from safetab.assessment.known_counts import KnownCounts
from safetab.assessment.tally import LevelTally
from safetab.assessment.theory import LevelTheory
from safetab.assessment.truth import level_truth
from safetab.engines.contract import GroupCounts
from safetab.foundation.progress import Progress
from safetab.pipeline.inputs import RunInputs
from safetab.planning.run_plan import RunPlan
from safetab.privacy.addressed_bits import AddressedBits
from safetab.privacy.stages import Stage
from safetab.products.product import Product, Selector, TableFamily
from safetab.release.coterminous.copies import sets_of_passes
from safetab.release.release_options import ReleaseOptions
from safetab.release.release_universe import universe_of_run


@dataclass(frozen=True, slots=True, eq=False)
class Assessment:
    """What the runs of one configuration came to."""

    plan: RunPlan
    options: ReleaseOptions
    runs: int
    levels: tuple[AssessedLevel, ...]

    @property
    def product(self) -> Product:
        return self.plan.config.product

    @property
    def has_suppression(self) -> bool:
        """Whether a noisy first stage chooses tables, and small totals may be suppressed."""
        return self.product.selector is Selector.NOISY_STAGE_1

    def by_family(self) -> tuple[tuple[TableFamily, Assessment], ...]:
        """The same for each table family, with its levels alone."""
        return tuple(
            (family, replace(self, levels=tuple(one for one in self.levels if one.truth.plan.family is family)))
            for family in self.product.families
        )

    @property
    def has_theory(self) -> bool:
        """Theory describes numbers as they are measured: no copies, withheld or clamped ones."""
        is_plain = not self.options.rules and self.options.coterminous is None
        return is_plain and self.plan.config.allow_negative_counts


@dataclass(frozen=True, slots=True)
class Repetition:
    """How often the algorithm runs, how many runs go side by side, and with which keys."""

    runs: int
    threads: int = 2
    test_key: bytes | None = None

    def bits_of(self, run: int) -> AddressedBits:
        """A key of its own for each run; chosen ones, for people who do not exist, follow from the given one."""
        if self.test_key is None:
            return AddressedBits.of_the_operating_system()
        return AddressedBits(hashlib.sha256(self.test_key + run.to_bytes(8, "big")).digest())


def assess(
    inputs: RunInputs, engine: GroupCounts, options: ReleaseOptions, repetition: Repetition, progress: Progress
) -> Assessment:
    """Neighbours and cost: each run is one of the algorithm's, and its numbers are never released.

    What comes back is made from the truth. Proof: docs/privacy.md#accuracy.
    """
    plan = inputs.plan
    universe = universe_of_run(plan, inputs.files.geography_of_pass, inputs.files.names)
    progress.step("Counting exactly", len(plan.levels))
    counts = KnownCounts(engine, plan.levels, progress.advance)
    levels = {}
    for level_plan in plan.levels:
        number = universe.number_of_level[level_plan.family, level_plan.level]
        truth = level_truth(level_plan, universe.levels[number], counts.totals(level_plan))
        ways = [
            measured
            for measured, stage in ((MeasuredAs.ADAPTIVE, Stage.STAGE_2), (MeasuredAs.TOTAL_ONLY, Stage.TOTAL_ONLY))
            if stage in level_plan.design.stages
        ]
        tallies = {measured: LevelTally(level_plan.family, truth.sizes) for measured in ways}
        levels[number] = AssessedLevel(
            number, truth, tallies, {measured: LevelTheory(level_plan.design, measured) for measured in ways}
        )
    sets = sets_of_passes(inputs.populated, options.coterminous) if options.coterminous else ()
    runs = AssessedRuns(plan, universe, counts, levels, options, sets)
    progress.step("Running the algorithm", repetition.runs)
    _run_all(lambda run: runs.run(repetition.bits_of(run)), repetition, progress.advance)
    return Assessment(plan, options, repetition.runs, tuple(levels.values()))


def _run_all(run: Callable[[int], None], repetition: Repetition, done: Callable[[], None]) -> None:
    """Runs side by side; the first failure, or Ctrl-C, stops those that have not begun."""
    pool = ThreadPoolExecutor(min(repetition.threads, repetition.runs))
    try:
        for _ in pool.map(run, range(repetition.runs)):
            done()
    finally:
        pool.shutdown(cancel_futures=True)
