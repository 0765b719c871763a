"""The plan as tables for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as TextTable

from safetab.planning.expectations import output_if_all_groups_are_empty
from safetab.planning.level_design import CONFIDENCE, LevelDesign, LevelMargins
from safetab.planning.losses import DELTA, published_words, reference_words, reported_loss
from safetab.planning.plan_json import exact
from safetab.planning.privacy_warnings import privacy_warnings
from safetab.planning.protection import no_protection
from safetab.planning.run_plan import LevelPlan, RunPlan
from safetab.privacy.composition import PrivacyLoss
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.loss_text import loss_text
from safetab.privacy.reference import REFERENCE, REFERENCE_NAME
from safetab.privacy.stages import Stage
from safetab.products.product import TableFamily

_WIDTH = 1000  # tables take what they need: a number cut short would be a wrong number
NONE = "-"


def show_plan(plan: RunPlan) -> None:
    console = Console(width=_WIDTH, highlight=False)
    console.print(_title(plan) + "\n", soft_wrap=True)
    warning = no_protection(plan.unprotected_levels)
    if warning is not None:
        console.print(f"STOP. {warning}\n", style="bold", soft_wrap=True)
    show_table("What is measured", _groups_table(plan), console)
    for one in plan.config.families:
        title = f"Noise, and margins of error (+/-) at {float(CONFIDENCE):.0%}"
        show_table(title, _noise_table(plan, one.family), console)
    show_table("What is published, on average, if nobody is in any group", _output_table(plan), console)
    show_table("Total privacy loss", _loss_table(plan), console)
    for note in _notes(plan):
        console.print(note, soft_wrap=True)
    for warning in privacy_warnings(plan):
        console.print(f"Warning: {warning}", soft_wrap=True)


def _title(plan: RunPlan) -> str:
    config = plan.config
    noise = "discrete Gaussian" if config.privacy_definition is PrivacyDefinition.ZCDP else "two-sided geometric"
    groups = sum(level_plan.universe.size for level_plan in plan.levels)
    return (
        f"Plan of a run: {groups:,} population groups at {len(plan.levels)} levels,"
        f" {config.privacy_definition.full_name}, {noise} noise. No person record was opened."
    )


def text_table(*columns: str) -> TextTable:
    table = TextTable(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for position, column in enumerate(columns):
        table.add_column(column, no_wrap=True, justify="right" if position else "left")
    return table


def show_table(title: str, table: TextTable, console: Console) -> None:
    console.print(title, style="bold", soft_wrap=True)
    console.print(table)


def _groups_table(plan: RunPlan) -> TextTable:
    symbol = plan.config.privacy_definition.budget_symbol
    table = text_table(
        *(
            "level",
            "entities",
            "adaptive\niterations",
            "total-only\niterations",
            "groups",
            "stability",
            symbol,
            "thresholds",
        ),
    )
    for level in plan.levels:
        universe = level.universe
        table.add_row(
            _name(level),
            f"{len(universe.entities):,}",
            f"{len(universe.iterations) - universe.total_only_iterations:,}",
            f"{universe.total_only_iterations:,}",
            f"{universe.size:,}",
            str(level.design.stability),
            exact(level.design.budget),
            " ".join(str(threshold) for threshold in level.design.thresholds.totals),
        )
    return table


def _noise_table(plan: RunPlan, family: TableFamily) -> TextTable:
    parameter = "sigma" if plan.config.privacy_definition is PrivacyDefinition.ZCDP else "scale"
    table = text_table(
        "level",
        *(f"{parameter}\n{what}" for what in ("stage 1", "stage 2", "total-only")),
        *("T", *(f"+/- {head}" for head in margin_heads(family)), "+/-\ntotal-only"),
    )
    for level in plan.levels:
        if level.family is family:
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
    yield from (f"{kind.short} of\n{sizes} {family.divided_into}" for kind in family.finer[0].kinds[1:])


def margin_texts(margins: LevelMargins | None, family: TableFamily) -> Iterator[str]:
    """Those of `margin_heads`, then that of a TotalOnly group."""
    shapes = {} if margins is None else margins.shapes
    yield shown(shapes[family.total]["total"] if shapes else None)
    for kind in family.finer[0].kinds[1:]:
        yield " ".join(shown(shapes[shape][kind.name]) for shape in family.finer if shapes) or NONE
    yield shown(margins.total_only if margins else None)


def _output_table(plan: RunPlan) -> TextTable:
    folders = [file.folder for file in plan.config.product.files]
    table = text_table("level", "groups published", *(f"rows of {folder}" for folder in folders))
    outputs = [output_if_all_groups_are_empty(level) for level in plan.levels]
    for level, output in zip(plan.levels, outputs, strict=True):
        table.add_row(_name(level), *_averages(output.published_groups, *output.rows.values()))
    table.add_section()
    rows = (sum(output.rows[folder] for output in outputs) for folder in folders)
    table.add_row("all levels", *_averages(sum(output.published_groups for output in outputs), *rows))
    return table


def _averages(*numbers: float) -> list[str]:
    return [f"{number:,.2f}" for number in numbers]


def _loss_table(plan: RunPlan) -> TextTable:
    losses = {f"{one.value.upper()} pass": plan.loss_of(one) for one in plan.config.passes}
    return loss_table(plan.config.privacy_definition, losses | {"anybody in this run": plan.loss})


def loss_table(definition: PrivacyDefinition, losses: Mapping[str, PrivacyLoss]) -> TextTable:
    """The losses of these people, and that of 2020 below them where it has the same unit."""
    symbol, is_zcdp = definition.budget_symbol, definition is PrivacyDefinition.ZCDP
    at_delta = [f"{kind} epsilon\nat delta {float(DELTA):g}" for kind in ("unbounded", "bounded")] if is_zcdp else []
    table = text_table("people", f"unbounded {symbol}", f"bounded {symbol}", *at_delta)
    for people, loss in [*losses.items(), *([(REFERENCE_NAME, REFERENCE)] if is_zcdp else [])]:
        reported = reported_loss(definition, loss)
        epsilons = (reported.unbounded_epsilon, reported.bounded_epsilon) if is_zcdp else ()
        table.add_row(people, *(loss_text(number) for number in (reported.unbounded, reported.bounded, *epsilons)))
    return table


def _notes(plan: RunPlan) -> list[str]:
    definition = plan.config.privacy_definition
    notes = ["T: below state level, a group that gets only a total is published only if it is above T."]
    notes = notes if any(level.design.suppression_threshold is not None for level in plan.levels) else []
    notes += [
        "Rows: a group with people in it is published at least as often as an empty one, so a run has as many or more.",
        "Unbounded: a person's record is added or removed; bounded: it is changed. Losses are rounded up.",
        *([reference_words(definition)] if definition is PrivacyDefinition.PURE_DP else []),
        published_words(),
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
