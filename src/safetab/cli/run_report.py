"""What the terminal says after a run: to the curator, about what was released."""

from __future__ import annotations

from pathlib import Path

from safetab.cli.messages import say
from safetab.pipeline.run import RunSummary
from safetab.planning.losses import reference_words, reported_loss
from safetab.planning.privacy_warnings import privacy_warnings
from safetab.privacy.loss_text import loss_text
from safetab.reports.report import REPORT_FILE


def show_summary(summary: RunSummary, out: Path) -> None:
    definition = summary.plan.config.privacy_definition
    loss = reported_loss(definition, summary.plan.loss)
    say(f"Wrote {out}:")
    for name, rows in summary.rows.items():
        if not name.startswith("release/"):
            say(f"  {name}: {rows:,} rows")
    numbers = [rows for name, rows in summary.rows.items() if name.startswith("release/numbers/")]
    say(f"  release: {sum(numbers):,} rows of numbers in {len(numbers)} files, and the universe they come from")
    say(f"  {REPORT_FILE}: what was released, how precise it is and what it cost, for people")
    say(
        f"Privacy loss of a {summary.plan.config.product.record.noun}:"
        f" {definition.budget_symbol} {loss_text(loss.unbounded)} (bounded {loss_text(loss.bounded)})."
    )
    say(reference_words(summary.plan.config.product, definition))
    for warning in privacy_warnings(summary.plan):
        say(f"Warning: {warning}", err=True)
    say(f"{summary.status.line} The confidential log is for the curator alone.")
