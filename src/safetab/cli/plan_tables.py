"""The plan of a run as tables for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table as TextTable

from safetab.cli.text_tables import show_table, show_text, terminal_console, text_table
from safetab.config.run_config import RunConfig
from safetab.planning.level_design import CONFIDENCE, LevelDesign, LevelMargins
from safetab.planning.losses import DELTA, JointLoss, no_protection, privacy_warnings, reference_words, reported_loss
from safetab.planning.plan_json import exact
from safetab.planning.run_plan import LevelPlan, RunPlan, output_if_all_groups_are_empty
from safetab.privacy.calibration import PrivacyDefinition, Stage
from safetab.privacy.composition import PrivacyLoss, epsilon_of_rho
from safetab.privacy.reference import loss_of_2020, loss_text
from safetab.products.product import Product, Selector, TableFamily

NONE = "-"


def show_plan(plan: RunPlan) -> None:
    """Print what a run measures, its noise and margins, what it publishes and its privacy loss."""
    console = terminal_console()
    show_text(_title(plan) + "\n", console)
    warning = no_protection(plan.unprotected_levels)
    if warning is not None:
        show_text(f"STOP. {warning}\n", console, "bold")
    product = plan.config.product
    tables = {
        "What is measured": _groups_table,
        f"Noise, and margins of error (+/-) at {float(CONFIDENCE):.0%}": _noise_table,
        f"What is published{_IF_EMPTY[product.selector]}": _output_table,
    }
    for title, table_of in tables.items():
        for family in product.families:
            of_family = f": {family.name}" if product.has_several_families else ""
            levels = [level for level in plan.levels if level.family is family]
            show_table(f"{title}{of_family}", table_of(plan.config, family, levels), console)
    losses = {f"{each.name.upper()} pass": plan.loss_of(each) for each in plan.config.passes}
    losses |= {f"any {product.record.noun} in this run": plan.loss}
    show_table("Total privacy loss", loss_table(product, plan.config.privacy_definition, losses), console)
    for note in _notes(plan):
        show_text(note, console)
    for warning in privacy_warnings(plan):
        show_text(f"Warning: {warning}", console)


_IF_EMPTY = {
    Selector.NOISY_STAGE_1: ", on average, if nobody is in any group",
    Selector.PUBLISHED_TOTALS: ", however many are in the groups",
}
_ROWS = {
    Selector.NOISY_STAGE_1: "Rows: a group with people in it is published at least as often as an empty one, so a run"
    " has at least as many.",
    Selector.PUBLISHED_TOTALS: "Thresholds are compared with published totals, which count people. A group without such"
    " a total is not measured.",
}


def show_joint_loss(joint: JointLoss) -> None:
    """Print what each change to a person or a household costs in both products together."""
    symbol = joint.definition.budget_symbol
    at_delta = [f"epsilon at\ndelta {float(DELTA):g}"] if joint.definition is PrivacyDefinition.ZCDP else []
    heads = [head for each in joint.passes for head in (f"{each.name.upper()} {symbol}", *at_delta)]
    table = text_table("what changes", *heads)
    for change, losses in joint.rows():
        cells = [(loss, *(epsilon_of_rho(loss, DELTA) for _ in at_delta)) for loss in losses.values()]
        table.add_row(change, *(loss_text(amount) for of_pass in cells for amount in of_pass))
    names = " and ".join(config.product.name for config in (joint.persons, joint.households))
    console = terminal_console()
    console.print()
    show_table(f"Total privacy loss of {names} together, at most", table, console)


def _title(plan: RunPlan) -> str:
    """What kind of run it is, in one sentence."""
    config = plan.config
    noise = "discrete Gaussian" if config.privacy_definition is PrivacyDefinition.ZCDP else "two-sided geometric"
    groups = {level.level: level.measured_groups for level in plan.levels}
    return (
        f"Plan of a run of {config.product.name}: {sum(groups.values()):,} population groups at {len(groups)} levels,"
        f" {config.privacy_definition.full_name}, {noise} noise. No {config.product.record.noun} record was opened."
    )


def _groups_table(config: RunConfig, _: TableFamily, levels: Sequence[LevelPlan]) -> TextTable:
    """For each level: entities, groups, stability, budget and thresholds."""
    symbol = config.privacy_definition.budget_symbol
    selector = config.product.selector
    table = text_table("level", "entities", *_COUNTED[selector], "stability", symbol, _THRESHOLDS[selector])
    for level in levels:
        total_only = level.universe.total_only_iterations
        adaptive = len(level.universe.iterations) - total_only
        groups = total_only if level.selected is None else level.universe.size
        numbers = (len(level.universe.entities), adaptive, groups, level.measured_groups)
        design = level.design
        about_noise = (str(design.stability), exact(design.budget), " ".join(map(str, design.thresholds.totals)))
        table.add_row(_name(level), *(f"{number:,}" for number in numbers), *about_noise)
    return table


_COUNTED = {
    Selector.NOISY_STAGE_1: ("adaptive\niterations", "total-only\niterations", "groups"),
    Selector.PUBLISHED_TOTALS: ("iterations", "groups", "groups with a\npublished total"),
}
_THRESHOLDS = {Selector.NOISY_STAGE_1: "thresholds", Selector.PUBLISHED_TOTALS: "thresholds\n(people)"}


def _noise_table(config: RunConfig, family: TableFamily, levels: Sequence[LevelPlan]) -> TextTable:
    """For each level: the width of its noise and its margins of error."""
    parameter = "sigma" if config.privacy_definition is PrivacyDefinition.ZCDP else "scale"
    margins = [f"+/- {head}" for head in margin_heads(family)]
    if config.product.selector is Selector.PUBLISHED_TOTALS:
        table = text_table("level", parameter, *margins)
        for level in levels:
            *texts, _ = margin_texts(level.design.margins(), family)
            table.add_row(_name(level), parameter_text(level.design, Stage.STAGE_2), *texts)
        return table
    stages = {Stage.STAGE_1: "stage 1", Stage.STAGE_2: "stage 2", Stage.TOTAL_ONLY: "total-only"}
    parameters = [f"{parameter}\n{what}" for what in stages.values()]
    table = text_table("level", *parameters, "T", *margins, "+/-\ntotal-only")
    for level in levels:
        widths = [parameter_text(level.design, stage) for stage in stages]
        texts = [shown(level.design.suppression_threshold), *margin_texts(level.design.margins(), family)]
        table.add_row(_name(level), *widths, *texts)
    return table


def margin_heads(family: TableFamily) -> Iterator[str]:
    """Column heads: for a lone total, then for each kind of sum in the finer shapes."""
    sizes = ", ".join(str(shape.divisions) for shape in family.finer)
    yield "cell,\nlone total"
    shorts = {kind.name: kind.short for shape in family.finer for kind in shape.kinds}
    yield from (f"{shorts[kind]} of\n{sizes} {family.divided_into}" for kind in family.sums)


def margin_texts(margins: LevelMargins | None, family: TableFamily) -> Iterator[str]:
    """The cells below `margin_heads`, then the margin of a TotalOnly group; - for none."""
    shapes = {} if margins is None else margins.shapes
    yield shown(shapes[family.total]["total"] if shapes else None)
    for kind in family.sums:
        yield " ".join(shown(shapes[shape].get(kind)) for shape in family.finer if shapes) or NONE
    yield shown(margins.total_only if margins else None)


def _output_table(config: RunConfig, family: TableFamily, levels: Sequence[LevelPlan]) -> TextTable:
    """For each level: how much would be published if all groups were empty."""
    table = text_table("level", "groups published", *(f"rows of {folder}" for folder in family.folders))
    # Published totals leave no doubt about the number of rows; noise does.
    places = 2 if config.product.selector is Selector.NOISY_STAGE_1 else 0
    rows = {}
    for level in levels:
        output = output_if_all_groups_are_empty(level)
        rows[_name(level)] = (output.published_groups, *(output.rows[folder] for folder in family.folders))
    sums = [sum(numbers) for numbers in zip(*rows.values(), strict=True)] or [0] * (1 + len(family.folders))
    for name, numbers in {**rows, "all levels": sums}.items():
        if name == "all levels":
            table.add_section()
        table.add_row(name, *(f"{number:,.{places}f}" for number in numbers))
    return table


def loss_table(product: Product, definition: PrivacyDefinition, losses: Mapping[str, PrivacyLoss]) -> TextTable:
    """The losses of these people; under zCDP, the loss of 2020 is in the last row."""
    symbol = definition.budget_symbol
    is_zcdp = definition is PrivacyDefinition.ZCDP
    at_delta = [f"{kind} epsilon\nat delta {float(DELTA):g}" for kind in ("unbounded", "bounded")] if is_zcdp else []
    table = text_table(product.record.nouns, f"unbounded {symbol}", f"bounded {symbol}", *at_delta)
    of_2020 = [(product.reference.name, loss_of_2020(product))] if is_zcdp else []
    for people, loss in [*losses.items(), *of_2020]:
        reported = reported_loss(definition, loss)
        epsilons = (reported.unbounded_epsilon, reported.bounded_epsilon) if is_zcdp else ()
        table.add_row(people, *(loss_text(number) for number in (reported.unbounded, reported.bounded, *epsilons)))
    return table


def _notes(plan: RunPlan) -> list[str]:
    """Explanations below the tables, only those that apply."""
    definition = plan.config.privacy_definition
    product = plan.config.product
    notes = [f"T: {plan.config.census.words.below}, a group that gets only a total is published only if it is above T."]
    notes = notes if any(level.design.suppression_threshold is not None for level in plan.levels) else []
    notes += [
        _ROWS[product.selector],
        f"Unbounded: a {product.record.noun}'s record is added or removed; bounded: it is changed."
        " Losses are rounded up.",
        *([reference_words(product, definition)] if definition is PrivacyDefinition.PURE_DP else []),
        product.reference.published,
    ]
    if plan.levels_left_out:
        notes.append(f"Not tabulated, for a budget of 0: {', '.join(map(str, plan.levels_left_out))}.")
    return notes


def _name(level: LevelPlan) -> str:
    return f"{level.level.geography.label} {level.level.iterations.name}"


def parameter_text(design: LevelDesign, stage: Stage) -> str:
    """The sigma or the scale of a stage's noise; - if the level has no such stage."""
    return f"{design.noise(stage).width:.5g}" if stage in design.stages else NONE


def shown(number: int | None) -> str:
    """The number with thousands separated; - for None."""
    return NONE if number is None else f"{number:,}"
