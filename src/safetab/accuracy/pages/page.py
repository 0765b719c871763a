"""The page of an accuracy report: for an expert and for a committee, in one file that needs no other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from safetab.accuracy.assess import Assessment
from safetab.accuracy.pages.comparison_section import comparison_section
from safetab.accuracy.pages.coverage_section import coverage_section
from safetab.accuracy.pages.curves import choice_plots, error_plots, suppression_plots, threshold_plot
from safetab.accuracy.pages.plots import figures
from safetab.accuracy.pages.sections import (
    Rows,
    combined_section,
    distance_section,
    key_figures,
    levels_section,
)
from safetab.accuracy.rows import ALL
from safetab.foundation.version import VERSION
from safetab.privacy.output_status import OutputStatus
from safetab.reports.document import contents_and_sections, document
from safetab.reports.markup import Markup, element, joined
from safetab.reports.page_tables import paragraphs


@dataclass(frozen=True, slots=True)
class AssessedData:
    """Whose truth was looked at, and what the configurations are called in the tables."""

    is_synthetic: bool
    status: OutputStatus  # what an output of these people, with this configuration and key, would be
    given: str
    other: str

    @property
    def warning(self) -> str:
        if self.is_synthetic:
            return f"{self.status.line} Made from true counts: not to be mixed with a release."
        words = "Confidential. Made from the true counts of real people. Never release any of it."
        if self.status is OutputStatus.NO_PROTECTION:
            words += " This configuration protects nobody at some levels, and `safetab run` refuses it."
        return words


def accuracy_page(
    assessed: Mapping[str, Assessment], accuracy: pa.Table, comparison: pa.Table | None, data: AssessedData
) -> str:
    own = assessed[data.given]
    family = own.plan.config.only_family.family
    rows: Rows = [row for row in accuracy.to_pylist() if row["configuration"] == data.given]
    sections = (
        ("levels", "Level by level", levels_section(own, rows)),
        ("errors", "Error against size", _errors(rows)),
        ("tables", "Which table groups get", _tables(own)),
        ("coverage", "Do the margins and intervals hold?", coverage_section(own, rows)),
        ("suppression", "Suppression, and the bias it makes", _suppression(own)),
        ("combined", "Combined totals beside plain ones", combined_section(family, rows)),
        ("theory", "Distance from theory", distance_section(own, rows)),
        ("comparison", "Against the other configuration", comparison_section(family, comparison)),
        ("about", "What was run", _about(assessed, data)),
    )
    header = element(
        "header",
        element("p", data.warning, class_="forbidden"),
        element("p", "Accuracy report", class_="kicker"),
        element("h1", "How good are the numbers?"),
        element(
            "p",
            f"The algorithm ran {own.runs:,} times on the same people, in {_groups(own):,} groups, each time with other"
            " noise, and every number that would have been published is compared with the truth. Points are what was"
            " seen, lines are theory.",
        ),
        key_figures(own, rows),
    )
    footer = element("footer", paragraphs(f"Made by safetab {VERSION} from exact counts. {data.warning}"))
    return document("Accuracy report", element("body", header, contents_and_sections(sections), footer))


def _groups(own: Assessment) -> int:
    return sum(level.truth.plan.universe.size for level in own.levels)


def _of_classes(rows: Rows) -> list[Mapping[str, Any]]:
    return [
        row
        for row in rows
        if (row["number"], row["table"], row["iteration_kind"], row["measured"]) == ("total", ALL, ALL, "adaptive")
        and row["size_from"] is not None
    ]


def _errors(rows: Rows) -> Markup:
    chosen = _of_classes(rows)
    return joined(
        [
            paragraphs(
                "The mean distance of a published total from the truth, by the true size of its group. It grows in"
                " steps: a larger group gets a finer table, and its total is the sum of more noisy cells. At the left,"
                " small groups below state level are published only if their noise is large, so their error is large.",
            ),
            figures(error_plots(chosen, "mean_absolute_error", "mean error, persons", 1)),
            paragraphs("The same relative to the size of the group: the error of half of the totals is smaller."),
            figures(error_plots(chosen, "relative_error_p50", "median relative error", 100)),
        ]
    )


def _tables(own: Assessment) -> Markup:
    return joined(
        [
            paragraphs(
                "A first noisy total decides how fine a group's table is; upright lines are the thresholds. Near a"
                " threshold chance decides, and the last plot looks at that closely, for all thresholds together."
                " Where the shares of small groups don't add up to 100%, the rest is suppressed.",
            ),
            figures([*choice_plots(own), threshold_plot(own)]),
        ]
    )


def _suppression(own: Assessment) -> Markup:
    plots = suppression_plots(own)
    if not any(one.points for plot in plots for one in plot.series):
        return Markup("")
    return joined(
        [
            paragraphs(
                "Below state level a lone total is published only above the threshold T, so that a group with nobody in"
                " it hardly ever appears. The price is that small groups are missing, and that those which appear are"
                " too large on average: sizes and biases are in units of T, as the paper's figures do.",
            ),
            figures(plots),
        ]
    )


def _about(assessed: Mapping[str, Assessment], data: AssessedData) -> Markup:
    parts = []
    for name, one in assessed.items():
        options = one.options
        rules = ", ".join(rule.value for rule in options.rules) or "none"
        coterminous = "on" if options.coterminous else "off"
        negatives = "kept" if one.plan.config.allow_negative_counts else "shown as 0 before sums are made"
        items: Sequence[tuple[str, str]] = (
            ("Runs", f"{one.runs:,}, each with a key of its own"),
            ("Rules of the release", rules),
            ("Coterminous step", coterminous),
            ("Negative counts", negatives),
            ("Privacy definition", one.plan.config.privacy_definition.spelling),
            ("Data", "synthetic" if data.is_synthetic else "confidential"),
        )
        title = [element("h3", "PARAMETERS" if name == data.given else "The other configuration")]
        facts = [element("li", element("strong", f"{key}: "), value) for key, value in items]
        parts += [*(title if len(assessed) > 1 else []), element("ul", *facts)]
    return joined(
        [
            *parts,
            paragraphs(
                "The same counting, noise, table choice, suppression and rules as a run's; the exact counts were taken"
                " once. Groups that are never published count as suppressed. Copies of groups that a level does not"
                " tabulate are left out. accuracy.csv beside this page has every number of it, by kind of iteration"
                " too, and accuracy.json the whole configuration.",
            ),
        ]
    )
