"""Closing messages of commands about the output that they wrote."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from safetab.cli.json_document import answer
from safetab.cli.messages import note, say
from safetab.core.guarantees.losses import privacy_warnings, reference_words, reported_loss
from safetab.core.guarantees.plan_json import loss_as_json
from safetab.core.privacy.output_status import OutputStatus, status_as_json
from safetab.core.privacy.reference import loss_text
from safetab.release.report.report import REPORT_FILE

if TYPE_CHECKING:  # a command loads what it needs itself
    from safetab.apps.accuracy.accuracy_files import AccuracySummary
    from safetab.release.files.official.write_official import OfficialSummary
    from safetab.runs.rerelease import RereleaseSummary
    from safetab.runs.run import RunSummary

_NUMBERS = "release/numbers/"


def answer_written(status: OutputStatus | None, *written: Path, **more: object) -> None:
    """Say in JSON what was written, and whether it may be released."""
    answer(
        {"written": [*map(str, written)], **more}
        | ({} if status is None else status_as_json(status))
    )


def answer_run(summary: RunSummary, out: Path) -> None:
    """Say in JSON what a run wrote, what it cost and whether it may be released."""
    config = summary.plan.config
    answer_written(
        summary.status,
        out,
        rows=summary.rows,
        protected=config.product.record.protected,
        privacy_definition=config.privacy_definition.spelling,
        loss=loss_as_json(summary.plan),
        privacy_warnings=[*privacy_warnings(summary.plan)],
    )


def show_run(summary: RunSummary, out: Path, *, is_quiet: bool = False) -> None:
    """Print what a run wrote, what it cost and whether it may be released.

    If it is to be quiet, in three lines.
    """
    config = summary.plan.config
    definition = config.privacy_definition
    loss = reported_loss(definition, summary.plan.loss)
    say(f"Wrote {out}{'.' if is_quiet else ':'}")
    if not is_quiet:
        _show_rows(
            {name: rows for name, rows in summary.rows.items() if not name.startswith("release/")}
        )
        numbers = [rows for name, rows in summary.rows.items() if name.startswith(_NUMBERS)]
        say(
            f"  release: {sum(numbers):,} rows of numbers in {len(numbers)} files,"
            " and the universe they come from"
        )
        say(f"  {REPORT_FILE}: what was released, how precise it is and what it cost, for people")
    say(
        f"Privacy loss per {config.product.record.protected}: {definition.budget_symbol}"
        f" {loss_text(loss.unbounded)} (bounded {loss_text(loss.bounded)})."
    )
    for words in () if is_quiet else reference_words(config.product, definition):
        say(words)
    for warning in privacy_warnings(summary.plan):
        say(f"Warning: {warning}", err=True)
    say(f"{summary.status.line} The confidential log is for the curator alone.")


def show_rerelease(summary: RereleaseSummary, out: Path, new: Path) -> None:
    """Print what a re-release of OUT wrote into NEW."""
    answer_written(summary.status, new, rows=summary.rows)
    total = sum(rows for name, rows in summary.rows.items() if name.startswith(_NUMBERS))
    note(f"Wrote {new}: its release has {total:,} rows of numbers. {out} is unchanged.")
    _show_rows(
        {name: rows for name, rows in summary.rows.items() if name.startswith("after-steps/")}
    )
    note(f"Nothing was drawn, and it cost nothing. {summary.status.line}")


def show_official(summary: OfficialSummary, new: Path) -> None:
    """Print how many published numbers were read, and what was left out."""
    answer_written(
        summary.status,
        new,
        rows=dict(summary.rows),
        groups_of_unknown_tables=summary.unknown_tables,
        withheld=summary.withheld,
        copied_groups=summary.copied_groups,
        differing_groups=summary.differing,
        left_out=dict(summary.left_out),
        not_tabulated=dict(summary.not_tabulated),
    )
    numbers = sum(rows for name, rows in summary.rows.items() if name.startswith("numbers/"))
    note(f"Wrote {new}: {numbers:,} numbers.")
    for count, what in (
        (
            summary.unknown_tables,
            "groups have a table that is not known: their margin of error is a range",
        ),
        (summary.withheld, "numbers are withheld"),
        (
            summary.copied_groups,
            "groups are copies of another area with the same blocks, and have its noise",
        ),
        (
            summary.differing,
            "groups differ, although their areas have the same blocks: taken as measured apart",
        ),
    ):
        if count:
            note(f"  {count:,} {what}")
    for reason, rows in summary.left_out.items():
        note(f"  left out: {rows:,} rows of {reason}")
    for level, groups in summary.not_tabulated.items():
        note(f"  left out: {groups:,} groups that {level} doesn't tabulate")
    note(summary.status.line)


def show_accuracy(summary: AccuracySummary, out: Path) -> None:
    """Print the files of an accuracy report, and who may see them."""
    answer_written(None, out, rows=summary.rows, is_synthetic=summary.is_synthetic)
    say(f"Wrote {out}:")
    say("  accuracy.html: the report, for people")
    for name, rows in summary.rows.items():
        say(f"  {name}.parquet, {name}.csv: {rows:,} rows")
    if summary.is_synthetic:
        say(f"The {summary.nouns} are synthetic, so anyone may look at it; it is not a release.")
    else:
        say(
            f"It contains true counts of real {summary.nouns}. Nothing in {out} may ever be"
            " released."
        )


def _show_rows(rows_of_file: Mapping[str, int]) -> None:
    for name, rows in rows_of_file.items():
        note(f"  {name}: {rows:,} rows")
