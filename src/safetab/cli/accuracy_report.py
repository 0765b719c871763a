"""What the terminal says after an accuracy report."""

from __future__ import annotations

from pathlib import Path

from safetab.assessment.accuracy_files import AccuracySummary
from safetab.cli.messages import say


def show_accuracy(summary: AccuracySummary, out: Path) -> None:
    say(f"Wrote {out}:")
    say("  accuracy.html: the report, for people")
    for name, rows in summary.rows.items():
        say(f"  {name}.parquet, {name}.csv: {rows:,} rows")
    if summary.is_synthetic:
        say(f"The {summary.nouns} do not exist, so everybody may look at it; it is no release.")
    else:
        say(f"It tells the truth about real {summary.nouns}. Nothing in {out} may ever be released.")
