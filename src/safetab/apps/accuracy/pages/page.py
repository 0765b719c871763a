"""The page of an accuracy report, for experts and committees.

It is one file without dependencies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from safetab.apps.accuracy.pages.comparison_section import comparison_section
from safetab.apps.accuracy.pages.coverage_section import coverage_section
from safetab.apps.accuracy.pages.curves import (
    choice_plots,
    error_plots,
    suppression_plots,
    threshold_plot,
)
from safetab.apps.accuracy.pages.page_parts import Rows, matching, text, text_of
from safetab.apps.accuracy.pages.sections import (
    chosen_tables,
    combined_section,
    distance_section,
    key_figures,
    levels_section,
)
from safetab.apps.accuracy.pages.verdict import lines, margin_shares, margins_line
from safetab.apps.accuracy.tables import ALL, FAMILY
from safetab.core.privacy.output_status import OutputStatus
from safetab.foundation.findings import VERSION
from safetab.model.census.census import capitalized
from safetab.release.report.charts import figures
from safetab.release.report.page_parts import (
    Markup,
    contents_and_sections,
    document,
    element,
    joined,
    paragraphs,
)
from safetab.runs.observed.assess import Assessment


@dataclass(frozen=True, slots=True)
class AssessedData:
    """The kind of data that was assessed, and the names of the configurations."""

    is_synthetic: bool
    status: OutputStatus  # that the output of a run with the same inputs and key would have
    given: str  # the name of the given configuration in the tables
    nouns: str  # what the records describe
    names: tuple[str, str] = ("PARAMETERS", "the other")  # of the two configurations on the page

    @property
    def warning(self) -> str:
        """The sentence at the top of every file of the report."""
        if self.is_synthetic:
            return f"{self.status.line} Made from true counts: keep it apart from any release."
        words = (
            f"Confidential. Made from the true counts of real {self.nouns}."
            " Never release any of it."
        )
        if self.status is OutputStatus.NO_PROTECTION:
            words += (
                " This configuration protects nobody at some levels, and `safetab run` refuses it."
            )
        return words

    @property
    def release_line(self) -> str:
        """Whether the report may be released, for readers in a hurry."""
        if self.is_synthetic:
            return (
                "No. It is made from the true counts of synthetic records:"
                " keep it apart from any release."
            )
        return f"No, never. It is made from the true counts of real {self.nouns}."


def accuracy_page(
    assessed: Mapping[str, Assessment],
    accuracy: pa.Table,
    comparison: pa.Table | None,
    data: AssessedData,
) -> str:
    """The whole page as HTML.

    `accuracy` has the rows of all configurations, `comparison` those of two, or is None.
    """
    own = assessed[data.given]
    first, second = data.names
    rows: Rows = [row for row in accuracy.to_pylist() if row["configuration"] == data.given]
    compared = Markup("")
    if comparison is not None and len(comparison):
        section = partial(comparison_section, names=data.names)
        compared = _by_family(section, own, comparison.to_pylist())
    sections = (
        ("comparison", f"{first}, against {second}", compared),
        ("levels", "Level by level", _by_family(levels_section, own, rows)),
        ("errors", "Error against size", _by_family(_errors, own, rows)),
        ("tables", "Which table groups get", _by_family(_tables, own, rows)),
        ("coverage", "Do the margins and intervals hold?", _by_family(coverage_section, own, rows)),
        ("suppression", "Suppression, and the bias it causes", _by_family(_suppression, own, rows)),
        ("combined", "Combined and plain totals", _by_family(combined_section, own, rows)),
        ("theory", "Distance from theory", distance_section(own, rows)),
        ("about", "What was run", _about(assessed, data)),
    )
    plans = {level.truth.plan.level: level.truth.plan for level in own.levels}.values()
    # those whose numbers could have been published
    groups = sum(
        plan.universe.size if plan.selected is None else len(plan.selected.indices)
        for plan in plans
    )
    only = f" Only the comparison shows {second}; all other figures are for {first}."
    what = text(
        "what",
        runs=f"{own.runs:,}",
        nouns=data.nouns,
        groups=f"{groups:,}",
        only="" if comparison is None else only,
    )
    seen = margin_shares(own, rows)
    header = element(
        "header",
        element("p", data.warning, class_="forbidden"),
        element("p", "Accuracy report", class_="kicker"),
        element("h1", "How good are the numbers?"),
        margins_line(seen),
        lines(own, rows, what, data.release_line, seen),
        key_figures(own, rows),
    )
    footer = element(
        "footer", paragraphs(f"Made by safetab {VERSION} from exact counts. {data.warning}")
    )
    return document(
        "Accuracy report", element("body", header, contents_and_sections(sections), footer)
    )


def _by_family(
    section: Callable[[Assessment, Rows], Markup], own: Assessment, rows: Rows
) -> Markup:
    """A section for each table family, below its name if there are several.

    Empty ones are left out.
    """
    if not own.product.has_several_families:
        return section(own, rows)
    parts = []
    for family, assessment in own.by_family():
        if assessment.levels:
            part = section(assessment, matching(rows, **{FAMILY: family.name}))
            if part:
                parts += [element("h3", family.name.capitalize()), part]
    return joined(parts)


def _errors(own: Assessment, rows: Rows) -> Markup:
    unit = own.product.record.counted
    totals = matching(rows, number="total", table=ALL, iteration_kind=ALL, measured="adaptive")
    chosen = [row for row in totals if row["size_from"] is not None]
    return joined(
        [
            paragraphs(text_of(own, "errors")),
            figures(error_plots(own, chosen, "mean_absolute_error", f"mean error, {unit}", 1)),
            paragraphs(
                "The same, relative to the size of the group:"
                " half of the totals have a smaller error."
            ),
            figures(error_plots(own, chosen, "relative_error_p50", "median relative error", 100)),
        ]
    )


def _tables(own: Assessment, _: Rows) -> Markup:
    shown = (
        figures([*choice_plots(own), threshold_plot(own)])
        if own.has_suppression
        else chosen_tables(own)
    )
    return joined([paragraphs(text_of(own, "tables")), shown])


def _suppression(own: Assessment, _: Rows) -> Markup:
    plots = suppression_plots(own)
    if not any(series.points for plot in plots for series in plot.series):
        return Markup("")
    about = paragraphs(text("suppression", Below=capitalized(own.census.words.below)))
    return joined([about, figures(plots)])


def _about(assessed: Mapping[str, Assessment], data: AssessedData) -> Markup:
    """The runs, rules and privacy definition of each configuration."""
    parts = []
    for name, assessment in assessed.items():
        options, config = assessment.options, assessment.plan.config
        facts = {
            "Runs": f"{assessment.runs:,}, each with its own key",
            "Rules of the release": ", ".join(rule.value for rule in options.rules) or "none",
            "Coterminous step": "on" if options.coterminous else "off",
            "Negative counts": "kept"
            if config.allow_negative_counts
            else "shown as 0 before sums are made",
            "Privacy definition": config.privacy_definition.spelling,
            "Data": "synthetic" if data.is_synthetic else "confidential",
        }
        items = [
            element("li", element("strong", f"{key}: "), value) for key, value in facts.items()
        ]
        if len(assessed) > 1:
            parts.append(element("h3", data.names[name != data.given]))
        parts.append(element("ul", *items))
    return joined([*parts, paragraphs(text_of(assessed[data.given], "about"))])
