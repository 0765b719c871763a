"""What the terminal says after a run: to the curator, about what was released."""

from __future__ import annotations

from pathlib import Path

import typer

from safetab.pipeline import RunSummary
from safetab.planning.losses import reported_loss
from safetab.planning.plan_json import exact
from safetab.reports.report import REPORT_FILE


def show_summary(summary: RunSummary, out: Path) -> None:
    definition = summary.plan.config.privacy_definition
    loss = reported_loss(definition, summary.plan.loss)
    typer.echo(f"Wrote {out}:")
    for name, rows in summary.rows.items():
        if not name.startswith("release/"):
            typer.echo(f"  {name}: {rows:,} rows")
    numbers = [rows for name, rows in summary.rows.items() if name.startswith("release/numbers/")]
    typer.echo(f"  release: {sum(numbers):,} rows of numbers in {len(numbers)} files, and the universe they come from")
    typer.echo(f"  {REPORT_FILE}: what was released, how precise it is and what it cost, for people")
    typer.echo(
        f"Privacy loss of a person: {definition.budget_symbol} {exact(loss.unbounded)} (bounded {exact(loss.bounded)})."
    )
    typer.echo(f"{summary.status.line} The confidential log is for the curator alone.")
