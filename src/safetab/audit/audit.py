"""The whole audit: tries to break what docs/privacy.md claims about the installed program."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from safetab.audit.audited_product import AuditedProduct, LossWorld
from safetab.audit.audited_runs import SPARK
from safetab.audit.loss_bound import loss_check, steps_of
from safetab.audit.noise_checks import CHECKS_OF_A_NOISE_WORLD, draw_checks, noise_world_checks
from safetab.audit.publication_checks import large_level_check, release_checks
from safetab.audit.random_bits_checks import empty_groups_check, key_bits_check, key_check, shared_bits_check
from safetab.audit.replay_checks import neighbour_checks, nobody_checks, route_checks, scale_checks
from safetab.audit.spending_checks import spending_checks
from safetab.audit.verdicts import Part, Verdict
from safetab.audit.worlds.products import AUDITED_HOUSEHOLDS, AUDITED_PERSONS
from safetab.foundation.progress import NoProgress, Progress

AUDITED_PRODUCTS = (AUDITED_PERSONS, AUDITED_HOUSEHOLDS)
_QUICK_SHARE = 10  # a quick audit makes one in ten of the runs of a loss world
_RUNS_WORTH_PROCESSES = 50_000  # starting a second process takes seconds
_SPARK_SECONDS = 240
Advance = Callable[[], None]


def parts_of_audit(*, is_quick: bool = False) -> Sequence[Part]:
    """The parts of an audit of the installation and of all products, in order."""
    key_checks = (key_check, key_bits_check)
    address_checks = (shared_bits_check, empty_groups_check)
    parts = [
        _part_of_installation("Noise has the right distribution", "draws without a census", 2, draw_checks),
        _part_of_installation(
            "Every run has a new, unpredictable key", "keys", 1, lambda: (check() for check in key_checks)
        ),
        _part_of_installation(
            "No two numbers share random bits", "addresses of noise", 3, lambda: (check() for check in address_checks)
        ),
    ]
    for audited in AUDITED_PRODUCTS:
        parts += _ProductAudit(audited.quick() if is_quick else audited, is_quick).parts()
    return parts


def _part_of_installation(claim: str, what: str, seconds: int, checks: Callable[[], Iterable[Verdict]]) -> Part:
    """A part with two checks that are the same for every product."""
    return Part(claim, what, seconds, 2, lambda _, advance: _each(checks(), advance))


@dataclass(frozen=True, slots=True)
class _ProductAudit:
    """The checks of one product, with its worlds for a full or a quick audit."""

    audited: AuditedProduct
    is_quick: bool

    def _check_neighbours(self, folder: Path, advance: Advance) -> Iterator[Verdict]:
        audited = self.audited
        yield from _each(neighbour_checks(audited, folder / "some", audited.neighbours), advance)
        if not self.is_quick:
            yield from _each(nobody_checks(audited, folder / "none"), advance)
        yield from _each([large_level_check(audited, folder / "large")], advance)

    def _check_routes(self, folder: Path, advance: Advance) -> Iterator[Verdict]:
        yield from _each(route_checks(self.audited, folder / "routes", self.audited.routes), advance)
        if not self.is_quick:
            yield from _each(scale_checks(self.audited, folder / "scale"), advance)

    def _check_spending(self, folder: Path, advance: Advance) -> Iterator[Verdict]:
        yield from _each(spending_checks(self.audited, folder / "spending"), advance)
        if self.audited.product.totals_table is not None:
            checks = release_checks(AUDITED_PERSONS, self.audited, folder / "totals")
            yield from _each(checks, advance)

    def _check_noise(self, folder: Path, advance: Advance) -> Iterator[Verdict]:
        for number, world in enumerate(self.audited.noise_worlds):
            yield from _each(noise_world_checks(world, folder / str(number)), advance)

    def _check_loss(self, folder: Path, advance: Advance) -> Iterator[Verdict]:
        for number, world in enumerate(self.audited.loss_worlds):
            is_long = world.runs >= _RUNS_WORTH_PROCESSES
            processes = (os.cpu_count() or 1) if is_long else 1
            yield loss_check(world, folder / str(number), self._runs(world), advance, processes)

    def _runs(self, world: LossWorld) -> int:
        return world.runs // (_QUICK_SHARE if self.is_quick else 1)

    def parts(self) -> Sequence[Part]:
        """The parts of the product's audit, in order."""
        product = self.audited.product
        name = product.name
        audited = self.audited
        seconds = audited.cpu_seconds
        spark_seconds = _SPARK_SECONDS if SPARK in audited.routes else 0
        single_checks = 3 + (product.suppression_key is not None)
        return (
            Part(
                f"{name}: one {product.record.noun} changes only what the proof allows",
                f"neighbouring worlds of {name}",
                seconds.neighbours,
                2 * (len(audited.neighbours) + (not self.is_quick)) + single_checks,
                self._check_neighbours,
            ),
            Part(
                f"{name}: everything published depends only on noisy numbers",
                f"every kind of output of {name}",
                seconds.routes + spark_seconds,
                2 * (len(audited.routes) + (not self.is_quick)),
                self._check_routes,
            ),
            Part(
                f"{name}: spending is recorded first, and too little noise is refused",
                f"accounts and floors of {name}",
                seconds.spending,
                2 + 2 * (product.totals_table is not None),
                self._check_spending,
            ),
            Part(
                f"{name}: noise matches its cost and is independent",
                f"noise of totals and cells of {name}",
                seconds.noise,
                CHECKS_OF_A_NOISE_WORLD * len(audited.noise_worlds),
                self._check_noise,
            ),
            Part(
                f"{name}: nobody loses more than the budget",
                f"many runs of neighbours of {name}",
                seconds.loss,
                sum(steps_of(self._runs(world)) for world in audited.loss_worlds),
                self._check_loss,
            ),
        )


def _each(verdicts: Iterable[Verdict], advance: Advance) -> Iterator[Verdict]:
    for verdict in verdicts:
        advance()
        yield verdict


def audit(parts: Sequence[Part], progress: Progress | None = None) -> Iterator[tuple[Part, Verdict]]:
    """Run the parts and yield each verdict as it is reached, with its part.

    All files are written to a temporary folder, which is removed at the end.
    """
    progress = progress or NoProgress()
    with tempfile.TemporaryDirectory(prefix="safetab-audit-") as temporary:
        for number, part in enumerate(parts):
            progress.step(part.what[:1].upper() + part.what[1:], part.steps)
            for verdict in part.verdicts(Path(temporary) / str(number), progress.advance):
                yield part, verdict
