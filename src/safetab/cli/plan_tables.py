"""The plan as tables for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table as TextTable

from safetab.cli.text_tables import show_table, show_text, terminal_console, text_table
from safetab.planning.expectations import output_if_all_groups_are_empty
from safetab.planning.joint_loss import JointLoss
from safetab.planning.level_design import CONFIDENCE, LevelDesign, LevelMargins
from safetab.planning.losses import DELTA, reference_words, reported_loss
from safetab.planning.plan_json import exact
from safetab.planning.privacy_warnings import privacy_warnings
from safetab.planning.protection import no_protection
from safetab.planning.run_plan import LevelPlan, RunPlan
from safetab.privacy.composition import PrivacyLoss
from safetab.privacy.conversions import epsilon_of_rho
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.loss_text import loss_text
from safetab.privacy.reference import loss_of_2020
from safetab.privacy.stages import Stage
from safetab.products.product import Product, Selector, TableFamily

NONE = "-"


def show_plan(plan: RunPlan) -> None:
    console = terminal_console()
    show_text(_title(plan) + "\n", console)
    warning = no_protection(plan.unprotected_levels)
    if warning is not None:
        show_text(f"STOP. {warning}\n", console, "bold")
    families = plan.config.product.families
    for family in families:
        show_table(f"What is measured{_of(family, families)}", _groups_table(plan, family), console)
    for family in families:
        title = f"Noise, and margins of error (+/-) at {float(CONFIDENCE):.0%}{_of(family, families)}"
        show_table(title, _noise_table(plan, family), console)
    for family in families:
        title = f"What is published{_IF_EMPTY[plan.config.product.selector]}{_of(family, families)}"
        show_table(title, _output_table(plan, family), console)
    show_table("Total privacy loss", _loss_table(plan), console)
    for note in _notes(plan):
        show_text(note, console)
    for warning in privacy_warnings(plan):
        show_text(f"Warning: {warning}", console)


_IF_EMPTY = {
    Selector.NOISY_STAGE_1: ", on average, if nobody is in any group",
    Selector.PUBLISHED_TOTALS: ", whoever is in the groups",
}
_ROWS = {
    Selector.NOISY_STAGE_1: "Rows: a group with people in it is published at least as often as an empty one, so a run"
    " has as many or more.",
    Selector.PUBLISHED_TOTALS: "Thresholds are compared with published totals, which count people. A group without such"
    " a total is not measured.",
}


def _of(family: TableFamily, families: Sequence[TableFamily]) -> str:
    return f": {family.name}" if len(families) > 1 else ""


def show_joint_loss(joint: JointLoss) -> None:
    """Print what each change to a person or a household costs in both products together."""
    symbol = joint.definition.budget_symbol
    at_delta = [f"epsilon at\ndelta {float(DELTA):g}"] if joint.definition is PrivacyDefinition.ZCDP else []
    table = text_table(
        "what changes",
        *(head for one in joint.passes for head in (f"{one.value.upper()} {symbol}", *at_delta)),
    )
    for change, losses in joint.rows():
        cells = [(loss, *(epsilon_of_rho(loss, DELTA) for _ in at_delta)) for loss in losses.values()]
        table.add_row(change, *(loss_text(amount) for of_pass in cells for amount in of_pass))
    names = " and ".join(config.product.name for config in (joint.persons, joint.households))
    console = terminal_console()
    console.print()
    show_table(f"Total privacy loss of {names} together, at most", table, console)


def _title(plan: RunPlan) -> str:
    config = plan.config
    noise = "discrete Gaussian" if config.privacy_definition is PrivacyDefinition.ZCDP else "two-sided geometric"
    groups = {one.level: one.measured_groups for one in plan.levels}
    return (
        f"Plan of a run of {config.product.name}: {sum(groups.values()):,} population groups at {len(groups)} levels,"
        f" {config.privacy_definition.full_name}, {noise} noise. No {config.product.record.noun} record was opened."
    )


def _groups_table(plan: RunPlan, family: TableFamily) -> TextTable:
    symbol, selector = plan.config.privacy_definition.budget_symbol, plan.config.product.selector
    counted = _COUNTED[selector]
    table = text_table("level", "entities", *counted, "stability", symbol, _THRESHOLDS[selector])
    for level in plan.levels:
        if level.family is not family:
            continue
        universe, chosen = level.universe, level.selected
        total_only = universe.total_only_iterations
        adaptive = len(universe.iterations) - total_only
        numbers = (adaptive, total_only if chosen is None else universe.size, level.measured_groups)
        table.add_row(
            _name(level),
            f"{len(universe.entities):,}",
            *(f"{number:,}" for number in numbers),
            str(level.design.stability),
            exact(level.design.budget),
            " ".join(str(threshold) for threshold in level.design.thresholds.totals),
        )
    return table


_COUNTED = {
    Selector.NOISY_STAGE_1: ("adaptive\niterations", "total-only\niterations", "groups"),
    Selector.PUBLISHED_TOTALS: ("iterations", "groups", "groups with a\npublished total"),
}
_THRESHOLDS = {Selector.NOISY_STAGE_1: "thresholds", Selector.PUBLISHED_TOTALS: "thresholds\n(people)"}


def _noise_table(plan: RunPlan, family: TableFamily) -> TextTable:
    parameter = "sigma" if plan.config.privacy_definition is PrivacyDefinition.ZCDP else "scale"
    margins = [f"+/- {head}" for head in margin_heads(family)]
    if plan.config.product.selector is Selector.PUBLISHED_TOTALS:
        table = text_table("level", parameter, *margins)
        for level in (one for one in plan.levels if one.family is family):
            *texts, _ = margin_texts(level.design.margins(), family)
            table.add_row(_name(level), parameter_text(level.design, Stage.STAGE_2), *texts)
        return table
    table = text_table(
        "level",
        *(f"{parameter}\n{what}" for what in ("stage 1", "stage 2", "total-only")),
        *("T", *margins, "+/-\ntotal-only"),
    )
    for level in (one for one in plan.levels if one.family is family):
        table.add_row(
            _name(level),
            *(parameter_text(level.design, stage) for stage in (Stage.STAGE_1, Stage.STAGE_2, Stage.TOTAL_ONLY)),
            shown(level.design.suppression_threshold),
            *margin_texts(level.design.margins(), family),
        )
    return table


def margin_heads(family: TableFamily) -> Iterator[str]:
    """For a lone total, then for each coarser kind of line of the finer shapes."""
    sizes = ", ".join(str(shape.divisions) for shape in family.finer)
    yield "cell,\nlone total"
    shorts = {kind.name: kind.short for shape in family.finer for kind in shape.kinds}
    yield from (f"{shorts[kind]} of\n{sizes} {family.divided_into}" for kind in family.sums)


def margin_texts(margins: LevelMargins | None, family: TableFamily) -> Iterator[str]:
    """Those of `margin_heads`, then that of a TotalOnly group."""
    shapes = {} if margins is None else margins.shapes
    yield shown(shapes[family.total]["total"] if shapes else None)
    for kind in family.sums:
        yield " ".join(shown(shapes[shape].get(kind)) for shape in family.finer if shapes) or NONE
    yield shown(margins.total_only if margins else None)


def _output_table(plan: RunPlan, family: TableFamily) -> TextTable:
    folders = family.folders
    table = text_table("level", "groups published", *(f"rows of {folder}" for folder in folders))
    levels = [level for level in plan.levels if level.family is family]
    places = 2 if plan.config.product.selector is Selector.NOISY_STAGE_1 else 0  # published totals leave no doubt
    outputs = [output_if_all_groups_are_empty(level) for level in levels]
    for level, output in zip(levels, outputs, strict=True):
        numbers = (output.published_groups, *(output.rows[folder] for folder in folders))
        table.add_row(_name(level), *(f"{number:,.{places}f}" for number in numbers))
    table.add_section()
    rows = (sum(output.rows[folder] for output in outputs) for folder in folders)
    sums = (sum(output.published_groups for output in outputs), *rows)
    table.add_row("all levels", *(f"{number:,.{places}f}" for number in sums))
    return table


def _loss_table(plan: RunPlan) -> TextTable:
    losses = {f"{one.value.upper()} pass": plan.loss_of(one) for one in plan.config.passes}
    anybody = f"any {plan.config.product.record.noun} in this run"
    return loss_table(plan.config.product, plan.config.privacy_definition, losses | {anybody: plan.loss})


def loss_table(product: Product, definition: PrivacyDefinition, losses: Mapping[str, PrivacyLoss]) -> TextTable:
    """The losses of these people, and that of 2020 below them where it has the same unit."""
    symbol, is_zcdp = definition.budget_symbol, definition is PrivacyDefinition.ZCDP
    at_delta = [f"{kind} epsilon\nat delta {float(DELTA):g}" for kind in ("unbounded", "bounded")] if is_zcdp else []
    table = text_table(product.record.nouns, f"unbounded {symbol}", f"bounded {symbol}", *at_delta)
    of_2020 = [(product.reference.name, loss_of_2020(product))] if is_zcdp else []
    for people, loss in [*losses.items(), *of_2020]:
        reported = reported_loss(definition, loss)
        epsilons = (reported.unbounded_epsilon, reported.bounded_epsilon) if is_zcdp else ()
        table.add_row(people, *(loss_text(number) for number in (reported.unbounded, reported.bounded, *epsilons)))
    return table


def _notes(plan: RunPlan) -> list[str]:
    definition = plan.config.privacy_definition
    notes = ["T: below state level, a group that gets only a total is published only if it is above T."]
    notes = notes if any(level.design.suppression_threshold is not None for level in plan.levels) else []
    notes += [
        _ROWS[plan.config.product.selector],
        f"Unbounded: a {plan.config.product.record.noun}'s record is added or removed; bounded: it is changed."
        " Losses are rounded up.",
        *([reference_words(plan.config.product, definition)] if definition is PrivacyDefinition.PURE_DP else []),
        plan.config.product.reference.published,
    ]
    if plan.levels_left_out:
        notes.append(f"Not tabulated, for a budget of 0: {', '.join(map(str, plan.levels_left_out))}.")
    return notes


def _name(level: LevelPlan) -> str:
    return f"{level.level.geography.label} {level.level.iterations.label}"


def parameter_text(design: LevelDesign, stage: Stage) -> str:
    """Sigma, or the scale."""
    return f"{design.noise(stage).width:.5g}" if stage in design.stages else NONE


def shown(number: int | None) -> str:
    return NONE if number is None else f"{number:,}"
