"""What the terminal says after an accuracy report."""

from __future__ import annotations

from pathlib import Path

import typer

from safetab.accuracy.accuracy_files import AccuracySummary


def show_accuracy(summary: AccuracySummary, out: Path) -> None:
    typer.echo(f"Wrote {out}:")
    typer.echo("  accuracy.html: the report, for people")
    for name, rows in summary.rows.items():
        typer.echo(f"  {name}.parquet, {name}.csv: {rows:,} rows")
    if summary.is_synthetic:
        typer.echo(f"The {summary.nouns} do not exist, so everybody may look at it; it is no release.")
    else:
        typer.echo(f"It tells the truth about real {summary.nouns}. Nothing in {out} may ever be released.")
