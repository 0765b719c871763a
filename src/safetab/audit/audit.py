"""The whole audit: tries to break what docs/privacy.md claims of the installed program."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from safetab.audit.address_checks import empty_groups_check, shared_bits_check
from safetab.audit.audited_product import AuditedProduct, LossWorld
from safetab.audit.audited_runs import SPARK
from safetab.audit.households.audited_households import AUDITED_HOUSEHOLDS
from safetab.audit.key_checks import key_bits_check, key_check
from safetab.audit.loss_bound import loss_check, steps_of
from safetab.audit.neighbour_checks import neighbour_checks, nobody_checks
from safetab.audit.noise_checks import draw_checks, noise_checks
from safetab.audit.persons.audited_persons import AUDITED_PERSONS
from safetab.audit.published_check import large_level_check
from safetab.audit.spending_checks import spending_checks
from safetab.audit.verdicts import Verdict
from safetab.audit.ways_out import scale_checks, way_checks
from safetab.foundation.progress import NoProgress, Progress

AUDITED_PRODUCTS = (AUDITED_PERSONS, AUDITED_HOUSEHOLDS)
_QUICK_SHARE = 10  # of the runs of a loss world
_LONG = 50_000
_SPARK_SECONDS = 240
_CHECKS_OF_A_NOISE_WORLD = 4


@dataclass(frozen=True, slots=True)
class Part:
    """Checks that belong together, in words, and about how much work they are."""

    claim: str
    what: str
    cpu_seconds: int
    steps: int
    verdicts: Callable[[Path, Callable[[], None]], Iterator[Verdict]]


def parts_of_audit(*, is_quick: bool = False) -> Sequence[Part]:
    """What an audit of all products does, in its order."""
    of_products = [part for audited in AUDITED_PRODUCTS for part in parts_of_product(audited, is_quick=is_quick)]
    return (*_parts_of_installation(), *of_products)


def _parts_of_installation() -> Sequence[Part]:
    """What no product makes a difference to."""

    def of_draws(_: Path, advance: Callable[[], None]) -> Iterator[Verdict]:
        return _each(draw_checks(), advance)

    def of_keys(_: Path, advance: Callable[[], None]) -> Iterator[Verdict]:
        return _each((check() for check in (key_check, key_bits_check)), advance)

    def of_addresses(_: Path, advance: Callable[[], None]) -> Iterator[Verdict]:
        return _each((check() for check in (shared_bits_check, empty_groups_check)), advance)

    return (
        Part("Noise has the right distribution", "draws without a census", 2, 2, of_draws),
        Part("Every run has a new, unpredictable key", "keys", 1, 2, of_keys),
        Part("No two numbers share random bits", "addresses of noise", 3, 2, of_addresses),
    )


def parts_of_product(audited: AuditedProduct, *, is_quick: bool = False) -> Sequence[Part]:
    """What an audit of one product does, in its order."""
    name, noun = audited.product.name, audited.product.record.noun
    processes = os.cpu_count() or 1
    neighbours = audited.quick_neighbours if is_quick else audited.neighbours
    chosen_ways = audited.quick_ways if is_quick else audited.ways
    noise_worlds = audited.quick_noise_worlds if is_quick else audited.noise_worlds
    loss_worlds = audited.quick_loss_worlds if is_quick else audited.loss_worlds

    def of_neighbours(folder: Path, advance: Callable[[], None]) -> Iterator[Verdict]:
        yield from _each(neighbour_checks(audited, folder / "some", neighbours), advance)
        if not is_quick:
            yield from _each(nobody_checks(audited, folder / "none"), advance)
        yield from _each(iter([large_level_check(audited, folder / "large")]), advance)

    def of_ways(folder: Path, advance: Callable[[], None]) -> Iterator[Verdict]:
        yield from _each(way_checks(audited, folder / "ways", chosen_ways), advance)
        if not is_quick:
            yield from _each(scale_checks(audited, folder / "scale"), advance)

    def of_spending(folder: Path, advance: Callable[[], None]) -> Iterator[Verdict]:
        yield from _each(spending_checks(audited, folder / "spending"), advance)
        if audited.of_its_own is not None:
            yield from _each(audited.of_its_own(folder / "own"), advance)

    def of_noise(folder: Path, advance: Callable[[], None]) -> Iterator[Verdict]:
        return _each(noise_checks(folder, noise_worlds), advance)

    def of_loss(folder: Path, advance: Callable[[], None]) -> Iterator[Verdict]:
        for number, world in enumerate(loss_worlds):
            runs = runs_of(world, is_quick=is_quick)
            yield loss_check(world, folder / str(number), runs, advance, processes if _is_long(world) else 1)

    seconds = audited.quick_cpu_seconds if is_quick else audited.cpu_seconds
    of_spark = _SPARK_SECONDS * (SPARK in chosen_ways)
    pairs, alone = len(neighbours) + (not is_quick), 3 + (audited.product.suppression_key is not None)
    return (
        Part(f"{name}: one {noun} changes only what the proof allows", f"neighbouring worlds of {name}",
             seconds.neighbours, 2 * pairs + alone, of_neighbours),
        Part(f"{name}: everything published depends only on noisy numbers", f"every way out of {name}",
             seconds.ways + of_spark, 2 * (len(chosen_ways) + (not is_quick)), of_ways),
        Part(f"{name}: spending is recorded first, and too little noise is refused", f"accounts and floors of {name}",
             seconds.spending, 2 + 2 * (audited.of_its_own is not None), of_spending),
        Part(f"{name}: noise matches its cost and is independent", f"noise of totals and cells of {name}",
             seconds.noise, _CHECKS_OF_A_NOISE_WORLD * len(noise_worlds), of_noise),
        Part(f"{name}: nobody loses more than the budget", f"many runs of neighbours of {name}", seconds.loss,
             sum(steps_of(runs_of(world, is_quick=is_quick)) for world in loss_worlds), of_loss),
    )  # fmt: skip


def runs_of(world: LossWorld, *, is_quick: bool) -> int:
    return world.runs // _QUICK_SHARE if is_quick else world.runs


def _is_long(world: LossWorld) -> bool:
    """Whether the world is worth a second process, which takes seconds to begin."""
    return world.runs >= _LONG


def _each(verdicts: Iterator[Verdict], advance: Callable[[], None]) -> Iterator[Verdict]:
    for one in verdicts:
        advance()
        yield one


def audit(parts: Sequence[Part], progress: Progress | None = None) -> Iterator[tuple[Part, Verdict]]:
    """Every verdict as it falls, with the part of the audit that it belongs to."""
    progress = progress or NoProgress()
    with tempfile.TemporaryDirectory(prefix="safetab-audit-") as temporary:
        for number, part in enumerate(parts):
            progress.step(part.what[:1].upper() + part.what[1:], part.steps)
            for one in part.verdicts(Path(temporary) / str(number), progress.advance):
                yield part, one
