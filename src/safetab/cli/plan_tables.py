"""The plan of a run as tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from textwrap import wrap

from rich.table import Table as TextTable

from safetab.cli.text_tables import show_table, show_text, terminal_console, text_table
from safetab.core.algorithm.level_design import CONFIDENCE, LevelDesign, margin_of
from safetab.core.algorithm.run_plan import LevelPlan, RunPlan, output_if_all_groups_are_empty
from safetab.core.guarantees import guarantee
from safetab.core.guarantees.losses import (
    DELTA,
    JointLoss,
    no_protection,
    privacy_warnings,
    reference_words,
    reported_loss,
)
from safetab.core.guarantees.plan_json import exact
from safetab.core.privacy.calibration import NOISES, Stage
from safetab.core.privacy.composition import epsilon_of_rho
from safetab.core.privacy.reference import loss_text, reference_losses
from safetab.foundation.files import package_data
from safetab.inputs.tuning.tuning import Tuning
from safetab.model.census.census import PopulationGroupLevel, Words
from safetab.model.config.run_config import RunConfig
from safetab.model.products.product import Selector

NONE = "-"


def show_plan(plan: RunPlan) -> None:
    """Print what a run costs, its margins and noise, what it measures and what it publishes."""
    console = terminal_console()
    show_text(_title(plan) + "\n", console)
    warning = no_protection(plan.unprotected_levels)
    if warning is not None:
        show_text(f"STOP. {warning}\n", console, "bold")
    config, product = plan.config, plan.config.product
    is_staged = product.selector is Selector.NOISY_STAGE_1
    margins = f"Budgets, margins of error (+/-) at {float(CONFIDENCE):.0%}, and noise"
    published = (
        " on average if all groups are empty" if is_staged else ", however many are in the groups"
    )
    show_table("Total privacy loss", loss_table(plan), console)
    for family in product.families:
        of_family = f": {family.name}" if product.has_several_families else ""
        levels = [level for level in plan.levels if level.family is family]
        if levels:
            designs = [level.design for level in levels]
            show_table(f"{margins}{of_family}", noise_table(config, designs, CONFIDENCE), console)
            groups = _groups_table(config, levels)
            show_table(f"What is measured, and published{published}{of_family}", groups, console)
    for note in (*_notes(plan), *_about_guarantee(plan)):
        show_text(note, console)
    for warning in privacy_warnings(plan):
        show_text(f"Warning: {warning}", console)


_ROWS = package_data("safetab.cli", "texts.toml")["plan"]


def show_joint_loss(joint: JointLoss) -> None:
    """Print what each change to a person or a household costs in both products together."""
    symbol = joint.definition.budget_symbol
    at_delta = [] if joint.definition.is_pure else [f"epsilon at\ndelta {float(DELTA):g}"]
    heads = [head for each in joint.passes for head in (f"{each.name.upper()} {symbol}", *at_delta)]
    table = text_table("what changes", *heads)
    for change, losses in joint.rows():
        cells = [
            (loss, *(epsilon_of_rho(loss, DELTA) for _ in at_delta)) for loss in losses.values()
        ]
        table.add_row(change, *(loss_text(amount) for of_pass in cells for amount in of_pass))
    names = " and ".join(config.product.name for config in (joint.persons, joint.households))
    console = terminal_console()
    console.print()
    show_table(f"Total privacy loss of {names} together, at most", table, console)


def show_settings(settings: Mapping[str, Mapping[str, object]]) -> None:
    """Print what a run takes from the environment, if anything.

    The defaults of the other settings stand beside it.
    """
    if all(setting["from"] == "default" for setting in settings.values()):
        return
    table = text_table("", "value", "from")
    for option, setting in settings.items():
        value = NONE if setting["value"] is None else str(setting["value"])
        table.add_row(option, value, str(setting["from"]))
    console = terminal_console()
    console.print()
    show_table("Settings of a run here, unless it is given others", table, console)


def _title(plan: RunPlan) -> str:
    """The kind of run, in one sentence."""
    config = plan.config
    noise = NOISES[config.privacy_definition.mechanism].words
    groups = {level.level: level.measured_groups for level in plan.levels}
    return (
        f"Plan of a run of {config.product.name}: {sum(groups.values()):,} population groups at"
        f" {len(groups)} levels, {config.privacy_definition.full_name}, {noise} noise."
        f" A population group is one {config.census.words.group} in one area."
        " This plan was made without opening a record."
    )


def noise_table(
    config: RunConfig, designs: Iterable[LevelDesign], *confidences: Fraction
) -> TextTable:
    """Budgets, margins at these confidences, and noise.

    They share one column for all levels that agree. A line without a number is left out.
    """
    alike: dict[tuple[tuple[str, str], ...], list[PopulationGroupLevel]] = {}
    for design in designs:
        alike.setdefault(tuple(_lines(design, confidences)), []).append(design.level)
    table = text_table("", *(_names(levels, config) for levels in alike.values()))
    for cells in zip(*alike, strict=True):
        label, texts = cells[0][0], [text for _, text in cells]
        if set(texts) != {NONE}:
            table.add_row(label, *texts)
    return table


def _lines(design: LevelDesign, confidences: Sequence[Fraction]) -> Iterator[tuple[str, str]]:
    """The labels and texts of a level; - for none.

    All levels of a table family have the same labels.
    """
    least = dict(zip(design.family.finer, design.thresholds.totals, strict=False))
    otherwise = "every group" if design.product.selector is Selector.NONE else NONE

    def margins(stage: Stage, draws: int = 1) -> str:
        if stage not in design.stages or not design.can_be_drawn:
            return NONE
        return " / ".join(
            f"{margin_of(design.noise(stage), draws, each):,}" for each in confidences
        )

    yield design.definition.budget_symbol, exact(design.budget)
    for shape in design.shapes:
        if shape is design.family.total:
            yield "+/- lone total", margins(Stage.STAGE_2)
            continue
        yield shape.title, f"from {least[shape]:,}" if shape in least else otherwise
        yield from (
            (f"  +/- {kind.short}", margins(Stage.STAGE_2, kind.draws)) for kind in shape.kinds
        )
    yield "+/- total-only group", margins(Stage.TOTAL_ONLY)
    yield "T", _shown(design.suppression_threshold)
    yield "stability", str(design.stability)
    width = NOISES[design.definition.mechanism].width_name
    for stage, name in _STAGES.items():
        yield f"{width}{name if design.product.has_stage_1 else ''}", parameter_text(design, stage)


_STAGES = {Stage.STAGE_1: ", stage 1", Stage.STAGE_2: ", stage 2", Stage.TOTAL_ONLY: ", total-only"}


def _names(levels: Iterable[PopulationGroupLevel], config: RunConfig) -> str:
    """The levels on short lines, areas with the same levels of groups together."""
    groups_of: dict[str, list[str]] = {}
    for level in levels:
        groups_of.setdefault(_area(level, config), []).append(
            level.iterations.name.replace(" ", _NO_BREAK)
        )
    areas_of: dict[str, list[str]] = {}
    for area, groups in groups_of.items():
        areas_of.setdefault(", ".join(groups), []).append(area)
    names = [f"{', '.join(areas)}: {groups}" for groups, areas in areas_of.items()]
    lines = (
        wrap(name, _HEAD_WIDTH, break_long_words=False, break_on_hyphens=False) for name in names
    )
    return "\n".join(chain.from_iterable(lines)).replace(_NO_BREAK, " ")


_HEAD_WIDTH = 13
_NO_BREAK = "\N{NO-BREAK SPACE}"


def _groups_table(config: RunConfig, levels: Sequence[LevelPlan]) -> TextTable:
    """For each level: areas and groups, and what would be published if all groups were empty.

    The latter are numbers of groups and of rows.
    """
    # Only noise leaves the number of rows in doubt.
    places = 2 if config.product.selector is Selector.NOISY_STAGE_1 else 0
    outputs = [output_if_all_groups_are_empty(level) for level in levels]
    columns = _counts(config.census.words, levels)
    published = {tuple(output.published_groups for output in outputs): "published"}
    for folder in levels[0].family.folders:  # equal columns are one
        rows = tuple(output.rows[folder] for output in outputs)
        published[rows] = (
            f"{published[rows]}\n= {folder} rows" if rows in published else f"{folder}\nrows"
        )
    table = text_table("level", *columns, *published.values())
    for number, level in enumerate(levels):
        counts = [f"{column[number]:,}" for column in columns.values()]
        table.add_row(
            _name(level.level, config),
            *counts,
            *(f"{column[number]:,.{places}f}" for column in published),
        )
    table.add_section()
    with_t = [
        number
        for number, level in enumerate(levels)
        if level.design.suppression_threshold is not None
    ]
    for name, numbers in {"all levels": range(len(levels)), "  with T": with_t}.items():
        groups, *rest = (
            sum(column[number] for number in numbers) for column in (columns["groups"], *published)
        )
        counts = [f"{groups:,}" if head == "groups" else "" for head in columns]
        if numbers:
            table.add_row(name, *counts, *(f"{number:,.{places}f}" for number in rest))
    return table


def _counts(words: Words, levels: Sequence[LevelPlan]) -> dict[str, list[int]]:
    """Columns of whole numbers by their heads: areas and groups."""
    universes = [level.universe for level in levels]
    columns = {words.entities: [len(universe.entities) for universe in universes]}
    total_only = [universe.total_only_iterations for universe in universes]
    if any(total_only):
        adaptive = [
            len(universe.iterations) - universe.total_only_iterations for universe in universes
        ]
        columns |= {
            f"adaptive\n{words.iterations}": adaptive,
            f"total-only\n{words.iterations}": total_only,
        }
    return columns | {"groups": [universe.size for universe in universes]}


def loss_table(made: RunPlan | Tuning) -> TextTable:
    """The loss of each pass and of anybody.

    Under zCDP, a loss to compare with is in the last row.
    """
    config, product, definition = made.config, made.config.product, made.config.privacy_definition
    losses = {
        each.title: made.loss_of(each) for each in config.passes if len(config.census.passes) > 1
    }
    losses |= {f"any {product.record.protected} in this run": made.loss}
    measures = [definition.budget_symbol]
    if not definition.is_pure:
        losses |= reference_losses(product)
        measures.append(f"epsilon at\ndelta {float(DELTA):g}")
    heads = [f"{kind}\n{measure}" for measure in measures for kind in ("unbounded", "bounded")]
    table = text_table("whose loss", *heads)
    for whose, loss in losses.items():
        reported = reported_loss(definition, loss)
        epsilons = (
            () if definition.is_pure else (reported.unbounded_epsilon, reported.bounded_epsilon)
        )
        table.add_row(
            whose,
            *(loss_text(number) for number in (reported.unbounded, reported.bounded, *epsilons)),
        )
    return table


def _notes(plan: RunPlan) -> list[str]:
    """Explanations below the tables, only those that apply."""
    definition, product, words = (
        plan.config.privacy_definition,
        plan.config.product,
        plan.config.census.words,
    )
    added, changed = guarantee.neighbours_in_words(product)
    notes = [
        (
            f"T: {words.below}, a group that gets only a total is published only if its noisy"
            " total is above T."
        )
    ]
    notes = (
        notes
        if any(level.design.suppression_threshold is not None for level in plan.levels)
        else []
    )
    notes += [
        _ROWS[product.selector.value].format(nouns=product.record.nouns),
        f"Unbounded: {added}; bounded: {changed}. Losses are rounded up.",
        *(reference_words(product, definition) if definition.is_pure else []),
        *(
            [product.reference.published]
            if product.reference and product.reference.published
            else []
        ),
    ]
    if plan.levels_left_out:
        notes.append(
            f"Not tabulated, for a budget of 0: {', '.join(map(str, plan.levels_left_out))}."
        )
    return notes


def _about_guarantee(plan: RunPlan) -> list[str]:
    """The guarantee of a specification: what is protected, and what is taken to be public.

    It also says who reaches the stability.
    """
    if not guarantee.is_specified(plan.config.census):
        return []
    files = [
        f"  {name}  sha256 {digest}"
        for name, digest in guarantee.hashes_of_public_files(plan).items()
    ]
    sentence = guarantee.protected_sentence(plan.config.product)
    return [sentence, *guarantee.stabilities_in_words(plan), guarantee.TAKEN_TO_BE_PUBLIC, *files]


def _name(level: PopulationGroupLevel, config: RunConfig) -> str:
    comma = "," if guarantee.is_specified(config.census) else ""
    return f"{_area(level, config)}{comma} {level.iterations.name}"


def _area(level: PopulationGroupLevel, config: RunConfig) -> str:
    return level.geography.title if guarantee.is_specified(config.census) else level.geography.label


def parameter_text(design: LevelDesign, stage: Stage) -> str:
    """The sigma or the scale of a stage's noise; - if the level has no such stage."""
    return f"{design.noise(stage).width:.5g}" if stage in design.stages else NONE


def _shown(number: int | None) -> str:
    """The number with thousands separated; - for None."""
    return NONE if number is None else f"{number:,}"
