"""The page of an accuracy report: for an expert and for a committee, in one file that needs no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from safetab.assessment.assess import Assessment
from safetab.assessment.pages.chosen_tables import chosen_tables
from safetab.assessment.pages.comparison_section import comparison_section
from safetab.assessment.pages.coverage_section import coverage_section
from safetab.assessment.pages.curves import choice_plots, error_plots, suppression_plots, threshold_plot
from safetab.assessment.pages.plots import figures
from safetab.assessment.pages.sections import (
    Rows,
    combined_section,
    distance_section,
    key_figures,
    levels_section,
    of_family,
)
from safetab.assessment.pages.words import unit_of, words_of
from safetab.assessment.rows import ALL
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
    nouns: str  # what the records are of
    names: tuple[str, str] = ("PARAMETERS", "the other")  # what the two configurations are called on the page

    @property
    def warning(self) -> str:
        if self.is_synthetic:
            return f"{self.status.line} Made from true counts: not to be mixed with a release."
        words = f"Confidential. Made from the true counts of real {self.nouns}. Never release any of it."
        if self.status is OutputStatus.NO_PROTECTION:
            words += " This configuration protects nobody at some levels, and `safetab run` refuses it."
        return words


def accuracy_page(
    assessed: Mapping[str, Assessment], accuracy: pa.Table, comparison: pa.Table | None, data: AssessedData
) -> str:
    own = assessed[data.given]
    rows: Rows = [row for row in accuracy.to_pylist() if row["configuration"] == data.given]
    sections = (
        ("comparison", "{}, against {}".format(*data.names), _comparison(own, comparison, data.names)),
        ("levels", "Level by level", _by_family(levels_section, own, rows)),
        ("errors", "Error against size", _by_family(_errors, own, rows)),
        ("tables", "Which table groups get", _by_family(_tables, own, rows)),
        ("coverage", "Do the margins and intervals hold?", _by_family(coverage_section, own, rows)),
        ("suppression", "Suppression, and the bias it makes", _by_family(_suppression, own, rows)),
        ("combined", "Combined totals beside plain ones", _by_family(combined_section, own, rows)),
        ("theory", "Distance from theory", distance_section(own, rows)),
        ("about", "What was run", _about(assessed, data)),
    )
    both = "" if comparison is None else " All figures but the comparison are of {}; {} is beside it there."
    header = element(
        "header",
        element("p", data.warning, class_="forbidden"),
        element("p", "Accuracy report", class_="kicker"),
        element("h1", "How good are the numbers?"),
        element(
            "p",
            f"The algorithm ran {own.runs:,} times on the same {data.nouns}, in {_groups(own):,} groups, each time with"
            " other noise, and every number that would have been published is compared with the truth. Points are what"
            f" was seen, lines are theory.{both.format(*data.names)}",
        ),
        key_figures(own, rows),
    )
    footer = element("footer", paragraphs(f"Made by safetab {VERSION} from exact counts. {data.warning}"))
    return document("Accuracy report", element("body", header, contents_and_sections(sections), footer))


def _groups(own: Assessment) -> int:
    """Whose numbers could have been published."""
    return sum(
        plan.universe.size if plan.selected is None else len(plan.selected.indices)
        for plan in {level.truth.plan.level: level.truth.plan for level in own.levels}.values()
    )


def _by_family(section: Callable[[Assessment, Rows], Markup], own: Assessment, rows: Rows) -> Markup:
    """Once for each table family, below its name if there are several; nothing if it has nothing to say."""
    if not own.product.has_several_families:
        return section(own, rows)
    made = [(family, section(one, of_family(rows, family))) for family, one in own.by_family() if one.levels]
    return joined([joined([element("h3", family.name.capitalize()), part]) for family, part in made if part])


def _comparison(own: Assessment, comparison: pa.Table | None, names: tuple[str, str]) -> Markup:
    compared = [] if comparison is None else comparison.to_pylist()
    return _by_family(partial(comparison_section, names=names), own, compared) if compared else Markup("")


def _of_classes(rows: Rows) -> list[Mapping[str, Any]]:
    return [
        row
        for row in rows
        if (row["number"], row["table"], row["iteration_kind"], row["measured"]) == ("total", ALL, ALL, "adaptive")
        and row["size_from"] is not None
    ]


def _errors(own: Assessment, rows: Rows) -> Markup:
    chosen, unit = _of_classes(rows), unit_of(own.product)
    return joined(
        [
            paragraphs(words_of(own.product).errors),
            figures(error_plots(chosen, "mean_absolute_error", f"mean error, {unit}", 1)),
            paragraphs("The same relative to the size of the group: the error of half of the totals is smaller."),
            figures(error_plots(chosen, "relative_error_p50", "median relative error", 100)),
        ]
    )


def _tables(own: Assessment, _: Rows) -> Markup:
    shown = figures([*choice_plots(own), threshold_plot(own)]) if own.has_suppression else chosen_tables(own)
    return joined([paragraphs(words_of(own.product).tables), shown])


def _suppression(own: Assessment, _: Rows) -> Markup:
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
        title = [element("h3", data.names[name != data.given])]
        facts = [element("li", element("strong", f"{key}: "), value) for key, value in items]
        parts += [*(title if len(assessed) > 1 else []), element("ul", *facts)]
    return joined(
        [
            *parts,
            paragraphs(words_of(assessed[data.given].product).about),
        ]
    )
