"""One census, counted once: its numbers, the areas under attack, and what the page says about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import numpy as np

from safetab.assessment.pages.page_parts import finer_table
from safetab.comparison.attacks.membership import membership_bound
from safetab.comparison.measures.utility import key_of_seed
from safetab.comparison.pages.words import text
from safetab.comparison.protections.protection import Protection
from safetab.comparison.request import CompareRequest, chosen_areas
from safetab.comparison.results import ComparedCensus
from safetab.comparison.tables.count_area import ChosenArea, CountedArea
from safetab.comparison.tables.counted_census import CountedCensus
from safetab.comparison.tables.people_of_area import PeopleOfArea, people_of_area
from safetab.engines.local.counter import RecordCounter
from safetab.foundation.findings import VERSION, Finding
from safetab.foundation.progress import Progress
from safetab.pipeline import guards
from safetab.pipeline.inputs import RunInputs, checked_engine, read_inputs
from safetab.planning.losses import DELTA, reported_loss
from safetab.planning.run_plan import RunPlan
from safetab.privacy.calibration import PrivacyDefinition
from safetab.privacy.reference import loss_text


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """The counts of one DATA by one PARAMETERS."""

    inputs: RunInputs
    engine: RecordCounter
    census: CountedCensus
    warnings: tuple[Finding, ...]
    people: int  # how many records were counted

    def areas(self, request: CompareRequest) -> tuple[CountedArea, ...]:
        """The areas under attack, with their systems. Raises InvalidInput if one can't be attacked."""
        chosen = chosen_areas(self.inputs, self.engine, request)
        return tuple(
            CountedArea(self.inputs, self.people_of(area), area, request.tables, request.seed) for area in chosen
        )

    def people_of(self, area: ChosenArea) -> PeopleOfArea:
        """The people of one area."""
        return people_of_area(self.engine, area.level, area.entity)


@contextmanager
def counted_world(parameters: Path, data: Path, request: CompareRequest, progress: Progress) -> Iterator[World]:
    """Read, check and count; the engine is closed at the end. Raises InvalidInput if an input is at fault."""
    options = request.options
    checked = read_inputs(parameters, data, totals=options.totals)
    inputs = checked.require()
    with guards.backend_of(options) as backend, checked_engine(checked, backend, progress) as (warnings, engine):
        if not isinstance(engine, RecordCounter):
            raise TypeError("records are counted in this process")
        config = inputs.plan.config
        progress.step(f"Counting the {config.product.record.counted} of each {config.census.part.noun}", 1)
        people = sum(engine.prepare().values())
        progress.advance()
        yield World(inputs, engine, CountedCensus(inputs, engine, progress, request.tables, options), warnings, people)


def guarantee_of(protection: Protection, plan: RunPlan) -> str:
    """The formal guarantee over the whole release in words, if a protection has one."""
    if not protection.is_safetab:
        return text("no_guarantee")
    definition = plan.config.privacy_definition
    loss = reported_loss(definition, plan.loss)
    own = f"{definition.budget_symbol} = {loss_text(loss.unbounded)}"
    if definition is not PrivacyDefinition.PURE_DP:
        epsilon = ceil(loss.unbounded_epsilon * 10) / 10
        own += f" (epsilon = {epsilon:,.1f} at delta = {float(DELTA):g})"
    noun, symbol = plan.config.product.record.noun, definition.budget_symbol
    return text("guarantee", noun=noun, own=own, symbol=symbol, bound=membership_bound(plan))


def comes_with(protection: Protection) -> str:
    """What a user gets with a number."""
    if protection.is_safetab:
        return "an interval"
    withholds = protection.selections or protection.numbers
    error = 0 if protection.numbers is None else protection.numbers.largest_error
    if protection.records is not None or not withholds or error is None:
        return "nothing"
    if error and "cell-key" in protection.spec and protection.source is not None and protection.source.assumed:
        return "the largest error, where the agency publishes it"
    return f"the largest error, {error:,}" if error else "a mark where withheld"


def census_words(world: World, areas: Sequence[CountedArea], request: CompareRequest) -> ComparedCensus:
    """What the page calls the census and its parts."""
    config = world.inputs.plan.config
    family = config.product.families[0]
    where = "where its true size gives one" if request.tables == "as-released" else "for every group"
    by = f", and a {finer_table(family)} {where}" if len(family.shapes) > 1 else ""
    smallest = [config.census.area_level(counted.area.levels[-1]).kind.nouns for counted in areas]
    return ComparedCensus(
        people=world.people,
        nouns=config.product.record.nouns,
        groups=config.census.words.groups,
        tables=f"the total of every group{by}",
        is_stress_test=request.tables == "every-group",
        whole=config.census.words.whole,
        attacked_area=", ".join(counted.area.name for counted in areas),
        areas=smallest[0] if smallest else "areas",
        has_tables_by_true_size=request.tables == "as-released",
    )


def facts_of(world: World, areas: Sequence[CountedArea], request: CompareRequest) -> Mapping[str, str]:
    """How the comparison was run."""
    record = world.inputs.plan.config.product.record
    facts = {
        "Program": f"safetab {VERSION}, NumPy {np.__version__}",
        "Records": f"{world.people:,} synthetic {record.nouns}",
        "Tables": request.tables,
        "Draws of each random protection": f"{request.runs:,}; swapping is drawn once",
        "Seed": str(request.seed),
        "Key of SafeTab's noise": key_of_seed(request.seed).hex(),
        "Time limit of solvers": "none" if request.time_limit is None else f"{request.time_limit:g} seconds",
    }
    for counted in areas:
        area = counted.area
        alone = [f"{share:.1%}" for share in counted.shares_unique()]
        facts[f"Area under attack: {area.name}"] = (
            f"{area.people:,} {record.nouns}, {len(area.areas) - 1:,} areas inside it, {len(area.systems):,} groups"
            f" ({area.kind}), {area.uniques:,} {record.nouns} alone in a cell; alone with their attribute in one of the"
            f" smallest areas: {alone[0]}, in one of its groups: {alone[1]}; shape of the prior {area.shape:.2f}"
        )
    return facts
