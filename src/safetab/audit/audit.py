"""The whole audit: tries to break what docs/privacy.md claims of the installed program."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from safetab.audit.audited_product import AuditedProduct, LossWorld
from safetab.audit.audited_runs import SPARK
from safetab.audit.key_checks import key_check
from safetab.audit.loss_bound import loss_check, steps_of
from safetab.audit.neighbour_checks import neighbour_checks, nobody_checks
from safetab.audit.noise_checks import noise_checks
from safetab.audit.persons.audited_persons import AUDITED_PERSONS
from safetab.audit.verdicts import Verdict
from safetab.audit.ways_out import scale_check, way_checks, ways
from safetab.foundation.progress import NoProgress, Progress

AUDITED_PRODUCTS = (AUDITED_PERSONS,)
_QUICK_SHARE = 10  # of the runs of a loss world
_LONG = 50_000
_SPARK_SECONDS = 240


@dataclass(frozen=True, slots=True)
class Part:
    """Checks that belong together, in words, and about how much work they are."""

    claim: str
    what: str
    cpu_seconds: int
    steps: int
    verdicts: Callable[[Path, Callable[[], None]], Iterator[Verdict]]


def parts_of_audit(audited: AuditedProduct, *, is_quick: bool = False) -> Sequence[Part]:
    """What an audit of a product does, in its order."""
    processes, chosen = os.cpu_count() or 1, ways(is_quick=is_quick)
    chosen_worlds = audited.quick_loss_worlds if is_quick else audited.loss_worlds

    def of_neighbours(folder: Path, advance: Callable[[], None]) -> Iterator[Verdict]:
        neighbours = audited.quick_neighbours if is_quick else audited.neighbours
        yield from _each(neighbour_checks(audited, folder / "some", neighbours), advance)
        if not is_quick:
            yield from _each(nobody_checks(audited, folder / "none"), advance)

    def of_ways(folder: Path, advance: Callable[[], None]) -> Iterator[Verdict]:
        yield from _each(way_checks(audited, folder / "ways", chosen), advance)
        if not is_quick:
            yield from _each(iter([scale_check(audited, folder / "scale")]), advance)

    def of_noise(folder: Path, advance: Callable[[], None]) -> Iterator[Verdict]:
        return _each(noise_checks(folder, audited.noise_worlds[: 1 if is_quick else None]), advance)

    def of_keys(_: Path, advance: Callable[[], None]) -> Iterator[Verdict]:
        return _each(iter([key_check()]), advance)

    def of_loss(folder: Path, advance: Callable[[], None]) -> Iterator[Verdict]:
        for number, world in enumerate(chosen_worlds):
            runs = runs_of(world, is_quick=is_quick)
            yield loss_check(world, folder / str(number), runs, advance, processes if _is_long(world) else 1)

    def seconds(full: int, quick: int) -> int:
        return quick if is_quick else full

    return (
        Part("One person changes what the proof says", "neighbouring worlds", seconds(35, 15),
             seconds(20, 10), of_neighbours),
        Part("Whatever leaves is a function of noisy numbers", "every way out",
             seconds(100, 14) + _SPARK_SECONDS * (SPARK in chosen), len(chosen) + (not is_quick), of_ways),
        Part("Noise is what was paid for, and independent", "noise of totals and cells", seconds(30, 16),
             seconds(10, 6), of_noise),
        Part("Keys are new and unknown", "keys", 1, 1, of_keys),
        Part("Nobody loses more than the budget", "many runs of neighbours", seconds(200, 12),
             sum(steps_of(runs_of(world, is_quick=is_quick)) for world in chosen_worlds), of_loss),
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
            progress.step(part.what.capitalize(), part.steps)
            for one in part.verdicts(Path(temporary) / str(number), progress.advance):
                yield part, one
