"""What the README of a release says, whoever measured its numbers: how to read one, add some up, and miss one."""

from __future__ import annotations

import textwrap
from fractions import Fraction

from safetab.products.product import Product, Selector

README_WIDTH = 80
SELECTION = {
    Selector.NOISY_STAGE_1: "Small totals below state level are shown only if they are large enough. That makes the"
    " smallest of those that are shown too large on average. For these, use interval_low and interval_high: they allow"
    " for it.",
    Selector.PUBLISHED_TOTALS: "Which groups are here, and how fine their tables are, was decided by published totals"
    " of people, not by these numbers: their noise is as likely to raise as to lower them.",
}
_ABSENT = {
    Selector.NOISY_STAGE_1: "If a group has no row, it was suppressed (too small to be shown, perhaps nobody, perhaps"
    " some people), or it was never tabulated at that level.",
    Selector.PUBLISHED_TOTALS: "If a group has no row, no total of its people was published, or it was never tabulated"
    " at that level; there may be {nouns} in it.",
}
SELECTED_SUMS = """ If some of the numbers have an
  interval_low (they were shown because they passed a threshold), their sum is
  too large on average, and this is no 95 % interval: safetab's open_release
  gives one."""


def absence_in_words(product: Product) -> str:
    return _ABSENT[product.selector].format(nouns=product.record.nouns)


def reading_in_words(confidence: Fraction, number: tuple[int, int] | None) -> str:
    """Of a count and its margin of error, if there are any."""
    if number is None:
        return "A true number is likely to be at most margin_of_error away from count."
    count, margin = number
    return (
        f"count = {count:,} and margin_of_error = {margin:,} says: noise moved the true number by at most {margin:,},"
        f" in {float(100 * confidence):.10g} of 100 cases. A true number between {count - margin:,} and"
        f' {count + margin:,} is likely. A count can be negative: read it as "few".'
    )


def indented(text: str) -> str:
    return textwrap.fill(text, width=README_WIDTH, initial_indent="  ", subsequent_indent="  ")
