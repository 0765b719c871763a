"""The whole audit: tries to break what docs/privacy.md claims about the installed program."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from safetab.apps.audit.audited_product import AuditedProduct, LossWorld, Route
from safetab.apps.audit.audited_runs import SPARK
from safetab.apps.audit.loss_bound import loss_check, steps_of
from safetab.apps.audit.noise_checks import CHECKS_OF_A_NOISE_WORLD, draw_checks, noise_world_checks
from safetab.apps.audit.publication_checks import large_level_check, release_checks
from safetab.apps.audit.random_bits_checks import (
    empty_groups_check,
    key_bits_check,
    key_check,
    shared_bits_check,
)
from safetab.apps.audit.replay_checks import (
    form_checks,
    neighbour_checks,
    nobody_checks,
    route_checks,
    scale_checks,
)
from safetab.apps.audit.spending_checks import spending_checks
from safetab.apps.audit.unit_checks import unit_check
from safetab.apps.audit.verdicts import AuditPart, Verdict
from safetab.apps.audit.worlds.products import AUDITED_HOUSEHOLDS, AUDITED_PERSONS
from safetab.apps.audit.worlds.specified_stays import AUDITED_STAYS
from safetab.foundation.locked_folder import scratch_folder
from safetab.foundation.progress import NoProgress, Progress

_DISTRIBUTED = "Noise has the right distribution"
_NEW_KEY = "Every run has a new, unpredictable key"
_OWN_BITS = "No two numbers share random bits"
_ONE_RECORD = "One record changes only what the proof allows"
_NOISY_ONLY = "Everything published depends only on noisy numbers"
_RECORDED = "Spending is recorded first, and too little noise is refused"
_PAID = "Noise matches its cost and is independent"
_BUDGET = "Nobody loses more than the budget"
AUDITED_PRODUCTS = (AUDITED_PERSONS, AUDITED_HOUSEHOLDS, AUDITED_STAYS)
_QUICK_SHARE = 10  # a quick audit makes one in ten of the runs of a loss world
_RUNS_WORTH_PROCESSES = 50_000  # starting a second process takes seconds
_SPARK_SECONDS = 70
_Advance = Callable[[], None]
_Checks = Callable[[Path], Iterable[Verdict]]


def parts_of_audit(*, is_quick: bool = False) -> Sequence[AuditPart]:
    """The parts of an audit of the installation and of all products, in order."""
    keys = [key_check, key_bits_check]
    addresses = [shared_bits_check, empty_groups_check]
    parts = [
        _part(_DISTRIBUTED, "draws without a census", 2, 2, lambda _: draw_checks()),
        _part(_NEW_KEY, "keys", 1, 2, lambda _: (check() for check in keys)),
        _part(_OWN_BITS, "addresses of noise", 3, 2, lambda _: (check() for check in addresses)),
    ]
    for audited in AUDITED_PRODUCTS:
        parts += _ProductAudit(audited.quick() if is_quick else audited, is_quick).parts()
    return [part for part in parts if part.steps]


def _part(
    claim: str, what: str, seconds: int, checks: int, verdicts: _Checks, product: str = ""
) -> AuditPart:
    """A part that advances with each of its checks."""

    def advancing(folder: Path, advance: _Advance) -> Iterator[Verdict]:
        for verdict in verdicts(folder):
            advance()
            yield verdict

    return AuditPart(claim, what, seconds, checks, advancing, product)


@dataclass(frozen=True, slots=True)
class _ProductAudit:
    """The checks of one product, with its worlds for a full or a quick audit."""

    audited: AuditedProduct
    is_quick: bool

    @property
    def _has_large_level(self) -> bool:
        """A quick audit has a large level of persons alone.

        The same code draws those of other products.
        """
        return not self.is_quick or self.audited.product is AUDITED_PERSONS.product

    def _neighbours(self, folder: Path) -> Iterator[Verdict]:
        yield from neighbour_checks(self.audited, folder / "some", self.audited.neighbours)
        yield from form_checks(self.audited, folder / "forms", with_nobody=not self.is_quick)
        if self.audited.of_one_unit is not None:
            yield unit_check(self.audited, folder / "units", is_quick=self.is_quick)
        if not self.is_quick:
            yield from nobody_checks(self.audited, folder / "none")
        if self._has_large_level:
            yield large_level_check(self.audited, folder / "large")

    def _routes(self, folder: Path) -> Iterator[Verdict]:
        yield from route_checks(self.audited, folder / "routes", self.audited.routes)
        if not self.is_quick:
            yield from scale_checks(self.audited, folder / "scale")

    def _spending(self, folder: Path) -> Iterator[Verdict]:
        yield from spending_checks(self.audited, folder / "spending")
        if self.audited.product.totals_table is not None:
            yield from release_checks(AUDITED_PERSONS, self.audited, folder / "totals")

    def _noise(self, folder: Path) -> Iterator[Verdict]:
        for number, world in enumerate(self.audited.noise_worlds):
            yield from noise_world_checks(world, folder / str(number))

    def _loss(self, folder: Path, advance: _Advance) -> Iterator[Verdict]:
        for number, world in enumerate(self.audited.loss_worlds):
            is_long = world.runs >= _RUNS_WORTH_PROCESSES
            processes = (os.cpu_count() or 1) if is_long else 1
            yield loss_check(world, folder / str(number), self._runs(world), advance, processes)

    def _runs(self, world: LossWorld) -> int:
        return world.runs // (_QUICK_SHARE if self.is_quick else 1)

    def _steps_of_form(self, form: Route) -> int:
        has_stage_1 = form.changes.get("selector") != "none"
        return 3 + has_stage_1 + 2 * (len(self.audited.quick_neighbours) + (not self.is_quick))

    def parts(self) -> Sequence[AuditPart]:
        """The parts of the product's audit, in order."""
        audited, product = self.audited, self.audited.product
        name, cpu = product.name, audited.cpu_seconds
        route_seconds = cpu["routes"] + (_SPARK_SECONDS if SPARK in audited.routes else 0)
        single_checks = 2 + self._has_large_level + product.has_stage_1 + audited.is_specified
        single_checks += audited.of_one_unit is not None
        single_checks += sum(map(self._steps_of_form, audited.forms))
        neighbour_steps = 2 * (len(audited.neighbours) + (not self.is_quick)) + single_checks
        route_steps = 2 * (len(audited.routes) + (not self.is_quick))
        spending_steps = (
            2 + 2 * (product.totals_table is not None) + (product.record.unit is not None)
        )
        noise_steps = CHECKS_OF_A_NOISE_WORLD * len(audited.noise_worlds)
        loss_steps = sum(steps_of(self._runs(world)) for world in audited.loss_worlds)
        return (
            _part(
                _ONE_RECORD,
                f"neighbouring worlds of {name}",
                cpu["neighbours"],
                neighbour_steps,
                self._neighbours,
                name,
            ),
            _part(
                _NOISY_ONLY,
                f"every kind of output of {name}",
                route_seconds,
                route_steps,
                self._routes,
                name,
            ),
            _part(
                _RECORDED,
                f"accounts and floors of {name}",
                cpu["spending"],
                spending_steps,
                self._spending,
                name,
            ),
            _part(
                _PAID,
                f"noise of totals and cells of {name}",
                cpu["noise"],
                noise_steps,
                self._noise,
                name,
            ),
            AuditPart(
                _BUDGET,
                f"many runs of neighbours of {name}",
                cpu["loss"],
                loss_steps,
                self._loss,
                name,
            ),
        )


def audit(
    parts: Sequence[AuditPart], progress: Progress | None = None
) -> Iterator[tuple[AuditPart, Verdict]]:
    """Run the parts and yield each verdict as it is reached, with its part.

    All files are written to a temporary folder, which is removed at the end, or by the next audit
    if this one is killed.
    """
    progress = progress or NoProgress()
    with scratch_folder("safetab-audit-") as temporary:
        for number, part in enumerate(parts):
            progress.step(part.what[:1].upper() + part.what[1:], part.steps)
            for verdict in part.verdicts(temporary / str(number), progress.advance):
                yield part, verdict
